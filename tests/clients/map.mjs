// The map in a real browser, with a pointer and with the keyboard alone.
//
// node map.mjs URL

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { atMap, choose, end, TARGETS } from "./map_page.mjs";

const [url] = process.argv.slice(2);
const { identifiers, names, onMap, search, visit, visitor } = atMap(url);
let documents;

before(async () => {
  const names = [
    TARGETS,
    "live-signal-feed.json",
    "sf-job-roles.json",
    "sf-people.json",
    "hi-handoff-manifest.json",
  ];
  const read = async (name) => (await fetch(`${url}/map/data/${name}`)).json();
  documents = new Map(await Promise.all(names.map(async (name) => [name, await read(name)])));
});

after(end);

const features = () => documents.get(TARGETS).features;
const asking =
  (type) =>
  ({ properties }) =>
    properties.ask.some((ask) => ask.type === type);

/** Changes the fragment of the address, as a link or the person does, without a new page load. */
const go = (page, fragment) => page.evaluate((it) => void (location.hash = it), fragment);

/** Asserts that the list, the map and the shown number agree. */
async function agree(page, number) {
  await page.getByText(`${number} of ${features().length} organisations`).first().waitFor();
  assert.equal(await onMap(page), number);
  assert.equal((await identifiers(page)).length, Math.min(number, 30));
}

test("the page asks nobody but its host, keeps nothing, and has nothing to complain of", async () => {
  const page = await visit("");
  assert.equal(await onMap(page), features().length);
  await page.locator("#list a").first().click();
  await page.getByRole("article").waitFor();
  assert.deepEqual(page.faults, []);
  assert.deepEqual(await page.context().cookies(), []);
  assert.deepEqual(await page.evaluate(() => [localStorage.length, sessionStorage.length]), [0, 0]);
  assert(await page.getByText("Invented organisations.").isVisible());
  const outside = await page
    .locator('a[href^="http"]')
    .evaluateAll((links) =>
      links.filter(
        (link) => !link.relList.contains("noopener") || !link.relList.contains("noreferrer"),
      ),
    );
  assert.deepEqual(outside, []);
});

test("filters and text narrow the list and the map alike", async () => {
  const page = await visit("");
  const funds = features().filter(({ properties }) => properties.kind === "fund");
  await choose(page, "Fund");
  await agree(page, funds.length);
  assert.deepEqual(new Set(await identifiers(page)), new Set(funds.map(({ id }) => id)));
  await choose(page, "Fund");
  await page.getByText("More filters").click();
  await choose(page, "Investment");
  await agree(page, features().filter(asking("raising")).length);
  await choose(page, "Verified open roles");
  const verified = ({ properties }) =>
    properties.ask.some(({ type, maturity }) => type === "hiring" && maturity === "verified");
  await agree(page, features().filter(asking("raising")).filter(verified).length);
  await page.getByRole("button", { name: "Clear all" }).click();
  assert.equal(await onMap(page), features().length);

  const [{ id, properties }] = features();
  await search(page).fill(properties.name.toUpperCase());
  await page.getByText(`1 of ${features().length}`).first().waitFor();
  assert.deepEqual(await identifiers(page), [id]);
  await page.locator(`#map [data-target="${id}"]`).waitFor();
  const [role] = documents.get("sf-job-roles.json").items;
  await search(page).fill(role.title);
  await page.locator(`#list [data-target="${role.target_id}"]`).waitFor();
  await search(page).fill("no such thing anywhere");
  await agree(page, 0);
  assert(await page.getByText("Nothing fits").isVisible());
  assert.deepEqual(page.faults, []);
});

