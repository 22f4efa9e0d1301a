// Takes a picture of each page of pages.json: wide and on a phone, light and dark.
//
// node screenshots.mjs URL OUTBOX FOLDER

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { launched } from "./chromium.mjs";
import { code, messages } from "./person.mjs";

const [url, outbox, folder] = process.argv.slice(2);
const pages = JSON.parse(await readFile(new URL("pages.json", import.meta.url), "utf8"));
const PHONE_NUMBER = "+12015550188";
const SIZES = { wide: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };
const browser = await launched();

/** Signs a person in with a code, as for an application, and returns the cookies. */
async function signIn() {
  const server = createServer((_, response) => response.end("back"));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const redirect_uri = `http://127.0.0.1:${server.address().port}/callback`;
  const registration = await fetch(`${url}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      client_name: "Harbour Notes",
      redirect_uris: ["http://127.0.0.1/callback"],
      token_endpoint_auth_method: "none",
    }),
  });
  const { client_id } = await registration.json();
  const query = new URLSearchParams({
    client_id,
    redirect_uri,
    response_type: "code",
    code_challenge: createHash("sha256").update("v".repeat(43)).digest("base64url"),
    code_challenge_method: "S256",
    state: "pictures",
  });
  const context = await browser.newContext();
  const page = await context.newPage();
  const seen = (await messages(outbox, PHONE_NUMBER)).length;
  await page.goto(`${url}/oauth/authorize?${query}`);
  await page.getByLabel("Mobile number").fill(PHONE_NUMBER);
  await page.getByRole("button", { name: "Send the code" }).click();
  await page.getByLabel("Code of six digits").fill(await code(outbox, PHONE_NUMBER, seen));
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: /^Allow$/ }).click();
  await page.getByText("back").waitFor();
  const { cookies } = await context.storageState();
  await context.close();
  server.close();
  return cookies;
}

const cookies = await signIn();
for (const [size, viewport] of Object.entries(SIZES)) {
  for (const colorScheme of ["light", "dark"]) {
    for (const { name, path, as, ready } of pages) {
      const context = await browser.newContext({ colorScheme, viewport });
      if (as === "person") await context.addCookies(cookies);
      const page = await context.newPage();
      const response = await page.goto(new URL(path, url).href);
      if (!response.headers()["content-type"]?.startsWith("text/html")) {
        console.log(`${path} is no page here`);
      } else {
        if (ready) await page.locator(ready).waitFor();
        const file = join(folder, `${name}-${size}-${colorScheme}.png`);
        // Long pages repeat their parts.
        const height = await page.evaluate(() => document.documentElement.scrollHeight);
        const clip = { x: 0, y: 0, width: viewport.width, height: Math.min(height, 4000) };
        await page.screenshot({ path: file, fullPage: true, clip });
        console.log(file);
      }
      await context.close();
    }
  }
}
await browser.close();
