import assert from "node:assert/strict";
import { test } from "node:test";
import { explainModule } from "../src/missing.js";
import { originalPosition, readSourceMap } from "../src/source_map.js";
import { describeError, reportTrap, setSourceMap } from "../src/trap.js";
import { installHost } from "./host.mjs";

// Two lines of the bundle: the first is line 3, column 5 of a.js; the second has a.js 5:1, and from column 9 b.js 2:3.
// The third line is the SDK's.
const map = { sources: ["a.js", "b.js", "@portolan/sdk/trap.js"], mappings: "AAEI;AAEJ,QCHE;ACAA" };

test("positions of the bundle are those of the files", () => {
  const lines = readSourceMap(map);
  assert.equal(originalPosition(lines, 1, 1), "a.js:3:5");
  assert.equal(originalPosition(lines, 2, 3), "a.js:5:1");
  assert.equal(originalPosition(lines, 2, 9), "b.js:2:3");
  assert.equal(originalPosition(lines, 3, 1), null);
  assert.equal(originalPosition(lines, 9, 1), null);
});

test("an error is told with its functions and lines", () => {
  setSourceMap(readSourceMap(map));
  const error = new TypeError("nothing there");
  error.stack = "    at inner (/component.js:2:10)\n    at outer (/component.js:1:4)\n    at call (/component.js:3:4)\n    at native\n";
  assert.equal(describeError(error), "TypeError: nothing there at inner (b.js:2:3) at outer (a.js:3:5)");
  error.cause = "a text";
  assert.match(describeError(error), / caused by threw a text, which is not an Error$/);
});

test("the host gets the text in parts, whatever its letters", () => {
  const kept = installHost();
  const text = "añ日🌧 ".repeat(40);
  reportTrap(text);
  const bytes = kept.lastWords.flatMap((words) => Object.values(words)).flatMap((number) => {
    assert.ok(Number.isSafeInteger(number));
    return [...new Uint8Array(BigUint64Array.of(BigInt(number)).buffer)];
  });
  assert.equal(Buffer.from(bytes.filter((byte) => byte !== 0)).toString(), text);
});

test("what a sandbox lacks is told with what helps", () => {
  for (const [message, help] of [
    ["setTimeout is not defined", "set a timer with timers.set"],
    ["'fetch' is not defined", "a sandbox has no network"],
    ["process is not defined", "declare secrets"],
    ["require is not defined", "which the build bundles"],
  ]) {
    const error = new ReferenceError(message);
    error.stack = "";
    assert.ok(describeError(error).includes(`${message}; `) && describeError(error).includes(help), describeError(error));
  }
  const own = new ReferenceError("toString is not defined");
  own.stack = "";
  assert.equal(describeError(own), "ReferenceError: toString is not defined");
  assert.match(explainModule("node:fs"), /no files/);
  assert.equal(explainModule("left-pad"), null);
});
