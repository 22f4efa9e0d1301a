// What lies under the organisations: coast, parks, main streets, and the lines of a portolan chart.

import * as leaflet from "leaflet";
import geography from "../geography/san-francisco.json";
import surroundings from "portolan:surroundings";
import { drawing } from "./element.ts";
import type { Name } from "./names.ts";

type Line = number[][];

/** Directions in which lines leave the compass. */
const RHUMBS = 32;
/** How long they are, in degrees. */
const REACH = 0.9;
const COMPASS_PIXELS = 88;

/**
 * The steps that draw the city's own chart, each short; the last tells the names on it. Of another
 * city there is no chart, and its points are shown on plain paper.
 */
export function drawBase(map: leaflet.Map, city: string): (() => Name[])[] {
  if (city !== geography.city) return [];
  const pane = (name: string, zIndex: number) => {
    map.createPane(name).style.zIndex = `${zIndex}`;
    const renderer = leaflet.svg({ pane: name, padding: 0.5 });
    return (className: string) => ({ pane: name, renderer, className, interactive: false });
  };
  const water = pane("water", 210);
  const ground = pane("ground", 220);
  // One outline of all rings is drawn much sooner than each ring by itself.
  const areas = (rings: Line[]) => rings.map((ring) => [turned(ring)]);
  const lines = (all: Line[]) => all.map(turned);
  const land = areas([...surroundings, ...geography.land]);
  const area = (rings: [number, number][][][], options: leaflet.PolylineOptions) => () => {
    leaflet.polygon(rings, options).addTo(map);
    return [];
  };
  const line = (all: [number, number][][], options: leaflet.PolylineOptions) => () => {
    leaflet.polyline(all, options).addTo(map);
    return [];
  };
  return [
    line(rhumbs(geography.compass), water("rhumb")),
    area(land, water("shallows far")),
    area(land, water("shallows middle")),
    area(land, water("shallows near")),
    area(areas(surroundings), ground("land around")),
    area(areas(geography.land), ground("land")),
    area(areas(geography.parks), ground("park")),
    area(areas(geography.lakes), ground("lake")),
    line(lines(geography.streets), ground("street")),
    line(lines(geography.highways), ground("highway")),
    () => {
      drawCompass(map);
      return geography.names;
    },
  ];
}

/** The whole city, as far as its chart goes. */
export function outline(city: string): [number, number][] {
  const [mainland = []] = city === geography.city ? geography.land : [];
  return turned(mainland);
}

function drawCompass(map: leaflet.Map): void {
  const half = COMPASS_PIXELS / 2;
  const star = (long: number, turn: number, className: string) => {
    const short = long / 3.2;
    const points = Array.from({ length: 8 }, (_, corner) => {
      const angle = (corner * Math.PI) / 4;
      const away = corner % 2 === 0 ? long : short;
      return `${(away * Math.sin(angle)).toFixed(1)},${(-away * Math.cos(angle)).toFixed(1)}`;
    });
    const attributes = { points: points.join(" "), transform: `rotate(${turn})` };
    return drawing("polygon", { class: className, ...attributes });
  };
  const html = drawing(
    "svg",
    { viewBox: `${-half} ${-half} ${COMPASS_PIXELS} ${COMPASS_PIXELS}`, class: "compass" },
    drawing("circle", { r: "26", class: "round" }),
    star(24, 45, "minor"),
    star(32, 0, "major"),
    drawing("text", { y: "-35", "text-anchor": "middle" }, "N"),
  ) as unknown as HTMLElement;
  const iconSize: [number, number] = [COMPASS_PIXELS, COMPASS_PIXELS];
  const icon = leaflet.divIcon({ className: "place", html, iconSize });
  map.createPane("compass").style.zIndex = "215";
  const options = { icon, pane: "compass", interactive: false, keyboard: false };
  leaflet.marker(point(geography.compass), options).addTo(map);
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

function turned(line: Line): [number, number][] {
  return line.map(point);
}

/** Files have longitude first, the library has latitude first. */
function point([lng = 0, lat = 0]: Line[number]): [number, number] {
  return [lat, lng];
}
