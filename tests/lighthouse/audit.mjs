// Audits public pages of a host with Lighthouse, as a slow phone and as a desktop, prints a table, and ends with 1 if
// a category is below the least score, a page transfers too many scripts, or its first paint on the phone is late.
//
// node audit.mjs URL PAGES_FILE LEAST_SCORE

import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { existsSync } from "node:fs";
import lighthouse, { desktopConfig } from "lighthouse";
import { launch } from "chrome-launcher";

const CATEGORIES = ["performance", "accessibility", "best-practices", "seo"];
const FORMS = { phone: undefined, desktop: desktopConfig };
/** The largest size of a page's scripts as they are transferred, in bytes. */
const MOST_SCRIPTS = 100 * 1024;
/** The latest first paint on the slow phone, in milliseconds. */
const LATEST_PAINT = 1000;
const [url, pagesFile, least] = process.argv.slice(2);
const pages = JSON.parse(await readFile(pagesFile, "utf8"));
// A page with another status than 200 is for people who went wrong, and not to be found.
const audited = pages.filter(({ as, status }) => !as && !status);
const chromePath = process.env.PATH.split(delimiter)
  .map((folder) => join(folder, "chromium"))
  .find(existsSync);
const chrome = await launch({
  chromePath,
  chromeFlags: ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});

/** Search engines are told not to index invented cities, which is a fault in this category. */
const isExempt = (category, audits) => category === "seo" && audits["is-crawlable"].score === 0;

let low = 0;
console.log("page | form | performance | accessibility | best practices | SEO | first paint | scripts");
for (const { path } of audited) {
  for (const [form, config] of Object.entries(FORMS)) {
    const options = { port: chrome.port, onlyCategories: CATEGORIES, logLevel: "error" };
    const audit = () => lighthouse(new URL(path, url).href, options, config);
    let { lhr } = await audit();
    // Chromium sometimes misses the trace of a page; the page is audited again then.
    if (CATEGORIES.some((category) => lhr.categories[category].score === null)) ({ lhr } = await audit());
    const score = (category) => Math.round(lhr.categories[category].score * 100);
    const below = CATEGORIES.filter(
      (category) => score(category) < Number(least) && !isExempt(category, lhr.audits),
    );
    const scripts = lhr.audits["network-requests"].details.items
      .filter(({ resourceType }) => resourceType === "Script")
      .reduce((sum, { transferSize }) => sum + transferSize, 0);
    const paint = lhr.audits["first-contentful-paint"].numericValue;
    const scores = CATEGORIES.map(score).join(" | ");
    const numbers = `${(paint / 1000).toFixed(1)} s | ${Math.round(scripts / 1024)} KiB`;
    console.log(`${path} | ${form} | ${scores} | ${numbers}`);
    for (const category of below) {
      const failed = lhr.categories[category].auditRefs
        .map(({ id }) => lhr.audits[id])
        .filter((audit) => audit.score !== null && audit.score < 0.9);
      console.log(`  below ${least} in ${category}: ${failed.map(({ title }) => title).join("; ")}`);
    }
    const exceeded = [];
    if (scripts > MOST_SCRIPTS) exceeded.push(`scripts of ${scripts} bytes, above ${MOST_SCRIPTS}`);
    if (form === "phone" && paint > LATEST_PAINT) {
      exceeded.push(`a first paint after ${Math.round(paint)} ms, above ${LATEST_PAINT}`);
    }
    for (const text of exceeded) console.log(`  ${text}`);
    low += below.length + exceeded.length;
  }
}
await chrome.kill();
process.exit(low > 0 ? 1 : 0);
