// A source as a capability. A source is one module that imports from the SDK and nothing else.

import { explainModule } from "./missing.js";
import * as sdk from "./open.js";

const IMPORT = /^import\s+(\{[^}]*\}|\*\s*as\s+[\w$]+)\s*from\s*["']([^"'\n]+)["'][ \t]*;?/gm;
const DEFAULT = /^export\s+default\s/m;
/** The code before the text in its first line. */
const BEFORE = '(function ($sdk, $module) { "use strict"; ';

/** Returns the default export of a source. Lines keep their numbers. */
export function evaluate({ name, text }) {
  const lineOf = (at) => text.slice(0, at).split("\n").length;
  const body = text
    .replace(IMPORT, (statement, names, from, at) => {
      if (from !== "@portolan/sdk") {
        const help = explainModule(from) ?? `to use ${from}, build a component with portolan build`;
        throw new SyntaxError(`${name}:${lineOf(at)}: a source imports only from "@portolan/sdk": ${help}.`);
      }
      return toDeclaration(names, (unknown) => {
        throw new SyntaxError(`${name}:${lineOf(at)}: a source has no ${unknown} of "@portolan/sdk": correct the name; for what needs a grant, build a component with portolan build.`);
      });
    })
    .replace(DEFAULT, "$module.default = ");
  const module = {};
  // An indirect call evaluates in the global scope.
  (0, eval)(`${BEFORE}${body}\n})`)(sdk, module);
  return module.default;
}

/** Returns the declaration that replaces an import. */
function toDeclaration(names, refuse) {
  const [, all] = /^\*\s*as\s+([\w$]+)$/.exec(names) ?? [];
  if (all) return `const ${all} = $sdk;`;
  const imported = names.slice(1, -1).split(",").map((one) => one.trim().split(/\s+/)[0]);
  const unknown = imported.find((one) => one && !(one in sdk));
  if (unknown) refuse(unknown);
  return `const ${names.replace(/\sas\s/g, " : ")} = $sdk;`;
}

/** Returns a function that returns a position in the source as `file:line:column`, and null for any other position. */
export const toSourcePosition = ({ name }) => (file, line, column) =>
  file === "<input>" ? `${name}:${line}:${line === 1 ? column - BEFORE.length : column}` : null;
