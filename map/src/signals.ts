// What points at money or at open roles, under the label that the document gives it.

import { standingBadge } from "./badge.ts";
import { type Child, element, outside } from "./element.ts";
import { type Offers, offersFor } from "./offers.ts";
import type { Signal } from "./records.ts";
import { count, date, money, standing, term } from "./words.ts";

const CAUTION = "This is what is said. Nobody has verified it.";

export function signalEntry(
  signal: Signal,
  offers: Offers,
  open: (target: string) => void,
): HTMLLIElement {
  const { id, maturity, label, headline, summary, occurred_at, sources } = signal;
  return element(
    "li",
    { class: `entry ${standing(maturity)}` },
    element(
      "p",
      { class: "top" },
      standingBadge(maturity, label),
      quiet(`${term(signal.kind)} · ${date(occurred_at)}`),
    ),
    element("p", { class: "headline" }, headline),
    standing(maturity) === "lead" && element("p", { class: "caution" }, CAUTION),
    summary !== headline && element("p", {}, summary),
    round(signal, open),
    work(signal),
    sources.length > 0 &&
      element(
        "p",
        { class: "quiet" },
        sources.length === 1 ? "Source: " : "Sources: ",
        ...sources.flatMap(({ publisher, url }, position) => [
          position > 0 && ", ",
          outside(url, publisher),
        ]),
      ),
    offersFor(signal.handoff_ids, id, offers, headline),
  );
}

function round({ funding }: Signal, open: (target: string) => void): Child {
  if (!funding) return undefined;
  const { amount, currency, investors } = funding;
  const sum = amount !== undefined && money(amount, currency ?? "USD");
  const named = investors.flatMap(({ name, target_id, lead }, position): Child[] => [
    position > 0 && ", ",
    target_id === undefined ? name : elsewhere(name, target_id, open),
    lead && " (lead)",
  ]);
  const size = [funding.round && term(funding.round), sum].filter(Boolean).join(", ");
  return element("p", {}, size, size !== "" && named.length > 0 && " – ", ...named);
}

function elsewhere(name: string, id: string, open: (target: string) => void): HTMLElement {
  const button = element("button", { type: "button", class: "link" }, name);
  button.addEventListener("click", () => open(id));
  return button;
}

function work({ hiring }: Signal): Child {
  if (!hiring || hiring.functions.length === 0) return undefined;
  const roles = hiring.role_count > 0 && `${count(hiring.role_count, "role", "roles")}: `;
  return element("p", {}, roles, hiring.functions.map(term).join(", "));
}

function quiet(text: string): HTMLElement {
  return element("span", { class: "quiet" }, text);
}
