// What narrows the list and the map alike.

import type { Feature, Person, Role, Target } from "./records.ts";
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

/** Letters without case and accents. */
export function fold(text: string): string {
  return text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase();
}

/** Whether an organisation is known to look for people, or only said to. */
export function hiring(target: Target): Exclude<Hiring, "any"> | undefined {
  const asked = target.ask.filter(({ type }) => type === "hiring");
  if (asked.some(({ maturity }) => maturity === "verified")) return "verified";
  return asked.some(({ maturity }) => standing(maturity) === "lead") ? "lead" : undefined;
}

/** All that a search looks through, once for each organisation. */
export class Texts {
  readonly #texts = new Map<string, { name: string; all: string }>();

  constructor(features: Feature[], roles: Role[] = [], people: Person[] = []) {
    for (const { id, properties: it } of features) {
      const words = [it.name, it.legal_name, it.tagline, it.description, kind(it.kind)];
      words.push(it.geo.neighbourhood, it.accelerator?.name, ...it.industries, ...it.tags);
      const all = words.filter((word) => word !== undefined).join("\n");
      this.#texts.set(id, { name: fold(it.name), all: fold(all) });
    }
    for (const { target_id, title, department } of roles) this.#add(target_id, title, department);
    for (const { full_name, affiliations } of people) {
      for (const { target_id } of affiliations) this.#add(target_id, full_name);
    }
  }

  #add(id: string, ...words: (string | undefined)[]): void {
    const text = this.#texts.get(id);
    if (text) text.all += `\n${fold(words.filter((word) => word !== undefined).join("\n"))}`;
  }

  /** How well the words fit: not at all, somewhere, in the name, at its beginning. */
  fit(id: string, words: string[]): number {
    const text = this.#texts.get(id);
    if (!text || !words.every((word) => text.all.includes(word))) return 0;
    const [first] = words;
    if (first === undefined) return 1;
    if (text.name.startsWith(first)) return 3;
    return text.name.includes(first) ? 2 : 1;
  }
}

/** What passes, the best fit first, then by name. */
export function narrow(features: Feature[], filters: Filters, texts: Texts): Feature[] {
  const words = fold(filters.text).split(/\s+/).filter(Boolean);
  const ranked = features
    .filter(({ properties }) => passes(properties, filters))
    .map((feature) => ({ feature, fit: texts.fit(feature.id, words) }))
    .filter(({ fit }) => fit > 0);
  ranked.sort((one, other) => other.fit - one.fit || compare(one.feature, other.feature));
  return ranked.map(({ feature }) => feature);
}

const COLLATOR = new Intl.Collator("en");

function compare(one: Feature, other: Feature): number {
  return COLLATOR.compare(one.properties.name, other.properties.name);
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
