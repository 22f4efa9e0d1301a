import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { COMMON_CODES } from "../src/codes.js";
import { begin } from "../src/context.js";
import {
  answer, capability, collection, event, HostError, integer, invocation, object, pageOf, paging, refusal, refuse, step, string, toItems, validation,
} from "../src/index.js";
import { installHost } from "./host.mjs";

const action = { access: "read", description: "Read it.", output: {}, run: () => ({}) };
const whole = { id: "shop", version: "1.0.0", title: "Shop", description: "Sells books.\n\nAll of them.", actions: { read: action } };
const withAction = (change) => ({ ...whole, actions: { read: { ...action, ...change } } });
const SYSTEM = { tag: "system" };

const mistakes = [
  [{ ...whole, colour: "red" }, "the capability has no field colour: use id, version,"],
  [{ ...whole, description: undefined }, "description is missing: tell agents what it is for"],
  [{ ...whole, version: 1 }, 'version is missing: write three numbers, such as "1.0.0".'],
  [{ ...whole, actions: {} }, "actions is empty: define at least one action."],
  [{ ...whole, collections: [{}] }, "collections[0] is not a collection(name, …): make it with that function."],
  [{ ...whole, defaultAction: "write" }, "defaultAction names no action: use read."],
  [withAction({ descripton: "x" }), "actions.read has no field descripton: use access, title, description,"],
  [withAction({ access: "all" }), "actions.read.access is all: use read, write, events, open, internal."],
  [withAction({ description: undefined }), "actions.read.description is missing: tell agents whether and how to call it."],
  [withAction({ run: undefined }), "actions.read.run is missing: write run(call, input) { … }."],
  [withAction({ run: async () => ({}) }), "actions.read.run is async: an action is synchronous, so leave out async and await."],
  [withAction({ errors: ["taken"] }), "actions.read.errors[0] is not a refusal: declare it with refusal(code, kind, message)."],
  [withAction({ emits: ["shop.sold"] }), "actions.read.emits[0] is not a event(type): make it with that function."],
  [withAction({ input: string() }), "actions.read.input is not an object schema: write { field: string() } or object({ … })."],
  [withAction({ input: { id: string() } }), "actions.read.example is missing: give an input that agents can copy, or the fields"],
  [withAction({ input: { id: string() }, example: { id: 7 } }), "actions.read.example 1 does not fit the input: /id is not string."],
  [withAction({ on: "shop.sold" }), 'actions.read.on needs access "internal": only the host delivers events.'],
];

for (const [definition, sentence] of mistakes) {
  test(sentence, () => assert.throws(() => capability(definition), (error) => error.message.includes(`\n${sentence}`)));
}

test("a field of an object is a schema", () => {
  assert.throws(() => capability(withAction({ output: { id: undefined } })), /the field id of an object is undefined: give a schema/);
});

test("all mistakes are told at once", () => {
  assert.throws(() => capability({ id: "shop" }), /version is missing[^]*title is missing[^]*actions is empty/);
});

