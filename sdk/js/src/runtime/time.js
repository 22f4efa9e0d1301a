// The call's time as that of `Date` and `performance`.

import * as context from "portolan:capability/context";
import { requireRunning } from "./running.js";

/** The instant of the call in milliseconds since the Unix epoch. */
export function now() {
  requireRunning("The time");
  return context.now();
}

const NativeDate = Date;

globalThis.Date = class Date extends NativeDate {
  constructor(...given) {
    if (given.length > 0) super(...given);
    else super(now());
  }

  static now() {
    return now();
  }
};

// A call has one instant, so no time passes in it.
globalThis.performance = { timeOrigin: 0, now };
