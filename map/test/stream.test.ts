import assert from "node:assert/strict";
import { test } from "node:test";
import { readRecords } from "../src/stream.ts";

const DOCUMENT = {
  _meta: { title: 'a "quoted" [text] {of} \\\\', city: { bbox: [1, 2] }, items: [{ id: "no" }] },
  format: "items",
  items: [{ id: "one", name: "Zoë 漢字 🚀" }, { id: "two", list: [{ a: [] }, "}]"] }, { id: "}" }],
  links: [{ rel: "self" }],
  count: 3,
};

/** The text in chunks of so many bytes. */
function stream(text: string, size: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  const bytes = new TextEncoder().encode(text);
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) {
        controller.enqueue(bytes.slice(at, at + size));
      }
      controller.close();
    },
  });
}

async function read(text: string, size = 7): Promise<{ records: unknown[]; rest: unknown }> {
  const records: unknown[] = [];
  const rest = await readRecords(stream(text, size), "items", (it) => void records.push(it));
  return { records, rest };
}

test("records are read wherever the document is cut, however it is written", async () => {
  const { _meta, links, items } = DOCUMENT;
  for (const text of [JSON.stringify(DOCUMENT), JSON.stringify(DOCUMENT, null, 2)]) {
    for (const size of [1, 2, 3, 5, 64, 100_000]) {
      const { records, rest } = await read(text, size);
      assert.deepEqual(records, items, `${size}`);
      assert.deepEqual(rest, { _meta, links });
    }
  }
});

test("a list without records has none", async () => {
  assert.deepEqual(await read('{"items":[]}'), { records: [], rest: {} });
});

test("what is no such document is refused", async () => {
  for (const text of ['{"items":[{"id":1}', '{"items":[{"id":}]}', '{"items":["', "{"]) {
    await assert.rejects(read(text), text);
  }
});
