// Events that actions publish.

import * as host from "portolan:capability/events";
import { request } from "./host_error.js";
import { text, unknownFields } from "./problems.js";

/** Declares a type of event. An action lists it in `emits`. A type is sensitive unless it is `public`. */
export function event(type, declared = {}) {
  const [problem] = unknownFields(`event ${type}`, declared, ["public"]);
  if (problem) throw new TypeError(problem);
  return {
    declaration: { eventType: type, sensitive: !declared.public },
    /** Publishes with the commit: to `{ owner }`, `{ agent }`, or `"capabilities"`. */
    publish(to, subject, data) {
      const event = { eventType: type, subject: text(`the subject of ${type}`, subject), data: JSON.stringify(data) };
      request(() => host.publish(toAudience(to), event));
    },
  };
}

function toAudience(to) {
  if (to === "capabilities") return { tag: to };
  const [[tag, val] = []] = Object.entries(to ?? {});
  if ((tag === "owner" || tag === "agent") && typeof val === "string") return { tag, val };
  throw new TypeError('the receiver of an event is { owner: "own_…" }, { agent: "agt_…" } or "capabilities"');
}