test("an address opens what it was copied from", async () => {
  const first = await visit("");
  await search(first).fill("robotics");
  await choose(first, "Startup");
  const name = (await names(first))[1];
  await first.locator("#list a").nth(1).click();
  const address = first.url();
  assert.match(address, /#q=robotics&kind=startup&target=tgt_/);

  const second = await visit(new URL(address).hash);
  assert.equal(await search(second).inputValue(), "robotics");
  assert(await second.getByRole("checkbox", { name: /Startup/ }).isChecked());
  assert(await second.getByRole("heading", { name, level: 2 }).isVisible());
  assert.deepEqual(await names(second), await names(first));
  assert.match(await second.title(), new RegExp(name));
  assert.equal(await second.locator("#map .chosen").count(), 1);
  assert.equal(await second.locator('#list [aria-current="true"] .title').textContent(), name);
});

test("back and forward lead through what was chosen", async () => {
  const page = await visit("");
  await choose(page, "Fund");
  await page.locator("#list a").first().click();
  const name = await page.locator("#card-name").textContent();
  await search(page).pressSequentially("cap");
  await page.goBack();
  assert.equal(await search(page).inputValue(), "");
  assert.equal(await page.locator("#card-name").textContent(), name);
  await page.goBack();
  await page.locator("#card").waitFor({ state: "hidden" });
  assert(await page.getByRole("checkbox", { name: /Fund/ }).isChecked());
  await page.goBack();
  assert(!(await page.getByRole("checkbox", { name: /Fund/ }).isChecked()));
  await page.goForward();
  await page.goForward();
  assert.equal(await page.locator("#card-name").textContent(), name);
  assert.deepEqual(page.faults, []);
});

test("the pointer opens crowds and organisations on the map", async () => {
  const page = await visit("#q=castro", { reducedMotion: "reduce" });
  const crowds = page.locator("#map .crowd");
  assert((await crowds.count()) > 0);
  // A crowd may be partly under another mark, so the click is dispatched instead of
  // aimed at its middle.
  while ((await crowds.count()) > 0) await crowds.first().dispatchEvent("click");
  const marks = page.locator("#map .mark");
  assert((await marks.count()) > 1);
  const id = await marks.last().getAttribute("data-target");
  const { properties } = features().find((feature) => feature.id === id);
  await marks.last().dispatchEvent("click");
  assert(await page.getByRole("heading", { name: properties.name, level: 2 }).isVisible());
});

test("the keyboard is enough, and is never lost", async () => {
  const page = await visit("");
  const { keyboard } = page;
  const focused = (wanted) => page.locator(`${wanted}:focus`).waitFor();
  await search(page).focus();
  await keyboard.type("robotics");
  await page
    .getByText(/^\d+ of \d+ organisations$/)
    .first()
    .waitFor();
  await page.locator("#status").filter({ hasText: / of / }).waitFor({ state: "attached" });
  await keyboard.press("Shift+Tab");
  await focused("#to-list");
  await keyboard.press("Enter");
  await focused("#list a");
  await keyboard.press("Tab");
  const name = (await names(page))[1];
  await keyboard.press("Enter");
  await focused("#card-name");
  assert.equal(await page.locator("#card-name").textContent(), name);
  const button = page.locator("[data-handoff]:focus");
  for (let steps = 0; (await button.count()) === 0; steps += 1) {
    assert(steps < 60, "a handoff is reached");
    await keyboard.press("Tab");
  }
  const contract = await button.getAttribute("data-handoff");
  await keyboard.press("Enter");
  await focused("#handoff-title");
  // The keyboard does not reach what is behind the dialog.
  for (let steps = 0; steps < 12; steps += 1) {
    await keyboard.press("Tab");
    assert(
      await page.evaluate(
        () =>
          document.activeElement === document.body ||
          document.activeElement.closest("dialog") !== null,
      ),
    );
  }
  await keyboard.press("Escape");
  await focused(`[data-handoff="${contract}"]`);
  await keyboard.press("Escape");
  await page.locator("#card").waitFor({ state: "hidden" });
  await focused("#list a");
  assert.equal(await page.locator(":focus .title").textContent(), name);

  const before = await page.locator("#map .leaflet-map-pane").getAttribute("style");
  await page.locator("#map").focus();
  await keyboard.press("ArrowLeft");
  await page.waitForFunction(
    (before) => document.querySelector("#map .leaflet-map-pane").getAttribute("style") !== before,
    before,
  );
  assert.deepEqual(page.faults, []);
});

test("a lead is never shown as a fact", async () => {
  const signals = documents.get("live-signal-feed.json").items;
  const page = await visit("");
  for (const maturity of ["lead", "corroborated", "unsourced", "verified", "disputed"]) {
    const signal = signals.find((signal) => signal.maturity === maturity);
    const { properties } = features().find(({ id }) => id === signal.target_id);
    await go(page, `#target=${signal.target_id}`);
    await page.locator("#card-name").filter({ hasText: properties.name }).waitFor();
    const entries = page.locator("#card .entry").filter({ hasText: signal.headline });
    const entry = entries.filter({ hasText: signal.label }).last();
    const looks = await entry.locator(".badge").getAttribute("class");
    const uncertain = ["lead", "corroborated", "unsourced"].includes(maturity);
    assert.equal(looks.includes("fact"), maturity === "verified", maturity);
    assert.equal(looks.includes("lead"), uncertain, maturity);
    // The card is drawn again while its details arrive.
    if (uncertain) await entry.getByText("Nobody has verified it").waitFor();
    const warned = await entry.getByText("Nobody has verified it").count();
    assert.equal(warned, uncertain ? 1 : 0, maturity);
  }
  await go(page, "#hiring=lead");
  await page.getByText("More filters (1 set)").waitFor();
  const badges = await page.locator("#list .badge").filter({ hasText: "Hiring" }).all();
  assert(badges.length > 0);
  for (const badge of badges) assert.equal(await badge.getAttribute("class"), "badge lead");
});

/** Whether two boxes have more than a pixel in common. */
const meet = (one, other) =>
  Math.hypot(
    one.x + one.width / 2 - other.x - other.width / 2,
    one.y + one.height / 2 - other.y - other.height / 2,
  ) <
  (one.width + other.width) / 2 - 1;

test("rings do not lie on each other", async () => {
  const page = await visit("", { reducedMotion: "reduce" });
  for (let steps = 0; steps < 4; steps += 1) {
    const crowds = await page.locator("#map .crowd .ring").all();
    const boxes = await Promise.all(crowds.map((crowd) => crowd.boundingBox()));
    for (const [position, box] of boxes.entries()) {
      for (const other of boxes.slice(position + 1)) assert(!meet(box, other));
    }
    await page.getByRole("button", { name: "Zoom in" }).click();
  }
});

test("the map follows a search, and the list follows the map", async () => {
  const page = await visit("", { reducedMotion: "reduce" });
  const [{ id, properties }] = features();
  await search(page).fill(properties.name);
  await page.waitForFunction((id) => {
    const mark = document.querySelector(`#map .mark[data-target="${id}"]`);
    if (!mark) return false;
    const [one, all] = [mark, document.getElementById("map")].map((it) => it.getBoundingClientRect());
    const away = (from, size) => Math.abs(one[from] + one[size] / 2 - all[from] - all[size] / 2);
    return away("left", "width") < 30 && away("top", "height") < 30;
  }, id);
  const map = await page.locator("#map").boundingBox();

  // Nothing is lost when the search ends: the map shows the whole city again.
  await search(page).fill("");
  await page.waitForFunction(
    (all) => {
      const crowds = [...document.querySelectorAll("#map [data-number]")];
      const ones = document.querySelectorAll("#map .mark[data-target]").length;
      return crowds.reduce((sum, { dataset }) => sum + Number(dataset.number), ones) === all;
    },
    features().length,
  );
  await page.mouse.move(map.x + map.width / 2, map.y + map.height / 2);
  await page.mouse.wheel(0, -500);
  await page.getByText(/^\d+ of \d+ organisations in view$/).first().waitFor();
  const listed = await identifiers(page);
  assert(listed.length > 0 && listed.length < features().length);
  const lng = (id) => features().find((feature) => feature.id === id).geometry.coordinates[0];
  const spread = (ids) => Math.max(...ids.map(lng)) - Math.min(...ids.map(lng));
  assert(spread(listed) < spread(features().map((feature) => feature.id)));
  await page.getByRole("button", { name: /^Show all \d+$/ }).click();
  await page.getByText(`${features().length} organisations`, { exact: true }).first().waitFor();

  // From the sea, one button leads to the nearest organisation.
  await page.locator("#map").focus();
  for (let steps = 0; steps < 2; steps += 1) await page.keyboard.press("+");
  const nothing = page.getByText("There is nothing in this part of the map.");
  // A key that is pressed while the map still moves does nothing, so a busy machine needs more of them.
  for (let steps = 0; steps < 400 && !(await nothing.isVisible()); steps += 1) {
    await page.keyboard.press("ArrowLeft");
    await page.waitForTimeout(100);
  }
  await page.getByRole("button", { name: "Go to the nearest" }).click();
  await page.locator("#list a:focus").waitFor();
  await page.locator("#map .mark, #map .crowd").first().waitFor();
});

test("a card closes when a filter takes its organisation away", async () => {
  const page = await visit("");
  await choose(page, "Fund");
  await page.locator("#list a").first().click();
  await page.locator("#card-name").waitFor();
  await choose(page, "University");
  assert(await page.locator("#card-name").isVisible());
  await choose(page, "Fund");
  await page.locator("#card").waitFor({ state: "hidden" });
  assert.doesNotMatch(page.url(), /target=/);
  assert.equal(await page.locator("#map .chosen").count(), 0);
});

test("near enough, names are beside their marks", async () => {
  const page = await visit(`#target=${features()[0].id}`, { reducedMotion: "reduce" });
  for (let steps = 0; steps < 2; steps += 1) {
    await page.getByRole("button", { name: "Zoom in" }).click();
  }
  await page.locator("#map .scale").filter({ hasText: " m" }).waitFor();
  const [{ properties }] = features();
  assert.equal(await page.locator("#map .chosen .label").textContent(), properties.name);
});

test("the whole description of a role comes when it is opened", async () => {
  const roles = documents.get("sf-job-roles.json").items;
  const role = roles.find(({ title, target_id }) => {
    const others = roles.filter((other) => other.target_id === target_id);
    return others.indexOf(others.find((other) => other.title === title)) < 4;
  });
  const page = await visit(`#target=${role.target_id}`);
  const entry = page.locator("#card .entry").filter({ hasText: role.title }).first();
  await entry.getByText("Description").click();
  const told = await entry.locator(".told").textContent();
  assert(told.length > 0);
  assert.deepEqual(page.faults, []);
});

/** Opens the card of a company with roles. Returns the first role's entry, and its whole description. */
async function described() {
  const [{ target_id }] = documents.get("sf-job-roles.json").items;
  const page = await visit(`#target=${target_id}`);
  const entry = page.locator("#card .entry").filter({ has: page.locator(".told") }).first();
  const link = await entry.locator('a[href^="roles/"]').getAttribute("href");
  const role = await (await fetch(`${url}/map/${link}.json`)).json();
  return { page, entry, summary: entry.locator("summary"), whole: role.description_text };
}

test("a description that did not come is asked for again", async () => {
  const { page, entry, summary, whole } = await described();
  let asked = 0;
  await page.route(/\/map\/(data\/parts|roles)\//, (route) => {
    asked += 1;
    return asked <= 2 ? route.fulfill({ status: 503 }) : route.continue();
  });
  await summary.click();
  await entry.getByText("could not be loaded").waitFor();
  await summary.click();
  await summary.click();
  await entry.getByText("could not be loaded").waitFor({ state: "detached" });
  await entry.locator(".told").getByText(whole).waitFor();
  assert.equal(asked, 3);
});

