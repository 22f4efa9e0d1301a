// The text of a trap: what was thrown, and the author's functions with file and line.

import * as context from "portolan:capability/context";
import { explainMissing } from "./missing.js";
import { originalPosition } from "./source_map.js";

/** `MOST_BYTES` is the most that the host keeps of the text, `PART` the bytes that it takes at a time. */
const MOST_BYTES = 1024;
const PART = 48;
// The contract's numbers have 64 bits, and a JavaScript number is exact up to 53: six bytes go into each.
const BYTES = 6;

let toPosition = (file, line, column) => `${file}:${line}:${column}`;

/** Sets the function that returns the text of a position, or null for a position outside the author's files. */
export const setPositions = (given) => {
  toPosition = given;
};

/** Sets what `readSourceMap` returned for the bundle; the build appends the call. */
export const setSourceMap = (map) => setPositions((file, line, column) => originalPosition(map, line, column));

/** Returns the author's frames of a stack as `function (file:line:column)`, the innermost first. */
function frames(stack) {
  const found = [...stack.matchAll(/^ *at (.*?) ?\(?([^()\s]+):(\d+):(\d+)\)?$/gm)];
  return found.flatMap(([, name, file, line, column]) => {
    const position = toPosition(file, Number(line), Number(column));
    return position ? [`${name || "<anonymous>"} (${position})`] : [];
  });
}

/** Returns one line about anything that was thrown. */
export function describeError(error) {
  if (!(error instanceof Error)) return `threw ${typeof error === "object" ? JSON.stringify(error) : String(error)}, which is not an Error`;
  const where = frames(error.stack ?? "").map((frame) => ` at ${frame}`);
  const cause = error.cause === undefined ? "" : ` caused by ${describeError(error.cause)}`;
  return `${explainMissing(`${error.name}: ${error.message}`)}${where.join("")}${cause}`;
}

/** Hands the text to the host, as the reason of the trap that follows. */
export function reportTrap(text) {
  const bytes = new TextEncoder().encode(text).slice(0, MOST_BYTES);
  for (let at = 0; at < bytes.length; at += PART) context.lastWords(words(bytes.slice(at, at + PART)));
}

function words(bytes) {
  const part = {};
  [..."abcdefgh"].forEach((name, at) => {
    const own = bytes.slice(at * BYTES, (at + 1) * BYTES);
    part[name] = own.reduceRight((number, byte) => number * 256 + byte, 0);
  });
  return part;
}
