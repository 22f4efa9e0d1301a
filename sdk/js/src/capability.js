// A capability: its definition, its descriptor, and the running of its actions.

import { Answer } from "./answer.js";
import { Call } from "./call.js";
import { COMMON_CODES } from "./codes.js";
import { checkDefinition, toAction } from "./definition.js";
import { HostError } from "./host_error.js";
import { Refusal, toFailure } from "./refusal.js";
import { violation, withDefaults } from "./schema.js";
import { setOwnId } from "./step.js";

let isChecked = true;

/** Makes `capability` trust definitions. An engine does so in a call, because the host has asked it to describe the source before. */
export const trustDefinitions = () => {
  isChecked = false;
};

/** Defines a capability. A project's entry file exports it as its default. */
export function capability(definition) {
  const actions = new Map(Object.entries(definition.actions ?? {}).map(([name, given]) => [name, toAction(name, given)]));
  const problems = isChecked ? checkDefinition(definition, actions) : [];
  if (problems.length > 0) throw new TypeError(`the definition of ${definition.id ?? "the capability"} has problems:\n${problems.join("\n")}`);
  setOwnId(definition.id);
  return new Capability(definition, actions);
}

/** Returns the values without duplicates: of those with the same `key`, only one. */
function unique(values, key) {
  return [...new Map(values.map((value) => [value[key], value])).values()];
}

/** Returns the first paragraph of a text. */
const firstParagraph = (text) => text.trim().split(/\n\s*\n/)[0];

/** Returns the records of annotations; `own` are those that have fields of their own, unless they are undefined. */
function annotations(given = {}, own = {}) {
  const declared = Object.entries(own).filter(([, value]) => value !== undefined);
  const values = { ...given, ...Object.fromEntries(declared) };
  return Object.entries(values).map(([key, value]) => ({ key, value: JSON.stringify(value) }));
}

export class Capability {
  #definition;
  #actions;

  constructor(definition, actions) {
    this.#definition = definition;
    this.#actions = actions;
  }

  describe() {
    const given = this.#definition;
    const actions = [...this.#actions.values()];
    return {
      id: given.id,
      version: given.version,
      title: given.title,
      summary: given.summary ?? firstParagraph(given.description),
      description: given.description,
      tags: given.tags ?? [],
      status: given.status ?? "stable",
      sunsetAt: given.sunsetAt === undefined ? null : Number(given.sunsetAt),
      successor: given.successor ?? null,
      actions: actions.map(describeAction),
      defaultAction: given.defaultAction ?? null,
      errors: unique(actions.flatMap((action) => action.errors.map((error) => error.declaration)), "code"),
      collections: (given.collections ?? []).map((collection) => collection.declaration),
      invokes: (given.invokes ?? []).map((invocation) => invocation.declaration),
      publishes: unique(actions.flatMap((action) => action.emits.map((event) => event.declaration)), "eventType"),
      subscriptions: actions.flatMap((action) => action.on.map((eventType) => ({ eventType, action: action.name }))),
      stateMachines: (given.stateMachines ?? []).map(describeMachine),
      roles: given.roles ?? [],
      prompts: (given.prompts ?? []).map((prompt) => ({ arguments: [], requires: [], ...prompt })),
      annotations: annotations(given.annotations, { "portolan/tools": given.tools }),
    };
  }

  /** Runs an action. Returns the contract's `{ success }` or `{ failure }`; anything thrown is a trap. */
  call(caller, name, input) {
    const action = this.#actions.get(name);
    try {
      const given = withDefaults(action.input, JSON.parse(input));
      return { success: toSuccess(action, action.run(new Call(caller), given)) };
    } catch (error) {
      return { failure: toFailure(toRefusal(action, error)) };
    }
  }
}

function describeAction(action) {
  return {
    name: action.name,
    title: action.title,
    description: action.description,
    access: action.access,
    input: JSON.stringify(action.input),
    output: JSON.stringify(action.output),
    idempotent: action.idempotent,
    destructive: action.destructive,
    costCredits: action.costCredits,
    errors: action.errors.map((error) => error.declaration.code),
    emits: action.emits.map((event) => event.declaration.eventType),
    callers: action.callers,
    examples: action.examples.map((example) => JSON.stringify(example)),
    deprecated: action.deprecated,
    annotations: annotations(action.annotations, { "portolan/intents": action.intents }),
  };
}

function describeMachine({ name, states, transitions }) {
  return { name, states, transitions: transitions.map((one) => ({ role: null, ...one })) };
}

function toSuccess(action, returned) {
  const { output = {}, next = null } = returned instanceof Answer ? returned : { output: returned };
  if (typeof output?.then === "function") {
    throw new TypeError(`actions.${action.name}.run returned a promise: an action is synchronous, so return the output itself.`);
  }
  const json = JSON.stringify(output);
  const found = violation(action.output, JSON.parse(json));
  if (found) {
    const [pointer, what] = found;
    throw new TypeError(`the output of ${action.name} does not fit: ${pointer || "it"} ${what}. Change what run returns, or actions.${action.name}.output.`);
  }
  return { output: json, next: next && JSON.stringify(next) };
}

/** Returns the refusal that an error stands for; throws the error if it stands for none. */
function toRefusal(action, error) {
  if (error instanceof HostError) {
    if (error.isMistake) console.error(error);
    return error.toRefusal();
  }
  if (!(error instanceof Refusal)) throw error;
  const declared = action.errors.some((one) => one.declaration.code === error.code);
  if (!declared && !error.passedOn && !COMMON_CODES.includes(error.code)) {
    const message = `${action.name} refused with ${error.code}, which it does not declare: add its class to actions.${action.name}.errors.`;
    throw new TypeError(message, { cause: error });
  }
  return error;
}
