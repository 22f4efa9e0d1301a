// Nested calls: actions of other capabilities, in this call's transaction.

import * as host from "portolan:capability/invoke";
import { fromFailure } from "./refusal.js";

/** Declares an action of another capability. The capability lists it in `invokes`. */
export function invocation(capability, action) {
  return {
    declaration: { capability, action },
    /** Runs it and returns its output. Its refusal is thrown, and passed on unless it is caught. */
    call(input = {}) {
      let success;
      try {
        success = host.call(capability, action, JSON.stringify(input));
      } catch (error) {
        const failure = error.payload ?? error;
        throw typeof failure.code === "string" ? fromFailure(failure) : error;
      }
      return JSON.parse(success.output);
    },
  };
}
