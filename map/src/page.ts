// What is shown, and how one thing leads to another.

import { read, type View, write } from "./address.ts";
import { card, type Details } from "./card.ts";
import { Chart } from "./chart.ts";
import { part } from "./element.ts";
import { areFiltered, counts, type Filters, narrow, Texts } from "./filters.ts";
import { type Change, Form } from "./form.ts";
import { Dialog } from "./handoff.ts";
import { List } from "./list.ts";
import type { Feature, Handoff, Person, Role, Targets } from "./records.ts";
import { count, date } from "./words.ts";

/** Who reads the page aloud is told the number once the letters have stopped coming. */
const QUIET_MS = 500;
const COAST = "Coast: U.S. Census Bureau, and drawn by hand";
const TITLE = document.title;

export class Page {
  readonly #features: Feature[];
  readonly #byId: Map<string, Feature>;
  readonly #main = part("main", HTMLElement);
  readonly #card = part("card", HTMLElement);
  readonly #status = part("status", HTMLElement);
  readonly #dialog = new Dialog();
  readonly #list: List;
  readonly #chart: Chart;
  readonly #form: Form;
  #texts: Texts;
  #details: Details;
  #shown: Feature[] = [];
  #view: View = read(location.hash);
  #announcement: number | undefined;

  constructor({ features, _meta: meta }: Targets, handoffs: Handoff[]) {
    this.#features = features;
    this.#byId = new Map(features.map((feature) => [feature.id, feature]));
    this.#texts = new Texts(features);
    this.#details = { handoffs };
    const open = (id: string) => this.#open(id);
    this.#list = new List(part("list", HTMLUListElement), part("more", HTMLButtonElement), {
      open,
      hover: (id) => this.#chart.highlight(id),
    });
    this.#chart = new Chart(part("map", HTMLElement), meta, features, { open, hover: () => {} });
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
    const about = [`Data of ${date(meta.generated_at)}`, meta.license, ...meta.attribution, COAST];
    part("about", HTMLElement).textContent = about.join(" · ");
    addEventListener("popstate", () => this.#arrive(read(location.hash)));
    this.#arrive(this.#view);
  }

  /** With what was read after the organisations. */
  complete(details: Details, roles: Role[], people: Person[]): void {
    this.#details = { ...this.#details, ...details };
    this.#texts = new Texts(this.#features, roles, people);
    if (this.#view.filters.text !== "") this.#showFiltered();
    const feature = this.#selected();
    if (feature && !this.#card.contains(document.activeElement)) this.#fill(feature);
    else if (feature) this.#refill(feature);
    this.#main.dataset.state = "complete";
  }

  #buttons(): void {
    const clicked = (id: string, action: () => void) =>
      part(id, HTMLButtonElement).addEventListener("click", action);
    clicked("nearer", () => this.#chart.zoom(1));
    clicked("farther", () => this.#chart.zoom(-1));
    clicked("whole", () => this.#chart.overview(this.#shown));
    clicked("to-list", () => this.#focusList());
    const larger = part("larger", HTMLButtonElement);
    clicked("larger", () => {
      const pressed = this.#main.classList.toggle("larger-map");
      larger.setAttribute("aria-pressed", `${pressed}`);
    });
    this.#card.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.#close();
    });
  }

  #filter(filters: Filters, change: Change): void {
    const typing = change === "typed" && (history.state as { typing?: boolean } | null)?.typing;
    this.#go({ ...this.#view, filters }, change === "typed", typing ? "replace" : "push");
    this.#showFiltered();
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
    if (how === "push") history.pushState({ typing }, "", address);
    else history.replaceState({ typing }, "", address);
  }

  /** By a link, by going back, or by what somebody wrote into the address. */
  #arrive(view: View): void {
    const before = this.#view.selected;
    this.#view = view;
    this.#dialog.close();
    this.#showFiltered();
    this.#showSelected();
    const feature = this.#selected();
    if (feature && before !== view.selected) part("card-name", HTMLElement).focus();
    if (!feature && before !== undefined && before !== view.selected) this.#leave(before);
  }

  #selected(): Feature | undefined {
    return this.#byId.get(this.#view.selected ?? "");
  }

  #showFiltered(): void {
    const { filters } = this.#view;
    this.#shown = narrow(this.#features, filters, this.#texts);
    this.#list.show(this.#shown, this.#view);
    this.#chart.show(this.#shown);
    this.#form.show(filters, counts(this.#features, filters, this.#texts));
    part("nothing", HTMLElement).hidden = this.#shown.length > 0;
    this.#tell();
  }

  #tell(): void {
    const all = count(this.#features.length, "organisation", "organisations");
    const some = areFiltered(this.#view.filters);
    const text = some ? `${new Intl.NumberFormat("en").format(this.#shown.length)} of ${all}` : all;
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
    this.#card.hidden = feature === undefined;
    document.title = feature ? `${feature.properties.name} · ${TITLE}` : TITLE;
    if (feature) this.#fill(feature);
    else this.#card.replaceChildren();
    this.#chart.select(feature, this.#covered());
  }

  #fill(feature: Feature): void {
    const content = card(feature, this.#details, {
      close: () => this.#close(),
      open: (id) => this.#open(id),
      begin: (handoff, record) => this.#dialog.open(handoff, record),
    });
    const parts = content.filter((child): child is Node | string => Boolean(child));
    this.#card.replaceChildren(...parts);
    this.#card.scrollTop = 0;
  }

  /** Fills the card while the keyboard is in it. */
  #refill(feature: Feature): void {
    this.#fill(feature);
    part("card-name", HTMLElement).focus({ preventScroll: true });
  }

  /** How much of the map's left side the card lies over. */
  #covered(): number {
    const map = part("map", HTMLElement).getBoundingClientRect();
    const over = this.#card.getBoundingClientRect();
    const beside = over.right <= map.left || over.left < map.left || over.top >= map.bottom;
    return over.width === 0 || beside ? 0 : over.right - map.left;
  }

  #focusList(): void {
    const first = this.#shown[0];
    if (first) this.#list.focus(first.id);
  }
}
