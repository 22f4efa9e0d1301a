// `Date` and `performance` with the call's time.

import { now } from "../context.js";

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
