// Look-ups by the host: DNS texts, pages, and files that change.
//
// A component that imports this interface is loaded only with the operator's grant.

import * as host from "portolan:capability/lookups";
import { request } from "./host_error.js";

/** Looks up the TXT records of a name. `action` is run with `{ lookup_id, about, found | error }`. */
export const txt = (name, action, about = {}) => request(() => host.txt(name, action, JSON.stringify(about)));

/** Reads an https page. `action` is run as for `txt`. */
export const page = (url, action, about = {}) => request(() => host.page(url, action, JSON.stringify(about)));

/**
 * Reads a file that changes, such as a calendar, by its secret https address. `action` is run with
 * `{ lookup_id, about, text | unchanged | error, … }`.
 */
export const file = (url, { mediaTypes, etag, lastModified }, action, about = {}) =>
  request(() => host.file(url, mediaTypes, etag, lastModified, action, JSON.stringify(about)));