test("a refusal and a collection are checked where they are declared", () => {
  assert.throws(() => refusal("Taken", "conflict", "It is taken."), /refusal Taken is not snake_case/);
  assert.throws(() => refusal("taken", "clash", "It is taken."), /refusal taken has the kind clash, which is not a kind of error: use invalid,/);
  assert.throws(() => refusal("taken", "conflict"), /refusal taken has no message: write one sentence for callers\./);
  assert.throws(() => refusal("not_owner", "forbidden", "No."), /is one of the host's common codes: throw refuse\("not_owner", message\)/);
  assert.throws(() => refuse("taken", "It is taken."), /declare it with refusal\("taken", …\)/);
  assert.throws(() => collection("books", {}), /collection books\.people is missing: list the paths/);
  assert.throws(() => collection("books", { people: [{ path: "a", erasure: "hide" }] }), /erasure is not an erasure: use delete, remove, redact/);
  assert.throws(() => collection("books", { people: [], index: [] }), /collection books has no field index: use indexes, unique/);
});

test("the descriptor has the contract's form", () => {
  const SOLD = event("shop.sold", { public: true });
  const Taken = refusal("taken", "payment_required", "It is taken.", { retryable: true });
  const books = collection("books", {
    indexes: { price: ["price"], "by_tag": "tags[]" }, unique: ["owner.isbn"], geo: { latitude: "lat", longitude: "lon" },
    people: [{ path: "by", erasure: "redact", personal: ["note"], public: ["name"] }],
  });
  const described = capability({
    ...whole, tools: [{ name: "sell", title: "Sell", description: "Sells.", actions: ["sell"] }],
    collections: [books], invokes: [invocation("credits", "spend")],
    actions: {
      sell: { access: "write", intents: ["get rid of it"], description: "Sell it.\n\nOnly once.", output: {}, errors: [Taken], emits: [SOLD], run() {} },
      on_sold: { access: "internal", description: "Note it.", on: "shop.sold", output: {}, annotations: { "portolan/intents": ["as an annotation"] }, run() {} },
    },
  }).describe();
  assert.equal(described.summary, "Sells books.");
  assert.deepEqual(described.errors, [{ code: "taken", kind: "payment-required", retryable: true, description: "It is taken." }]);
  assert.deepEqual(described.publishes, [{ eventType: "shop.sold", sensitive: false }]);
  assert.deepEqual(described.subscriptions, [{ eventType: "shop.sold", action: "on_sold" }]);
  assert.deepEqual(described.invokes, [{ capability: "credits", action: "spend" }]);
  assert.deepEqual(described.collections[0], {
    name: "books",
    indexes: [
      { name: "price", paths: ["price"], unique: false },
      { name: "by_tag", paths: ["tags[]"], unique: false },
      { name: "owner_isbn", paths: ["owner.isbn"], unique: true },
    ],
    text: [], geo: { latitude: "lat", longitude: "lon" }, version: 1,
    people: [{ path: "by", erasure: "redact", fields: [{ path: "note", audience: "personal" }, { path: "name", audience: "public" }] }],
    annotations: [],
  });
  const [sell, onSold] = described.actions;
  assert.deepEqual(described.annotations, [
    { key: "portolan/tools", value: '[{"name":"sell","title":"Sell","description":"Sells.","actions":["sell"]}]' },
  ]);
  assert.deepEqual(sell.annotations, [{ key: "portolan/intents", value: '["get rid of it"]' }]);
  assert.deepEqual(onSold.annotations, [{ key: "portolan/intents", value: '["as an annotation"]' }]);
  assert.deepEqual([sell.title, sell.description, sell.examples, sell.idempotent], ["Sell it", "Only once.", ["{}"], false]);
});

function run(change) {
  installHost();
  begin();
  return capability(withAction(change)).call(SYSTEM, "read", "{}");
}

test("what run does not say is told with its fix", () => {
  const Taken = refusal("taken", "conflict", "It is taken.");
  const undeclared = { run() { throw new Taken(); } };
  assert.throws(() => run(undeclared), /read refused with taken, which it does not declare: add its class to actions\.read\.errors\./);
  assert.equal(run({ ...undeclared, errors: [Taken] }).failure.code, "taken");
  assert.throws(() => run({ output: { n: string() } }), /the output of read does not fit: \/n is missing\. Change what run returns/);
  assert.throws(() => run({ run: () => Promise.resolve({}) }), /actions\.read\.run returned a promise: an action is synchronous/);
  assert.throws(() => new Taken({ nxt: {} }), /the refusal taken has no field nxt: use message, conflict, next, keepWrites/);
  assert.throws(() => new Taken({ next: { call: "x" } }), /next of the refusal taken has no field call: use capability, input,/);
});

test("common codes need no declaration", () => {
  const { failure } = run({ run() { throw validation("/a", "enum", ["b"]); } });
  assert.equal(failure.code, "validation_failed");
  assert.deepEqual(JSON.parse(failure.conflict), { kind: "validation", errors: [{ pointer: "/a", rule: "enum", expected: ["b"] }] });
  assert.equal(run({ run() { throw refuse("not_permitted", "No.", { keepWrites: true }); } }).failure.keepWrites, true);
});

test("an answer can name the next call", () => {
  const next = { capability: "shop", input: { action: "read" } };
  assert.deepEqual(run({ run: () => answer({}, { next }) }).success, { output: "{}", next: JSON.stringify(next) });
});

test("errors of the host become refusals", () => {
  const codes = ["unavailable", "conflict", "bad-cursor", "limit"].map((kind) => new HostError(kind, "text").toRefusal().code);
  assert.deepEqual(codes, ["dependency_unavailable", "version_conflict", "cursor_invalid", "quota_exceeded"]);
  for (const kind of ["invalid", "duplicate"]) {
    assert.equal(run({ run() { throw new HostError(kind, "text"); } }).failure.code, "internal_error");
  }
});

test("the common codes are those of the host", () => {
  const table = readFileSync(new URL("../../codes/src/lib.rs", import.meta.url), "utf8");
  const rows = [...table.matchAll(/^ {4}\w+ "(\w+)" \w+ (?:true|false) (true|false) "/gm)];
  assert.ok(rows.length > 30);
  assert.deepEqual(COMMON_CODES, rows.filter(([, , component]) => component === "true").map(([, name]) => name));
});

test("a collection's values that the contract cannot carry are named", () => {
  const books = collection("books", { people: [] });
  assert.throws(() => books.get(7), /an id of books is number: give a text\./);
  assert.throws(() => books.put("a", undefined), /the document a is undefined: give a text\./);
  assert.throws(() => books.find({ where: {} }), /the query has no field where: use filter, text/);
  assert.equal(object({}).type, "object");
});

test("a text in the place of the options is the description", () => {
  assert.deepEqual(string("Who wrote it.", { max: 9 }), { type: "string", maxLength: 9, description: "Who wrote it." });
  assert.deepEqual(integer("All books."), { type: "integer", description: "All books." });
  assert.throws(() => string("Who wrote it.", { maximum: 9 }), /string\(\) has no field maximum: use description,/);
});

test("a step is one of this capability, also if it is declared before", () => {
  const found = step("find", { words: "a" }, { after_s: 5 });
  capability(whole);
  assert.deepEqual(JSON.parse(JSON.stringify(found)), { capability: "shop", input: { action: "find", words: "a" }, after_s: 5 });
});

test("a page has its items and where the next page begins", () => {
  assert.deepEqual(Object.keys(paging({ limit: 5 })), ["limit", "cursor"]);
  assert.equal(paging({ limit: 5 }).limit.default, 5);
  const { properties, required } = pageOf(object({ id: string("Its id.") }));
  assert.deepEqual([required, properties.next_cursor.type], [["items", "next_cursor"], ["string", "null"]]);
  assert.deepEqual(toItems({ documents: [{ id: "a" }], next: "b" }, ({ id }) => ({ id })), { items: [{ id: "a" }], next_cursor: "b" });
});

test("a text where an object is expected is told", () => {
  assert.throws(() => collection("plants", { people: ["owner"] }), /collection plants\.people has "owner" where an object is expected: write \{ path: … \}\./);
});
