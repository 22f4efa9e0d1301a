// The exports that the contract requires of a component. The build makes an entry file that exports
// them.

import "./runtime/index.js";
import { Capability } from "./capability.js";
import { begin } from "./context.js";
import { describeError, reportTrap } from "./trap.js";

export { setSourceMap } from "./trap.js";

/** Returns the component's exports for a capability, with the descriptor made in advance. */
export function component(capability) {
  const exports = exportsOf(capability);
  const descriptor = exports.describe();
  return { ...exports, describe: () => descriptor };
}

/** Returns the exports. Only `describe` makes the descriptor, because an engine loads the exports at every call. */
export function exportsOf(capability) {
  if (!(capability instanceof Capability)) {
    throw new TypeError("the entry file has no capability as its default export: write export default capability({ … }).");
  }
  return {
    describe: () => capability.describe(),
    call(caller, action, input) {
      begin();
      const { success, failure } = run(capability, caller, action, input);
      if (failure) throw failure;
      return success;
    },
  };
}

function run(capability, caller, action, input) {
  try {
    return capability.call(caller, action, input);
  } catch (error) {
    reportTrap(`${action}: ${describeError(error)}`);
    throw error;
  }
}
