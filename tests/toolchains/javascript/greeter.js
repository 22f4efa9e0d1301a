// A capability in JavaScript, on the contract itself: no SDK. The same file is built by two engines.

import { log, now } from "portolan:capability/context@2.0.0";

const REFUSED = "This greeter does not talk to robots.";
const INPUT = {
  type: "object",
  properties: { name: { type: "string", description: "A first name." } },
  required: ["name"],
};
const OUTPUT = {
  type: "object",
  properties: { text: { type: "string" }, at: { type: "integer" } },
  required: ["text", "at"],
};

export function describe() {
  const greet = {
    name: "greet",
    title: "Greet one person",
    description: "Greets one person by name.",
    access: "read",
    input: JSON.stringify(INPUT),
    output: JSON.stringify(OUTPUT),
    idempotent: true,
    destructive: false,
    costCredits: 0,
    errors: ["robot_refused"],
    emits: [],
    callers: [],
    examples: ['{"name":"Ada"}'],
    deprecated: undefined,
    annotations: [],
  };
  return {
    id: "js_greeter",
    version: "1.0.0",
    title: "JavaScript greeter",
    summary: "Greets people by name.",
    description: "Greets people by name.",
    tags: [],
    status: "stable",
    sunsetAt: undefined,
    successor: undefined,
    actions: [greet],
    defaultAction: undefined,
    errors: [{ code: "robot_refused", kind: "forbidden", retryable: false, description: REFUSED }],
    collections: [],
    invokes: [],
    publishes: [],
    subscriptions: [],
    stateMachines: [],
    roles: [],
    prompts: [],
    annotations: [],
  };
}

export function call(caller, action, input) {
  const { name } = JSON.parse(input);
  log("info", "greeting somebody");
  if (name === "HAL") {
    throw { code: "robot_refused", message: REFUSED, conflict: undefined, next: undefined, keepWrites: false };
  }
  if (name === "panic") throw new TypeError("the greeter fails");
  return { output: JSON.stringify({ text: `Hello, ${name}!`, at: Number(now()) }), next: undefined };
}
