#!/usr/bin/env node
// Builds a project in JavaScript or TypeScript into a component:
//
//     node build.mjs PROJECT --wit WIT -o OUT.wasm [--quick]
//     node build.mjs --engine --wit WIT -o OUT.wasm
//
// The second line makes the engine that runs sources. With --quick, the engine in the component is the smaller one: it builds and loads sooner, and its calls are slower.
// It runs the commands `esbuild` and `componentize-qjs`. build.md describes the steps.

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { explainMissing, explainModule } from "./src/missing.js";
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
    options: { wit: { type: "string" }, output: { type: "string", short: "o" }, quick: { type: "boolean" }, engine: { type: "boolean" } },
  });
  const project = resolve(positionals[0] ?? ".");
  const wit = resolve(values.wit ?? join(SDK, "../../wit"));
  const output = resolve(values.output ?? join(project, `${basename(project)}.wasm`));
  const folder = mkdtempSync(join(tmpdir(), "portolan-js-"));
  try {
    const bundle = values.engine ? bundleEngine(folder) : bundleProject(project, entryOf(project), folder);
    cpSync(wit, join(folder, "wit"), { recursive: true });
    writeFileSync(join(folder, "wit/component.wit"), worldOf(bundle.imports));
    componentize(folder, bundle, values.quick ? ["--opt-size"] : [], output);
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
  const input = [
    'import { component, setSourceMap } from "@portolan/sdk/component";',
    `import capability from ${JSON.stringify(entry)};`,
    "export const { describe, call } = component(capability);",
    "export { setSourceMap };",
  ].join("\n");
  const { file, imports } = bundle(project, input, folder);
  const map = readMap(`${file}.map`, project, folder);
  writeFileSync(file, `${readFileSync(file, "utf8")}\nsetSourceMap(${JSON.stringify(map)});\n`);
  return { file, map, imports };
}

/** Bundles the engine. Its source map is empty, because its positions are not an author's. */
function bundleEngine(folder) {
  const { file, imports } = bundle(SDK, 'export { describe, call } from "./src/engine.js";', folder);
  return { file, map: { sources: [], lines: {} }, imports };
}

/**
 * Bundles an entry file with what it imports. Returns the file, and the interfaces of the host that it imports.
 * The bundle is ASCII: the engine counts columns in bytes, and source maps in characters.
 */
function bundle(folder, input, scratch) {
  const file = join(scratch, "component.js");
  const meta = join(scratch, "meta.json");
  run("esbuild", [
    `--sourcefile=${ENTRY}`, "--bundle", "--format=esm", "--platform=neutral", "--main-fields=module,main", "--target=es2023",
    `--alias:@portolan/sdk/component=${join(SDK, "src/component.js")}`, `--alias:@portolan/sdk=${join(SDK, "src/index.js")}`,
    "--external:portolan:*", "--charset=ascii", "--minify-whitespace", "--sourcemap=external", "--sources-content=false", "--log-level=warning",
    "--log-override:duplicate-object-key=error", `--metafile=${meta}`, `--outfile=${file}`,
  ], { cwd: folder, input, stdio: ["pipe", "inherit", "pipe"] }, explainBundling);
  const { outputs } = JSON.parse(readFileSync(meta, "utf8"));
  const { imports } = Object.entries(outputs).find(([name]) => name.endsWith("component.js"))[1];
  return { file, imports: imports.map((one) => one.path).filter((path) => path.startsWith(HOST)) };
}

/** Returns the source map of the project's files, without the paths of this machine. */
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

function componentize(folder, { file, map }, engine, output) {
  const explainEvaluation = (text) => explain(text, map);
  const options = ["--wit", join(folder, "wit"), "--world", "component", "--js", file, "--sync", "--stub-wasi", ...engine, "-o", output];
  run("componentize-qjs", options, { stdio: ["ignore", "ignore", "pipe"] }, explainEvaluation);
  console.log(`${output}: ${statSync(output).size} bytes`);
}

/** Returns what the author's code threw at its evaluation. Each sentence begins with the author's file and line, if known. */
function explain(text, map) {
  const [, thrown = text] = /evaluation: (?:Error: )?([^]*)/.exec(text) ?? [];
  const places = /\/component\.js:(\d+):(\d+)/g;
  const known = thrown.replace(places, (position, line, column) => originalPosition(map, Number(line), Number(column)) ?? position);
  const lines = known.split("\n").map((line) => line.trim());
  const sentences = lines.filter((line) => line && !line.startsWith("at "));
  const own = lines.find((line) => line.startsWith("at ") && !/@portolan|component\.js|native/.test(line));
  const [, file, line] = /\(?([^\s(]+):(\d+):\d+\)?$/.exec(own ?? "") ?? [];
  if (!file) return sentences.join("\n");
  // A definition is made by one call, whose line does not help to find a field.
  const [first, ...problems] = sentences;
  if (first.startsWith("the definition of")) return problems.map((problem) => `${file}: ${problem}`).join("\n");
  return sentences.map((sentence) => `${file}:${line}: ${explainMissing(sentence)}`).join("\n");
}

/** Returns the errors that esbuild found, each as a sentence that begins with file and line. */
function explainBundling(text) {
  const found = [...text.matchAll(/\[ERROR\] (.*)\n\n\s+(\S+?):(\d+):\d+:\n\s*\d+ │ (.*)/g)].map(([, what, file, line, source]) => {
    if (file === ENTRY) return `The entry file has no capability as its default export: write export default capability({ … }).`;
    const [, name = ""] = /^Could not resolve "(.*)"/.exec(what) ?? [];
    const help = explainModule(name);
    if (help) return `${file}:${line}: there is no module ${name}: ${help}.`;
    return `${file}:${line}: ${what}; correct the line ${source.trim()}`;
  });
  return found.length > 0 ? [...new Set(found)].join("\n") : text.trim();
}

/** The time after which a program is ended. */
const TOOL_TIME_MS = 60_000;

/** Runs a program. If it fails, throws a Mistake with the text that `explain` makes of its output. */
function run(command, given, options, explain) {
  try {
    execFileSync(command, given, { ...options, timeout: TOOL_TIME_MS, killSignal: "SIGKILL" });
  } catch (error) {
    if (error.code === "ETIMEDOUT") {
      throw new Mistake(`${command} was ended after ${TOOL_TIME_MS / 1000} s; does code at the top level of a module loop for ever?`);
    }
    if (error.code === "ENOENT") throw new Mistake(`${command} is missing: npm install -g ${TOOLS[command]}`);
    throw new Mistake(explain(String(error.stderr)));
  }
}

try {
  main();
} catch (error) {
  console.error(error instanceof Mistake ? error.message : error);
  process.exitCode = 1;
}
