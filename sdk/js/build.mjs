#!/usr/bin/env node
// Builds a project in JavaScript or TypeScript into a component:
//
//     node build.mjs PROJECT --wit WIT -o OUT.wasm
//
// It runs the commands `esbuild` and `componentize-qjs`. build.md describes the steps.

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ENTRY, originalPosition, readSourceMap } from "./src/source_map.js";

const SDK = fileURLToPath(new URL(".", import.meta.url));
const ENTRIES = ["index.ts", "index.js", "index.mjs", "src/index.ts", "src/index.js"];
const HOST = "portolan:capability/";
const TOOLS = { esbuild: "esbuild@0.28", "componentize-qjs": "componentize-qjs@0.4.5" };

/** A mistake that the author reads without a stack. */
class Mistake extends Error {}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { wit: { type: "string" }, output: { type: "string", short: "o" } },
  });
  const project = resolve(positionals[0] ?? ".");
  const wit = resolve(values.wit ?? join(SDK, "../../wit"));
  const output = resolve(values.output ?? join(project, `${basename(project)}.wasm`));
  const folder = mkdtempSync(join(tmpdir(), "portolan-js-"));
  try {
    const bundle = bundleProject(project, entryOf(project), folder);
    cpSync(wit, join(folder, "wit"), { recursive: true });
    writeFileSync(join(folder, "wit/component.wit"), worldOf(bundle.imports));
    componentize(folder, bundle, output);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function entryOf(project) {
  const manifest = join(project, "package.json");
  const main = existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")).main : undefined;
  const found = [main, ...ENTRIES].find((name) => name && existsSync(join(project, name)));
  if (!found) throw new Mistake(`${project} has no entry file: write ${ENTRIES.join(", ")}, or name it as main in package.json.`);
  return join(project, found);
}

/** Bundles the project with the SDK. The source map becomes part of the bundle, so that traps name source lines. */
function bundleProject(project, entry, folder) {
  const file = join(folder, "component.js");
  const meta = join(folder, "meta.json");
  const input = [
    'import { component, setSourceMap } from "@portolan/sdk/component";',
    `import capability from ${JSON.stringify(entry)};`,
    "export const { describe, call } = component(capability);",
    "export { setSourceMap };",
  ].join("\n");
  run("esbuild", [
    `--sourcefile=${ENTRY}`, "--bundle", "--format=esm", "--platform=neutral", "--main-fields=module,main", "--target=es2023",
    `--alias:@portolan/sdk/component=${join(SDK, "src/component.js")}`, `--alias:@portolan/sdk=${join(SDK, "src/index.js")}`,
    "--external:portolan:*", "--charset=utf8", "--minify-whitespace", "--sourcemap=external", "--sources-content=false", "--log-level=warning",
    `--metafile=${meta}`, `--outfile=${file}`,
  ], { cwd: project, input, stdio: ["pipe", "inherit", "inherit"] });
  const map = readMap(`${file}.map`, project, folder);
  const { outputs } = JSON.parse(readFileSync(meta, "utf8"));
  const { imports } = Object.entries(outputs).find(([name]) => name.endsWith("component.js"))[1];
  writeFileSync(file, `${readFileSync(file, "utf8")}\nsetSourceMap(${JSON.stringify(map)});\n`);
  return { file, map, imports: imports.map((one) => one.path).filter((path) => path.startsWith(HOST)) };
}

/** The map of the project's files, without the paths of this machine. */
function readMap(file, project, folder) {
  const { sources, mappings } = JSON.parse(readFileSync(file, "utf8"));
  const name = (source) => {
    const path = resolve(folder, source);
    if (basename(path) === ENTRY) return ENTRY;
    return path.startsWith(join(SDK, "src")) ? `@portolan/sdk/${relative(join(SDK, "src"), path)}` : relative(project, path);
  };
  return readSourceMap({ sources: sources.map(name), mappings });
}

/** A world that imports what the bundle imports and nothing else, because a host reads imports as permissions. */
function worldOf(imports) {
  const names = [...new Set(imports)].map((path) => path.slice(HOST.length)).sort();
  return [
    "world component {",
    "  use types.{json, caller, success, failure};",
    "  use description.{descriptor};",
    ...names.map((name) => `  import ${name};`),
    "  export describe: func() -> descriptor;",
    "  export call: func(caller: caller, action: string, input: json) -> result<success, failure>;",
    "}",
    "",
  ].join("\n");
}

function componentize(folder, { file, map }, output) {
  const options = ["--wit", join(folder, "wit"), "--world", "component", "--js", file, "--sync", "--stub-wasi", "-o", output];
  try {
    run("componentize-qjs", options, { stdio: ["ignore", "ignore", "pipe"] });
  } catch (error) {
    throw error instanceof Mistake ? error : new Mistake(explain(String(error.stderr), map));
  }
  console.log(`${output}: ${statSync(output).size} bytes`);
}

/** What the author's code threw while it was evaluated, with the author's files and lines. */
function explain(text, map) {
  const [, thrown = text] = /evaluation: (?:Error: )?([^]*)/.exec(text) ?? [];
  return thrown
    .replace(/\/component\.js:(\d+):(\d+)/g, (position, line, column) => originalPosition(map, Number(line), Number(column)) ?? position)
    .split("\n")
    .filter((line) => !line.includes("component.js"))
    .join("\n")
    .trim();
}

function run(command, given, options) {
  try {
    execFileSync(command, given, { stdio: "inherit", ...options });
  } catch (error) {
    if (error.code === "ENOENT") throw new Mistake(`${command} is missing: npm install -g ${TOOLS[command]}`);
    throw error;
  }
}

try {
  main();
} catch (error) {
  if (error.status === undefined) console.error(error instanceof Mistake ? error.message : error);
  process.exitCode = 1;
}
