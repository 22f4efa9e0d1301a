// The map with documents that are hostile, very large, of another version, or missing.
//
// node map_hostile.mjs URL

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { atMap, end, TARGETS } from "./map_page.mjs";

const [url] = process.argv.slice(2);
const { names, onMap, search, visit, visitor } = atMap(url);
const HOSTILE = `<img src=x onerror="document.title='taken'"><script>alert(1)</script>`;
const DOCUMENTS = [TARGETS, "live-signal-feed.json", "sf-job-roles.json", "sf-people.json"];

after(end);

const read = async (name) => (await fetch(`${url}/map/data/${name}`)).json();
const answer = (document) => ({ json: document });

/** Replaces every text by a hostile one, except identifiers and terms of a fixed list. */
function taken(value, key = "") {
  if (Array.isArray(value)) return value.map((item) => taken(item, key));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, it]) => [name, taken(it, name)]));
  }
  if (typeof value !== "string" || /^(type|id|.*_ids?|kind|currency|unit|bbox)$/.test(key))
    return value;
  return /url|website/.test(key) ? "javascript:alert(1)" : HOSTILE;
}

test("text of documents stays text, and leads nowhere but to the web", async () => {
  const [targets, ...others] = await Promise.all(DOCUMENTS.map(read));
  const busy = others[1].items[0].target_id;
  const replaced = [targets, ...others].map((document) => answer(taken(document)));
  const documents = Object.fromEntries(DOCUMENTS.map((name, at) => [name, replaced[at]]));
  const contracts = await read("hi-handoff-manifest.json");
  for (const contract of contracts.items) {
    Object.assign(contract, { title: HOSTILE, consent_text: HOSTILE });
    contract.continuation.url_template = `https://a.example/';${HOSTILE}'/handoff/{token}`;
  }
  const page = await visit(
    `#target=${busy}`,
    {},
    {
      ...documents,
      "hi-handoff-manifest.json": answer(contracts),
    },
  );
  assert.equal(await page.locator("#card-name").textContent(), HOSTILE);
  assert.equal((await names(page))[0], HOSTILE);
  for (const details of await page.locator("#card summary").all()) await details.click();
  await page.locator("[data-handoff]").first().click();
  assert(await page.getByText("This record cannot be handed over").isVisible());
  const found = await page.evaluate(() => ({
    made: document.querySelectorAll("img, body script, iframe, [onerror], [style*=url]").length,
    links: [...document.querySelectorAll("a")].map((link) => link.protocol),
  }));
  assert.equal(found.made, 0);
  assert.deepEqual([...new Set(found.links)], ["http:"]);
  assert.deepEqual(page.faults, []);
});

test("an address that means it ill finds nothing", async () => {
  const page = await visit(`#q=${encodeURIComponent(HOSTILE)}&kind=${HOSTILE}&target=${HOSTILE}`);
  assert.equal(await search(page).inputValue(), HOSTILE);
  assert(await page.getByText("Nothing fits").isVisible());
  assert(await page.locator("#card").isHidden());
  assert.deepEqual(page.faults, []);
});

test("markup that slips through is refused by the browser", async () => {
  const page = await visit("");
  const refused = await page.evaluate((text) => {
    try {
      document.body.innerHTML = text;
      return "taken";
    } catch (error) {
      return error.name;
    }
  }, HOSTILE);
  assert.equal(refused, "TypeError");
});

test("what this page does not know is shown under its own name", async () => {
  const targets = await read(TARGETS);
  const { properties } = targets.features[0];
  Object.assign(properties, { kind: "moon_base", name: "Tycho" });
  properties.ask = [{ type: "more_air", text: "Air", since: "soon", maturity: "rumoured" }];
  targets._meta.city.id = "luna";
  targets._meta.synthetic = false;
  const page = await visit("", {}, { [TARGETS]: answer(targets) });
  await page.locator(".choice").filter({ hasText: "Moon base" }).click();
  await page.locator("#list a").first().click();
  const card = page.locator("#card");
  for (const words of ["Moon base", "More air", "Rumoured"]) {
    assert(await card.getByText(words).first().isVisible(), words);
  }
  const unsure = card.locator(".entry").filter({ hasText: "More air" }).locator(".badge");
  assert.equal(await unsure.getAttribute("class"), "badge past");
  assert(await page.getByText("Invented organisations.").isHidden());
  assert.deepEqual(page.faults, []);
});

