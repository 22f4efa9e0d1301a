// Checks the accessibility of the map, in both colour schemes, on large screens and small ones.
//
// node map_everybody.mjs URL OUTBOX [FOLDER FOR PICTURES]

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, test } from "node:test";
import { atMap, choose, DESKTOP, end } from "./map_page.mjs";

const [url, , pictures] = process.argv.slice(2);
const { visit, visitor } = atMap(url);
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TABLET = { width: 900, height: 700 };
const PHONE = { width: 360, height: 740 };
const roles = (await (await fetch(`${url}/map/data/sf-job-roles.json`)).json()).items;

after(end);

for (const colorScheme of ["light", "dark"]) {
  for (const [size, viewport] of Object.entries({
    desktop: DESKTOP,
    tablet: TABLET,
    phone: PHONE,
  })) {
    test(`everybody can use it: ${colorScheme}, ${size}`, async () => {
      const role = roles[0];
      const page = await visit("", {
        colorScheme,
        viewport,
        reducedMotion: "reduce",
        bypassCSP: true,
      });
      const check = async (name) => {
        if (pictures)
          await page.screenshot({ path: `${pictures}/${name}-${size}-${colorScheme}.png` });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.equal(wide, 0, name);
        if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
        const { violations } = await page.evaluate(() => window.axe.run());
        const told = violations.flatMap(({ id, nodes }) => nodes.map((it) => `${id}: ${it.html}`));
        assert.deepEqual(told, [], name);
      };
      await check("map");
      await page.getByText("More filters").click();
      await choose(page, "People to hire");
      await check("filtered");
      await page.evaluate((id) => {
        location.hash = `target=${id}`;
      }, role.target_id);
      await page.locator("#card-name").waitFor();
      await check("card");
      await page.locator('[data-record^="rol_"]').first().click();
      await check("handoff");
    });
  }
}

for (const colorScheme of ["light", "dark"]) {
  test(`everybody can read the pages about records: ${colorScheme}`, async () => {
    const [{ id, target_id }] = roles;
    for (const viewport of [DESKTOP, { width: 320, height: 568 }]) {
      const page = await visitor({ colorScheme, viewport, bypassCSP: true });
      for (const path of [`companies/${target_id}`, `roles/${id}`, "objection"]) {
        const response = await page.goto(`${url}/map/${path}`);
        assert.equal(response.status(), 200, path);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.equal(wide, 0, path);
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => window.axe.run());
        const told = violations.flatMap(({ id, nodes }) => nodes.map((it) => `${id}: ${it.html}`));
        assert.deepEqual(told, [], path);
      }
      assert.deepEqual(page.faults, []);
      await page.context().close();
    }
  });
}
