// Names on the map: of waters and parks, and of the neighbourhoods that the data tells of. Where
// there is no room for all of them, the larger ones stay.

import * as leaflet from "leaflet";
import { element } from "./element.ts";
import type { Feature } from "./records.ts";

/** As many are needed to name a neighbourhood after them. */
const ENOUGH = 3;
/** From farther away the crowds would cover them. */
const NEAR = 12;
/** Pixels that stay free around a name. */
const ROOM = 4;

export interface Name {
  name: string;
  /** Longitude, latitude. */
  at: number[];
  kind: string;
}

/** Names where the data's own organisations are, the largest first. */
export function neighbourhoods(features: Feature[]): Name[] {
  const places = new Map<string, [number, number][]>();
  for (const { geometry, properties } of features) {
    const name = properties.geo.neighbourhood;
    if (!name) continue;
    const points = places.get(name);
    if (points) points.push(geometry.coordinates);
    else places.set(name, [geometry.coordinates]);
  }
  const large = [...places].filter(([, points]) => points.length >= ENOUGH);
  large.sort(([, one], [, other]) => other.length - one.length);
  return large.map(([name, points]) => {
    const north = Math.max(...points.map(([, lat]) => lat));
    return { name, at: [median(points.map(([lng]) => lng)), north], kind: "neighbourhood" };
  });
}

export function drawNames(map: leaflet.Map, names: Name[]): void {
  map.createPane("names").style.zIndex = "400";
  const drawn = names.map(({ name, at: [lng = 0, lat = 0], kind }) => {
    const html = element("span", {}, name);
    const icon = leaflet.divIcon({ className: `named ${kind}`, html, iconSize: [0, 0] });
    leaflet
      .marker([lat, lng], { icon, pane: "names", interactive: false, keyboard: false })
      .addTo(map);
    return html;
  });
  const settle = () => {
    map.getContainer().classList.toggle("far", map.getZoom() < NEAR);
    makeRoom(drawn.filter((name) => name.checkVisibility()));
  };
  map.on("zoomend resize", settle);
  settle();
}

/** Hides each name that would lie on one before it. */
export function makeRoom(names: HTMLElement[]): void {
  const taken: DOMRect[] = [];
  // All are measured before one is changed: otherwise the browser lays the page out for each.
  const measured = names.map((name) => ({ name, box: name.getBoundingClientRect() }));
  for (const { name, box } of measured) {
    const hidden = taken.some((other) => meet(box, other));
    name.style.visibility = hidden ? "hidden" : "";
    if (!hidden) taken.push(box);
  }
}

function meet(one: DOMRect, other: DOMRect): boolean {
  return (
    one.left < other.right + ROOM &&
    other.left < one.right + ROOM &&
    one.top < other.bottom + ROOM &&
    other.top < one.bottom + ROOM
  );
}

function median(numbers: number[]): number {
  return numbers.sort((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0;
}
