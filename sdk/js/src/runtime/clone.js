// `structuredClone` for values without functions: primitives, plain objects, arrays, dates, regular expressions,
// maps, sets, errors, buffers and typed arrays, with cycles.

function refuse(value) {
  const name = typeof value === "object" ? value.constructor?.name : typeof value;
  throw new DOMException(`A ${name} cannot be cloned.`, "DataCloneError");
}

function copy(value, seen) {
  if (typeof value === "function" || typeof value === "symbol") refuse(value);
  if (typeof value !== "object" || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  const [result, fill] = begin(value, seen);
  seen.set(value, result);
  fill?.();
  return result;
}

/** Returns the empty copy of an object, and a function that fills it: for cycles, the copy must be in `seen` before. */
function begin(value, seen) {
  const fields = (result) => () => Object.keys(value).forEach((key) => (result[key] = copy(value[key], seen)));
  const of = (result, fill = () => {}) => [result, () => fill(result)];
  if (Array.isArray(value)) {
    const result = new Array(value.length);
    return [result, fields(result)];
  }
  if (value instanceof Date) return of(new Date(value.getTime()));
  if (value instanceof RegExp) return of(new RegExp(value.source, value.flags));
  if (value instanceof Map) return of(new Map(), (result) => value.forEach((v, k) => result.set(copy(k, seen), copy(v, seen))));
  if (value instanceof Set) return of(new Set(), (result) => value.forEach((v) => result.add(copy(v, seen))));
  if (value instanceof ArrayBuffer) return of(value.slice(0));
  if (ArrayBuffer.isView(value)) {
    const buffer = copy(value.buffer, seen);
    const length = value instanceof DataView ? value.byteLength : value.length;
    return of(new value.constructor(buffer, value.byteOffset, length));
  }
  if (value instanceof Error) {
    const result = Object.create(Object.getPrototypeOf(value));
    return of(result, () => ["message", "stack", "cause"].forEach((key) => key in value && (result[key] = copy(value[key], seen))));
  }
  if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) refuse(value);
  const result = {};
  return [result, fields(result)];
}

globalThis.structuredClone = (value) => copy(value, new Map());
