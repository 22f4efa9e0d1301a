// The operator's console in a real browser: signing in by keyboard, every page on a phone and on a desk, light and
// dark, with and without JavaScript, and checks of their accessibility.
//
// node console.mjs URL OUTBOX [FOLDER FOR PICTURES]
//
// URL is the operator's address, and the token is beside OUTBOX.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { launched } from "./chromium.mjs";

const [url, outbox, pictures] = process.argv.slice(2);
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const token = (await readFile(join(dirname(outbox), "operator.token"), "utf8")).trim();
const SMALL = { width: 320, height: 568 };
const DESK = { width: 1280, height: 800 };
const PAGES = [
  "", "/catalog", "/calls", "/traces", "/events", "/reports", "/incidents", "/callers", "/feeds", "/audit", "/settings",
];
let browser;

before(async () => {
  browser = await launched();
});
after(() => browser?.close());

/** Returns a page that fails the test when something of another host is asked for, or a policy is broken. */
async function visitor(options) {
  const context = await browser.newContext({ viewport: SMALL, ...options });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  page.on("dialog", () => assert.fail("a script of others ran"));
  page.on("console", (message) => {
    const isStatus = message.text().startsWith("Failed to load resource");
    assert(isStatus || message.type() !== "error", message.text());
  });
  page.on("request", (request) => assert(request.url().startsWith(url), request.url()));
  return page;
}

async function signIn(page) {
  await page.goto(url);
  assert.equal(new URL(page.url()).pathname, "/console/sign-in");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.id), "token");
  await page.keyboard.type(token);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Overview" }).waitFor();
}

for (const colorScheme of ["light", "dark"]) {
  for (const viewport of [SMALL, DESK]) {
    const name = `${colorScheme}-${viewport.width}`;
    test(`every page fits and is accessible: ${name}`, async () => {
      const page = await visitor({ colorScheme, viewport });
      const check = async (what) => {
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => window.axe.run());
        const told = violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
        assert.deepEqual(told, [], what);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert(wide <= viewport.width, `${what} is ${wide} wide`);
        if (pictures) await page.screenshot({ path: `${pictures}/console-${what}-${name}.png`, fullPage: true });
      };
      await page.goto(url);
      await check("sign-in");
      await signIn(page);
      const openForms = () =>
        page.evaluate(() => {
          for (const details of document.querySelectorAll("details")) details.open = true;
        });
      for (const path of PAGES) {
        await page.goto(`${url}/console${path}`);
        const what = path.slice(1) || "overview";
        await check(what);
        await openForms();
        await check(`${what}-open`);
      }
      // The host keeps every trace.
      await page.goto(`${url}/console/traces`);
      await page.locator("td a").first().click();
      await page.getByRole("link", { name: "All traces" }).waitFor();
      await check("trace");
      await page.goto(`${url}/console/nothing`);
      await check("failure");
      await page.goto(`${url}/console/incidents`);
      await page.getByText("Tell the public about an incident").click();
      await page.locator("#title").fill(`Searches are slow: ${name}`);
      await page.locator("#text").fill("We look into it.\nThe next update is at noon.");
      await page.locator("#state").selectOption("investigating");
      const opening = page.locator('form[action$="/open_incident"]');
      await opening.getByRole("button").click();
      // It is not sent before it is confirmed.
      assert.equal(await page.getByRole("status").count(), 0);
      await opening.getByRole("checkbox").check();
      await opening.getByRole("button").click();
      await page.getByText("The incident is on the status page.").waitFor();
      await page.getByRole("heading", { name: `Searches are slow: ${name}` }).waitFor();
      await openForms();
      await check("incident");
      await page.goto(`${url}/console/catalog`);
      const first = page.locator("td a").first();
      await first.click();
      await check("capability");
    });
  }
}

test("a live page shows what has changed, and says when it is not live any more", async () => {
  const page = await visitor({ viewport: DESK });
  await signIn(page);
  await page.goto(`${url}/console/calls`);
  await page.getByText("Live", { exact: true }).waitFor();
  const other = await page.context().newPage();
  await other.goto(`${url}/console`);
  await other.getByRole("button", { name: "Sign out" }).click();
  await other.getByRole("heading", { name: "Operators sign in here" }).waitFor();
  await page.getByText(/Not live any more|Connecting again/).waitFor();
  // It would connect again, and be refused.
  await page.context().close();
});

test("the console works without JavaScript", async () => {
  const page = await visitor({ javaScriptEnabled: false });
  await page.goto(`${url}/console`);
  await page.getByLabel("Your operator's token").fill("wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  assert.match(await page.getByRole("alert").textContent(), /no operator's token/);
  await page.getByLabel("Your operator's token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  for (const path of PAGES) {
    await page.goto(`${url}/console${path}`);
    assert.equal(await page.getByRole("navigation").getByRole("link").count(), PAGES.length);
    assert.equal(await page.locator('[aria-current="page"]').count(), 1, path);
  }
  const [{ httpOnly, sameSite, path }] = await page.context().cookies(`${url}/console`);
  assert.deepEqual([httpOnly, sameSite, path], [true, "Strict", "/console"]);
  assert.deepEqual(await page.context().cookies(`${url}/audit`), []);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.goto(`${url}/console/audit`);
  assert.equal(new URL(page.url()).pathname, "/console/sign-in");
});
