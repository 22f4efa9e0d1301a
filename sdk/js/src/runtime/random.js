// `Math.random` and `crypto` with the call's randomness.

import { randomBytes } from "../context.js";

const POOL = 256;

let pool = new Uint8Array(0);
let used = 0;

/** Returns a few random bytes. They are requested from the host many at a time. */
function draw(length) {
  if (used + length > pool.length) {
    pool = randomBytes(POOL);
    used = 0;
  }
  used += length;
  return new DataView(pool.buffer, pool.byteOffset + used - length, length);
}

/** A number of 53 random bits, at least 0 and less than 1. */
Math.random = () => {
  const bits = draw(8);
  return ((bits.getUint32(0) >>> 5) * 2 ** 26 + (bits.getUint32(4) >>> 6)) / 2 ** 53;
};

function getRandomValues(array) {
  if (!ArrayBuffer.isView(array)) throw new TypeError("crypto.getRandomValues fills a typed array.");
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(randomBytes(array.byteLength));
  return array;
}

function randomUUID() {
  const bytes = randomBytes(16);
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

Object.defineProperty(globalThis, "crypto", { value: { getRandomValues, randomUUID }, configurable: true, writable: true });
