// Open roles, as a company's own board lists them.

import { standingBadge } from "./badge.ts";
import { type Child, element, outside, pageOf } from "./element.ts";
import { type Offers, offersFrom } from "./offers.ts";
import type { Role } from "./records.ts";
import { date, exactMoney, maturity, per, term } from "./words.ts";

/** Fetches the whole description of a role. */
export type Describe = (role: string) => Promise<string | undefined>;

const MISSING = "The whole description could not be loaded. It is at the company.";

export function roleEntry(role: Role, offers: Offers, describe: Describe): HTMLLIElement {
  const places = role.locations.map(({ label }) => label).join(", ");
  const about = [role.department, places, term(role.workplace_type), term(role.employment_type)];
  return element(
    "li",
    { class: "entry" },
    element(
      "p",
      { class: "top" },
      element("strong", {}, pageOf("roles", role.id, role.title)),
      standingBadge(role.maturity, maturity(role.maturity)),
    ),
    element("p", {}, about.filter(Boolean).join(" · ")),
    salary(role),
    role.summary !== "" && described(role, describe),
    element(
      "p",
      { class: "quiet" },
      role.date_posted !== undefined && `Posted ${date(role.date_posted)} · `,
      outside(role.apply_url, "Apply at the company", role.title),
    ),
    offersFrom("roles", role.id, offers, role.title),
  );
}

/** The beginning of the description, and the whole once somebody opens it; if it did not come, again each time. */
function described({ id, summary }: Role, describe: Describe): HTMLElement {
  const text = element("p", { class: "told" }, summary);
  const told = element("p", { class: "quiet", role: "status" });
  const details = element("details", {}, element("summary", {}, "Description"), text, told);
  let state: "missing" | "asked" | "there" = "missing";
  const show = async () => {
    if (!details.open || state !== "missing") return;
    state = "asked";
    told.textContent = "";
    const whole = await describe(id);
    state = whole === undefined ? "missing" : "there";
    if (whole === undefined) told.textContent = MISSING;
    else text.textContent = whole;
  };
  details.addEventListener("toggle", () => void show());
  return details;
}

function salary({ base_salary: pay }: Role): Child {
  if (!pay) return undefined;
  const sums = [pay.min, pay.max].filter((sum) => sum !== undefined);
  const range = [...new Set(sums.map((sum) => exactMoney(sum, pay.currency)))].join(" – ");
  return range !== "" && element("p", {}, `${range} ${per(pay.unit)}, as the employer says`);
}
