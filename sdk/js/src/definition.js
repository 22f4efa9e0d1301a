// Checks a definition while the component is built, and reports everything that is wrong with it at once.

import { unknownFields } from "./problems.js";
import { exampleOf, isSchema, object, violation } from "./schema.js";

const ACCESSES = ["read", "write", "events", "open", "internal"];
const CAPABILITY = [
  "id", "version", "title", "summary", "description", "tags", "status", "sunsetAt", "successor", "actions", "defaultAction",
  "collections", "invokes", "stateMachines", "roles", "prompts", "tools", "annotations",
];
const ACTION = [
  "access", "title", "description", "input", "output", "errors", "emits", "on", "callers", "example", "examples",
  "idempotent", "destructive", "costCredits", "deprecated", "intents", "annotations", "run",
];
const NAME = /^[a-z][a-z0-9_]*$/;

const toSchema = (given = {}) => (isSchema(given) ? given : object(given));

/** Returns title and description: the first paragraph, and the rest or, without one, the first paragraph again. */
function split(text = "") {
  const [title, ...rest] = text.trim().split(/\n\s*\n/);
  return [title.replace(/\.$/, ""), rest.join("\n\n") || title];
}

/** Returns an action with its defaults. */
export function toAction(name, given) {
  const [title, description] = split(given.description);
  const input = toSchema(given.input);
  const examples = given.examples ?? [given.example ?? exampleOf(input)];
  return {
    given,
    name,
    title: given.title ?? title,
    description: given.title ? (given.description ?? "") : description,
    access: given.access,
    input,
    output: toSchema(given.output),
    errors: given.errors ?? [],
    emits: given.emits ?? [],
    on: [].concat(given.on ?? []),
    callers: given.callers ?? [],
    examples: examples.filter((example) => example !== undefined),
    idempotent: given.idempotent ?? given.access === "read",
    destructive: given.destructive ?? false,
    costCredits: given.costCredits ?? 0,
    deprecated: given.deprecated ?? null,
    intents: given.intents,
    annotations: given.annotations,
    run: given.run,
  };
}

/** Returns every problem of a definition, each a sentence that names the field and the fix. */
export function checkDefinition(definition, actions) {
  const problems = unknownFields("the capability", definition, CAPABILITY);
  const need = (field, fix) => typeof definition[field] === "string" && definition[field].trim() !== "" ? [] : [`${field} is missing: ${fix}.`];
  problems.push(
    ...need("id", "write lower-case names of letters, digits, _ and -, joined by dots, such as bookshelf"),
    ...need("version", 'write three numbers, such as "1.0.0"'),
    ...need("title", "write a few words"),
    ...need("description", "tell agents what it is for; the first paragraph is the summary"),
    ...checkList(definition, "collections", "collection(name, …)"),
    ...checkList(definition, "invokes", "invocation(capability, action)"),
  );
  if (actions.size === 0) problems.push("actions is empty: define at least one action.");
  if (definition.defaultAction !== undefined && !actions.has(definition.defaultAction)) {
    problems.push(`defaultAction names no action: use ${[...actions.keys()].join(", ")}.`);
  }
  return [...problems, ...[...actions.values()].flatMap(checkAction)];
}

function checkList(given, field, maker) {
  const list = given[field] ?? [];
  if (!Array.isArray(list)) return [`${field} is not a list: write [${maker}].`];
  return list.flatMap((value, at) => (value?.declaration ? [] : [`${field}[${at}] is not a ${maker}: make it with that function.`]));
}

function checkAction(action) {
  const { name, given } = action;
  const at = `actions.${name}`;
  const problems = unknownFields(at, given, ACTION);
  if (!NAME.test(name)) problems.push(`${at} is not snake_case: use lower-case letters, digits and _.`);
  if (!ACCESSES.includes(given.access)) problems.push(`${at}.access is ${given.access}: use ${ACCESSES.join(", ")}.`);
  if (!action.description) problems.push(`${at}.description is missing: tell agents whether and how to call it.`);
  problems.push(...checkRun(at, given.run), ...checkErrors(at, given), ...checkExamples(at, action));
  problems.push(...checkList(given, "emits", "event(type)").map((problem) => `${at}.${problem}`));
  for (const [field, schema] of [["input", action.input], ["output", action.output]]) problems.push(...checkSchema(`${at}.${field}`, schema));
  if (action.on.length > 0 && given.access !== "internal") problems.push(`${at}.on needs access "internal": only the host delivers events.`);
  return problems;
}

function checkRun(at, run) {
  if (typeof run !== "function") return [`${at}.run is missing: write run(call, input) { … }.`];
  if (/^Async/.test(run.constructor.name)) return [`${at}.run is async: an action is synchronous, so leave out async and await.`];
  return [];
}

function checkErrors(at, { errors = [] }) {
  if (!Array.isArray(errors)) return [`${at}.errors is not a list: write [BookTaken].`];
  return errors.flatMap((error, index) =>
    error?.declaration ? [] : [`${at}.errors[${index}] is not a refusal: declare it with refusal(code, kind, message).`],
  );
}

function checkSchema(at, schema) {
  if (schema.type !== "object") return [`${at} is not an object schema: write { field: string() } or object({ … }).`];
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const [pointer, what] = (field.default === undefined ? null : violation(field, field.default)) ?? [];
    return what ? [`${at}.${name}: the default ${pointer} ${what}: correct the default.`.replace("  ", " ")] : [];
  });
}

function checkExamples(at, { given, input, examples }) {
  if (examples.length === 0 && given.access !== "internal") return [`${at}.example is missing: give an input that agents can copy, or the fields of the input an example.`];
  return examples.flatMap((example, index) => {
    const [pointer, what] = violation(input, example) ?? [];
    return what ? [`${at}.example ${index + 1} does not fit the input: ${pointer || "it"} ${what}.`] : [];
  });
}
