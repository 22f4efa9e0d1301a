// Look-ups by the host: DNS texts and pages.
//
// A component that imports this interface is loaded only with the operator's grant.

import * as host from "portolan:capability/lookups";
import { request } from "./host_error.js";

/** Looks up the TXT records of a name. `action` is run with `{ lookup_id, about, found | error }`. */
export const txt = (name, action, about = {}) => request(() => host.txt(name, action, JSON.stringify(about)));

/** Reads an https page. `action` is run as for `txt`. */
export const page = (url, action, about = {}) => request(() => host.page(url, action, JSON.stringify(about)));
