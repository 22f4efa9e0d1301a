// The webhooks of the calling agent.
//
// A component that imports this interface is loaded only with the operator's grant.

import * as host from "portolan:capability/webhooks";
import { request } from "./host_error.js";

export const create = (url, { types = [], description = null } = {}) => request(() => host.create(url, types, description));
export const all = () => request(() => host.all());
export const get = (id) => request(() => host.get(id));
export const pause = (id) => request(() => host.pause(id));
export const resume = (id) => request(() => host.resume(id));
export const challenge = (id) => request(() => host.challenge(id));
export const rotateSecret = (id) => request(() => host.rotateSecret(id));
export const test = (id) => request(() => host.test(id));
export const redeliver = (deliveryId) => request(() => host.redeliver(deliveryId));
export const remove = (id) => request(() => host.remove(id));

export function update(id, { url = null, types = null, description = null }, { expect = null } = {}) {
  return request(() => host.update(id, expect, { url, types, description }));
}

export function log(id, { outcome = null, cursor = null, limit = 100 } = {}) {
  return request(() => host.log(id, outcome, cursor, limit));
}
