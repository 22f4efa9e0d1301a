// The pages of the sign-in in a real browser: on a phone, without JavaScript, with the keyboard
// alone; and checks of their accessibility.
//
// node browser.mjs URL OUTBOX [FOLDER FOR PICTURES]

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { launched } from "./chromium.mjs";
import { code, messages } from "./person.mjs";

const [url, outbox, pictures] = process.argv.slice(2);
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const NAME = "<script>alert(1)</script>";
const STATE = 'a b&c=+%"ü';
const PHONE = { width: 390, height: 844 };
const SMALL = { width: 320, height: 568 };
const VERIFIER = "v".repeat(43);
const challenge = createHash("sha256").update(VERIFIER).digest("base64url");
let browser, server, redirectUri, arrived;

before(async () => {
  browser = await launched();
  server = createServer((request, response) => {
    if (request.url.startsWith("/callback")) arrived = new URL(request.url, redirectUri);
    response.end("back at the application");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  redirectUri = `http://127.0.0.1:${server.address().port}/callback`;
});

after(async () => {
  await browser?.close();
  server?.close();
});

/** Returns the request that registers a client with this name and without a secret. */
const registration = (name) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({
    client_name: name,
    // For a loopback address, the port may differ later (RFC 8252, section 7.3).
    redirect_uris: ["http://127.0.0.1/callback"],
    token_endpoint_auth_method: "none",
  }),
});

/** Returns the URL of a client's authorization request. */
function asking(client_id, parameters) {
  arrived = undefined;
  const query = {
    client_id,
    redirect_uri: redirectUri,
    response_type: "code",
    code_challenge: challenge,
    code_challenge_method: "S256",
    state: STATE,
    ...parameters,
  };
  return `${url}/oauth/authorize?${new URLSearchParams(query)}`;
}

/** Registers a client with this name and returns the URL of its authorization request. */
async function request(name, parameters) {
  const client = await (await fetch(`${url}/oauth/register`, registration(name))).json();
  return asking(client.client_id, parameters);
}

async function visitor(options) {
  const usual = { javaScriptEnabled: false, viewport: PHONE };
  const context = await browser.newContext({ ...usual, ...options });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  page.on("dialog", () => assert.fail("a script ran"));
  page.on("console", (message) => console.error(message.text()));
  page.on("response", (response) => {
    const request = response.request();
    if (request.isNavigationRequest() && request.method() === "POST") {
      assert.equal(response.status(), 303);
    }
  });
  return page;
}

const press = (page, name) => page.getByRole("button", { name }).click();

async function enterPhone(page, phone) {
  await page.getByLabel("Mobile number").fill(phone);
  await press(page, "Send the code");
}

async function enterCode(page, digits) {
  await page.getByLabel("Code of six digits").fill(digits);
  await press(page, "Continue");
}

/** Asserts that a problem is announced and is the description of its field. */
async function announced(page, label, text) {
  const alert = page.getByRole("alert");
  assert.match(await alert.textContent(), text);
  const field = page.getByLabel(label);
  assert.equal(await field.getAttribute("aria-invalid"), "true");
  const about = (await field.getAttribute("aria-describedby")).split(" ");
  assert(about.includes(await alert.getAttribute("id")));
}

const wrong = (digits) => (digits === "111111" ? "222222" : "111111");

