// The inbox of the calling agent.
//
// A component that imports this interface is loaded only with the operator's grant.

import * as host from "portolan:capability/inbox";
import { request } from "./host_error.js";

export function pull({ cursor = null, types = [], limit = 100 } = {}) {
  const page = request(() => host.pull(cursor, types, limit));
  return { ...page, events: page.events.map((event) => JSON.parse(event)) };
}

export const acknowledge = (eventIds) => request(() => host.acknowledge(eventIds));
export const replay = (since, types = []) => request(() => host.replay(Number(since), types));
