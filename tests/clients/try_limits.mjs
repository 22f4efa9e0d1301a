// Tries an action at a host that registers one agent an hour.
//
// node try_limits.mjs URL

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { launched } from "./chromium.mjs";

const [url] = process.argv.slice(2);
const browser = await launched();

after(() => browser.close());

test("whoever has registered too often is told to wait", async () => {
  const call = async () => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${url}/docs/faq_search`);
    await page.getByRole("button", { name: "Make the call" }).first().click();
    await page.locator(".answer").first().getByText(/^\d{3} /).waitFor();
    return page.locator(".answer").first().textContent();
  };
  const told = [];
  while (!told.at(-1)?.startsWith("429") && told.length < 5) told.push(await call());
  assert.match(told[0], /^200 answered/);
  assert.match(told.at(-1), /^429 rate_limited: .*about rate_limited\. Wait \d+ seconds/);
});
