// What every capability may use. The other interfaces need a grant of the operator.

export { answer } from "./answer.js";
export { capability } from "./capability.js";
export { collection } from "./documents.js";
export { event } from "./events.js";
export { changes, feed, publication } from "./feeds.js";
export { HostError } from "./host_error.js";
export { invocation } from "./invoke.js";
export { pageOf, paging, toItems } from "./paging.js";
export { Refusal, refusal, refuse, validation } from "./refusal.js";
export {
  anything, array, boolean, choice, id, integer, map, nullable, number, object, optional, schema, string, time,
} from "./schema.js";
export { step } from "./step.js";
export * as platform from "./platform.js";
export * as secrets from "./secrets.js";
export * as timers from "./timers.js";

/** Types an action for TypeScript. */
export const action = (definition) => definition;

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
