// `TextEncoder` and `TextDecoder` for UTF-8.

const REPLACEMENT = 0xfffd;

function encode(text = "") {
  const bytes = [];
  for (const character of String(text)) {
    const point = character.codePointAt(0);
    // A lone surrogate has no UTF-8.
    push(bytes, point >= 0xd800 && point <= 0xdfff ? REPLACEMENT : point);
  }
  return Uint8Array.from(bytes);
}

function push(bytes, point) {
  if (point < 0x80) bytes.push(point);
  else if (point < 0x800) bytes.push(0xc0 | (point >> 6), tail(point, 0));
  else if (point < 0x10000) bytes.push(0xe0 | (point >> 12), tail(point, 6), tail(point, 0));
  else bytes.push(0xf0 | (point >> 18), tail(point, 12), tail(point, 6), tail(point, 0));
}

const tail = (point, shift) => 0x80 | ((point >> shift) & 0x3f);

/** The length of a sequence, and the range of its second byte (table 3-7 of the Unicode standard). */
function form(first) {
  if (first < 0x80) return [1];
  if (first < 0xc2 || first > 0xf4) return null;
  if (first < 0xe0) return [2, 0x80, 0xbf];
  if (first < 0xf0) return [3, first === 0xe0 ? 0xa0 : 0x80, first === 0xed ? 0x9f : 0xbf];
  return [4, first === 0xf0 ? 0x90 : 0x80, first === 0xf4 ? 0x8f : 0xbf];
}

/** Reads one sequence: its code point, or null where it is malformed, and the bytes that it takes. */
function next(bytes, at) {
  const first = bytes[at];
  const [length, low, high] = form(first) ?? [0];
  if (length === 0) return [null, 1];
  let point = length === 1 ? first : first & (0xff >> (length + 1));
  for (let offset = 1; offset < length; offset += 1) {
    const byte = bytes[at + offset];
    const fits = offset === 1 ? byte >= low && byte <= high : byte >= 0x80 && byte <= 0xbf;
    if (!fits) return [null, offset];
    point = (point << 6) | (byte & 0x3f);
  }
  return [point, length];
}

function decode(bytes, { fatal, ignoreBOM }) {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const [point, taken] = next(bytes, at);
    if (point === null && fatal) throw new TypeError("The bytes are not UTF-8.");
    text += String.fromCodePoint(point ?? REPLACEMENT);
    at += taken;
  }
  return !ignoreBOM && text.startsWith("\ufeff") ? text.slice(1) : text;
}

function toBytes(source) {
  if (source === undefined) return new Uint8Array(0);
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
}

globalThis.TextEncoder = class TextEncoder {
  encoding = "utf-8";

  encode(text) {
    return encode(text);
  }
};

globalThis.TextDecoder = class TextDecoder {
  encoding = "utf-8";

  constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
    if (!/^\s*utf-?8\s*$/i.test(label)) throw new RangeError(`TextDecoder knows utf-8 and not ${label}.`);
    Object.assign(this, { fatal, ignoreBOM });
  }

  decode(source) {
    return decode(toBytes(source), this);
  }
};
