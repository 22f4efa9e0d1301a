// The land around the city: neighbouring counties in the Census Bureau's outlines.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { feature } from "topojson-client";

/** Alameda, Contra Costa, Marin, San Mateo, Santa Clara, Solano, Sonoma, Napa, Santa Cruz. */
const COUNTIES = ["06001", "06013", "06041", "06081", "06085", "06095", "06097", "06055", "06087"];
/** Of degrees: ten metres. */
const DECIMALS = 4;

/** What the page imports as `portolan:surroundings`: rings of longitude and latitude. */
export const surroundings = {
  name: "surroundings",
  setup(build) {
    build.onResolve({ filter: /^portolan:surroundings$/ }, ({ path }) => ({
      path,
      namespace: "portolan",
    }));
    build.onLoad({ filter: /.*/, namespace: "portolan" }, async () => {
      const path = createRequire(import.meta.url).resolve("us-atlas/counties-10m.json");
      const atlas = JSON.parse(await readFile(path, "utf8"));
      const counties = atlas.objects.counties.geometries.filter(({ id }) => COUNTIES.includes(id));
      const rings = counties.flatMap((county) => outer(feature(atlas, county).geometry));
      return { contents: JSON.stringify(rings), loader: "json" };
    });
  },
};

function outer({ type, coordinates }) {
  const polygons = type === "Polygon" ? [coordinates] : coordinates;
  return polygons.map(([ring]) =>
    ring.map((point) => point.map((it) => Number(it.toFixed(DECIMALS)))),
  );
}
