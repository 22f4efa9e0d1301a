// The page: reads the documents, and keeps list, map, card and address in step.

import "./trusted.ts";
import "leaflet/dist/leaflet.css";
import "./style/index.css";
import { byTarget, FeedsAbsent, load } from "./feeds.ts";
import { Page } from "./page.ts";
import { part } from "./element.ts";

const ABSENT = "There is no map here yet: this host has no feeds. Come back later.";
const UNREACHABLE = "The map could not be loaded. Check the connection, and load the page again.";

async function start(): Promise<void> {
  const [targets, handoffs] = await Promise.all([
    load("sf-live-targets.json"),
    load("hi-handoff-manifest.json"),
  ]);
  const page = new Page(targets, handoffs.items);
  part("loading", HTMLElement).hidden = true;
  // A card fills up as these arrive, and the search finds more.
  const [signals, roles, people] = await Promise.all([
    load("live-signal-feed.json"),
    load("sf-job-roles.json"),
    load("sf-people.json"),
  ]);
  page.complete(
    {
      signals: byTarget(signals.items),
      roles: byTarget(roles.items),
      people: byTarget(people.items),
    },
    roles.items,
    people.items,
  );
}

start().catch((error: unknown) => {
  const message = part("loading", HTMLElement);
  message.hidden = false;
  message.textContent = error instanceof FeedsAbsent ? ABSENT : UNREACHABLE;
  part("main", HTMLElement).dataset.state = "failed";
});
