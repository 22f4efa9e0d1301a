// How sure something is, in words and in the look: a lead is never shown as a fact.

import { element } from "./element.ts";
import { standing } from "./words.ts";

export function standingBadge(maturity: string, label: string): HTMLElement {
  return element("span", { class: `badge ${standing(maturity)}` }, label);
}
