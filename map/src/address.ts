// Where a person is, in the fragment of the address: it can be sent to others and kept, and what
// somebody looks for does not reach the server.

import { type Filters, HIRING, NO_FILTERS } from "./filters.ts";

export interface View {
  filters: Filters;
  /** The organisation whose card is open. */
  selected?: string | undefined;
}

export function read(fragment: string): View {
  const parameters = new URLSearchParams(fragment.replace(/^#/, ""));
  const among = (name: string) => new Set(parameters.get(name)?.split(",").filter(Boolean));
  const hiring = HIRING.find((known) => known === parameters.get("hiring"));
  const filters = {
    text: parameters.get("q") ?? "",
    kinds: among("kind"),
    asks: among("ask"),
    hiring: hiring ?? NO_FILTERS.hiring,
  };
  return { filters, selected: parameters.get("target") ?? undefined };
}

export function write({ filters, selected }: View): string {
  const parameters = new URLSearchParams();
  const set = (name: string, value: string | undefined) => value && parameters.set(name, value);
  set("q", filters.text.trim());
  set("kind", [...filters.kinds].sort().join(","));
  set("ask", [...filters.asks].sort().join(","));
  set("hiring", filters.hiring === NO_FILTERS.hiring ? undefined : filters.hiring);
  set("target", selected);
  const text = parameters.toString().replaceAll("%2C", ",");
  return text ? `#${text}` : "";
}