test("two thousand organisations, half of them at one place, can be searched and opened", async () => {
  const targets = await read(TARGETS);
  const [pattern] = targets.features;
  const [west, south] = pattern.geometry.coordinates;
  targets.features = Array.from({ length: 2000 }, (_, n) => {
    const away = n % 2 === 0 ? 0 : (n % 97) / 1000;
    const coordinates = [west - away, south - ((n * 7) % 53) * away * 0.01];
    const name = `Number ${String(n).padStart(4, "0")}`;
    return {
      ...pattern,
      id: `tgt_${String(n).padStart(26, "0")}`,
      geometry: { type: "Point", coordinates },
      properties: { ...pattern.properties, name },
    };
  });
  const page = await visit("", { reducedMotion: "reduce" }, { [TARGETS]: answer(targets) });
  assert.equal(await onMap(page), 2000);
  // Neither the list nor the map draws all organisations.
  assert.equal(await page.locator("#list li").count(), 30);
  assert((await page.locator("#map .place, #map .crowd").count()) < 300);
  // The keyboard is used, because a click can miss the button while the page is
  // still being laid out.
  await page.getByRole("button", { name: /Show more/ }).press("Enter");
  assert.equal(await page.locator("#list a:focus .title").textContent(), "Number 0030");
  await search(page).fill("number 1998");
  await page.getByText("1 of 2,000 organisations").first().waitFor();
  await page.locator("#list a").click();
  assert.equal(await page.locator("#card-name").textContent(), "Number 1998");
  await page.getByRole("button", { name: "Clear all" }).click();
  await page.locator("#map .place .symbol").first().waitFor();
  assert.deepEqual(page.faults, []);
});

test("without feeds the page says so", async () => {
  for (const [status, words] of [
    [503, "no feeds"],
    [500, "could not be loaded"],
  ]) {
    const page = await visitor({}, { "*.json": { status, json: { error_code: "x" } } });
    await page.goto(`${url}/map/`);
    await page.getByRole("alert").filter({ hasText: words }).waitFor();
    assert(await search(page).isHidden());
  }
});

test("what could be read is shown without the rest", async () => {
  const page = await visitor({}, { "sf-job-roles.json": { status: 500 } });
  await page.goto(`${url}/map/`);
  await page.getByRole("alert").filter({ hasText: "could not be loaded" }).waitFor();
  await page.locator("#list a").first().click();
  assert(await page.locator("#card-name").isVisible());
});

test("streets that cannot be read do no harm", async () => {
  const page = await visitor({});
  const hostile = { basemap: "basemap.pmtiles" };
  await page.route("**/map/settings.json", (route) => route.fulfill({ json: hostile }));
  const garbage = { status: 206, body: "PMTiles?".repeat(4096) };
  await page.route("**/map/basemap.pmtiles", (route) => route.fulfill(garbage));
  const asked = page.waitForRequest("**/map/basemap.pmtiles");
  await page.goto(`${url}/map/`);
  await asked;
  await page.locator("main[data-state=complete]").waitFor();
  await page.locator("#map .crowd").first().waitFor();
  assert.deepEqual(page.faults, []);
});

test("streets of another host are not asked for", async () => {
  const page = await visitor({});
  const elsewhere = { basemap: "https://tiles.example/city.pmtiles" };
  const settings = page.waitForResponse("**/map/settings.json");
  await page.route("**/map/settings.json", (route) => route.fulfill({ json: elsewhere }));
  await page.goto(`${url}/map/`);
  await settings;
  await page.locator("main[data-state=complete]").waitFor();
  assert.deepEqual(page.faults, []);
});

test("without JavaScript the documents are named", async () => {
  const page = await visitor({ javaScriptEnabled: false });
  await page.goto(`${url}/map/`);
  assert(await page.locator("noscript p").isVisible());
  const links = await page.locator("noscript a").evaluateAll((all) => all.map(({ href }) => href));
  assert(links.length > 7);
  for (const link of links) assert.equal((await fetch(link)).status, 200, link);
});
