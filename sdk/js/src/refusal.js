// Refusals: what an action throws to refuse a call.

import { COMMON_CODES } from "./codes.js";
import { unknownFields } from "./problems.js";

const KINDS = [
  "invalid", "unprocessable", "payment_required", "forbidden", "not_found", "conflict", "gone", "too_many", "upstream",
  "unavailable",
];
const NEXT = ["capability", "input", "missing", "ask_user", "then", "after_s"];
const DETAILS = ["message", "conflict", "next", "keepWrites"];

/** A refusal on its way to the caller. */
export class Refusal extends Error {
  constructor(code, message, { conflict = null, next = null, keepWrites = false } = {}) {
    super(message);
    this.code = code;
    this.conflict = conflict;
    this.next = next;
    this.keepWrites = keepWrites;
    this.passedOn = false;
  }

  get name() {
    return `Refusal ${this.code}`;
  }
}

/**
 * Declares an error code as a class: `const BookTaken = refusal("book_taken", "conflict", "This book is borrowed.")`.
 * An action lists it in `errors` and throws `new BookTaken({ next, conflict })`.
 */
export function refusal(code, kind, message, declared = {}) {
  const problems = checkRefusal(code, kind, message, declared);
  if (problems.length > 0) throw new TypeError(problems.join("\n"));
  const { description = message, retryable = false } = declared;
  return class extends Refusal {
    static declaration = { code, kind: kind.replaceAll("_", "-"), retryable, description };

    constructor(details = {}) {
      const [problem] = [
        ...unknownFields(`the refusal ${code}`, details, DETAILS),
        ...(details.next ? unknownFields(`next of the refusal ${code}`, details.next, NEXT) : []),
      ];
      if (problem) throw new TypeError(problem);
      super(code, details.message ?? message, {
        conflict: details.conflict ?? declared.conflict,
        next: details.next ?? declared.next,
        keepWrites: details.keepWrites ?? declared.keepWrites,
      });
    }
  };
}

function checkRefusal(code, kind, message, declared) {
  const at = `refusal ${code}`;
  const problems = unknownFields(at, declared, ["retryable", "description", "conflict", "next", "keepWrites"]);
  if (!/^[a-z][a-z0-9_]*$/.test(code)) problems.push(`${at} is not snake_case: use lower-case letters, digits and _.`);
  if (COMMON_CODES.includes(code)) {
    problems.push(`${at} is one of the host's common codes: throw refuse("${code}", message), or choose another name.`);
  }
  if (!KINDS.includes(kind)) problems.push(`${at} has the kind ${kind}, which is not a kind of error: use ${KINDS.join(", ")}.`);
  if (!message) problems.push(`${at} has no message: write one sentence for callers.`);
  return problems;
}

/**
 * Returns a refusal with one of the host's common codes:
 * `throw refuse("not_permitted", "Only members may see this.")`.
 */
export function refuse(code, message, details) {
  if (!COMMON_CODES.includes(code)) {
    throw new TypeError(`refuse("${code}") names no common code: declare it with refusal("${code}", …) and list it in errors.`);
  }
  return new Refusal(code, message, details);
}

/** Refuses a field for a rule that a schema cannot express. `pointer` is a JSON Pointer into the call's body. */
export function validation(pointer, rule, expected) {
  const conflict = { kind: "validation", errors: [{ pointer, rule, expected }] };
  return new Refusal("validation_failed", "A field of the input is not acceptable.", { conflict });
}

/** Converts a refusal to the contract's record. */
export function toFailure({ code, message, conflict, next, keepWrites }) {
  const json = (value) => (value == null ? null : JSON.stringify(value));
  return { code, message, conflict: json(conflict), next: json(next), keepWrites };
}

/**
 * Returns the refusal of a nested call, which is passed on unless caught. `keepWrites` applied to the nested
 * call only.
 */
export function fromFailure({ code, message, conflict, next }) {
  const parse = (text) => (text == null ? null : JSON.parse(text));
  const passed = new Refusal(code, message, { conflict: parse(conflict), next: parse(next) });
  passed.passedOn = true;
  return passed;
}
