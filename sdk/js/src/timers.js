// Later runs of this capability's internal actions.

import * as host from "portolan:capability/timers";
import { request } from "./host_error.js";
import { text } from "./problems.js";

/** Sets a timer, or replaces the one of this name. `at` is a `Date`, RFC 3339 text or milliseconds since the Unix epoch. */
export function set(name, at, action, input = {}) {
  const instant = typeof at === "string" ? Date.parse(at) : Number(at);
  if (!Number.isSafeInteger(instant)) throw new TypeError(`the time of the timer ${name} is ${at}: give a Date, RFC 3339 text or whole milliseconds.`);
  request(() => host.set(text("the name of a timer", name), instant, text("the action of a timer", action), JSON.stringify(input)));
}

/** Cancels a timer and returns whether it existed. */
export const cancel = (name) => request(() => host.cancel(text("the name of a timer", name)));