test("a description whose part is gone is that of the role", async () => {
  const { page, entry, summary, whole } = await described();
  await page.route("**/map/data/parts/*", (route) => route.fulfill({ status: 404 }));
  const answered = page.waitForResponse(/\/map\/roles\/rol_.*\.json$/);
  await summary.click();
  assert.equal((await answered).status(), 200);
  await entry.locator(".told").getByText(whole).waitFor();
  assert(await entry.getByText("could not be loaded").isHidden());
});

test("within another page there is only the map, and the way to the whole", async () => {
  const page = await visitor({});
  await page.goto(`${url}/map/?embed`);
  await page.locator("main[data-state=complete]").waitFor();
  assert(await page.locator("h1").isHidden());
  assert(await page.getByRole("link", { name: "Open the whole map" }).isVisible());
  await page.locator("#list a").first().click();
  await page.locator("#card-name").waitFor();
  assert.equal(await page.evaluate(() => history.length), 2);
  // Pages about records may not be shown within other pages, so each link to one opens apart.
  await page.locator('#card a[href^="companies/"]').waitFor();
  const within = await page
    .locator("a:visible:not([href^='#'])")
    .evaluateAll((links) => links.filter(({ target }) => target !== "_blank").map(({ href }) => href));
  assert.deepEqual(within, []);
  assert.deepEqual(page.faults, []);
});

