// Cryptography with this capability's keys, which stay in the host.

import * as host from "portolan:capability/secrets";
import { HostError, request } from "./host_error.js";

const bytes = (data) => (typeof data === "string" ? new TextEncoder().encode(data) : data);

/** Compares without an early end, so that the time tells nothing about the first difference. */
function isEqual(one, other) {
  return one.length === other.length && one.reduce((found, byte, at) => found | (byte ^ other[at]), 0) === 0;
}

/** Signs: 32 bytes. Texts are signed as UTF-8. */
export const mac = (data) => request(() => host.mac(bytes(data)));

/** The signatures under every key, newest first. */
export const macs = (data) => request(() => host.macs(bytes(data)));

/** Whether a signature is of this data, under any key. */
export const isMac = (data, claimed) => macs(data).some((one) => isEqual(one, claimed));

/** Encrypts. */
export const seal = (data) => request(() => host.seal(bytes(data)));

/** Decrypts, or returns null for changed data. */
export function open(sealed) {
  try {
    return request(() => host.open(sealed));
  } catch (error) {
    if (error instanceof HostError && error.kind === "invalid") return null;
    throw error;
  }
}
