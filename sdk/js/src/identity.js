// Agents and the people behind them.
//
// A component that imports this interface is loaded only with the operator's grant.

import * as host from "portolan:capability/identity";
import { request } from "./host_error.js";

export const claim = (personKey) => request(() => host.claim(personKey));
export const unclaim = () => request(() => host.unclaim());
export const rebind = (ownerId, personKey) => request(() => host.rebind(ownerId, personKey));
export const owner = (ownerId) => request(() => host.owner(ownerId));
export const agents = (ownerId) => request(() => host.agents(ownerId));
export const lastCall = (ownerId) => request(() => host.lastCall(ownerId));
export const rename = (agentId, name) => request(() => host.rename(agentId, name));
export const revoke = (agentId) => request(() => host.revoke(agentId));
export const signOut = (ownerId) => request(() => host.signOut(ownerId));