test("nothing moves while the page loads, also on a slow phone", async () => {
  const viewport = { width: 360, height: 740 };
  for (const fragment of ["", `#target=${features()[0].id}`]) {
    const page = await visitor({ viewport });
    const session = await page.context().newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    await page.addInitScript(() => {
      window.moved = 0;
      new PerformanceObserver((list) => {
        for (const { value } of list.getEntries()) window.moved += value;
      }).observe({ type: "layout-shift", buffered: true });
    });
    await page.goto(`${url}/map/${fragment}`);
    await page.locator("main[data-state=complete]").waitFor();
    assert((await page.evaluate(() => window.moved)) < 0.1);
  }
});

test("people can ask not to be listed", async () => {
  const [person] = documents.get("sf-people.json").items;
  const page = await visit(`#target=${person.target_id}`);
  const entry = page.locator("#card .entry").filter({ hasText: person.full_name });
  const link = entry.getByRole("link", { name: /not to be listed/ });
  assert.equal(await link.getAttribute("href"), person.opt_out_url);
});

test("a handoff says what it does, and gives the call to copy", async () => {
  const role = documents.get("sf-job-roles.json").items[0];
  const permissions = ["clipboard-read", "clipboard-write"];
  const page = await visit(`#target=${role.target_id}`, { permissions });
  await page.locator('[data-record^="rol_"]').first().click();
  const record = await page.locator('[data-record^="rol_"]').first().getAttribute("data-record");
  const dialog = page.getByRole("dialog");
  const contracts = documents.get("hi-handoff-manifest.json").items;
  const { consent_text, ask_user } = contracts.find(({ from }) => from.feed === "roles");
  for (const told of [consent_text, ask_user, "your phone number", "15 minutes"]) {
    assert(await dialog.getByText(told).first().isVisible(), told);
  }
  await dialog.getByRole("button", { name: "Copy the request" }).click();
  await dialog.getByText("Copied").waitFor();
  const words = await page.evaluate(() => navigator.clipboard.readText());
  assert(words.includes("handoff_resolve") && words.includes(record), words);
  // People are shown steps; what is for programs is behind a summary.
  assert(!words.includes("{"), words);
  assert.equal(await dialog.locator("ol li").count(), 4);
  assert(await dialog.locator("#handoff-json").isHidden());
  await dialog.getByText("For developers").click();
  const call = await dialog.locator("#handoff-curl").textContent();
  assert.match(call, /\/v1\/capabilities\/handoff_resolve\/call'/);
  assert(call.includes(`"record_id":"${record}"`));
  await dialog.getByRole("button", { name: "Close" }).click();
  assert.deepEqual(page.faults, []);
});

test("who wants no motion gets none", async () => {
  const moves = async (reducedMotion) => {
    const page = await visit("", { reducedMotion });
    return page.locator("#map.leaflet-fade-anim").count();
  };
  assert.deepEqual([await moves("no-preference"), await moves("reduce")], [1, 0]);
});
