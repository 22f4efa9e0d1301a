import assert from "node:assert/strict";
import { test } from "node:test";
import { ALONE_FROM_ZOOM, Crowds, spread } from "../src/crowds.ts";
import { feature } from "./records.ts";

const CITY: [number, number, number, number] = [-123, 37, -122, 38];
const MANY = Array.from({ length: 40 }, (_, n) =>
  feature(`t${n}`, `Number ${n}`, n % 4 === 0 ? "fund" : "startup", []),
);

test("many at one place are a crowd that knows its kinds", () => {
  const crowds = new Crowds(MANY);
  const { ones, crowds: drawn } = crowds.within(CITY, 12);
  assert.deepEqual([ones.length, drawn.length], [0, 1]);
  assert.deepEqual(
    [...drawn[0]!.kinds],
    [
      ["fund", 10],
      ["startup", 30],
    ],
  );
  // Asking again counts nothing twice.
  assert.equal(crowds.within(CITY, 13).crowds[0]!.kinds.get("startup"), 30);
});

test("from close by each is drawn, and none hides another", () => {
  const { ones, crowds } = new Crowds(MANY).within(CITY, ALONE_FROM_ZOOM);
  assert.deepEqual([ones.length, crowds.length], [40, 0]);
  const places = [...spread(ones).values()];
  for (const [position, [x, y]] of places.entries()) {
    for (const [otherX, otherY] of places.slice(position + 1)) {
      assert(Math.hypot(x - otherX, y - otherY) > 22);
    }
  }
});
