// Compares the globals of a component with the same globals of Node.

import assert from "node:assert/strict";
import { test } from "node:test";
import { begin } from "../src/context.js";
import { installHost } from "./host.mjs";

const native = { URL, URLSearchParams, TextEncoder, TextDecoder, Date };
await import("../src/runtime/text.js");
await import("../src/runtime/url.js");
await import("../src/runtime/clone.js");
await import("../src/runtime/random.js");

const PARTS = ["href", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash", "origin"];
const shown = (make) => {
  try {
    const url = make();
    return PARTS.map((name) => url[name]);
  } catch (error) {
    return error.name;
  }
};

const addresses = [
  ["https://example.org"], ["HTTPS://User:Pass@Example.ORG:443/a/./b/../c?x=1#y"], ["http://example.org:8080/é?q=ü#ß"],
  ["../up", "https://example.org/a/b/c"], ["?q", "https://example.org/a?b#c"], ["#h", "https://example.org/a?b#c"],
  ["//other.org/x", "https://example.org/a"], ["/root", "https://u:p@example.org:1/a"], ["", "https://example.org/a?b#c"],
  ["https:\\\\example.org\\a"], ["  https://example.org/a b  "], ["mailto:ada@example.org"], ["urn:isbn:9780156027601"], ["data:text/plain,hi"],
  ["http://[::1]:3000/x"], ["https://example.org:99999"], ["https://"], ["nonsense"], ["https://exa mple.org"], ["/a"],
  ["https://example.org/%2e%2e/a"], ["https://example.org/a/.."], ["x", "mailto:a@b"], ["wss://example.org:443/s"], ["https://a@b@example.org/"],
  ["https://example.org?a=b'c"], ["https://example.org/\u{1f327}"], ["custom://host/a/../b"], ["https://example.org:/"],
];

for (const [given, base] of addresses) {
  test(`the address ${JSON.stringify(given)} of ${base}`, () => {
    assert.deepEqual(shown(() => new URL(given, base)), shown(() => new native.URL(given, base)));
    assert.equal(URL.canParse(given, base), native.URL.canParse(given, base));
  });
}

test("an address is changed by its parts", () => {
  const change = (url) => {
    url.searchParams.append("é", "a b&c");
    url.searchParams.set("x", "2");
    url.hash = "new part";
    url.pathname = "/a b/../c";
    const first = url.href;
    url.search = "?only=1";
    return [first, url.href, url.searchParams.get("only"), JSON.stringify({ url })];
  };
  const address = "https://example.org/old?x=1&x=3#y";
  assert.deepEqual(change(new URL(address)), change(new native.URL(address)));
});

test("search parameters", () => {
  for (const init of ["?a=1&b=%C3%A9&a=+x&c", { a: "1", b: "é&" }, [["a", "1"], ["a", "~!'()*"]], "bad=%zz", ""]) {
    const [own, other] = [new URLSearchParams(init), new native.URLSearchParams(init)];
    assert.deepEqual([...own], [...other]);
    assert.deepEqual([own.getAll("a"), own.has("b"), own.get("x"), own.size], [other.getAll("a"), other.has("b"), other.get("x"), other.size]);
    own.delete("a"), other.delete("a");
    own.sort(), other.sort();
    if (init !== "bad=%zz") assert.equal(own.toString(), other.toString());
  }
});

test("texts as UTF-8 and back", () => {
  for (const text of ["", "añ日🌧", "\ud800x", "\ufeffbom", "\u07ff\u0800\uffff\u{10000}\u{10ffff}"]) {
    assert.deepEqual(new TextEncoder().encode(text), new native.TextEncoder().encode(text));
  }
  for (const bytes of [[0x61, 0xc3, 0xa9], [0xff, 0x61], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x8c, 0xa7], [0xf4, 0x90, 0x80, 0x80], [0xef, 0xbb, 0xbf, 0x61], [0xc0, 0x80], [0xe0, 0x80, 0x80], [0xf0, 0x9f, 0x41]]) {
    const source = Uint8Array.from(bytes);
    assert.equal(new TextDecoder().decode(source), new native.TextDecoder().decode(source));
  }
  assert.throws(() => new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.of(0xff)), TypeError);
  assert.throws(() => new TextDecoder("latin1"), RangeError);
  assert.equal(new TextDecoder().decode(new DataView(Uint8Array.of(0x61, 0x62, 0x63).buffer, 1)), "bc");
});

test("values are cloned whole", () => {
  const value = { date: new Date(5), map: new Map([["a", { b: new Set([1]) }]]), bytes: Uint8Array.of(1, 2), list: [1, , 3], re: /a/gi };
  value.self = value;
  const clone = structuredClone(value);
  assert.deepEqual(clone, value);
  assert.equal(clone.self, clone);
  assert.notEqual(clone.map.get("a"), value.map.get("a"));
  assert.throws(() => structuredClone({ run() {} }), { name: "DataCloneError" });
});

test("random numbers come from the call", () => {
  installHost();
  begin();
  const numbers = Array.from({ length: 2000 }, () => Math.random());
  assert.equal(new Set(numbers).size, 2000);
  assert.ok(numbers.every((one) => one >= 0 && one < 1));
  const mean = numbers.reduce((sum, one) => sum + one, 0) / 2000;
  assert.ok(mean > 0.45 && mean < 0.55, `the mean is ${mean}`);
  assert.match(crypto.randomUUID(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const large = crypto.getRandomValues(new Uint32Array(3000));
  assert.ok(new Set(large).size > 2990);
});
