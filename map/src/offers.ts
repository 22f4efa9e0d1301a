// The contracts that a person can begin from a record.

import { element } from "./element.ts";
import type { Handoff } from "./records.ts";

export interface Offers {
  handoffs: Handoff[];
  /** `about`: the name of the record, unless it is the organisation itself. */
  begin(handoff: Handoff, record: string, about?: string): void;
}

/** Buttons for the contracts that a record names. */
export function offersFor(
  ids: string[],
  record: string,
  { handoffs, begin }: Offers,
  about?: string,
): HTMLElement | undefined {
  const named = ids.flatMap((id) => handoffs.find((handoff) => handoff.id === id) ?? []);
  return buttons(named, record, begin, about);
}

/** Buttons for the contracts that begin at every record of a feed. */
export function offersFrom(
  feed: string,
  record: string,
  { handoffs, begin }: Offers,
  about?: string,
): HTMLElement | undefined {
  const fitting = handoffs.filter(({ from }) => from.feed === feed);
  return buttons(fitting, record, begin, about);
}

function buttons(
  handoffs: Handoff[],
  record: string,
  begin: Offers["begin"],
  about: string | undefined,
): HTMLElement | undefined {
  if (handoffs.length === 0) return undefined;
  const made = handoffs.map((handoff) => {
    const hidden = about && element("span", { class: "unseen" }, `: ${about}`);
    const attributes = { type: "button", "data-handoff": handoff.id, "data-record": record };
    const button = element("button", attributes, handoff.title, hidden || undefined);
    button.addEventListener("click", () => begin(handoff, record, about));
    return button;
  });
  return element("p", { class: "offers" }, ...made);
}
