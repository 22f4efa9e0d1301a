import assert from "node:assert/strict";
import { test } from "node:test";
import { anything, array, boolean, choice, exampleOf, id, integer, map, nullable, number, object, optional, string, time, violation, withDefaults } from "../src/schema.js";

test("the functions write JSON Schema", () => {
  const book = object({ title: string({ min: 1, description: "Its name." }), pages: optional(integer({ above: 0 })), tags: array(string(), { max: 3, unique: true }) });
  assert.deepEqual(JSON.parse(JSON.stringify(book)), {
    type: "object",
    properties: {
      title: { type: "string", minLength: 1, description: "Its name." },
      pages: { type: "integer", exclusiveMinimum: 0 },
      tags: { type: "array", items: { type: "string" }, maxItems: 3, uniqueItems: true },
    },
    required: ["title", "tags"],
    additionalProperties: false,
  });
  assert.deepEqual(nullable(string({ max: 2 })), { type: ["string", "null"], maxLength: 2 });
  assert.deepEqual(nullable(choice(["a", "b"])), { anyOf: [{ type: "string", enum: ["a", "b"] }, { type: "null" }] });
  assert.deepEqual(map(number()), { type: "object", additionalProperties: { type: "number" } });
  assert.deepEqual(time(), { type: "string", format: "date-time" });
  assert.deepEqual([boolean(), anything()], [{ type: "boolean" }, {}]);
  assert.match("book_01JZX8Q4M2N6P7R8S9T0V1W2X3", new RegExp(id({ prefix: "book" }).pattern));
});

test("an unknown option is named with those that there are", () => {
  assert.throws(() => string({ minn: 1 }), /string\(\) has no field minn: use description, default, example, min, max, pattern, format\./);
});

test("a field with a default may be left out and is filled in", () => {
  const page = object({ limit: integer({ default: 20 }), words: optional(string()) });
  assert.deepEqual(page.required, []);
  assert.deepEqual(withDefaults(page, {}), { limit: 20 });
  assert.deepEqual(withDefaults(page, { limit: 3 }), { limit: 3 });
});

test("examples of fields make the example of their object", () => {
  const fields = { title: string({ example: "Solaris" }), pages: integer({ default: 1 }) };
  assert.deepEqual(exampleOf(object(fields)), { title: "Solaris" });
  assert.equal(exampleOf(object({ ...fields, author: string() })), undefined);
  assert.deepEqual(exampleOf(object(fields, { example: { title: "Eden" } })), { title: "Eden" });
});

const cases = [
  [string({ min: 2 }), "a", ["", "is shorter than 2"]],
  [string({ max: 2 }), "🌧🌧", null],
  [string({ pattern: "^a" }), "b", ["", "does not match ^a"]],
  [integer(), 1.5, ["", "is not integer"]],
  [integer({ min: 1 }), 0, ["", "is less than 1"]],
  [integer({ max: 1 }), 2, ["", "is more than 1"]],
  [number({ below: 1 }), 1, ["", "is not below 1"]],
  [number({ above: 1 }), 1, ["", "is not above 1"]],
  [nullable(string()), null, null],
  [nullable(choice(["a"])), "b", ["", "fits none of its forms"]],
  [choice(["a", "b"]), "c", ["", "is none of a, b"]],
  [array(integer(), { min: 1 }), [], ["", "has fewer than 1 elements"]],
  [array(integer(), { max: 1 }), [1, 2], ["", "has more than 1 elements"]],
  [object({ a: array(object({ b: string() })) }), { a: [{ b: "x" }, {}] }, ["/a/1/b", "is missing"]],
  [object({ a: string() }), { a: "x", b: 1 }, ["/b", "is not declared"]],
  [map(integer()), { a: "x" }, ["/a", "is not integer"]],
  [object({}), [], ["", "is not object"]],
];

for (const [schema, value, expected] of cases) {
  test(`${JSON.stringify(value)} against ${JSON.stringify(schema)}`, () => assert.deepEqual(violation(schema, value), expected));
}
