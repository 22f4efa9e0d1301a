// Founders who are listed in public, why they may be, and how they stop being listed.

import { type Child, element, outside, pageOf } from "./element.ts";
import { type Offers, offersFrom } from "./offers.ts";
import type { Person } from "./records.ts";
import { term } from "./words.ts";

export function personEntry(person: Person, target: string, offers: Offers): HTMLLIElement {
  const here = person.affiliations.find(({ target_id }) => target_id === target);
  const title = here?.title ?? person.title;
  const { directory, full_name: name } = person;
  const batch = directory.batch === undefined ? "" : `, ${directory.batch}`;
  return element(
    "li",
    { class: "entry" },
    element("p", { class: "top" }, element("strong", {}, pageOf("people", person.id, name))),
    element("p", {}, here?.current === false ? `${title} (formerly)` : title),
    person.public_bio !== "" && element("p", {}, person.public_bio),
    person.expertise.length > 0 && element("p", { class: "quiet" }, person.expertise.join(", ")),
    element(
      "p",
      { class: "links" },
      ...person.links.flatMap(({ kind, url }): Child[] => [outside(url, term(kind), name), " "]),
    ),
    element(
      "p",
      { class: "quiet" },
      `Here because ${person.public_figure_basis}: `,
      outside(directory.url, `${directory.name}${batch}`),
      ". ",
      outside(person.opt_out_url, "Is this you? Ask not to be listed", name),
    ),
    offersFrom("people", person.id, offers, name),
  );
}
