// The modules in README.md are capabilities.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const blocks = [...readme.matchAll(/^```js\n(.*?)^```/gms)].map(([, code]) => code);

test("README.md has modules", () => assert.equal(blocks.length, 2));

for (const code of blocks) {
  test(`the module ${/id: "(\w+)"/.exec(code)[1]} of README.md`, async () => {
    const { default: made } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
    assert.ok(made.describe().actions.length > 0);
  });
}
