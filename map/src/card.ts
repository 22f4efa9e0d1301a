// One organisation: what it says, what is said of it and how sure that is, its roles, its people.

import { standingBadge } from "./badge.ts";
import type { Details } from "./archive.ts";
import { type Child, element, outside, pageOf, present } from "./element.ts";
import { type Offers, offersFor } from "./offers.ts";
import { personEntry } from "./people.ts";
import type { Feature, Handoff, Person, Role, Signal, Source, Target } from "./records.ts";
import { type Describe, roleEntry } from "./roles.ts";
import { signalEntry } from "./signals.ts";
import { symbol } from "./symbols.ts";
import { ask, count, date, kind, maturity, money, standing, term } from "./words.ts";

/** Of a long list, as many are shown before somebody asks for the rest. */
const FIRST = 4;
/** And as many more each time. */
const AT_ONCE = 50;
const WAITING = "Loading signals, open roles and people…";

export interface Listener {
  close(): void;
  /** Another organisation that is named here. */
  open(id: string): void;
  /** A contract, for the record with this identifier and name. */
  begin(handoff: Handoff, record: string, about: string): void;
  /** Fetches the whole description of a role. */
  describe: Describe;
}

/** All that is known; what has not been read yet is missing. */
export type Known = Details & { handoffs?: Handoff[] };

/**
 * A card grows downwards: a section waits until those above it are there, so nothing that somebody
 * reads already is moved.
 */
export class Card {
  readonly nodes: Node[];
  readonly #feature: Feature;
  readonly #listener: Listener;
  readonly #sections = element("div", {});
  readonly #waiting = element("p", { class: "waiting quiet", role: "status" });
  #next = 0;

  constructor(feature: Feature, listener: Listener) {
    this.#feature = feature;
    this.#listener = listener;
    const head = present(heading(feature, listener));
    this.nodes = [...head, this.#sections, this.#waiting];
  }

  /** Adds the sections for which enough is known. */
  update(known: Known): void {
    const { handoffs } = known;
    const begin: Offers["begin"] = (handoff, record, about) => {
      const { name } = this.#feature.properties;
      this.#listener.begin(handoff, record, about === undefined ? name : `${about} – ${name}`);
    };
    const sections = handoffs ? this.#all(known, { handoffs, begin }) : [];
    for (; this.#next < sections.length; this.#next += 1) {
      const made = sections[this.#next]?.();
      if (!made) break;
      this.#sections.append(...present(made));
    }
    const wait = !handoffs || this.#next < sections.length;
    this.#waiting.textContent = wait ? WAITING : "";
  }

  /** The sections in their order; one that cannot be made yet gives nothing. */
  #all({ signals, roles, people }: Known, offers: Offers): (() => Child[] | undefined)[] {
    const { id, properties: it } = this.#feature;
    const { open, describe } = this.#listener;
    const signal = (one: Signal) => signalEntry(one, offers, open);
    const role = (one: Role) => roleEntry(one, offers, describe);
    const person = (one: Person) => personEntry(one, id, offers);
    return [
      () => section("For you and your agent", offersFor(it.handoff_ids, id, offers)),
      () => signals && section("Signals", entries(signals, signal)),
      () => roles && section("Open roles", entries(roles, role)),
      () => people && section("People", entries(people, person)),
      () => section("Sources", sources(it.sources)),
      () => [
        element("p", { class: "quiet" }, standingOfPlace(it), ` Last changed ${date(it.updated_at)}.`),
      ],
    ];
  }
}

function heading({ id, properties: it }: Feature, listener: Listener): Child[] {
  const close = element("button", { type: "button", class: "close", "aria-label": "Close" }, "✕");
  close.addEventListener("click", () => listener.close());
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
    element("p", {}, pageOf("companies", id, `Page about ${it.name}`)),
    ...section("Looking for", asks(it)),
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

/** The first of a list, and a button for more of it. */
function entries<T>(records: T[], entry: (record: T) => HTMLLIElement): Child[] {
  if (records.length === 0) return [];
  const list = element("ul", { class: "entries" }, ...records.slice(0, FIRST).map(entry));
  const more = element("button", { type: "button", class: "more" });
  const settle = () => {
    const left = records.length - list.children.length;
    more.textContent = `Show more (${count(left, "is", "are")} left)`;
    if (left === 0) more.remove();
  };
  more.addEventListener("click", () => {
    const shown = list.children.length;
    list.append(...records.slice(shown, shown + AT_ONCE).map(entry));
    settle();
    const first = list.children[shown];
    first?.setAttribute("tabindex", "-1");
    if (first instanceof HTMLElement) first.focus();
  });
  settle();
  return records.length > FIRST ? [list, more] : [list];
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
