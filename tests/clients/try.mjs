// Tries actions on the pages of their capabilities.
//
// node try.mjs URL

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launched } from "./chromium.mjs";

const [url] = process.argv.slice(2);
const KEY = "reference-agent";
let browser;

before(async () => {
  browser = await launched();
});
after(() => browser?.close());

async function visitor(options) {
  const page = await (await browser.newContext(options)).newPage();
  page.faults = [];
  page.registrations = [];
  page.on("dialog", () => page.faults.push("a script ran"));
  page.on("pageerror", (error) => page.faults.push(error.message));
  page.on("console", (message) => {
    const isRefusal = message.text().startsWith("Failed to load resource");
    if (["error", "warning"].includes(message.type()) && !isRefusal) page.faults.push(message.text());
  });
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== url) page.faults.push(`asked ${request.url()}`);
    if (request.url().endsWith("/v1/agents/register")) page.registrations.push(request.postDataJSON());
  });
  return page;
}

const input = (page) => page.getByRole("textbox", { name: /as JSON/ }).first();
const answer = (page) => page.locator(".answer").first();
const said = (page, text) => answer(page).getByText(text).first().waitFor();

test("the keyboard is enough, and the agent is registered once", async () => {
  const page = await visitor();
  await page.goto(`${url}/docs/faq_search`);
  assert.equal(await answer(page).getAttribute("role"), "status");
  assert.equal(typeof JSON.parse(await input(page).inputValue()), "object");
  await input(page).focus();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.insertText('{"query":"<img src=x onerror=alert(1)> phone","limit":1}');
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await said(page, /^200 answered in \d+ ms$/);
  assert.equal(await page.locator(":focus").textContent(), "Make the call");
  const shown = JSON.parse(await answer(page).getByRole("region", { name: "Answer" }).textContent());
  assert.equal(shown.meta.capability, "faq_search");
  assert.equal(shown.meta.test_mode, true);
  const line = await answer(page).getByRole("region", { name: "Call with curl" }).textContent();
  assert(line.includes(`${url}/v1/capabilities/faq_search/call`) && line.includes("$TOKEN"), line);
  assert.equal(await page.locator("main img").count(), 0);

  await page.keyboard.press("Enter");
  await page.reload();
  await page.getByRole("button", { name: "Make the call" }).first().click();
  await said(page, /^200 answered/);
  assert.deepEqual(page.registrations, [
    { type: "anonymous", agent_name: "Reference page", mode: "test" },
  ]);
  assert.deepEqual(page.faults, []);
});

test("what is wrong is told with what to do", async () => {
  const page = await visitor();
  await page.goto(`${url}/docs/faq_search`);
  const call = async (text) => {
    await input(page).fill(text);
    await page.getByRole("button", { name: "Make the call" }).first().click();
  };
  await call("{");
  await said(page, /The input is not JSON/);
  await call("[]");
  await said(page, /not a JSON object/);
  assert.deepEqual(page.registrations, []);
  await call("{}");
  await said(page, /^400 validation_failed in/);
  const link = answer(page).getByRole("link", { name: "What to do about validation_failed" });
  assert.equal(await link.getAttribute("href"), "/docs/errors#validation_failed");
  await link.click();
  await page.locator("#validation_failed").waitFor();
  await page.goBack();
  await page.route("**/call", (route) => route.abort());
  await call('{"query":"phone"}');
  await said(page, /The host does not answer/);
  assert.deepEqual(page.faults, []);
});

test("an agent that the host does not know is replaced", async () => {
  const page = await visitor();
  await page.goto(`${url}/docs/faq_search`);
  await page.evaluate(
    ([key, value]) => sessionStorage.setItem(key, value),
    [KEY, JSON.stringify({ mode: "test", client_id: "cli_x", client_secret: "x" })],
  );
  await page.reload();
  await page.getByRole("button", { name: "Make the call" }).first().click();
  await said(page, /^200 answered/);
  assert.equal(page.registrations.length, 1);
});

test("only what reads can be tried", async () => {
  const page = await visitor();
  await page.goto(`${url}/docs/notes`);
  const tried = await page
    .locator("form.try")
    .evaluateAll((forms) => forms.map((form) => form.dataset.action));
  assert(tried.includes("get"), tried.join());
  assert(!tried.includes("put"), tried.join());
});

test("without scripts, the command stays", async () => {
  const page = await visitor({ javaScriptEnabled: false });
  await page.goto(`${url}/docs/faq_search`);
  assert(await page.getByText("curl -s").first().isVisible());
  assert.equal(await page.getByRole("button", { name: "Make the call" }).count(), 0);
  await page.getByText("Python", { exact: true }).first().click();
  assert(await page.getByText("import urllib.request").first().isVisible());
});
