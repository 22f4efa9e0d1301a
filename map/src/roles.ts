// Open roles, as a company's own board lists them.

import { standingBadge } from "./badge.ts";
import { type Child, element, outside } from "./element.ts";
import { type Offers, offersFrom } from "./offers.ts";
import type { Role } from "./records.ts";
import { date, maturity, money, term } from "./words.ts";

export function roleEntry(role: Role, offers: Offers): HTMLLIElement {
  const places = role.locations.map(({ label }) => label).join(", ");
  const about = [role.department, places, term(role.workplace_type), term(role.employment_type)];
  const text = element("p", { class: "told" }, role.description_text);
  return element(
    "li",
    { class: "entry" },
    element(
      "p",
      { class: "top" },
      element("strong", {}, role.title),
      standingBadge(role.maturity, maturity(role.maturity)),
    ),
    element("p", {}, about.filter(Boolean).join(" · ")),
    salary(role),
    role.description_text !== "" &&
      element("details", {}, element("summary", {}, "Description"), text),
    element(
      "p",
      { class: "quiet" },
      role.date_posted !== undefined && `Posted ${date(role.date_posted)} · `,
      outside(role.apply_url, "Apply at the company", role.title),
    ),
    offersFrom("roles", role.id, offers, role.title),
  );
}

function salary({ base_salary: pay }: Role): Child {
  if (!pay) return undefined;
  const sums = [pay.min, pay.max].filter((sum) => sum !== undefined);
  const range = [...new Set(sums.map((sum) => money(sum, pay.currency)))].join(" – ");
  const unit = pay.unit === "ONCE" ? "once" : `a ${pay.unit.toLowerCase()}`;
  return range !== "" && element("p", {}, `${range} ${unit}, as the employer says`);
}
