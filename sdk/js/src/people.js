// The data of the calling person: its export and its erasure.
//
// A component that imports this interface is loaded only with the operator's grant.

import * as host from "portolan:capability/people";
import { request } from "./host_error.js";

/** Exports the data. `action` is run for each part, with `{ export_id, about, part, last, items }`. */
export const requestExport = (action, about = {}) => request(() => host.requestExport(action, JSON.stringify(about)));

/** Erases the person after the commit. */
export const requestErasure = () => request(() => host.requestErasure());

/** Erases a person after the commit, in a call without an agent, such as that of a timer. */
export const requestErasureOf = (ownerId) => request(() => host.requestErasureOf(ownerId));
