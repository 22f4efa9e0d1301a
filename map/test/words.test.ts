import assert from "node:assert/strict";
import { test } from "node:test";
import { exactMoney, money, per } from "../src/words.ts";

test("pay is as the employer says it", () => {
  const told = [17.5, 22.25, 120_000, 182_340].map((sum) => exactMoney(sum, "USD"));
  assert.deepEqual(told, ["$17.50", "$22.25", "$120,000", "$182,340"]);
  assert.equal(exactMoney(17.5, "no currency"), "17.50 no currency");
  assert.deepEqual(["HOUR", "YEAR", "ONCE"].map(per), ["an hour", "a year", "once"]);
});

test("other amounts are short", () => {
  assert.deepEqual([money(5_000_000, "USD"), money(1_260_000, "EUR")], ["$5.0M", "€1.3M"]);
});
