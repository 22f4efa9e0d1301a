// Runs the bookshelf's cases without a host. Calls that only the host refuses are left to `portolan
// test`.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { begin } from "../src/context.js";
import bookshelf from "../../../examples/bookshelf-js/index.js";
import { documentsOf, installHost } from "./host.mjs";

const FOLDER = new URL("../../../examples/bookshelf-cases/", import.meta.url);
const BY_HOST = ["validation_failed", "phone_binding_required"];
const ANYTHING = { $any: () => true, $id: (value) => /^[a-z]+_./.test(value), $time: (value) => !Number.isNaN(Date.parse(value)) };

const cases = readdirSync(FOLDER).flatMap((name) => [].concat(JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"))));
const descriptor = bookshelf.describe();
const collections = Object.fromEntries(descriptor.collections.map((one) => [one.name, one]));

function callerOf({ action, caller }) {
  if (descriptor.actions.find((one) => one.name === action).access === "internal") return { tag: "system" };
  const claimed = { agent: "agt_01JZX8Q4M2N6P7R8S9T0V1W2X3", owner: "own_01JZX8Q4M2N6P7R8S9T0V1W2X4" };
  const { agent, owner } = caller === "agent" ? claimed : caller === "anonymous" ? { agent: claimed.agent, owner: null } : caller;
  return { tag: "agent", val: { agentId: agent, ownerId: owner, agentName: null, scopes: [], via: [], testMode: false } };
}

function answer(one) {
  const { success, failure } = bookshelf.call(callerOf(one), one.action, JSON.stringify(one.input));
  if (success) return { output: JSON.parse(success.output) };
  return { error: { ...failure, next: failure.next && JSON.parse(failure.next) } };
}

function assertMatches(expected, actual, at) {
  if (ANYTHING[expected]) return assert.ok(ANYTHING[expected](actual), `${at} is ${actual}`);
  if (Array.isArray(expected)) assert.equal(actual.length, expected.length, `${at} has another length`);
  if (typeof expected !== "object" || expected === null) return assert.equal(actual, expected, at);
  for (const name of Object.keys(expected)) assertMatches(expected[name], actual[name], `${at}/${name}`);
}

for (const one of cases.filter(({ expect }) => !BY_HOST.includes(expect.error?.code))) {
  test(one.name, () => {
    const kept = installHost({ at: Date.parse(one.at ?? "2026-01-01T00:00:00Z"), collections, before: one.before, calls: one.calls });
    begin();
    assertMatches(one.expect, answer(one), "answer");
    for (const [name, documents] of Object.entries(one.after ?? {})) {
      const stored = documentsOf(kept, name).map(({ id, body }) => ({ $id: id, ...JSON.parse(body) }));
      assertMatches(documents, stored, name);
    }
    if (one.events) assertMatches(one.events, kept.events.map(({ eventType, data }) => ({ type: eventType, data: JSON.parse(data) })), "events");
    if (one.timers) {
      const timers = [...kept.timers.values()].map(({ at, ...rest }) => ({ at: new Date(at).toISOString(), ...rest }));
      assertMatches(one.timers, timers, "timers");
    }
  });
}
