// Checks that everybody can read the pages of failures: nothing at the address, a part that is away, too many
// requests.
//
// node failures.mjs URL
//
// The host has no feeds, and takes few requests in a minute.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, test } from "node:test";
import { launched } from "./chromium.mjs";

const [url] = process.argv.slice(2);
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await launched();
/** More requests than the host takes in a minute. */
const TOO_MANY = 500;

after(() => browser.close());

async function check(page, name) {
  assert.equal(await page.locator("h1").count(), 1, name);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.equal(wide, 0, `${name} is too wide by ${wide}`);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  assert.deepEqual(violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`)), [], name);
}

test("everybody can read the pages of failures", async () => {
  const pages = [];
  for (const [colorScheme, width] of [
    ["light", 1280],
    ["dark", 320],
  ]) {
    const viewport = { width, height: 800 };
    const context = await browser.newContext({ colorScheme, viewport, bypassCSP: true });
    const page = await context.newPage();
    for (const [path, status] of [
      ["/nowhere", 404],
      ["/map/data/sf-live-targets.json", 503],
    ]) {
      const response = await page.goto(url + path);
      assert.equal(response.status(), status, path);
      await check(page, `${path} ${colorScheme}`);
    }
    pages.push([page, colorScheme]);
  }
  // Both have the stylesheet by now.
  for (const [page, colorScheme] of pages) {
    let status = 200;
    for (let count = 0; status === 200 && count < TOO_MANY; count += 1) {
      status = (await page.goto(`${url}/docs?q=${count}`)).status();
    }
    assert.equal(status, 429);
    await check(page, `429 ${colorScheme}`);
  }
});
