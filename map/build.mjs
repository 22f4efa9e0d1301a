// Makes the page that the host embeds: `node build.mjs [FOLDER]`, dist without one.

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { surroundings } from "./surroundings.mjs";

/** Whose code or data is in what is built. */
const BUNDLED = [
  "leaflet",
  "supercluster",
  "kdbush",
  "us-atlas",
  "protomaps-leaflet",
  "@protomaps/basemaps",
  "pmtiles",
  "fflate",
  "pbf",
  "@mapbox/vector-tile",
  "@mapbox/point-geometry",
  "rbush",
  "quickselect",
  "color2k",
  "potpack",
];
/** Packages without a text of their own, and a package of the same holder with the same license. */
const SAME_LICENSE = { pmtiles: "protomaps-leaflet", "@protomaps/basemaps": "protomaps-leaflet" };
const here = fileURLToPath(new URL(".", import.meta.url));

const { outputFiles } = await build({
  absWorkingDir: here,
  // The list first, the map after it; a worker for the large documents; streets where there are any.
  entryPoints: {
    map: "src/main.ts",
    chart: "src/chart.ts",
    reader: "src/reader.ts",
    basemap: "src/basemap.ts",
  },
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  outdir: "dist",
  write: false,
  plugins: [surroundings],
  // Pictures of controls that the page does not have.
  external: ["*.png"],
});

const files = new Map([["icon.svg", await readFile(join(here, "src/icon.svg"))]]);
for (const { path, contents } of outputFiles)
  files.set(path.split("/").at(-1), Buffer.from(contents));

/** The host serves each file under a name that changes with it, made in the same way. */
function served(name) {
  const digest = createHash("sha256").update(files.get(name)).digest("hex").slice(0, 16);
  return name.replace(/\.(?=[^.]+$)/, `-${digest}.`);
}

function integrity(name) {
  return `sha384-${createHash("sha384").update(files.get(name)).digest("base64")}`;
}

files.set("LICENSES.txt", Buffer.from(await licences()));
const fields = {
  licences: served("LICENSES.txt"),
  icon: served("icon.svg"),
  style: served("map.css"),
  "style-integrity": integrity("map.css"),
  script: served("map.js"),
  "script-integrity": integrity("map.js"),
  chart: served("chart.js"),
  "chart-integrity": integrity("chart.js"),
  reader: served("reader.js"),
  basemap: served("basemap.js"),
};
const template = await readFile(join(here, "src/page.html"), "utf8");
// Within other pages it is shown without what belongs to this host alone.
for (const [name, view] of Object.entries({ "index.html": "whole", "embed.html": "embed" })) {
  const apart = view === "embed" ? ' target="_blank" rel="noopener"' : "";
  const all = { ...fields, view, apart };
  const page = template.replaceAll(/\{\{([a-z-]+)\}\}/g, (_, field) => all[field]);
  files.set(name, Buffer.from(page));
}

const folder = process.argv[2] ?? join(here, "dist");
await mkdir(folder, { recursive: true });
for (const [name, content] of files) await writeFile(join(folder, name), content);

function inside(name, file) {
  return join(here, "node_modules", name, file);
}

async function licences() {
  const texts = ["What the map page of Portolan contains of others.\n"];
  for (const name of BUNDLED) {
    const { version, license } = JSON.parse(await readFile(inside(name, "package.json"), "utf8"));
    const folder = inside(SAME_LICENSE[name] ?? name, ".");
    const file = (await readdir(folder)).find((file) => /^licen[cs]e/i.test(file));
    const text = await readFile(join(folder, file), "utf8");
    texts.push(`${name} ${version} (${license})\n\n${text.trim()}\n`);
  }
  texts.push(
    "The outlines of the counties around the city are the U.S. Census Bureau's, a work of the\n" +
      "United States government, not under copyright. The city's own coast, parks and streets\n" +
      "were drawn for this page, and are released under CC0 1.0.\n",
  );
  return texts.join(`\n${"-".repeat(78)}\n\n`);
}
