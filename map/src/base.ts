// What lies under the organisations: coast, parks, main streets, and the lines of a portolan chart.

import * as leaflet from "leaflet";
import geography from "../geography/san-francisco.json";
import surroundings from "portolan:surroundings";
import { element } from "./element.ts";
import type { Feature } from "./records.ts";

type Line = number[][];

/** Directions in which lines leave the compass. */
const RHUMBS = 32;
/** How long they are, in degrees. */
const REACH = 0.9;
/** As many are needed to name a neighbourhood after them. */
const ENOUGH = 3;

/** The city's own chart; of another city there is none, and its points are shown on plain paper. */
export function drawBase(map: leaflet.Map, city: string): void {
  if (city !== geography.city) return;
  const pane = (name: string, zIndex: number) => {
    map.createPane(name).style.zIndex = `${zIndex}`;
    const renderer = leaflet.svg({ pane: name, padding: 0.5 });
    return (className: string) => ({ pane: name, renderer, className, interactive: false });
  };
  const water = pane("water", 210);
  const ground = pane("ground", 220);
  const land = [...surroundings, ...geography.land];

  for (const line of rhumbs(geography.compass)) leaflet.polyline(line, water("rhumb")).addTo(map);
  for (const depth of ["far", "middle", "near"]) {
    for (const ring of land) leaflet.polygon(turned(ring), water(`shallows ${depth}`)).addTo(map);
  }
  for (const ring of surroundings) leaflet.polygon(turned(ring), ground("land around")).addTo(map);
  for (const ring of geography.land) leaflet.polygon(turned(ring), ground("land")).addTo(map);
  for (const ring of geography.parks) leaflet.polygon(turned(ring), ground("park")).addTo(map);
  for (const ring of geography.lakes) leaflet.polygon(turned(ring), ground("lake")).addTo(map);
  for (const line of geography.streets) leaflet.polyline(turned(line), ground("street")).addTo(map);
  for (const line of geography.highways) {
    leaflet.polyline(turned(line), ground("highway")).addTo(map);
  }
  map.createPane("names").style.zIndex = "400";
  for (const { name, at, kind } of geography.names) write(map, name, at, `named ${kind}`);
}

/** Names where the data's own organisations are. */
export function drawNeighbourhoods(map: leaflet.Map, features: Feature[]): void {
  if (!map.getPane("names")) map.createPane("names").style.zIndex = "400";
  const places = new Map<string, [number, number][]>();
  for (const { geometry, properties } of features) {
    const name = properties.geo.neighbourhood;
    if (name) places.set(name, [...(places.get(name) ?? []), geometry.coordinates]);
  }
  for (const [name, points] of places) {
    if (points.length < ENOUGH) continue;
    const middle = [0, 1].map((axis) => median(points.map((point) => point[axis] ?? 0)));
    write(map, name, middle, "named neighbourhood");
  }
}

function write(map: leaflet.Map, name: string, at: Line[number], className: string): void {
  const html = element("span", {}, name);
  const icon = leaflet.divIcon({ className, html, iconSize: [0, 0] });
  const options = { icon, pane: "names", interactive: false, keyboard: false };
  leaflet.marker(point(at), options).addTo(map);
}

function rhumbs(center: Line[number]): [number, number][][] {
  const [lat, lng] = point(center);
  const narrow = Math.cos((lat * Math.PI) / 180);
  return Array.from({ length: RHUMBS }, (_, direction) => {
    const angle = (direction * 2 * Math.PI) / RHUMBS;
    const end: [number, number] = [
      lat + REACH * narrow * Math.sin(angle),
      lng + REACH * Math.cos(angle),
    ];
    return [[lat, lng], end];
  });
}

function median(numbers: number[]): number {
  return numbers.sort((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0;
}

function turned(line: Line): [number, number][] {
  return line.map(point);
}

/** Files have longitude first, the library has latitude first. */
function point([lng = 0, lat = 0]: Line[number]): [number, number] {
  return [lat, lng];
}
