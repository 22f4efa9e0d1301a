// Takes a picture of each page of pages.json: wide and on a phone, light and dark.
//
// node screenshots.mjs URL OUTBOX FOLDER OPERATOR_URL TOKEN_FILE

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { launched } from "./chromium.mjs";
import { code, messages } from "./person.mjs";

const [url, outbox, folder, operatorUrl, tokenFile] = process.argv.slice(2);
const pages = JSON.parse(await readFile(new URL("pages.json", import.meta.url), "utf8"));
const PHONE_NUMBER = "+12015550188";
const SIZES = { wide: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };
const browser = await launched();

/** Opens a page that asks for a sign-in, signs in by `fill`, and returns the cookies. */
async function signIn(address, fill) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(address);
  await fill(page);
  const { cookies } = await context.storageState();
  await context.close();
  return cookies;
}

async function asPerson(page) {
  const seen = (await messages(outbox, PHONE_NUMBER)).length;
  await page.getByLabel("Mobile number").fill(PHONE_NUMBER);
  await page.getByRole("button", { name: "Send the code" }).click();
  await page.getByLabel("Code of six digits").fill(await code(outbox, PHONE_NUMBER, seen));
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("heading", { name: "Agents" }).waitFor();
}

async function asOperator(page) {
  await page.getByLabel("Token").fill((await readFile(tokenFile, "utf8")).trim());
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`${operatorUrl}/console`);
}

const cookies = {
  person: await signIn(`${url}/account`, asPerson),
  operator: await signIn(`${operatorUrl}/console`, asOperator),
};
for (const [size, viewport] of Object.entries(SIZES)) {
  for (const colorScheme of ["light", "dark"]) {
    for (const { name, path, as, ready, signedOut } of pages) {
      const context = await browser.newContext({ colorScheme, viewport });
      if (as && !signedOut) await context.addCookies(cookies[as]);
      const page = await context.newPage();
      const response = await page.goto(new URL(path, as === "operator" ? operatorUrl : url).href);
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
