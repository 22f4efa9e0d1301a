// What narrows the list and the map alike.

import { fold } from "./fold.ts";
import type { Feature, Target } from "./records.ts";
import { kind, standing } from "./words.ts";

export const HIRING = ["any", "verified", "lead"] as const;
export type Hiring = (typeof HIRING)[number];

export interface Filters {
  text: string;
  kinds: ReadonlySet<string>;
  asks: ReadonlySet<string>;
  hiring: Hiring;
}

export const NO_FILTERS: Filters = { text: "", kinds: new Set(), asks: new Set(), hiring: "any" };

export function areFiltered(filters: Filters): boolean {
  const { text, kinds, asks, hiring } = filters;
  return text.trim() !== "" || kinds.size > 0 || asks.size > 0 || hiring !== "any";
}

/** Whether an organisation is known to look for people, or only said to. */
export function hiring(target: Target): Exclude<Hiring, "any"> | undefined {
  const asked = target.ask.filter(({ type }) => type === "hiring");
  if (asked.some(({ maturity }) => maturity === "verified")) return "verified";
  return asked.some(({ maturity }) => standing(maturity) === "lead") ? "lead" : undefined;
}

interface Text {
  name: string;
  all: string;
}

/** All that a search looks through, made for an organisation when it is first needed. */
export class Texts {
  readonly #made = new Map<string, Text>();
  /** What other documents say of organisations. */
  readonly #further = new Map<string, string>();

  /** Folded words of other documents. */
  add(texts: [string, string][]): void {
    for (const [id, text] of texts) {
      this.#further.set(id, `${this.#further.get(id) ?? ""}\n${text}`);
    }
  }

  /** How well the words fit: not at all, somewhere, in the name, at its beginning. */
  fit(feature: Feature, words: string[]): number {
    const [first] = words;
    if (first === undefined) return 1;
    const { name, all } = this.of(feature);
    const further = this.#further.get(feature.id) ?? "";
    if (!words.every((word) => all.includes(word) || further.includes(word))) return 0;
    if (name.startsWith(first)) return 3;
    return name.includes(first) ? 2 : 1;
  }

  of({ id, properties: it }: Feature): Text {
    const known = this.#made.get(id);
    if (known) return known;
    const words = [it.name, it.legal_name, it.tagline, it.description, kind(it.kind)];
    words.push(it.geo.neighbourhood, it.accelerator?.name, ...it.industries, ...it.tags);
    const all = words.filter((word) => word !== undefined).join("\n");
    const text = { name: fold(it.name), all: fold(all) };
    this.#made.set(id, text);
    return text;
  }
}

/** By name: the order of the list, which is made once. */
export function sorted(features: Feature[]): Feature[] {
  const { compare } = new Intl.Collator("en");
  return features.toSorted((one, other) => compare(one.properties.name, other.properties.name));
}

/** What passes, the best fit first, otherwise in the given order. */
export function narrow(features: Feature[], filters: Filters, texts: Texts): Feature[] {
  const words = fold(filters.text).split(/\s+/).filter(Boolean);
  const ranked: Feature[][] = [[], [], [], []];
  for (const feature of features) {
    if (passes(feature.properties, filters)) ranked[texts.fit(feature, words)]?.push(feature);
  }
  return ranked.slice(1).reverse().flat();
}

function passes(target: Target, { kinds, asks, hiring: wanted }: Filters): boolean {
  return (
    (kinds.size === 0 || kinds.has(target.kind)) &&
    (asks.size === 0 || target.ask.some(({ type }) => asks.has(type))) &&
    (wanted === "any" || hiring(target) === wanted)
  );
}

/** How many there would be of each kind and each ask, if it were chosen with the other filters. */
export function counts(features: Feature[], filters: Filters, texts: Texts): Map<string, number> {
  const all = new Map<string, number>();
  const count = (name: string) => all.set(name, (all.get(name) ?? 0) + 1);
  for (const { properties } of narrow(features, { ...filters, kinds: new Set() }, texts)) {
    count(`kind:${properties.kind}`);
  }
  for (const { properties } of narrow(features, { ...filters, asks: new Set() }, texts)) {
    for (const type of new Set(properties.ask.map(({ type }) => type))) count(`ask:${type}`);
  }
  return all;
}
