// Text messages.
//
// A component that imports this interface is loaded only with the operator's grant.

import * as host from "portolan:capability/sms";
import { request } from "./host_error.js";

/** Sends a message after the commit, and returns its id. `to` is in E.164. */
export const send = (to, text) => request(() => host.send(to, text));
