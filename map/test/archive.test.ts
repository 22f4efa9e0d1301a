import assert from "node:assert/strict";
import { test } from "node:test";
import { Archive } from "../src/archive.ts";

test("nobody waits for a worker that has failed", async () => {
  const worker = new EventTarget() as EventTarget & { postMessage(question: unknown): void };
  const asked: unknown[] = [];
  worker.postMessage = (question) => asked.push(question);
  Object.assign(globalThis, {
    Worker: function () {
      return worker;
    },
    document: { baseURI: "https://map.example/map/" },
  });
  let failures = 0;
  const ignore = () => {};
  const listener = { details: ignore, texts: ignore, complete: ignore, failed: () => (failures += 1) };
  const archive = new Archive("reader.js", listener);
  const first = archive.describe("rol_1");
  worker.dispatchEvent(new MessageEvent("message", {
    data: { type: "description", number: 1, text: "The whole." },
  }));
  assert.equal(await first, "The whole.");
  const waiting = archive.describe("rol_1");
  worker.dispatchEvent(new Event("error"));
  assert.deepEqual([await waiting, await archive.describe("rol_1"), failures], [undefined, undefined, 1]);
  assert.equal(asked.length, 3);
});
