// What is drawn where many organisations are close to each other.

import Supercluster from "supercluster";
import type { Feature } from "./records.ts";

export interface One {
  feature: Feature;
  at: [number, number];
}

export interface Crowd {
  /** The zoom at which it falls apart; infinite if it never does. */
  apartAt: number;
  number: number;
  kinds: Map<string, number>;
  at: [number, number];
}

type Point = { id: string; kind: string };
type Kinds = { kinds: Map<string, number> };

/** From here on each organisation is drawn by itself. */
export const ALONE_FROM_ZOOM = 16;
/** More than this at one place stay a crowd, however near the map is. */
export const MOST_AT_PLACE = 100;
/** How far apart they then are, in pixels. */
const APART = 26;
/** The golden angle: a spiral of it fills a disc evenly. */
const TURN = Math.PI * (3 - Math.sqrt(5));

export class Crowds {
  readonly #index = new Supercluster<Point, Kinds>({
    radius: 46,
    maxZoom: ALONE_FROM_ZOOM - 1,
    map: ({ kind }) => ({ kinds: new Map([[kind, 1]]) }),
    reduce: (all, { kinds }) => {
      // The first of a crowd is shared with its own record, so it is not added to.
      all.kinds = new Map(all.kinds);
      for (const [kind, count] of kinds) all.kinds.set(kind, (all.kinds.get(kind) ?? 0) + count);
    },
  });
  readonly #features: Map<string, Feature>;

  constructor(features: Feature[]) {
    this.#features = new Map(features.map((feature) => [feature.id, feature]));
    this.#index.load(
      features.map(({ id, geometry, properties }) => ({
        type: "Feature",
        geometry: { type: "Point", coordinates: geometry.coordinates },
        properties: { id, kind: properties.kind },
      })),
    );
  }

  /** Within west, south, east and north, at a zoom. */
  within(box: [number, number, number, number], zoom: number): Marks {
    const ones: One[] = [];
    const crowds: Crowd[] = [];
    for (const { geometry, properties } of this.#index.getClusters(box, zoom)) {
      const at = geometry.coordinates as [number, number];
      if ("cluster" in properties) {
        const { cluster_id, point_count, kinds } = properties;
        const apartAt = this.#index.getClusterExpansionZoom(cluster_id);
        crowds.push({ apartAt, number: point_count, kinds: ordered(kinds), at });
      } else {
        const feature = this.#features.get(properties.id);
        if (feature) ones.push({ feature, at });
      }
    }
    return { ones, crowds };
  }
}

/** What is drawn of one view. */
export interface Marks {
  ones: One[];
  crowds: Crowd[];
}

/** The diameter of a crowd's ring, in pixels. */
export function diameter(number: number): number {
  if (number < 10) return 34;
  return number < 100 ? 40 : 48;
}

interface Disc {
  x: number;
  y: number;
  one?: One;
  crowd: Crowd;
}

/** The radius of a mark for one organisation, and what stays free between marks. */
const ONE_RADIUS = 11;
const GAP = 2;

/**
 * Joins marks that would lie on each other: clusters are made for whole zooms, and their middles can
 * be closer than their rings are wide. `project` gives pixels.
 */
export function joined(
  { ones, crowds }: Marks,
  zoom: number,
  project: (at: [number, number]) => { x: number; y: number },
): Marks {
  const alone = ones.map((one): Disc => {
    const kinds = new Map([[one.feature.properties.kind, 1]]);
    const crowd = { apartAt: zoom + 1, number: 1, kinds, at: one.at };
    return { ...xy(project(one.at)), one, crowd };
  });
  const many = crowds.map((crowd): Disc => ({ ...xy(project(crowd.at)), crowd }));
  const left = [...many, ...alone].sort((a, b) => a.crowd.number - b.crowd.number);
  const settled: Disc[] = [];
  for (let disc = left.pop(); disc; disc = left.pop()) {
    const hit = settled.findIndex((other) => meet(disc as Disc, other));
    const [other] = hit < 0 ? [] : settled.splice(hit, 1);
    // The joined one may now lie on another, so it is looked at again.
    if (other) left.push(union(disc, other, zoom));
    else settled.push(disc);
  }
  return {
    ones: settled.flatMap(({ one }) => one ?? []),
    crowds: settled.flatMap(({ one, crowd }) => (one ? [] : crowd)),
  };
}

function xy({ x, y }: { x: number; y: number }): { x: number; y: number } {
  return { x, y };
}

function meet(one: Disc, other: Disc): boolean {
  const radius = ({ one, crowd }: Disc) => (one ? ONE_RADIUS : diameter(crowd.number) / 2);
  const away = Math.hypot(one.x - other.x, one.y - other.y);
  return away < radius(one) + radius(other) + GAP;
}

function union(one: Disc, other: Disc, zoom: number): Disc {
  const number = one.crowd.number + other.crowd.number;
  const share = other.crowd.number / number;
  const between = (from: number, to: number) => from + (to - from) * share;
  const kinds = new Map(one.crowd.kinds);
  for (const [kind, count] of other.crowd.kinds) kinds.set(kind, (kinds.get(kind) ?? 0) + count);
  const [lng, lat] = one.crowd.at;
  const at: [number, number] = [
    between(lng, other.crowd.at[0]),
    between(lat, other.crowd.at[1]),
  ];
  return {
    x: between(one.x, other.x),
    y: between(one.y, other.y),
    crowd: { apartAt: zoom + 1, number, kinds: ordered(kinds), at },
  };
}

/** By the kind's name, so that the rings of neighbours can be compared. */
function ordered(kinds: Map<string, number>): Map<string, number> {
  return new Map([...kinds].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The places of these, each with its own, to some ten metres. */
function byPlace(ones: One[]): Map<string, One[]> {
  const places = new Map<string, One[]>();
  for (const one of ones) {
    const place = one.at.map((degrees) => degrees.toFixed(4)).join();
    const here = places.get(place);
    if (here) here.push(one);
    else places.set(place, [one]);
  }
  return places;
}

/** From close by: each by itself, but for places at which there are too many to draw. */
export function apart({ ones, crowds }: Marks): Marks {
  const alone: One[] = [];
  const many: Crowd[] = [...crowds];
  for (const here of byPlace(ones).values()) {
    const [first] = here;
    if (first === undefined || here.length <= MOST_AT_PLACE) {
      alone.push(...here);
      continue;
    }
    const kinds = new Map<string, number>();
    for (const { feature } of here) {
      const { kind } = feature.properties;
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
    const { at } = first;
    many.push({ apartAt: Infinity, number: here.length, kinds: ordered(kinds), at });
  }
  return { ones: alone, crowds: many };
}

/** Pixels by which those of one place are moved away from it, in a spiral. */
export function spread(ones: One[]): Map<One, [number, number]> {
  const moved = new Map<One, [number, number]>();
  for (const here of byPlace(ones).values()) {
    here.forEach((one, position) => {
      const away = here.length > 1 ? APART * Math.sqrt(position) : 0;
      moved.set(one, [away * Math.cos(position * TURN), away * Math.sin(position * TURN)]);
    });
  }
  return moved;
}
