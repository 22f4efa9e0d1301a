// The pages of an account in a real browser: without JavaScript and with the keyboard alone; and checks of their
// accessibility, in light and dark, on a small phone and a wide screen.
//
// node account.mjs URL OUTBOX [FOLDER FOR PICTURES]

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { call, reads } from "./api.mjs";
import { launched } from "./chromium.mjs";
import { code, messages, Person } from "./person.mjs";

const [url, outbox, pictures] = process.argv.slice(2);
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PHONE = "+12015550177";
/** The phone of a person whose agent was stolen. */
const ROBBED = "+12015550178";
const SMALL = { width: 320, height: 568 };
const WIDE = { width: 1280, height: 800 };
const PARTS = [
  "owners", "data_rights", "social_relationships", "approvals", "applications", "conversations", "media",
];
const PAGES = ["/account", ...PARTS.map((part) => `/account/${part}`)];
const MOST_TABS = 80;
const PATIENCE_MS = 60_000;
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

/** Opens a browser without JavaScript in which a person signs in at their account by the keyboard. */
async function signedIn(phone) {
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: SMALL });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  page.on("dialog", () => assert.fail("a script ran"));
  const asked = new Set();
  page.on("request", (request) => asked.add(new URL(request.url()).origin));
  const seen = (await messages(outbox, phone)).length;
  await page.goto(`${url}/account`);
  await page.locator("#phone:focus").waitFor();
  await page.keyboard.type(phone);
  await page.keyboard.press("Enter");
  await page.locator("#code:focus").waitFor();
  await page.keyboard.type(await code(outbox, phone, seen));
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Your account" }).waitFor();
  return { asked, context, page };
}

/** Registers an agent that this person lets act for them, and returns its token. */
async function allowedAgent(person) {
  const redirect_uri = "http://127.0.0.1:8123/callback";
  const registered = await fetch(`${url}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      client_name: "A stolen agent",
      redirect_uris: [redirect_uri],
      token_endpoint_auth_method: "none",
    }),
  });
  const { client_id } = await registered.json();
  const code_verifier = "v".repeat(43);
  const asking = new URL("/oauth/authorize", url);
  asking.search = new URLSearchParams({
    client_id,
    redirect_uri,
    response_type: "code",
    scope: "svc.read svc.write",
    state: "kept",
    code_challenge: createHash("sha256").update(code_verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  const sentTo = await person.allow(asking);
  const granted = await fetch(`${url}/oauth/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      client_id,
      code: sentTo.searchParams.get("code"),
      redirect_uri,
      code_verifier,
    }),
  });
  const { access_token } = await granted.json();
  return access_token;
}

test("the keyboard is enough to sign in, set quiet hours, and erase and keep everything", async () => {
  const { asked, context, page } = await signedIn(PHONE);
  const { keyboard } = page;
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
  assert.deepEqual([...asked], [url]);
  storageState = await context.storageState();
  await context.close();
});

test("the keyboard is enough to revoke an agent, sign another browser out, and take everything along", async () => {
  const elsewhere = new Person(outbox, ROBBED);
  const token = await allowedAgent(elsewhere);
  await reads(url, token);
  const { asked, context, page } = await signedIn(ROBBED);
  const { keyboard } = page;
  await tabTo(page, "Revoke this agent");
  await keyboard.press("Enter");
  await page.getByText("No agent acts for you.").waitFor();
  const refused = await call(url, token, "faq_search", { action: "search", query: "phone" });
  assert.deepEqual([refused.status, refused.body.error_code], [401, "client_revoked"]);

  assert.equal(await elsewhere.status(`${url}/account`), 200);
  const others = page.getByRole("button", { name: "Sign this browser out" });
  assert.equal(await others.count(), 1);
  await page.goto(`${url}/account`);
  await tabTo(page, "Sign this browser out");
  await keyboard.press("Enter");
  await others.waitFor({ state: "detached" });
  assert.equal(await elsewhere.status(`${url}/account`), 401);

  await page.goto(`${url}/account/data_rights`);
  await tabTo(page, "Export my data");
  await keyboard.press("Enter");
  await tabTo(page, "Collect everything that is stored about me");
  await keyboard.press("Space");
  await tabTo(page, "Export my data");
  await keyboard.press("Enter");
  await page.getByRole("status").getByText("Done: Export my data").waitFor();
  const isReady = () => page.getByText("Export: ready").first().isVisible();
  for (const started = Date.now(); !(await isReady()); await sleep(200)) {
    assert(Date.now() - started < PATIENCE_MS, "the export is not ready");
    await page.goto(`${url}/account/data_rights`);
  }
  await page.goto(`${url}/account/data_rights`);
  await tabTo(page, "Download my data");
  const downloading = page.waitForEvent("download");
  await keyboard.press("Enter");
  const download = await downloading;
  assert.equal(download.suggestedFilename(), "data_rights.zip");
  const archive = await readFile(await download.path());
  // The signature of an archive, and the name of its index.
  assert.equal(archive.toString("latin1", 0, 4), "PK\x03\x04");
  assert(archive.includes("index.md"));
  assert.deepEqual([...asked], [url]);
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
