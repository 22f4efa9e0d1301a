// Errors of the host, and what they are as refusals.

import { Refusal } from "./refusal.js";

const REFUSALS = {
  unavailable: () => ["dependency_unavailable", "A dependency of this capability is unavailable. Try again in a moment."],
  conflict: () => ["version_conflict", "It was changed at the same time. Read it again, then repeat the call."],
  "bad-cursor": () => ["cursor_invalid", "The cursor does not belong to this query."],
  limit: (error) => ["quota_exceeded", error.detail],
};
const INTERNAL = ["internal_error", "This capability sent an invalid request to its host."];

/**
 * Why the host refused a request: `kind` is `invalid`, `conflict`, `duplicate`, `bad-cursor`, `limit` or
 * `unavailable`; `detail` is its text, or with `duplicate` the id of the document that has the unique value.
 */
export class HostError extends Error {
  constructor(kind, detail) {
    // The id of another document may be personal data, so it is not part of the text.
    super(kind === "duplicate" ? "a unique value is taken" : `the host refused: ${detail ?? kind}`);
    this.kind = kind;
    this.detail = detail ?? null;
  }

  get name() {
    return "HostError";
  }

  /** Whether it is a mistake of the capability, which the operator should read about in the log. */
  get isMistake() {
    return !(this.kind in REFUSALS);
  }

  toRefusal() {
    return new Refusal(...(REFUSALS[this.kind]?.(this) ?? INTERNAL));
  }
}

/** Makes a request to the host, and throws its error as a `HostError`. */
export function request(make) {
  try {
    return make();
  } catch (error) {
    const { tag, val } = error.payload ?? error;
    throw typeof tag === "string" ? new HostError(tag, val) : error;
  }
}
