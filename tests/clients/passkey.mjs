// Passkeys in a real browser: a person adds one, signs in with the number and the passkey, and with
// the passkey alone; and checks of the pages' accessibility.
//
// node passkey.mjs URL OUTBOX [FOLDER FOR PICTURES]

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { launched } from "./chromium.mjs";
import { code, messages } from "./person.mjs";

const [url, outbox, pictures] = process.argv.slice(2);
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
// The address by which the host knows itself.
const ORIGIN = "http://portolan.test";
const PHONE = "+12015550123";
let browser, context, authenticators, request;

before(async () => {
  const { host } = new URL(url);
  browser = await launched([
    `--host-resolver-rules=MAP portolan.test ${host}`,
    // Browsers have passkeys on pages that came by https, and on these.
    `--unsafely-treat-insecure-origin-as-secure=${ORIGIN}`,
  ]);
  const client = await fetch(`${url}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      client_name: "A client",
      redirect_uris: ["http://127.0.0.1/callback"],
      token_endpoint_auth_method: "none",
    }),
  });
  const query = {
    client_id: (await client.json()).client_id,
    redirect_uri: "http://127.0.0.1/callback",
    response_type: "code",
    code_challenge: "x".repeat(43),
    code_challenge_method: "S256",
  };
  request = `${ORIGIN}/oauth/authorize?${new URLSearchParams(query)}`;
});

after(() => browser?.close());

/** Opens a window of a browser without cookies, whose device has these passkeys. */
async function device(passkeys = []) {
  context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  page.on("console", (message) => console.error(message.text()));
  authenticators = await context.newCDPSession(page);
  await authenticators.send("WebAuthn.enable");
  const { authenticatorId } = await authenticators.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  for (const credential of passkeys) {
    await authenticators.send("WebAuthn.addCredential", { authenticatorId, credential });
  }
  const stored = async () =>
    (await authenticators.send("WebAuthn.getCredentials", { authenticatorId })).credentials;
  return { page, stored };
}

const press = (page, name) => page.getByRole("button", { name }).click();
const shows = (page, name) => page.getByRole("heading", { name }).waitFor();

async function proveNumber(page) {
  const seen = (await messages(outbox, PHONE)).length;
  await page.getByLabel("Mobile number").fill(PHONE);
  await press(page, "Send the code");
  await page.getByLabel("Code of six digits").fill(await code(outbox, PHONE, seen));
  await press(page, "Continue");
}

async function looks(page, name) {
  if (pictures) await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), []);
}

test("a person adds a passkey, needs it from then on, and signs in with it alone", async () => {
  const first = await device();
  await first.page.goto(request);
  await proveNumber(first.page);
  await shows(first.page, /^Allow/);
  await first.page.goto(`${ORIGIN}/account`);
  await press(first.page, "Add a passkey");
  await shows(first.page, "Add a passkey");
  await looks(first.page, "add");
  await first.page.getByLabel("Name of this passkey").fill("My laptop");
  await press(first.page, "Add the passkey");
  await first.page.getByText("My laptop").waitFor();
  await looks(first.page, "account");
  const passkeys = await first.stored();
  assert.equal(passkeys.length, 1);
  assert(passkeys[0].isResidentCredential);
  // The same device refuses a second one, and says so.
  await press(first.page, "Add a passkey");
  await first.page.getByLabel("Name of this passkey").fill("Again");
  await press(first.page, "Add the passkey");
  assert.match(await first.page.getByRole("alert").textContent(), /has a passkey of yours already/);
  await context.close();

  // Who has the number and not the passkey does not get in.
  const thief = await device();
  await thief.page.goto(request);
  await proveNumber(thief.page);
  await shows(thief.page, "Now your passkey");
  await looks(thief.page, "second-factor");
  await press(thief.page, "Use a passkey");
  assert.match(await thief.page.getByRole("alert").textContent(), /cancelled/);
  await thief.page.goto(`${ORIGIN}/account`);
  await shows(thief.page, "Sign in with your phone");
  await looks(thief.page, "signed-out");
  await context.close();

  const second = await device(passkeys);
  await second.page.goto(request);
  await proveNumber(second.page);
  await shows(second.page, "Now your passkey");
  // A page that is loaded again still works.
  await second.page.reload();
  await press(second.page, "Use a passkey");
  await shows(second.page, /^Allow/);
  const used = await second.stored();
  await context.close();

  const third = await device(used);
  await third.page.goto(`${ORIGIN}/account`);
  await press(third.page, "Sign in with a passkey");
  await shows(third.page, "Sign in with a passkey");
  await press(third.page, "Use a passkey");
  await shows(third.page, "What can act for you");
  await third.page.getByText("Signed in with the passkey My laptop").waitFor();
  await context.close();
});
