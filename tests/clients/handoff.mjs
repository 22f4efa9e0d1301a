// The pages of handoffs in a real browser: with the keyboard alone, in two time zones and languages; without JavaScript;
// and checks of their accessibility, in light and dark, on a small phone and a wide screen.
//
// node handoff.mjs URL OUTBOX [FOLDER FOR PICTURES]

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { launched } from "./chromium.mjs";
import { code, messages } from "./person.mjs";

const [url, outbox, pictures] = process.argv.slice(2);
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SMALL = { width: 320, height: 568 };
const WIDE = { width: 1280, height: 800 };
const MOST_TABS = 80;
/** In each, the sign for the day, and how the zone is named. */
const READERS = [
  { timezoneId: "America/Los_Angeles", locale: "en-US", phone: "+12015550171", zone: /P[SD]T$/ },
  { timezoneId: "Asia/Tokyo", locale: "de-DE", phone: "+12015550172", zone: /(GMT\+9|MEZ|JST)$/ },
];
let browser, roles, contracts, storageState;

const records = async (file) => (await (await fetch(`${url}/map/data/${file}`)).json()).items;

before(async () => {
  browser = await launched();
  roles = await records("sf-job-roles.json");
  contracts = await records("hi-handoff-manifest.json");
});

after(() => browser?.close());

const start = (intent, record) => {
  const { id } = contracts.find((contract) => contract.intent === intent);
  return `${url}/map/handoffs/${id}/${record}`;
};

/** Presses Tab until an element with this text or label has the focus. */
async function tabTo(page, text) {
  for (let tabs = 0; tabs < MOST_TABS; tabs += 1) {
    await page.keyboard.press("Tab");
    const focused = page.locator(":focus");
    if ((await focused.count()) === 0) continue;
    const name = (await focused.innerText()) || "";
    const id = await focused.getAttribute("id");
    const label = id ? await page.locator(`label[for="${id}"]`).allInnerTexts() : [];
    if ([name, ...label].some((one) => one.trim().startsWith(text))) return;
  }
  assert.fail(`no way to ${text} by the keyboard`);
}

/** Signs in at the page of a handoff, and comes back to it. */
async function signIn(page, phone, title) {
  await tabTo(page, "Sign in and go on here");
  await page.keyboard.press("Enter");
  await page.locator("#phone:focus").waitFor();
  await page.keyboard.type(phone);
  const seen = (await messages(outbox, phone)).length;
  await page.keyboard.press("Enter");
  await page.locator("#code:focus").waitFor();
  await page.keyboard.type(await code(outbox, phone, seen));
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: title }).waitFor();
}

