// What is drawn where many organisations are close to each other.

import Supercluster from "supercluster";
import type { Feature } from "./records.ts";

export interface One {
  feature: Feature;
  at: [number, number];
}

export interface Crowd {
  id: number;
  number: number;
  kinds: Map<string, number>;
  at: [number, number];
}

type Point = { id: string; kind: string };
type Kinds = { kinds: Map<string, number> };

/** From here on each organisation is drawn by itself. */
export const ALONE_FROM_ZOOM = 16;
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
  within(box: [number, number, number, number], zoom: number): { ones: One[]; crowds: Crowd[] } {
    const ones: One[] = [];
    const crowds: Crowd[] = [];
    for (const { geometry, properties } of this.#index.getClusters(box, zoom)) {
      const at = geometry.coordinates as [number, number];
      if ("cluster" in properties) {
        const { cluster_id, point_count, kinds } = properties;
        crowds.push({ id: cluster_id, number: point_count, kinds: ordered(kinds), at });
      } else {
        const feature = this.#features.get(properties.id);
        if (feature) ones.push({ feature, at });
      }
    }
    return { ones, crowds };
  }

  /** The zoom at which a crowd falls apart. */
  apartAt(id: number): number {
    return this.#index.getClusterExpansionZoom(id);
  }
}

/** By the kind's name, so that the rings of neighbours can be compared. */
function ordered(kinds: Map<string, number>): Map<string, number> {
  return new Map([...kinds].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Pixels by which those of one place are moved away from it, in a spiral. */
export function spread(ones: One[]): Map<One, [number, number]> {
  const places = new Map<string, One[]>();
  for (const one of ones) {
    const place = one.at.map((degrees) => degrees.toFixed(4)).join();
    places.set(place, [...(places.get(place) ?? []), one]);
  }
  const moved = new Map<One, [number, number]>();
  for (const here of places.values()) {
    here.forEach((one, position) => {
      const away = here.length > 1 ? APART * Math.sqrt(position) : 0;
      moved.set(one, [away * Math.cos(position * TURN), away * Math.sin(position * TURN)]);
    });
  }
  return moved;
}
