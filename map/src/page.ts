// What is shown, and how one thing leads to another.

import { read, type View, write } from "./address.ts";
import type { Archive, Details } from "./archive.ts";
import { Card, type Known } from "./card.ts";
import type { Box, Chart } from "./chart.ts";
import { element, part } from "./element.ts";
import { areFiltered, counts, type Filters, narrow, sorted, Texts } from "./filters.ts";
import { type Change, Form } from "./form.ts";
import { Dialog } from "./handoff.ts";
import { List } from "./list.ts";
import type { CityLink, Feature, Handoff, Meta, Targets } from "./records.ts";
import { count, date, grouped } from "./words.ts";

/** Who reads the page aloud is told the number once the letters have stopped coming. */
const QUIET_MS = 500;
/** The map follows a search once the letters have stopped coming. */
const SETTLED_MS = 250;
const COAST = "Coast: U.S. Census Bureau, and drawn by hand";
const TITLE = document.title;
/** Within another page, going back belongs to that page. */
const EMBEDDED = document.body.classList.contains("embed");

export class Page {
  readonly #meta: Meta;
  readonly #features: Feature[];
  readonly #byId: Map<string, Feature>;
  readonly #main = part("main", HTMLElement);
  readonly #panel = part("card", HTMLElement);
  readonly #status = part("status", HTMLElement);
  readonly #dialog = new Dialog();
  readonly #list: List;
  readonly #form: Form;
  readonly #texts = new Texts();
  #archive: Archive | undefined;
  #chart: Chart | undefined;
  #card: Card | undefined;
  #known: Known = {};
  /** What passes the filters, and the part of it that is listed. */
  #found: Feature[] = [];
  #listed: Feature[] = [];
  /** What the person has moved the map to: the list is of that. */
  #box: Box | undefined;
  #view: View = read(location.hash);
  #announcement: number | undefined;
  #settling: number | undefined;