/** Checks that the times of a page are those of the reader, and that UTC is kept. */
async function checkTimes(page, { timezoneId, locale, zone }) {
  await page.waitForLoadState("load");
  const times = page.locator("time[data-precision]");
  assert((await times.count()) > 0, "the page has times");
  for (const time of await times.all()) {
    const at = new Date(await time.getAttribute("datetime"));
    const text = await time.innerText();
    const precision = await time.getAttribute("data-precision");
    const day = new Intl.DateTimeFormat(locale, { timeZone: timezoneId, day: "numeric" });
    assert(text.includes(day.format(at).replace(".", "")), `${text} is on ${day.format(at)}`);
    if (precision !== "day") assert.match(text, zone);
    const utc = `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
    assert.equal(await time.getAttribute("title"), utc);
    assert.equal(await time.getAttribute("lang"), locale);
  }
}

for (const [number, reader] of READERS.entries()) {
  test(`the keyboard is enough to apply to a role, in ${reader.timezoneId}`, async () => {
    const { timezoneId, locale } = reader;
    const context = await browser.newContext({ timezoneId, locale, viewport: SMALL });
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    const faults = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("console", (message) => {
      // A page that asks for a sign-in, or says what is wrong, has such a status.
      const isStatus = message.text().startsWith("Failed to load resource");
      if (message.type() === "error" && !isStatus) faults.push(message.text());
    });
    const asked = [];
    page.on("request", (request) => asked.push(new URL(request.url()).origin));
    const { keyboard } = page;
    const role = roles[number];
    await page.goto(`${url}/map/roles/${role.id}`);
    await checkTimes(page, reader);
    await tabTo(page, "Apply to an open role");
    await keyboard.press("Enter");
    await page.getByRole("heading", { name: "Apply to an open role" }).waitFor();
    assert(await page.getByText(role.title).first().isVisible());
    await checkTimes(page, reader);
    await signIn(page, reader.phone, "Apply to an open role");
    await tabTo(page, "Profile: headline");
    await keyboard.type("Robotics engineer");
    await tabTo(page, "Profile: years experience");
    await keyboard.type("many");
    await tabTo(page, "Check it without sending");
    await keyboard.press("Enter");
    // What is wrong is announced, and what was typed is still there.
    await page.getByRole("alert").waitFor();
    assert.equal(await page.getByLabel("Profile: headline").inputValue(), "Robotics engineer");
    await page.getByLabel("Profile: years experience").focus();
    await keyboard.press("ControlOrMeta+a");
    await keyboard.type("6");
    await tabTo(page, "Check it without sending");
    await keyboard.press("Enter");
    await page.getByRole("status").getByText("Nothing is sent yet").waitFor();
    await checkTimes(page, reader);
    await tabTo(page, "Send the application");
    await keyboard.press("Enter");
    await page.getByRole("heading", { name: "Done" }).waitFor();
    assert(await page.getByText(role.title).first().isVisible());
    await checkTimes(page, reader);
    await tabTo(page, "Applications");
    await keyboard.press("Enter");
    await page.getByRole("heading", { name: "Applications", exact: true }).waitFor();
    assert(await page.getByText(role.title).first().isVisible());
    await checkTimes(page, reader);
    await page.goto(`${url}/account`);
    await checkTimes(page, reader);
    assert.deepEqual(faults, []);
    assert.deepEqual([...new Set(asked)], [url]);
    storageState = await context.storageState();
    await context.close();
  });
}

test("without JavaScript, a person searches, and reads times in UTC", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false, storageState });
  const page = await context.newPage();
  const people = await records("sf-people.json");
  await page.goto(start("find_similar_people", people[0].id));
  assert.match(await page.locator("time[data-precision]").first().innerText(), / UTC$/);
  await page.getByRole("button", { name: "Search" }).click();
  assert.match(await page.getByRole("status").innerText(), /Nothing was found/);
  await context.close();
});

for (const colorScheme of ["light", "dark"]) {
  for (const viewport of [SMALL, WIDE]) {
    test(`the pages are accessible, ${colorScheme}, ${viewport.width} wide`, async () => {
      const check = async (page, name) => {
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        assert(width <= viewport.width, `${name} is ${width} wide`);
        if (pictures) {
          const path = `${pictures}/handoff-${name}-${colorScheme}-${viewport.width}.png`;
          await page.screenshot({ path, fullPage: true });
        }
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => window.axe.run());
        const found = violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
        assert.deepEqual(found, [], name);
      };
      const stranger = await browser.newContext({ colorScheme, viewport });
      const outside = await stranger.newPage();
      await outside.goto(start("apply_to_role", roles[2].id));
      await check(outside, "signed-out");
      await outside.goto(`${outside.url()}x`);
      await check(outside, "forged");
      await stranger.close();
      const context = await browser.newContext({ colorScheme, viewport, storageState });
      const page = await context.newPage();
      await page.goto(start("apply_to_role", roles[2].id));
      await check(page, "draft");
      await page.getByLabel("Profile: years experience").fill("many");
      await page.getByRole("button", { name: "Check it" }).click();
      await check(page, "refused");
      await page.getByLabel("Profile: headline").fill("Robotics engineer");
      await page.getByLabel("Profile: years experience").fill("6");
      await page.getByRole("button", { name: "Check it" }).click();
      await page.getByRole("status").waitFor();
      await check(page, "tried");
      await context.close();
    });
  }
}
