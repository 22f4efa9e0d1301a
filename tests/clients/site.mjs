// Checks that everybody can read the public pages: their accessibility, their width on small screens, and that
// they load nothing from elsewhere.
//
// node site.mjs URL

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { launched } from "./chromium.mjs";

const [url] = process.argv.slice(2);
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const pages = JSON.parse(await readFile(new URL("pages.json", import.meta.url), "utf8"));
let browser;

before(async () => {
  browser = await launched();
});
after(() => browser?.close());

for (const [colorScheme, width] of [
  ["light", 1280],
  ["dark", 320],
]) {
  test(`everybody can read the pages: ${colorScheme}, ${width}`, async () => {
    const context = await browser.newContext({
      colorScheme,
      viewport: { width, height: 800 },
      bypassCSP: true,
    });
    const page = await context.newPage();
    const faults = [];
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("request", (request) => {
      if (new URL(request.url()).origin !== url) faults.push(`asked ${request.url()}`);
    });
    // Other tests check the pages of the map and those of people who have signed in.
    for (const { name, path, status = 200 } of pages.filter(({ own, as }) => !own && !as)) {
      const response = await page.goto(url + path);
      assert.equal(response.status(), status, name);
      assert.equal(await page.locator("h1").count(), 1, name);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.equal(wide, 0, `${name} is too wide by ${wide}`);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run());
      for (const { id, nodes } of violations) {
        faults.push(...nodes.map((node) => `${id} on ${name}: ${node.html}`));
      }
    }
    assert.deepEqual(faults, []);
    await context.close();
  });
}
