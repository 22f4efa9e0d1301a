// Positions in the bundle as positions in the author's files (source maps, revision 3).

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Decodes the numbers of one segment of the mappings (base64 VLQ). */
function decode(segment) {
  const numbers = [];
  let value = 0;
  let shift = 0;
  for (const character of segment) {
    const digit = DIGITS.indexOf(character);
    value += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    value = 0;
    shift = 0;
  }
  return numbers;
}

/** Returns `file:line:column` of a position in the bundle, or null. Lines and columns count from 1. */
export function originalPosition({ sources, mappings }, line, column) {
  let [source, originalLine, originalColumn] = [0, 0, 0];
  let found = null;
  const lines = mappings.split(";");
  for (let at = 0; at < Math.min(line, lines.length); at += 1) {
    let generated = 0;
    for (const segment of lines[at].split(",")) {
      const [advance = 0, ...original] = decode(segment);
      generated += advance;
      if (original.length === 0) continue;
      source += original[0];
      originalLine += original[1];
      originalColumn += original[2];
      if (at === line - 1 && (generated < column || !found)) {
        found = `${sources[source]}:${originalLine + 1}:${originalColumn + 1}`;
      }
    }
  }
  return found;
}
