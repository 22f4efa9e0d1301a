// The page: reads the documents, and keeps list, map, card and address in step.

import "./trusted.ts";
import "leaflet/dist/leaflet.css";
import "./style/index.css";
import { byTarget, FeedsAbsent, load } from "./feeds.ts";
import { Page } from "./page.ts";
import { part } from "./element.ts";

const ABSENT = "There is no map here yet: this host has no feeds. Come back later.";
const PARTLY = "Signals, roles and people could not be loaded. Load the page again to see them.";
const UNREACHABLE = "The map could not be loaded. Check the connection, and load the page again.";

async function start(): Promise<void> {
  const [targets, handoffs] = await Promise.all([
    load("sf-live-targets.json"),
    load("hi-handoff-manifest.json"),
  ]);
  const page = new Page(targets, handoffs.items);
  part("loading", HTMLElement).hidden = true;
  // A card fills up as these arrive, and the search finds more.
  await complete(page).catch(() => tell(PARTLY));
}

async function complete(page: Page): Promise<void> {
  const [signals, roles, people] = await Promise.all([
    load("live-signal-feed.json"),
    load("sf-job-roles.json"),
    load("sf-people.json"),
  ]);
  const details = {
    signals: byTarget(signals.items),
    roles: byTarget(roles.items),
    people: byTarget(people.items),
  };
  page.complete(details, roles.items, people.items);
}

function tell(words: string): void {
  const message = part("loading", HTMLElement);
  message.hidden = false;
  message.textContent = words;
}

start().catch((error: unknown) => {
  tell(error instanceof FeedsAbsent ? ABSENT : UNREACHABLE);
  part("main", HTMLElement).dataset.state = "failed";
});
