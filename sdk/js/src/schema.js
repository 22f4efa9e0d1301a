// JSON Schema as plain functions, and a check of a value against what they make.

import { unknownFields } from "./problems.js";

const OPTIONAL = Symbol("optional");
const COMMON = ["description", "default", "example"];

/** Returns the options of a helper. A text in their place is the description, and more options follow. */
function options(helper, known, ...given) {
  const [first = {}, more = {}] = given;
  if (typeof first === "string") return checked(helper, known, { description: first, ...more });
  return checked(helper, known, first);
}

function checked(helper, known, given) {
  const [problem] = unknownFields(`${helper}()`, given, [...COMMON, ...known]);
  if (problem) throw new TypeError(problem);
  const { example, ...rest } = given;
  return example === undefined ? rest : { ...rest, examples: [example] };
}

/** Leaves out what is undefined. */
function compact(object) {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

export function string(...given) {
  const { min, max, pattern, format, ...rest } = options("string", ["min", "max", "pattern", "format"], ...given);
  return compact({ type: "string", minLength: min, maxLength: max, pattern, format, ...rest });
}

function numeric(type, given) {
  const { min, max, above, below, ...rest } = options(type, ["min", "max", "above", "below"], ...given);
  return compact({ type, minimum: min, maximum: max, exclusiveMinimum: above, exclusiveMaximum: below, ...rest });
}

export const integer = (...given) => numeric("integer", given);
export const number = (...given) => numeric("number", given);
export const boolean = (...given) => ({ type: "boolean", ...options("boolean", [], ...given) });

/** A time as RFC 3339 text, as `new Date().toISOString()` writes it. */
export const time = (...given) => ({ type: "string", format: "date-time", ...options("time", [], ...given) });

/** An id: a text of 1 to 64 characters, or with `prefix` what `call.newId(prefix)` makes. */
export function id(...given) {
  const { prefix, ...rest } = options("id", ["prefix"], ...given);
  const form = prefix === undefined ? { minLength: 1, maxLength: 64 } : { pattern: `^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$` };
  return { type: "string", ...form, ...rest };
}

/** One of some texts. */
export const choice = (values, ...given) => ({ type: "string", enum: values, ...options("choice", [], ...given) });

export function array(items, ...given) {
  const { min, max, unique, ...rest } = options("array", ["min", "max", "unique"], ...given);
  return compact({ type: "array", items, minItems: min, maxItems: max, uniqueItems: unique, ...rest });
}

/** An object of exactly these fields. All are required but those of `optional` and those with a default. */
export function object(fields, ...given) {
  for (const [name, field] of Object.entries(fields)) {
    if (typeof field !== "object" || field === null) throw new TypeError(`the field ${name} of an object is ${typeof field}: give a schema, such as string().`);
  }
  const required = Object.keys(fields).filter((name) => !fields[name][OPTIONAL] && !("default" in fields[name]));
  return { type: "object", properties: fields, required, additionalProperties: false, ...options("object", [], ...given) };
}

/** An object whose keys are data, with values of one schema. */
export const map = (values, ...given) => ({ type: "object", additionalProperties: values, ...options("map", [], ...given) });

/** A field that may be left out. */
export const optional = (schema) => ({ ...schema, [OPTIONAL]: true });

/** A value that may be null. */
export function nullable(schema) {
  const { description, ...rest } = schema;
  const simple = typeof schema.type === "string" && !schema.enum;
  return simple ? { ...schema, type: [schema.type, "null"] } : compact({ anyOf: [rest, { type: "null" }], description });
}

/** Any other JSON Schema. The host checks its values. */
export const schema = (json) => json;

/** Any JSON value. */
export const anything = (...given) => options("anything", [], ...given);

/** Returns whether a value is a schema rather than an object of fields for `object`. */
export const isSchema = (value) =>
  ["type", "anyOf", "oneOf", "allOf", "enum", "const", "$ref"].some((key) => typeof value[key] === "string" || Array.isArray(value[key]));

/**
 * Returns an object's first example, or one made of its fields' examples; undefined if a required field has
 * none.
 */
export function exampleOf({ examples, properties = {}, required = [] }) {
  if (examples) return examples[0];
  const given = Object.entries(properties).filter(([, field]) => field.examples);
  const made = Object.fromEntries(given.map(([name, field]) => [name, field.examples[0]]));
  return required.every((name) => name in made) ? made : undefined;
}

const TYPES = {
  string: (value) => typeof value === "string",
  integer: Number.isInteger,
  number: Number.isFinite,
  boolean: (value) => typeof value === "boolean",
  array: Array.isArray,
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  null: (value) => value === null,
};

const RULES = {
  type: (types, value) =>
    [].concat(types).some((type) => TYPES[type](value)) ? null : `is not ${[].concat(types).join(" or ")}`,
  enum: (values, value) => (values.includes(value) ? null : `is none of ${values.join(", ")}`),
  minLength: (limit, value) => (typeof value !== "string" || [...value].length >= limit ? null : `is shorter than ${limit}`),
  maxLength: (limit, value) => (typeof value !== "string" || [...value].length <= limit ? null : `is longer than ${limit}`),
  pattern: (pattern, value) =>
    typeof value !== "string" || new RegExp(pattern, "u").test(value) ? null : `does not match ${pattern}`,
  minimum: (limit, value) => (typeof value !== "number" || value >= limit ? null : `is less than ${limit}`),
  maximum: (limit, value) => (typeof value !== "number" || value <= limit ? null : `is more than ${limit}`),
  exclusiveMinimum: (limit, value) => (typeof value !== "number" || value > limit ? null : `is not above ${limit}`),
  exclusiveMaximum: (limit, value) => (typeof value !== "number" || value < limit ? null : `is not below ${limit}`),
  minItems: (limit, value) => (!Array.isArray(value) || value.length >= limit ? null : `has fewer than ${limit} elements`),
  maxItems: (limit, value) => (!Array.isArray(value) || value.length <= limit ? null : `has more than ${limit} elements`),
};

/**
 * Returns the first violation as `[pointer, what]`, or null. It knows the keywords that the functions of this
 * file write; the host checks the others.
 */
export function violation(schema, value, pointer = "") {
  for (const keyword in schema) {
    const what = RULES[keyword]?.(schema[keyword], value);
    if (what) return [pointer, what];
  }
  if (schema.anyOf && schema.anyOf.every((one) => violation(one, value, pointer))) return [pointer, "fits none of its forms"];
  if (Array.isArray(value)) return schema.items ? firstOf(value.keys(), (at) => violation(schema.items, value[at], `${pointer}/${at}`)) : null;
  return TYPES.object(value) ? violationOfObject(schema, value, pointer) : null;
}

function violationOfObject({ properties = {}, required = [], additionalProperties: others }, value, pointer) {
  const missing = required.find((name) => value[name] === undefined);
  if (missing !== undefined) return [`${pointer}/${missing}`, "is missing"];
  return firstOf(Object.keys(value), (name) => {
    const inner = properties[name] ?? others;
    if (inner === false) return [`${pointer}/${name}`, "is not declared"];
    return typeof inner === "object" && value[name] !== undefined ? violation(inner, value[name], `${pointer}/${name}`) : null;
  });
}

function firstOf(values, find) {
  for (const value of values) {
    const found = find(value);
    if (found) return found;
  }
  return null;
}

/** Adds the defaults of fields that were left out. */
export function withDefaults({ properties = {} }, value) {
  for (const name in properties) {
    if (value[name] === undefined && "default" in properties[name]) value[name] = properties[name].default;
  }
  return value;
}
