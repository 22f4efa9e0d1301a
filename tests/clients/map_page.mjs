// Opens the map in a browser and reads what it shows, for the other programs.

import { launched } from "./chromium.mjs";

export const DESKTOP = { width: 1440, height: 900 };
export const TARGETS = "sf-live-targets.json";
let browser;

/** Toggles the filter for a kind, an ask or a way of hiring. */
export const choose = (page, name) =>
  page.locator(".choice").filter({ hasText: name }).first().click();

export async function end() {
  await (await browser)?.close();
}

export function atMap(url) {
  /** Opens a page in a new context; `page.faults` has errors, warnings and foreign requests. */
  async function visitor(options, replaced = {}) {
    browser ??= launched();
    const context = await (await browser).newContext({ viewport: DESKTOP, ...options });
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    page.faults = [];
    page.on("dialog", () => page.faults.push("a script ran"));
    page.on("pageerror", (error) => page.faults.push(error.message));
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) page.faults.push(message.text());
    });
    page.on("request", (request) => {
      if (new URL(request.url()).origin !== url) page.faults.push(`asked ${request.url()}`);
    });
    for (const [name, answer] of Object.entries(replaced)) {
      await page.route(`**/map/data/${name}`, (route) => route.fulfill(answer));
    }
    return page;
  }

  /** Opens the map and waits until it has read all documents. */
  async function opened(page, fragment = "") {
    await page.goto(`${url}/map/${fragment}`);
    await page.locator("main[data-state=complete]").waitFor();
    return page;
  }

  const visit = async (fragment, options, replaced) =>
    opened(await visitor(options, replaced), fragment);
  const names = (page) => page.locator("#list .title").allTextContents();
  const identifiers = (page) =>
    page.locator("#list a").evaluateAll((links) => links.map((link) => link.dataset.target));
  const search = (page) => page.getByRole("searchbox");

  /** Returns the number of organisations that the map shows, by themselves or in crowds. */
  const onMap = (page) =>
    page.evaluate(() => {
      const crowds = [...document.querySelectorAll("#map [data-number]")];
      const ones = document.querySelectorAll("#map .mark[data-target]").length;
      return crowds.reduce((sum, crowd) => sum + Number(crowd.dataset.number), ones);
    });

  return { identifiers, names, onMap, opened, search, visit, visitor };
}
