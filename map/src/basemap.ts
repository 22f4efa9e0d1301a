// Streets from a PMTiles file on the host, read by ranges. A script of its own, because only hosts
// whose operator has put such a file need it. It knows the layers of Protomaps' tiles, and those of
// OpenMapTiles and Mapbox, under which other files have the same things.

import type * as leaflet from "leaflet";
import { PMTiles } from "pmtiles";
import {
  type Feature,
  type LabelRule,
  leafletLayer,
  LineLabelSymbolizer,
  LineSymbolizer,
  type PaintRule,
  PolygonSymbolizer,
} from "protomaps-leaflet";

/** From here on tiles replace the drawn streets: from farther away these are the better picture. */
const NEAR = 13;
/** With streets there is something to see from nearer. */
const NEAREST = 19;
const ROADS = ["roads", "transportation", "road"];
const ROAD_NAMES = ["roads", "transportation_name", "road_label"];
const GREEN = new Set([
  "park", "national_park", "nature_reserve", "garden", "grass", "wood", "forest", "cemetery",
  "golf_course", "pitch", "playground", "recreation_ground", "village_green", "grassland",
]); // prettier-ignore
const MAIN = new Set(["highway", "motorway", "trunk", "major_road", "primary", "secondary"]);
const SMALL = new Set(["path", "footway", "steps", "pedestrian", "service", "track", "other"]);
const RAIL = new Set(["rail", "major_rail", "minor_rail", "transit", "ferry"]);

/** Adds the streets, and returns the words that its makers ask for. */
export async function addBasemap(map: leaflet.Map, file: string): Promise<string | undefined> {
  const archive = new PMTiles(file);
  const { maxZoom } = await archive.getHeader();
  map.setMaxZoom(NEAREST);
  map.createPane("basemap").style.zIndex = "230";
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const draw = (): leaflet.GridLayer =>
    leafletLayer({
      url: archive,
      pane: "basemap",
      minZoom: NEAR,
      maxDataZoom: maxZoom,
      noWrap: true,
      attribution: "",
      paintRules: paint(),
      labelRules: labels(),
    } as Parameters<typeof leafletLayer>[0]) as unknown as leaflet.GridLayer;
  let layer = draw().addTo(map);
  dark.addEventListener("change", () => {
    layer.remove();
    layer = draw().addTo(map);
  });
  // The drawn streets are less exact than those of tiles.
  const settle = () => map.getContainer().classList.toggle("streets", map.getZoom() >= NEAR);
  map.on("zoomend", settle);
  settle();
  return credit(await archive.getMetadata());
}

/** The text of the file's own note, which may be markup. */
function credit(metadata: unknown): string | undefined {
  const { attribution } = (metadata ?? {}) as { attribution?: unknown };
  if (typeof attribution !== "string") return undefined;
  const text = attribution.replaceAll("&copy;", "©").replaceAll(/<[^>]*>|&[a-z]+;/g, " ");
  return text.replaceAll(/\s+/g, " ").trim().slice(0, 200);
}

/** The kind of a thing, under the name that each of the layers has for it. */
function kind({ props }: Feature): string {
  const { kind, class: named, subclass } = props;
  return [kind, named, subclass].find((it): it is string => typeof it === "string") ?? "";
}

function paint(): PaintRule[] {
  const color = colors();
  const rules: PaintRule[] = [];
  const fill = (layer: string, fill: string, filter?: PaintRule["filter"], minzoom = 0) =>
    rules.push({
      dataLayer: layer,
      symbolizer: new PolygonSymbolizer({ fill }),
      minzoom,
      ...(filter && { filter }),
    });
  fill("earth", color("--land"));
  for (const layer of ["landcover", "landuse", "park"]) {
    fill(layer, color("--park"), (_, feature) => layer === "park" || GREEN.has(kind(feature)));
  }
  fill("water", color("--water"), (_, feature) => feature.geomType === 3);
  for (const layer of ["buildings", "building"]) fill(layer, color("--around"), undefined, 15);
  for (const [name, wide, wanted] of [
    ["--around", 1, (it: string) => SMALL.has(it)],
    ["--street", 2.5, (it: string) => !SMALL.has(it) && !MAIN.has(it) && !RAIL.has(it)],
    ["--highway", 4, (it: string) => MAIN.has(it)],
  ] as const) {
    for (const dataLayer of ROADS) {
      const width = (zoom: number) => wide * 1.5 ** Math.max(zoom - 14, -1);
      rules.push({
        dataLayer,
        symbolizer: new LineSymbolizer({ color: color(name), width }),
        filter: (_, feature) => feature.geomType === 2 && wanted(kind(feature)),
      });
    }
  }
  return rules;
}

function labels(): LabelRule[] {
  const color = colors();
  return ROAD_NAMES.map((dataLayer) => ({
    dataLayer,
    minzoom: 14,
    symbolizer: new LineLabelSymbolizer({
      labelProps: ["name:en", "name_en", "name"],
      fill: color("--name"),
      stroke: color("--land"),
      width: 2,
      font: "500 11px system-ui, sans-serif",
    }),
    filter: (_, feature) => !SMALL.has(kind(feature)),
  }));
}

function colors(): (name: string) => string {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue(name).trim();
}
