// `console` as the operator's log. While the component is built, nothing is written.

import * as context from "portolan:capability/context";
import { isRunning } from "../context.js";
import { describeError } from "../trap.js";

function show(value) {
  if (typeof value === "string") return value;
  if (value instanceof Error) return describeError(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

const writer = (level) => (...values) => {
  if (isRunning()) context.log(level, values.map(show).join(" "));
};

const info = writer("info");

globalThis.console = {
  trace: writer("trace"),
  debug: writer("debug"),
  log: info,
  info,
  warn: writer("warn"),
  error: writer("error"),
  assert: (holds, ...values) => holds || globalThis.console.error("assertion failed:", ...values),
};
