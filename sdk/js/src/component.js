// What the contract asks a component for. The build makes an entry file that exports it.

import "./runtime/index.js";
import { Capability } from "./capability.js";
import { begin } from "./context.js";
import { describeError, reportTrap } from "./trap.js";

export { setSourceMap } from "./trap.js";

/** The component's exports for a capability. */
export function component(capability) {
  if (!(capability instanceof Capability)) {
    throw new TypeError("the entry file has no capability as its default export: write export default capability({ … }).");
  }
  const descriptor = capability.describe();
  return {
    describe: () => descriptor,
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