test("a person on a phone signs in, allows, and later refuses", async () => {
  const page = await visitor();
  await page.goto(await request(NAME, { scope: "svc.read svc.write" }));
  assert.equal(await page.locator("script").count(), 0);
  assert(await page.getByText(NAME).isVisible());
  await enterPhone(page, "12345");
  await announced(page, "Mobile number", /not a mobile number/);
  await enterPhone(page, "+1 (201) 555-0104");
  assert(await page.getByText("0104").isVisible());
  const sent = await code(outbox, "+12015550104");
  await enterCode(page, wrong(sent));
  await announced(page, "Code of six digits", /not the code/);
  await enterCode(page, `${sent.slice(0, 3)} ${sent.slice(3)}`);

  assert(await page.getByRole("heading", { name: NAME }).isVisible());
  assert(await page.getByText("127.0.0.1").isVisible());
  assert(await page.getByText("Search, and read").isVisible());
  assert(await page.getByText("Publish listings").isVisible());
  assert.equal(await page.getByText("Receive events").count(), 0);
  await press(page, /^Allow$/);
  await page.getByText("back at the application").waitFor();
  const { code: granted, ...rest } = Object.fromEntries(arrived.searchParams);
  assert.match(granted, /^.{32,}$/);
  assert.deepEqual(rest, { state: STATE, iss: url });

  const cookies = await page.context().cookies(url);
  assert.equal(cookies.length, 2);
  for (const { httpOnly, sameSite } of cookies) {
    assert.deepEqual([httpOnly, sameSite], [true, "Lax"]);
  }

  await page.goto(await request("Another", {}));
  assert(await page.getByRole("heading", { name: "Another" }).isVisible());
  await press(page, "Refuse");
  await page.getByText("back at the application").waitFor();
  const { error_description, ...answer } = Object.fromEntries(arrived.searchParams);
  assert.deepEqual(answer, { error: "access_denied", state: STATE, iss: url });
  await page.goto(await request("A third", {}));
  await press(page, "Not you?");
  assert(await page.getByLabel("Mobile number").isVisible());
  assert.equal((await messages(outbox, "+12015550104")).length, 1);
});

test("a person goes back before signing in", async () => {
  const page = await visitor();
  await page.goto(await request("Curious", {}));
  await press(page, "Back to the application");
  await page.getByText("back at the application").waitFor();
  assert.equal(arrived.searchParams.get("error"), "access_denied");
  assert.equal(arrived.searchParams.get("state"), STATE);
});

test("the keyboard is enough", async () => {
  const page = await visitor();
  const { keyboard } = page;
  const focused = (text) => page.locator(":focus").filter({ hasText: text }).waitFor();
  // The page focuses its field by itself, shortly after it has loaded.
  const ready = (field) => page.locator(`#${field}:focus`).waitFor();
  await page.goto(await request("Keys", {}));
  await ready("phone");
  await keyboard.type("+1 201 555 0105");
  await keyboard.press("Enter");
  await ready("code");
  await keyboard.type(await code(outbox, "+12015550105"));
  await keyboard.press("Tab");
  await focused("Continue");
  await keyboard.press("Enter");
  await page.getByText("It asks to").waitFor();
  await keyboard.press("Tab");
  await focused("Allow");
  await keyboard.press("Tab");
  await focused("Refuse");
  await keyboard.press("Shift+Tab");
  await keyboard.press("Enter");
  await page.getByText("back at the application").waitFor();
  assert(arrived.searchParams.has("code"));
});

test("an application that lives in a browser registers, is allowed, and calls", async () => {
  const page = await visitor({ javaScriptEnabled: true });
  /** Fetches from the page of an application, which has another origin, and returns the JSON. */
  const ask = (path, options) =>
    page.evaluate(
      async ([at, options]) => (await fetch(at, options)).json(),
      [url + path, options],
    );
  await page.goto(new URL("/", redirectUri).href);
  const headers = { "mcp-protocol-version": "2026-07-28" };
  for (const what of ["oauth-protected-resource", "oauth-authorization-server", "jwks.json"]) {
    await ask(`/.well-known/${what}`, { headers });
  }
  const { client_id } = await ask("/oauth/register", registration("In a browser"));
  // No page of another origin can send the request that the person must send.
  await assert.rejects(ask("/oauth/authorize", {}), /Failed to fetch/);

  await page.goto(asking(client_id, { scope: "svc.read" }));
  await enterPhone(page, "+12015550109");
  await enterCode(page, await code(outbox, "+12015550109"));
  await press(page, /^Allow$/);
  await page.getByText("back at the application").waitFor();
  const token = await ask("/oauth/token", {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({
      grant_type: "authorization_code",
      client_id,
      code: arrived.searchParams.get("code"),
      code_verifier: VERIFIER,
      redirect_uri: redirectUri,
    }).toString(),
  });
  const reply = await ask("/v1/capabilities/faq_search/call", {
    method: "POST",
    headers: { authorization: `Bearer ${token.access_token}`, "content-type": "application/json" },
    body: JSON.stringify({ action: "search", query: "phone" }),
  });
  assert(reply.result, JSON.stringify(reply));
});

