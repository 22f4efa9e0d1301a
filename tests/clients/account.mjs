// The pages of an account in a real browser: without JavaScript and with the keyboard alone; and checks of their
// accessibility, in light and dark, on a small phone and a wide screen.
//
// node account.mjs URL OUTBOX [FOLDER FOR PICTURES]

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { launched } from "./chromium.mjs";
import { code } from "./person.mjs";

const [url, outbox, pictures] = process.argv.slice(2);
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PHONE = "+12015550177";
const SMALL = { width: 320, height: 568 };
const WIDE = { width: 1280, height: 800 };
const PAGES = ["/account", "/account/owners", "/account/data_rights", "/account/social_relationships"];
const MOST_TABS = 80;
let browser, storageState;

before(async () => {
  browser = await launched();
});

after(() => browser?.close());

/** Presses Tab until an element with this text or label has the focus. */
async function tabTo(page, text) {
  for (let tabs = 0; tabs < MOST_TABS; tabs += 1) {
    await page.keyboard.press("Tab");
    const focused = page.locator(":focus");
    if ((await focused.count()) === 0) continue;
    const name = (await focused.innerText()) || "";
    const id = await focused.getAttribute("id");
    const label = id ? await page.locator(`label[for="${id}"]`).allInnerTexts() : [];
    const around = await focused.locator("xpath=ancestor::label").allInnerTexts();
    if ([name, ...label, ...around].some((one) => one.trim().startsWith(text))) return;
  }
  assert.fail(`no way to ${text} by the keyboard`);
}

test("the keyboard is enough to sign in, set quiet hours, and erase and keep everything", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: SMALL });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  page.on("dialog", () => assert.fail("a script ran"));
  const { keyboard } = page;
  const asked = [];
  page.on("request", (request) => asked.push(new URL(request.url()).origin));
  await page.goto(`${url}/account`);
  await page.locator("#phone:focus").waitFor();
  await keyboard.type(PHONE);
  await keyboard.press("Enter");
  await page.locator("#code:focus").waitFor();
  await keyboard.type(await code(outbox, PHONE));
  await keyboard.press("Enter");
  await page.getByRole("heading", { name: "Your account" }).waitFor();

  await tabTo(page, "Owners");
  await keyboard.press("Enter");
  await page.getByRole("heading", { name: "Owners" }).waitFor();
  await tabTo(page, "Change notifications and quiet hours");
  await keyboard.press("Enter");
  await tabTo(page, "Quiet hours: from");
  await keyboard.type("22:00");
  await tabTo(page, "Quiet hours: to");
  await keyboard.type("7");
  await tabTo(page, "Quiet hours: time zone");
  await keyboard.type("Europe/Berlin");
  await keyboard.press("Enter");
  // What is wrong is announced, and what was typed is still there.
  await page.getByRole("alert").waitFor();
  assert.equal(await page.getByLabel("Quiet hours: from").inputValue(), "22:00");
  await tabTo(page, "Quiet hours: to");
  await keyboard.type("07:00");
  await keyboard.press("Enter");
  assert.match(await page.getByRole("status").innerText(), /^Done/);
  assert.equal(await page.getByText("07:00").first().isVisible(), true);

  await page.goto(`${url}/account/data_rights`);
  await tabTo(page, "Erase my data");
  await keyboard.press("Enter");
  await tabTo(page, "Erase everything that is stored about me");
  await keyboard.press("Space");
  await tabTo(page, "Erase my data");
  await keyboard.press("Enter");
  await page.getByText("Erasure: scheduled").waitFor();
  await tabTo(page, "Cancel the erasure");
  await keyboard.press("Enter");
  await page.getByText("Erasure: cancelled").waitFor();
  assert.deepEqual([...new Set(asked)], [url]);
  storageState = await context.storageState();
  await context.close();
});

for (const colorScheme of ["light", "dark"]) {
  for (const viewport of [SMALL, WIDE]) {
    test(`the pages are accessible, ${colorScheme}, ${viewport.width} wide`, async () => {
      const context = await browser.newContext({ colorScheme, viewport, storageState });
      const page = await context.newPage();
      const checks = async (name) => {
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        assert(width <= viewport.width, `${name} is ${width} wide`);
        if (pictures) {
          const path = `${pictures}/${name.replaceAll("/", "-")}-${colorScheme}-${viewport.width}.png`;
          await page.screenshot({ path, fullPage: true });
        }
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => window.axe.run());
        const found = violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
        assert.deepEqual(found, [], name);
      };
      for (const path of PAGES) {
        await page.goto(`${url}${path}`);
        await checks(path);
        // With every form open.
        await page.evaluate(() => {
          for (const details of document.querySelectorAll("details")) details.open = true;
        });
        await checks(`${path}-open`);
      }
      await context.close();
      const stranger = await browser.newContext({ colorScheme, viewport });
      const signIn = await stranger.newPage();
      await signIn.goto(`${url}/account`);
      await signIn.evaluate(axe);
      const { violations } = await signIn.evaluate(() => window.axe.run());
      assert.deepEqual(violations.map(({ id }) => id), []);
      await stranger.close();
    });
  }
}
