// Cryptography with this capability's keys, which stay in the host.

import * as host from "portolan:capability/secrets";
import { HostError, request } from "./host_error.js";

const bytes = (data) => (typeof data === "string" ? new TextEncoder().encode(data) : data);

/** Compares all bytes, so that the time does not depend on where the first difference is. */
function isEqual(one, other) {
  return one.length === other.length && one.reduce((found, byte, at) => found | (byte ^ other[at]), 0) === 0;
}

/** Returns the HMAC-SHA-256 of the data under the newest key: 32 bytes. Texts are taken as UTF-8. */
export const mac = (data) => request(() => host.mac(bytes(data)));

/** Returns the HMACs of the data under every key, the newest first. */
export const macs = (data) => request(() => host.macs(bytes(data)));

/** Returns whether `claimed` is the HMAC of the data under any of the keys. */
export const isMac = (data, claimed) => macs(data).some((one) => isEqual(one, claimed));

/** Encrypts. */
export const seal = (data) => request(() => host.seal(bytes(data)));

/** Decrypts what `seal` returned. Returns null if it was changed, or if none of this capability's keys sealed it. */
export function open(sealed) {
  try {
    return request(() => host.open(sealed));
  } catch (error) {
    if (error instanceof HostError && error.kind === "invalid") return null;
    throw error;
  }
}
