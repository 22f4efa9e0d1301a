import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ALONE_FROM_ZOOM,
  apart,
  Crowds,
  diameter,
  joined,
  MOST_AT_PLACE,
  spread,
} from "../src/crowds.ts";
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

test("too many at one place stay a crowd from close by, and the others are drawn", () => {
  const made = (number: number) =>
    Array.from({ length: number }, (_, n) => feature(`t${n}`, `Number ${n}`, "startup", []));
  const elsewhere = feature("else", "Elsewhere", "fund", []);
  elsewhere.geometry.coordinates = [-122.5, 37.71];
  const close = (number: number) =>
    apart(new Crowds([...made(number), elsewhere]).within(CITY, ALONE_FROM_ZOOM));
  const few = close(MOST_AT_PLACE);
  assert.deepEqual([few.ones.length, few.crowds.length], [MOST_AT_PLACE + 1, 0]);
  const { ones, crowds } = close(3000);
  assert.deepEqual(ones.map(({ feature }) => feature.id), ["else"]);
  assert.deepEqual(
    crowds.map(({ apartAt, number, kinds }) => [apartAt, number, [...kinds]]),
    [[Infinity, 3000, [["startup", 3000]]]],
  );
});

test("no ring lies on another or on a single mark, and nobody is lost", () => {
  // Some two thousand places without a pattern, which are the same each time.
  let state = 7;
  const next = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const many = Array.from({ length: 2000 }, (_, n) => {
    const made = feature(`t${n}`, `Number ${n}`, n % 4 === 0 ? "fund" : "startup", []);
    made.geometry.coordinates = [-122.5 + next() * 0.1, 37.7 + next() * 0.1];
    return made;
  });
  const crowds = new Crowds(many);
  for (const zoom of [11, 12.5, 13.25, 14.75]) {
    const scale = (256 * 2 ** zoom) / 360;
    const project = ([lng, lat]: [number, number]) => ({ x: lng * scale, y: lat * scale * -1.26 });
    const marks = joined(crowds.within(CITY, Math.round(zoom)), Math.round(zoom), project);
    const number = marks.crowds.reduce((sum, crowd) => sum + crowd.number, marks.ones.length);
    assert.equal(number, many.length);
    const rings = marks.crowds.map((it) => ({ ...project(it.at), r: diameter(it.number) / 2 }));
    const ones = marks.ones.map(({ at }) => ({ ...project(at), r: 11 }));
    const all = [...rings, ...ones];
    for (const [position, ring] of rings.entries()) {
      for (const other of all.slice(position + 1)) {
        const away = Math.hypot(ring.x - other.x, ring.y - other.y);
        assert(away > ring.r + other.r - 0.5, `${zoom}: ${away}`);
      }
    }
    const kinds = marks.crowds.map(({ kinds }) => [...kinds.values()].reduce((a, b) => a + b));
    assert.deepEqual(kinds, marks.crowds.map((crowd) => crowd.number));
  }
});
