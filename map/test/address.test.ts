import assert from "node:assert/strict";
import { test } from "node:test";
import { read, write } from "../src/address.ts";
import { NO_FILTERS } from "../src/filters.ts";

test("what is written is read again", () => {
  const filters = {
    text: 'a & "b" = ü#',
    kinds: new Set(["fund", "startup"]),
    asks: new Set(["space"]),
    hiring: "lead" as const,
  };
  const view = { filters, selected: "tgt_1" };
  assert.deepEqual(read(write(view)), view);
});

test("nothing chosen leaves nothing in the address", () => {
  assert.equal(write({ filters: NO_FILTERS }), "");
  assert.deepEqual(read(""), { filters: NO_FILTERS, selected: undefined });
});

test("an address that somebody made up does no harm", () => {
  const { filters } = read("#hiring=everybody&kind=,,&ask=");
  assert.deepEqual(filters, NO_FILTERS);
});
