// An engine: a component that runs the source that its host gives it, in a fresh sandbox at each call.

import { read } from "portolan:capability/source";
import { trustDefinitions } from "./capability.js";
import { exportsOf } from "./component.js";
import { evaluate, toSourcePosition } from "./evaluate.js";
import { describeError, reportTrap, setPositions } from "./trap.js";

/** Loads the source, and returns the exports of its capability. */
function load() {
  const script = read();
  if (!script) throw new Error("this is an engine, which runs a source: put it into the folder .engines of a catalog.");
  setPositions(toSourcePosition(script));
  try {
    return exportsOf(evaluate(script));
  } catch (error) {
    reportTrap(describeError(error));
    throw error;
  }
}

export const describe = () => load().describe();
export const call = (caller, action, input) => {
  trustDefinitions();
  return load().call(caller, action, input);
};
