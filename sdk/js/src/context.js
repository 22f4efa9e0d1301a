// The call's time and randomness. While the component is built, there is no call and no host to ask.

import * as host from "portolan:capability/context";

const RANDOM_AT_ONCE = 4096;

let running = false;

/** Marks that an action is running. */
export const begin = () => {
  running = true;
};

export const isRunning = () => running;

function requireRunning(what) {
  if (!running) throw new Error(`${what} is used at the top level, which a build runs once and a source at each call: use it in the run of an action.`);
}

/** Returns the instant of the call in milliseconds since the Unix epoch. */
export function now() {
  requireRunning("The time");
  return host.now();
}

/** Returns unpredictable bytes, the same again if the host repeats the call. */
export function randomBytes(length) {
  requireRunning("Randomness");
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += RANDOM_AT_ONCE) {
    bytes.set(host.random(Math.min(RANDOM_AT_ONCE, length - at)), at);
  }
  return bytes;
}