for (const [colorScheme, last] of [["light", 6], ["dark", 7]]) {
  test(`every page can be read by everybody: ${colorScheme}`, async () => {
    const page = await visitor({ javaScriptEnabled: true, viewport: SMALL, colorScheme });
    const check = async (name) => {
      if (pictures) {
        await page.setViewportSize(PHONE);
        await page.screenshot({ path: `${pictures}/${name}-${colorScheme}.png` });
        await page.setViewportSize(SMALL);
        const path = `${pictures}/${name}-${colorScheme}-small.png`;
        await page.screenshot({ path, fullPage: true });
      }
      const seen = await page.evaluate(() => ({
        overflow: document.documentElement.scrollWidth - innerWidth,
        unlabelled: [...document.querySelectorAll("input:not([type=hidden])")]
          .filter((input) => input.labels.length === 0).length,
      }));
      assert.deepEqual(seen, { overflow: 0, unlabelled: 0 }, name);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run());
      const told = violations.flatMap(({ id, nodes }) => nodes.map((it) => `${id}: ${it.html}`));
      assert.deepEqual(told, [], name);
    };
    const phone = `+1201555010${last}`;
    // This name has the maximum length and no spaces.
    await page.goto(await request("x".repeat(100), {}));
    await check("phone");
    await enterPhone(page, "12345");
    await check("phone-problem");
    await enterPhone(page, phone);
    await check("code");
    const sent = await code(outbox, phone);
    await enterCode(page, wrong(sent));
    await check("code-problem");
    await enterCode(page, sent);
    await check("consent");
    await page.goto(await request("Harbour Notes", {}));
    await check("consent-named");
    await page.goto(`${url}/oauth/authorize?client_id=unknown`);
    await check("stop");
  });
}

test("a page is not framed, kept, or taken to another browser", async () => {
  const begin = await request("Headers", {});
  const shown = await fetch(begin);
  const stopped = await fetch(`${url}/oauth/authorize?client_id=unknown`, { redirect: "manual" });
  assert.deepEqual([shown.status, stopped.status], [200, 400]);
  for (const { headers } of [shown, stopped]) {
    const policy = headers.get("content-security-policy").split("; ");
    for (const wanted of ["default-src 'none'", "frame-ancestors 'none'"]) {
      assert(policy.includes(wanted));
    }
    assert.equal(headers.get("x-frame-options"), "DENY");
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("access-control-allow-origin"), null);
  }
  const [cookie, ...attributes] = shown.headers.getSetCookie()[0].split("; ");
  for (const wanted of ["HttpOnly", "SameSite=Lax", "Path=/"]) assert(attributes.includes(wanted));

  const steps = (await shown.text()).match(/name="steps" value="([^"]*)"/)[1];
  const other = (await fetch(begin)).headers.getSetCookie()[0].split("; ")[0];
  const send = (body, cookie) =>
    fetch(`${url}/oauth/authorize/continue`, {
      method: "POST",
      headers: cookie ? { cookie } : {},
      body: new URLSearchParams({ step: "phone", phone: "+12015550108", ...body }),
      redirect: "manual",
    });
  for (const refusal of [
    send({}, cookie),
    send({ steps: "x" }, cookie),
    send({ steps }, other),
    send({ steps }),
  ]) {
    const refused = await refusal;
    assert.equal(refused.status, 400);
    assert.match(await refused.text(), /has expired/);
  }
  assert.deepEqual(await messages(outbox, "+12015550108"), []);
  assert.equal((await send({ steps }, cookie)).status, 303);
});
