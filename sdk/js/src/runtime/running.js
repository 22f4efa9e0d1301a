// Whether an action runs. While the component is built, there is no host to ask.

let running = false;

export const begin = () => {
  running = true;
};

export const isRunning = () => running;

/** Throws where a value of the call is asked for while the component is built. */
export function requireRunning(what) {
  if (!running) throw new Error(`${what} is used while the component is built: use it in the run of an action.`);
}
