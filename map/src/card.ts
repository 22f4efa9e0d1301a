// One organisation: what it says, what is said of it and how sure that is, its roles, its people.

import { standingBadge } from "./badge.ts";
import { type Child, element, outside } from "./element.ts";
import { type Offers, offersFor } from "./offers.ts";
import { personEntry } from "./people.ts";
import type { Feature, Handoff, Person, Role, Signal, Source, Target } from "./records.ts";
import { roleEntry } from "./roles.ts";
import { signalEntry } from "./signals.ts";
import { symbol } from "./symbols.ts";
import { ask, count, date, kind, maturity, money, standing, term } from "./words.ts";

/** Of a long list, as many are shown before somebody asks for the rest. */
const FIRST = 4;

/** What is known beside the organisations; nothing until it has been read. */
export interface Details {
  signals?: Map<string, Signal[]>;
  roles?: Map<string, Role[]>;
  people?: Map<string, Person[]>;
  handoffs?: Handoff[];
}

export interface Listener {
  close(): void;
  /** Another organisation that is named here. */
  open(id: string): void;
  /** A contract, for the record with this identifier. */
  begin(handoff: Handoff, record: string): void;
}

export function card(feature: Feature, details: Details, listener: Listener): Child[] {
  const { id, properties: it } = feature;
  const offers: Offers = { handoffs: details.handoffs ?? [], begin: listener.begin };
  const close = element("button", { type: "button", class: "close", "aria-label": "Close" }, "✕");
  close.addEventListener("click", () => listener.close());
  const signals = details.signals?.get(id);
  const roles = details.roles?.get(id);
  const people = details.people?.get(id);
  return [
    element(
      "header",
      {},
      element(
        "p",
        { class: "kind" },
        symbol(it.kind, 18),
        [kind(it.kind), it.geo.neighbourhood].filter(Boolean).join(" · "),
      ),
      element("h2", { id: "card-name", tabindex: "-1" }, it.name),
      close,
    ),
    element("p", { class: "lead-in" }, it.tagline),
    element(
      "p",
      { class: "badges" },
      it.verified_owner && element("span", { class: "badge fact" }, "Owner verified"),
      it.status !== "active" && element("span", { class: "badge past" }, term(it.status)),
    ),
    it.description !== it.tagline && element("p", {}, it.description),
    facts(it),
    it.website !== undefined && element("p", {}, outside(it.website, shortened(it.website))),
    ...section("Looking for", asks(it)),
    ...section(
      "Signals",
      entries(signals, (signal) => signalEntry(signal, offers, listener.open)),
    ),
    ...section(
      "Open roles",
      entries(roles, (role) => roleEntry(role, offers)),
    ),
    ...section(
      "People",
      entries(people, (person) => personEntry(person, id, offers)),
    ),
    ...section("For you and your agent", offersFor(it.handoff_ids, id, offers)),
    ...section("Sources", sources(it.sources)),
    element("p", { class: "quiet" }, standingOfPlace(it), ` Last changed ${date(it.updated_at)}.`),
  ];
}

function section(title: string, content: Child | Child[]): Child[] {
  const parts = [content].flat().filter(Boolean);
  return parts.length > 0 ? [element("section", {}, element("h3", {}, title), ...parts)] : [];
}

function facts(it: Target): Child {
  const { accelerator } = it;
  const rows: [string, Child | Child[]][] = [
    ["Stage", it.stage && term(it.stage)],
    ["Founded", it.founded_year !== undefined && `${it.founded_year}`],
    ["Team", it.team_size_band],
    ["Works on", it.industries.join(", ")],
    ["Accelerator", [accelerator?.name, accelerator?.batch].filter(Boolean).join(", ")],
    ["Raised", raised(it)],
  ];
  const shown = rows.filter(([, value]) => value);
  if (shown.length === 0) return undefined;
  const pairs = shown.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, ...[value].flat())),
  );
  return element("dl", { class: "facts" }, ...pairs);
}

function raised({ funding_summary: funding }: Target): Child[] | undefined {
  if (funding?.total_usd === undefined) return undefined;
  const badge = standingBadge(funding.maturity, maturity(funding.maturity));
  return [money(funding.total_usd, "USD"), " ", badge];
}

function asks(it: Target): Child {
  const items = it.ask
    .filter(({ type }) => type !== "none")
    .map(({ type, text, since, maturity: id }) =>
      element(
        "li",
        { class: `entry ${standing(id)}` },
        element(
          "p",
          { class: "top" },
          element("strong", {}, ask(type)),
          standingBadge(id, maturity(id)),
        ),
        element("p", {}, text),
        element("p", { class: "quiet" }, `Since ${date(since)}`),
      ),
    );
  return items.length > 0 && element("ul", { class: "entries" }, ...items);
}

/** A list that tells when it has not been read yet; nothing where there is nothing. */
function entries<T>(records: T[] | undefined, entry: (record: T) => HTMLLIElement): Child[] {
  if (!records || records.length === 0) return [];
  const list = element("ul", { class: "entries" }, ...records.slice(0, FIRST).map(entry));
  const rest = records.slice(FIRST);
  if (rest.length === 0) return [list];
  const more = element(
    "button",
    { type: "button", class: "more" },
    `Show ${count(rest.length, "more", "more")}`,
  );
  more.addEventListener("click", () => {
    const added = rest.map(entry);
    list.append(...added);
    more.remove();
    const first = added[0];
    first?.setAttribute("tabindex", "-1");
    first?.focus();
  });
  return [list, more];
}

function sources(all: Source[]): Child {
  const items = all.map(({ publisher, url }) => element("li", {}, outside(url, publisher)));
  return items.length > 0 && element("ul", { class: "sources" }, ...items);
}

function standingOfPlace({ geo }: Target): string {
  const precise = geo.precision === "exact" || geo.precision === "street";
  return precise
    ? ""
    : `Its place on the map is only as exact as its ${term(geo.precision).toLowerCase()}.`;
}

function shortened(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
