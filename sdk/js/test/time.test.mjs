import assert from "node:assert/strict";
import { test } from "node:test";
import { begin } from "../src/context.js";
import { installHost } from "./host.mjs";

const kept = installHost({ at: 1_000_000_000_000 });
const NativeDate = Date;

test("the globals show the call's time, and the console writes to its log", async () => {
  const { console: native } = globalThis;
  await import("../src/runtime/time.js");
  await import("../src/runtime/console.js");
  const own = { Date, console: globalThis.console };
  try {
    assert.throws(() => own.Date.now(), /The time is used at the top level, .*: use it in the run of an action\./);
    own.console.log("dropped");
    begin();
    assert.equal(own.Date.now(), 1_000_000_000_000);
    assert.equal(new own.Date().toISOString(), "2001-09-09T01:46:40.000Z");
    assert.equal(new own.Date(0).toISOString(), "1970-01-01T00:00:00.000Z");
    assert.ok(new own.Date(0) instanceof NativeDate);
    own.console.log("one", { two: 2 }, undefined);
    own.console.warn("three");
    own.console.assert(false, "four");
    assert.deepEqual(kept.log, [["info", 'one {"two":2} undefined'], ["warn", "three"], ["error", "assertion failed: four"]]);
  } finally {
    globalThis.console = native;
    globalThis.Date = NativeDate;
  }
});
