// The list of what passes the filters: for everybody, and the map's equal for who cannot see it.

import { write, type View } from "./address.ts";
import { element } from "./element.ts";
import { NO_FILTERS } from "./filters.ts";
import type { Feature } from "./records.ts";
import { symbol } from "./symbols.ts";
import { standingBadge } from "./badge.ts";
import { ask, count, kind, maturity } from "./words.ts";

/** As many are shown at first, and each time more are asked for. */
const AT_ONCE = 30;

export interface Listener {
  open(id: string): void;
  hover(id: string | undefined): void;
}

export class List {
  readonly #list: HTMLUListElement;
  readonly #more: HTMLButtonElement;
  readonly #listener: Listener;
  #features: Feature[] = [];
  #view: View = { filters: NO_FILTERS };

  constructor(list: HTMLUListElement, more: HTMLButtonElement, listener: Listener) {
    this.#list = list;
    this.#more = more;
    this.#listener = listener;
    more.addEventListener("click", () => this.#showMore());
    list.addEventListener("click", (event) => this.#clicked(event));
    for (const [type, hovered] of [
      ["pointerover", true],
      ["pointerleave", false],
    ] as const) {
      list.addEventListener(type, ({ target }) => {
        listener.hover(hovered ? identifier(target) : undefined);
      });
    }
    list.addEventListener("focusin", ({ target }) => listener.hover(identifier(target)));
    list.addEventListener("focusout", () => listener.hover(undefined));
  }

  show(features: Feature[], view: View): void {
    this.#features = features;
    this.#view = view;
    this.#list.replaceChildren();
    this.#append(AT_ONCE);
  }

  /** The card that is open belongs to this one. */
  mark(id: string | undefined, view: View): void {
    this.#view = view;
    for (const link of this.#list.querySelectorAll("a")) {
      if (link.dataset.target !== id) link.removeAttribute("aria-current");
      else {
        link.setAttribute("aria-current", "true");
        link.scrollIntoView({ block: "nearest" });
      }
    }
  }

  /** Whether it is in the list, so that the keyboard could be put there. */
  focus(id: string): boolean {
    const position = this.#features.findIndex((feature) => feature.id === id);
    if (position < 0) return false;
    this.#append(position + 1 - this.#list.children.length);
    const link = this.#list.children[position]?.querySelector("a");
    link?.focus();
    return link !== null && link !== undefined;
  }

  #append(number: number): void {
    const shown = this.#list.children.length;
    const added = this.#features.slice(shown, shown + Math.max(number, 0));
    this.#list.append(...added.map((feature) => this.#item(feature)));
    const left = this.#features.length - this.#list.children.length;
    this.#more.hidden = left === 0;
    this.#more.textContent = `Show more (${count(left, "is", "are")} left)`;
  }

  #showMore(): void {
    const before = this.#list.children.length;
    this.#append(AT_ONCE);
    this.#list.children[before]?.querySelector("a")?.focus();
  }

  #item(feature: Feature): HTMLLIElement {
    const { id, properties: it } = feature;
    const href = write({ ...this.#view, selected: id });
    const asks = it.ask.filter(({ type }) => type !== "hiring" && type !== "none");
    const hiring = it.ask.find(({ type }) => type === "hiring");
    const link = element(
      "a",
      { href, "data-target": id },
      symbol(it.kind),
      element(
        "span",
        { class: "words" },
        element("span", { class: "title" }, it.name),
        element("span", { class: "tagline" }, it.tagline),
        element(
          "span",
          { class: "about" },
          [kind(it.kind), it.geo.neighbourhood].filter(Boolean).join(" · "),
        ),
        element(
          "span",
          { class: "badges" },
          hiring && standingBadge(hiring.maturity, `Hiring: ${maturity(hiring.maturity)}`),
          ...asks.map(({ type }) => element("span", { class: "badge plain" }, ask(type))),
        ),
      ),
    );
    if (this.#view.selected === id) link.setAttribute("aria-current", "true");
    return element("li", {}, link);
  }

  /** Another tab or window is the browser's to open. */
  #clicked(event: MouseEvent): void {
    const id = identifier(event.target);
    if (!id || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    this.#listener.open(id);
  }
}

function identifier(target: EventTarget | null): string | undefined {
  const link = target instanceof Element ? target.closest("a") : null;
  return link?.dataset.target;
}
