// Sentences about mistakes in a definition or in what is given to the host.

/** Returns a sentence for each field of `given` that is not among the known ones, or one if it is no object. */
export function unknownFields(at, given, known) {
  if (typeof given !== "object" || given === null) {
    return [`${at} has ${JSON.stringify(given) ?? typeof given} where an object is expected: write { ${known[0]}: … }.`];
  }
  return Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => `${at} has no field ${name}: use ${known.join(", ")}.`);
}

/** Returns a text, and throws a sentence for anything else, which the contract cannot carry. */
export function text(what, value) {
  if (typeof value !== "string") throw new TypeError(`${what} is ${value === null ? "null" : typeof value}: give a text.`);
  return value;
}
