import assert from "node:assert/strict";
import { test } from "node:test";
import { rounded } from "../src/scale.ts";

test("a scale has a round number", () => {
  const lengths = [1, 1.9, 2, 49, 99, 120, 4999, 5000, 12_000].map(rounded);
  assert.deepEqual(lengths, [1, 1, 2, 20, 50, 100, 2000, 5000, 10_000]);
});
