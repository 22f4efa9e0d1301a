// What other hosts of JavaScript have and a sandbox lacks, with what helps.

const FILES = "a sandbox has no files: write the content into a module";
const PROCESSES = "a sandbox has no processes and no environment: write the values into a module, or declare secrets";
const TIMER = "no time passes in a call: set a timer with timers.set, which runs an internal action";
const NETWORK = "a sandbox has no network: invoke a capability that has what you need";
const MODULES = "a sandbox has no modules of Node.js: write import … from \"…\", which the build bundles";
const PAGE = "there is no page: answer with data";

export const MISSING_GLOBALS = {
  setTimeout: TIMER, setInterval: TIMER, setImmediate: TIMER, clearTimeout: TIMER, clearInterval: TIMER,
  fetch: NETWORK, XMLHttpRequest: NETWORK, WebSocket: NETWORK,
  process: PROCESSES, Worker: PROCESSES, Deno: PROCESSES, Bun: PROCESSES,
  require: MODULES, module: MODULES, exports: MODULES, __dirname: FILES, __filename: FILES,
  Buffer: "use Uint8Array, TextEncoder and TextDecoder",
  window: PAGE, document: PAGE, localStorage: "a sandbox keeps nothing: declare a collection of documents",
};

const MISSING_MODULES = {
  fs: FILES, "fs/promises": FILES, path: FILES, os: PROCESSES, process: PROCESSES, child_process: PROCESSES,
  worker_threads: PROCESSES, http: NETWORK, https: NETWORK, net: NETWORK, dns: NETWORK, tls: NETWORK,
  timers: TIMER, "timers/promises": TIMER, crypto: "use the global crypto in an action, or call.random",
  buffer: MISSING_GLOBALS.Buffer,
};

/** Returns a text with what helps, if it says that a name is not defined which a sandbox lacks. */
export function explainMissing(text) {
  const [, name] = /^(?:ReferenceError: )?'?([\w$]+)'? is not defined/.exec(text) ?? [];
  const help = Object.hasOwn(MISSING_GLOBALS, name ?? "") ? MISSING_GLOBALS[name] : undefined;
  return help ? `${text}; ${help}` : text;
}

/** Returns what helps if a module of this name cannot be found. */
export function explainModule(name) {
  const builtin = name.replace(/^node:/, "");
  if (Object.hasOwn(MISSING_MODULES, builtin)) return MISSING_MODULES[builtin];
  return name.startsWith("node:") ? MODULES : null;
}
