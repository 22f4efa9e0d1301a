// The running call: its caller, time, randomness and identifiers.

import * as host from "portolan:capability/context";
import { now, randomBytes } from "./context.js";
import { text } from "./problems.js";
import { refuse } from "./refusal.js";

export class Call {
  /** The calling agent, or null if the host itself calls (a timer, an event, a look-up). */
  agent;

  constructor({ tag, val }) {
    this.agent = tag === "agent" ? val : null;
  }

  /** The person behind the agent; never null in an action of access `write`. */
  get ownerId() {
    return this.agent?.ownerId ?? null;
  }

  /** Returns the id of the person behind the agent; refuses the call if there is none. */
  requireOwner() {
    if (!this.agent) throw refuse("not_permitted", "Only an agent may do this.");
    if (this.ownerId) return this.ownerId;
    throw refuse("phone_binding_required", "A person must claim this identity with a one-time phone bind first.", {
      next: {
        capability: "svc.phone-binding",
        input: { action: "bind" },
        missing: ["phone"],
        ask_user: "Which mobile number may I send a code to?",
        then: "retry_original",
      },
    });
  }

  /** The OAuth client of the agent's token, or null. */
  get clientId() {
    return host.clientId();
  }

  /** Whether the call runs in test mode, whose data is separate from that of live mode. */
  get testMode() {
    return host.testMode();
  }

  /** Milliseconds since the Unix epoch, the same for the whole call. */
  get now() {
    return now();
  }

  /** Returns unpredictable bytes. */
  random(length) {
    return randomBytes(length);
  }

  /** Returns a new sortable identifier: the prefix, an underscore and a ULID. */
  newId(prefix) {
    return host.newId(text("the prefix of an id", prefix));
  }
}
