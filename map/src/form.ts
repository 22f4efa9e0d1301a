// Text and filters, as a person sets them.

import { element } from "./element.ts";
import { areFiltered, type Filters, HIRING, NO_FILTERS } from "./filters.ts";
import type { Feature } from "./records.ts";
import { symbol } from "./symbols.ts";
import { ASKS, ask, KINDS, kind } from "./words.ts";

const HIRING_WORDS = {
  any: "Any",
  verified: "Verified open roles",
  lead: "Leads, not verified",
};

export interface Parts {
  text: HTMLInputElement;
  kinds: HTMLElement;
  asks: HTMLElement;
  hiring: HTMLElement;
  clear: HTMLButtonElement;
  summary: HTMLElement;
}

/** Why the filters changed: letters come one by one, choices do not. */
export type Change = "typed" | "chosen";

export class Form {
  readonly #parts: Parts;
  readonly #changed: (filters: Filters, change: Change) => void;
  #filters: Filters = NO_FILTERS;
  #shown = false;

  constructor(parts: Parts, features: Feature[], changed: (it: Filters, change: Change) => void) {
    this.#parts = parts;
    this.#changed = changed;
    const kinds = new Set(features.map(({ properties }) => properties.kind));
    const asks = new Set(features.flatMap(({ properties }) => properties.ask.map((it) => it.type)));
    asks.delete("none");
    parts.kinds.append(
      ...inOrder(kinds, KINDS).map((id) =>
        choice("checkbox", "kind", id, kind(id), symbol(id, 16)),
      ),
    );
    parts.asks.append(...inOrder(asks, ASKS).map((id) => choice("checkbox", "ask", id, ask(id))));
    parts.hiring.append(...HIRING.map((id) => choice("radio", "hiring", id, HIRING_WORDS[id])));
    parts.text.addEventListener("input", () => this.#read("typed"));
    parts.text.form?.addEventListener("submit", (event) => event.preventDefault());
    for (const group of [parts.kinds, parts.asks, parts.hiring]) {
      group.addEventListener("change", () => this.#read("chosen"));
    }
    parts.clear.addEventListener("click", () => {
      changed(NO_FILTERS, "chosen");
      parts.text.focus();
    });
  }

  /** Shows what is set, and how many each choice would leave. */
  show(filters: Filters, counts: Map<string, number>): void {
    this.#filters = filters;
    const { text, kinds, asks, hiring, clear, summary } = this.#parts;
    if (text.value.trim() !== filters.text.trim()) text.value = filters.text;
    for (const [group, chosen] of [
      [kinds, filters.kinds],
      [asks, filters.asks],
      [hiring, new Set([filters.hiring])],
    ] as const) {
      for (const input of inputs(group)) {
        input.checked = (chosen as ReadonlySet<string>).has(input.value);
        const number = input.labels?.[0]?.querySelector(".number");
        if (number) number.textContent = `${counts.get(`${input.name}:${input.value}`) ?? 0}`;
      }
    }
    const number = filters.asks.size + (filters.hiring === "any" ? 0 : 1);
    summary.textContent = number > 0 ? `More filters (${number} set)` : "More filters";
    clear.hidden = !areFiltered(filters);
    // Somebody who comes by an address is shown what it sets.
    if (!this.#shown && number > 0) summary.parentElement?.setAttribute("open", "");
    this.#shown = true;
  }

  #read(change: Change): void {
    const { text, kinds, asks, hiring } = this.#parts;
    const chosen = (group: HTMLElement) => inputs(group).filter((input) => input.checked);
    const values = (group: HTMLElement) => new Set(chosen(group).map((input) => input.value));
    const wanted = HIRING.find((id) => id === chosen(hiring)[0]?.value) ?? this.#filters.hiring;
    const read = { text: text.value, kinds: values(kinds), asks: values(asks), hiring: wanted };
    this.#changed(read, change);
  }
}

/** Those that this page knows in its own order, then what it does not know. */
function inOrder(present: Set<string>, known: Record<string, string>): string[] {
  const others = [...present].filter((id) => !(id in known)).sort();
  return [...Object.keys(known).filter((id) => present.has(id)), ...others];
}

function choice(
  type: "checkbox" | "radio",
  name: string,
  value: string,
  words: string,
  picture?: SVGSVGElement,
): HTMLElement {
  const counted = type === "checkbox";
  return element(
    "label",
    { class: "choice" },
    element("input", { type, name, value }),
    element(
      "span",
      { class: "chip" },
      picture,
      words,
      counted && element("span", { class: "number" }),
    ),
  );
}

function inputs(group: HTMLElement): HTMLInputElement[] {
  return [...group.querySelectorAll("input")];
}
