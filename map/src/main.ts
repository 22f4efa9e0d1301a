// The page: reads the documents, and keeps list, map, card and address in step. First the list, with
// which people can begin; then the map; then what is large.

import "./trusted.ts";
import "leaflet/dist/leaflet.css";
import "./style/index.css";
import { Archive } from "./archive.ts";
import type * as chart from "./chart.ts";
import { part } from "./element.ts";
import { FeedsAbsent, loadHandoffs, loadSettings, loadTargets } from "./feeds.ts";
import { Page } from "./page.ts";
import { pause } from "./stream.ts";

const ABSENT = "There is no map here yet: this host has no feeds. Come back later.";
const PARTLY = "Signals, roles and people could not be loaded. Load the page again to see them.";
const NOT_DRAWN = "The map could not be drawn. The list has all that it would show.";
const UNREACHABLE = "The map could not be loaded. Check the connection, and load the page again.";
const main = part("main", HTMLElement);

/** A script that is loaded later, by the name under which the page's markup has it. */
function script(name: "reader" | "basemap"): string {
  return new URL(main.dataset[name] ?? "", document.baseURI).href;
}

async function start(): Promise<void> {
  const targets = await loadTargets();
  await pause();
  const page = new Page(targets);
  await pause();
  part("skeleton", HTMLElement).hidden = true;
  part("results", HTMLElement).hidden = false;
  main.dataset.state = "listed";
  await shown();
  await draw(page).catch(() => tell(NOT_DRAWN));
  await complete(page).catch(() => tell(PARTLY));
}

async function draw(page: Page): Promise<void> {
  const { Chart } = (await import(part("chart-script", HTMLLinkElement).href)) as typeof chart;
  await pause();
  await page.attach(Chart);
  await pause();
}

/** A card fills up as these arrive, and the search finds more. */
async function complete(page: Page): Promise<void> {
  page.archive = new Archive(script("reader"), {
    details: (target, details) => page.tell(target, details),
    texts: (texts) => page.widen(texts),
    failed: () => tell(PARTLY),
    complete: () => {
      main.dataset.state = "complete";
    },
  });
  page.handoffs = await loadHandoffs();
  await apply(page);
}

/** Links to other cities, and streets, where the operator has put a file with them. The map is one without them as well. */
async function apply(page: Page): Promise<void> {
  try {
    const { basemap, cities } = await loadSettings();
    page.link(cities ?? []);
    const file = basemap === undefined ? undefined : new URL(basemap, document.baseURI);
    if (file?.origin === location.origin) await page.drawBasemap(script("basemap"), file.href);
  } catch {
    // The drawn streets stay.
  }
}

/** When the browser has drawn what there is. */
function shown(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

function tell(words: string): void {
  const message = part("loading", HTMLElement);
  message.hidden = false;
  message.textContent = words;
}

start().catch((error: unknown) => {
  part("skeleton", HTMLElement).hidden = true;
  tell(error instanceof FeedsAbsent ? ABSENT : UNREACHABLE);
  main.dataset.state = "failed";
});