  constructor({ features, _meta: meta }: Targets) {
    this.#meta = meta;
    this.#features = sorted(features);
    this.#byId = new Map(features.map((feature) => [feature.id, feature]));
    this.#list = new List(part("list", HTMLUListElement), part("more", HTMLButtonElement), {
      open: (id) => this.#open(id),
      hover: (id) => this.#chart?.highlight(id),
    });
    this.#form = new Form(
      {
        text: part("text", HTMLInputElement),
        kinds: part("kinds", HTMLElement),
        asks: part("asks", HTMLElement),
        hiring: part("hiring", HTMLElement),
        clear: part("clear", HTMLButtonElement),
        summary: part("summary", HTMLElement),
      },
      features,
      (filters, change) => this.#filter(filters, change),
    );
    this.#buttons();
    part("city", HTMLElement).textContent = meta.city.name;
    part("banner", HTMLElement).hidden = !meta.synthetic;
    this.#credit();
    addEventListener("popstate", () => this.#arrive(read(location.hash)));
    this.#arrive(this.#view);
  }

  /** Draws the map, whose script comes after the list, in steps between which the page answers. */
  async attach(made: typeof Chart): Promise<void> {
    const chart = new made(part("map", HTMLElement), this.#meta, {
      open: (id) => this.#open(id),
      moved: (box) => this.#look(box),
    });
    await chart.drawGround(this.#features);
    this.#chart = chart;
    chart.show(this.#found);
    const selected = this.#selected();
    if (selected) chart.select(selected, this.#covered());
    else if (areFiltered(this.#view.filters)) this.#frame();
  }

  async drawBasemap(script: string, file: string): Promise<void> {
    const credit = await this.#chart?.drawBasemap(script, file);
    if (credit !== undefined) this.#credit(credit);
  }

  set archive(archive: Archive) {
    this.#archive = archive;
    archive.watch(this.#selected()?.id);
  }

  set handoffs(handoffs: Handoff[]) {
    this.#known.handoffs = handoffs;
    this.#card?.update(this.#known);
  }

  /** More is known of an organisation. */
  tell(target: string, details: Details): void {
    if (target !== this.#view.selected) return;
    this.#known = { ...this.#known, ...details };
    this.#card?.update(this.#known);
  }

  /** A search finds more. */
  widen(texts: [string, string][]): void {
    this.#texts.add(texts);
    if (this.#view.filters.text.trim() === "") return;
    const before = this.#found.length;
    this.#showFiltered();
    if (this.#found.length !== before && !this.#box) this.#frame();
  }

  /** The maps of the host's other cities, below everything else, so that nothing moves. */
  link(cities: CityLink[]): void {
    const links = cities.map(({ name, path }) => {
      const apart = EMBEDDED ? { target: "_blank", rel: "noopener" } : {};
      return element("a", { href: new URL(path, location.origin).pathname, ...apart }, name);
    });
    const nav = part("cities", HTMLElement);
    nav.append(...links.flatMap((link, at) => (at === 0 ? [link] : [" · ", link])));
    nav.hidden = links.length === 0;
  }

  #credit(...streets: string[]): void {
    const { generated_at, license, attribution } = this.#meta;
    const about = [`Data of ${date(generated_at)}`, license, ...attribution, COAST, ...streets];
    part("about", HTMLElement).textContent = about.join(" · ");
  }

  #buttons(): void {
    const clicked = (id: string, action: () => void) =>
      part(id, HTMLButtonElement).addEventListener("click", action);
    clicked("nearer", () => this.#chart?.zoom(1));
    clicked("farther", () => this.#chart?.zoom(-1));
    clicked("whole", () => this.#showAll());
    clicked("everywhere", () => this.#showAll());
    clicked("nearest", () => this.#approach());
    clicked("to-list", () => this.#focusList());
    const larger = part("larger", HTMLButtonElement);
    clicked("larger", () => {
      const pressed = this.#main.classList.toggle("larger-map");
      larger.setAttribute("aria-pressed", `${pressed}`);
    });
    this.#panel.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.#close();
    });
  }

  #filter(filters: Filters, change: Change): void {
    const typing = change === "typed" && (history.state as { typing?: boolean } | null)?.typing;
    const found = narrow(this.#features, filters, this.#texts);
    const kept = found.some(({ id }) => id === this.#view.selected);
    const selected = kept ? this.#view.selected : undefined;
    const closes = selected !== this.#view.selected;
    this.#go({ filters, selected }, change === "typed", typing ? "replace" : "push");
    this.#box = undefined;
    if (closes) this.#showSelected();
    this.#showFiltered();
    clearTimeout(this.#settling);
    if (change === "chosen") this.#frame();
    else this.#settling = window.setTimeout(() => this.#frame(), SETTLED_MS);
  }

  /** The map goes to what was found. */
  #frame(): void {
    const found = areFiltered(this.#view.filters) ? this.#found : undefined;
    this.#chart?.frame(found, this.#covered());
  }

  /** The list is of what the person looks at. */
  #look(box: Box): void {
    this.#box = box;
    this.#showListed();
  }

  #showAll(): void {
    const inside = document.activeElement === part("everywhere", HTMLElement);
    this.#box = undefined;
    this.#frame();
    this.#showListed();
    if (inside) this.#focusList();
  }

  /** Goes from a part of the map without organisations to the nearest one. */
  #approach(): void {
    const [west, south, east, north] = this.#box ?? this.#meta.city.bbox;
    const far = ({ geometry }: Feature) => {
      const [lng, lat] = geometry.coordinates;
      return Math.hypot((lng - (west + east) / 2) * 0.8, lat - (south + north) / 2);
    };
    const [first, ...others] = this.#found;
    if (!first) return;
    const nearest = others.reduce((one, other) => (far(other) < far(one) ? other : one), first);
    this.#box = undefined;
    this.#chart?.frame([nearest], this.#covered());
    this.#showListed();
    this.#list.focus(nearest.id);
  }

  #open(id: string): void {
    if (!this.#byId.has(id)) return;
    if (id !== this.#view.selected) this.#go({ ...this.#view, selected: id });
    this.#showSelected();
    part("card-name", HTMLElement).focus();
  }

  #close(): void {
    const id = this.#view.selected;
    this.#go({ ...this.#view, selected: undefined });
    this.#showSelected();
    this.#leave(id);
  }

  /** The keyboard goes back to where the card was opened from. */
  #leave(id: string | undefined): void {
    if (id === undefined || !this.#list.focus(id)) part("text", HTMLInputElement).focus();
  }

  #go(view: View, typing = false, how: "push" | "replace" = "push"): void {
    this.#view = view;
    const address = `${location.pathname}${location.search}${write(view)}`;
    if (how === "push" && !EMBEDDED) history.pushState({ typing }, "", address);
    else history.replaceState({ typing }, "", address);
  }

  /** By a link, by going back, or by what somebody wrote into the address. */
  #arrive(view: View): void {
    const before = this.#view;
    this.#view = view;
    this.#dialog.close();
    const refiltered = write({ filters: before.filters }) !== write({ filters: view.filters });
    if (refiltered) this.#box = undefined;
    this.#showFiltered();
    if (refiltered) this.#frame();
    this.#showSelected();
    const feature = this.#selected();
    if (before.selected === view.selected) return;
    if (feature) part("card-name", HTMLElement).focus();
    else if (before.selected !== undefined) this.#leave(before.selected);
  }

  #selected(): Feature | undefined {
    return this.#byId.get(this.#view.selected ?? "");
  }

  #showFiltered(): void {
    const { filters } = this.#view;
    this.#found = narrow(this.#features, filters, this.#texts);
    this.#chart?.show(this.#found);
    this.#form.show(filters, counts(this.#features, filters, this.#texts));
    this.#showListed();
  }

  #showListed(): void {
    const box = this.#box;
    this.#listed = box ? this.#found.filter((feature) => within(feature, box)) : this.#found;
    this.#list.show(this.#listed, this.#view);
    const found = this.#found.length;
    const everywhere = part("everywhere", HTMLButtonElement);
    everywhere.hidden = this.#listed.length === found;
    everywhere.textContent = `Show all ${grouped(found)}`;
    part("nothing", HTMLElement).hidden = found > 0;
    part("elsewhere", HTMLElement).hidden = found === 0 || this.#listed.length > 0;
    this.#tell();
  }

  #tell(): void {
    const all = count(this.#features.length, "organisation", "organisations");
    const listed = this.#listed.length;
    const some = areFiltered(this.#view.filters) || listed < this.#found.length;
    const where = listed < this.#found.length ? " in view" : "";
    const text = some ? `${grouped(listed)} of ${all}${where}` : all;
    part("count", HTMLElement).textContent = text;
    clearTimeout(this.#announcement);
    this.#announcement = window.setTimeout(() => {
      this.#status.textContent = text;
    }, QUIET_MS);
  }

  #showSelected(): void {
    const feature = this.#selected();
    this.#list.mark(feature?.id, this.#view);
    this.#main.classList.toggle("has-card", feature !== undefined);
    this.#panel.hidden = feature === undefined;
    document.title = feature ? `${feature.properties.name} · ${TITLE}` : TITLE;
    this.#fill(feature);
    this.#archive?.watch(feature?.id);
    this.#chart?.select(feature, this.#covered());
  }

  #fill(feature: Feature | undefined): void {
    const { handoffs } = this.#known;
    this.#known = handoffs ? { handoffs } : {};
    this.#card =
      feature &&
      new Card(feature, {
        close: () => this.#close(),
        open: (id) => this.#open(id),
        begin: (handoff, record, about) => this.#dialog.open(handoff, record, about),
        describe: async (role) => this.#archive?.describe(role),
      });
    this.#card?.update(this.#known);
    this.#panel.replaceChildren(...(this.#card?.nodes ?? []));
    this.#panel.scrollTop = 0;
  }

  /** How much of the map's left side the card lies over. */
  #covered(): number {
    const map = part("map", HTMLElement).getBoundingClientRect();
    const over = this.#panel.getBoundingClientRect();
    const beside = over.right <= map.left || over.left < map.left || over.top >= map.bottom;
    return over.width === 0 || beside ? 0 : over.right - map.left;
  }

  #focusList(): void {
    const first = this.#listed[0];
    if (first) this.#list.focus(first.id);
  }
}

function within({ geometry }: Feature, [west, south, east, north]: Box): boolean {
  const [lng, lat] = geometry.coordinates;
  return lng >= west && lng <= east && lat >= south && lat <= north;
}
