// Positions in the bundle as positions in the author's files (source maps, revision 3).

/** What the map calls the entry file that the build writes. */
export const ENTRY = "portolan-entry.js";

const DIGITS = new Map([..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].map((digit, value) => [digit, value]));

/** Decodes the numbers of one segment of the mappings (base64 VLQ). */
function decode(segment) {
  const numbers = [];
  let value = 0;
  let shift = 0;
  for (const character of segment) {
    const digit = DIGITS.get(character);
    value += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    value = 0;
    shift = 0;
  }
  return numbers;
}

/**
 * Reads a source map for `originalPosition`: for each line of the bundle the numbers column, source, line and column
 * of its segments. Source is -1 in what is not the project's. Lines of the bundle count from 1, other numbers from 0.
 * The build does this, so that a trap only looks its positions up.
 */
export function readSourceMap({ sources, mappings }) {
  const wanted = sources.map((source) => !source.startsWith("@portolan/sdk/") && source !== ENTRY);
  let [source, line, column] = [0, 0, 0];
  const lines = {};
  mappings.split(";").forEach((segments, at) => {
    const found = [];
    let generated = 0;
    for (const segment of segments.split(",")) {
      const [advance = 0, ...original] = decode(segment);
      generated += advance;
      if (original.length === 0) continue;
      source += original[0];
      line += original[1];
      column += original[2];
      if (wanted[source]) found.push(generated, source, line, column);
      else if (found.at(-3) !== -1) found.push(generated, -1, 0, 0);
    }
    lines[at + 1] = found;
  });
  return { sources: sources.map((source, at) => (wanted[at] ? source : "")), lines };
}

/** Returns `file:line:column` of a position in the bundle, or null. Lines and columns count from 1. */
export function originalPosition({ sources, lines }, line, column) {
  const segments = lines[line] ?? [];
  let at = 0;
  while (at + 4 < segments.length && segments[at + 4] < column) at += 4;
  const [, source = -1, originalLine, originalColumn] = segments.slice(at, at + 4);
  return source < 0 ? null : `${sources[source]}:${originalLine + 1}:${originalColumn + 1}`;
}
