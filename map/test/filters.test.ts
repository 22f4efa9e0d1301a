import assert from "node:assert/strict";
import { test } from "node:test";
import { counts, type Filters, hiring, narrow, NO_FILTERS, sorted, Texts } from "../src/filters.ts";
import { feature } from "./records.ts";

const FEATURES = [
  feature("one", "Zoë Robotics", "startup", [
    ["hiring", "verified"],
    ["raising", "source_backed"],
  ]),
  feature("two", "Robot Fund", "fund", []),
  feature("three", "Quiet Robots", "startup", [["hiring", "corroborated"]]),
  feature("four", "Harbour Desks", "coworking", [
    ["hiring", "stale"],
    ["space", "source_backed"],
  ]),
];
const TEXTS = new Texts();

function found(filters: Partial<Filters>, texts = TEXTS): string[] {
  return narrow(sorted(FEATURES), { ...NO_FILTERS, ...filters }, texts).map(({ id }) => id);
}

test("everything passes without filters, by name", () => {
  assert.deepEqual(found({}), ["four", "three", "two", "one"]);
});

test("a name that begins with the text comes first", () => {
  assert.deepEqual(found({ text: "robot" }), ["two", "three", "one"]);
});

test("neither case nor accents matter, and every word must fit", () => {
  assert.deepEqual(found({ text: "  ZOE robot " }), ["one"]);
  assert.deepEqual(found({ text: "zoe fund" }), []);
});

test("roles and people are found once they are known", () => {
  assert.deepEqual(found({ text: "welder" }), []);
  const texts = new Texts();
  texts.add([["two", "welder"]]);
  texts.add([
    ["two", "foreman"],
    ["four", "ada lark"],
  ]);
  assert.deepEqual(found({ text: "welder" }, texts), ["two"]);
  assert.deepEqual(found({ text: "lark" }, texts), ["four"]);
  assert.deepEqual(found({ text: "fund welder foreman" }, texts), ["two"]);
});

test("of one filter any choice is enough, of several each must fit", () => {
  assert.deepEqual(found({ kinds: new Set(["fund", "coworking"]) }), ["four", "two"]);
  const both = { kinds: new Set(["startup"]), asks: new Set(["raising", "space"]) };
  assert.deepEqual(found(both), ["one"]);
});

test("a lead is not a verified role, and what is stale is neither", () => {
  assert.deepEqual(found({ hiring: "verified" }), ["one"]);
  assert.deepEqual(found({ hiring: "lead" }), ["three"]);
  assert.equal(hiring(FEATURES[3]!.properties), undefined);
});

test("a choice tells how many it would leave with the other filters", () => {
  const filters = { ...NO_FILTERS, kinds: new Set(["startup"]) };
  const all = counts(FEATURES, filters, TEXTS);
  assert.deepEqual([all.get("kind:startup"), all.get("kind:fund")], [2, 1]);
  assert.deepEqual([all.get("ask:hiring"), all.get("ask:space")], [2, undefined]);
});
