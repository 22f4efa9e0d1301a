// The only way this page makes elements: what comes from a document can become text, never markup.

export type Child = Node | string | undefined | false;
type Attributes = Record<string, string | boolean | undefined>;

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  set(made, attributes);
  made.append(...present(children));
  return made;
}

export function drawing<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Tag] {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(made, attributes);
  made.append(...present(children));
  return made;
}

/** The element of the page itself that has this identifier. */
export function part<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no ${id}`);
  return found;
}

/** A link to another site; text alone where the address is not one of the web. */
export function outside(url: string, text: string, about?: string): HTMLElement {
  const address = webAddress(url);
  if (!address) return element("span", {}, text);
  const note = `${about === undefined ? "" : `: ${about}`} (another site)`;
  const attributes = { href: address, rel: "noopener noreferrer nofollow", target: "_blank" };
  const hidden = element("span", { class: "unseen" }, note);
  return element("a", { class: "outside", ...attributes }, text, hidden);
}

/** A link to the page about one record. No site may show that page within its own, so a map there opens it apart. */
export function pageOf(folder: "companies" | "roles" | "people", id: string, text: string): Element {
  const embedded = document.body.classList.contains("embed");
  const apart = embedded ? { target: "_blank", rel: "noopener" } : {};
  return element("a", { href: `${folder}/${encodeURIComponent(id)}`, ...apart }, text);
}

export function webAddress(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && ["https:", "http:"].includes(url.protocol) ? url.href : undefined;
}

function set(made: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (typeof value === "string") made.setAttribute(name, value);
  }
}

/** The children that are there, as nodes. */
export function present(children: Child[]): Node[] {
  const there = children.filter((child) => child !== undefined && child !== false);
  return there.map((child) => (typeof child === "string" ? new Text(child) : child));
}
