// Resolves `portolan:capability/X` to a module with the functions that wit/ has for the interface X.

import { readFileSync, readdirSync } from "node:fs";

const PREFIX = "portolan:capability/";
const WIT = new URL("../../../wit/", import.meta.url);
const wit = readdirSync(WIT).map((name) => readFileSync(new URL(name, WIT), "utf8")).join("\n");

function functionsOf(name) {
  const [, body] = new RegExp(`^interface ${name} \\{$(.*?)^\\}$`, "ms").exec(wit);
  return [...body.matchAll(/^ {2}([a-z-]+): func/gm)].map(([, found]) => found.replace(/-./g, ([, letter]) => letter.toUpperCase()));
}

export function resolve(specifier, context, next) {
  if (specifier === "@portolan/sdk") return { url: new URL("../src/index.js", import.meta.url).href, shortCircuit: true };
  return specifier.startsWith(PREFIX) ? { url: specifier, shortCircuit: true } : next(specifier, context);
}

export function load(url, context, next) {
  if (!url.startsWith(PREFIX)) return next(url, context);
  const name = url.slice(PREFIX.length);
  const lines = functionsOf(name).map((one) => `const _${one} = (...given) => globalThis.portolanHost.${name}.${one}(...given); export { _${one} as ${one} };`);
  return { format: "module", source: lines.join("\n"), shortCircuit: true };
}
