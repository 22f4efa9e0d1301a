// What a contract does, said before anything is begun. A person goes on at a page of the host, where they
// sign in, or lets an agent do it, which makes a link with its own token.

import { call } from "./call.ts";
import { type Child, element, outside, part } from "./element.ts";
import type { Handoff } from "./records.ts";
import { term } from "./words.ts";

const CARRIED: Record<string, string> = {
  target_id: "which organisation this is about",
  role_id: "which role this is about",
  person_id: "which person this is about",
  signal_id: "which signal this is about",
  intent: "what you mean to do",
  phone: "your phone number",
  email: "your e-mail address",
  exact_location: "where you are",
  free_text: "anything you have written",
};
const SCOPES: Record<string, string> = {
  "svc.read": "search, and read what is yours",
  "svc.write": "write in your name",
  "svc.events": "hear of replies",
};

export class Dialog {
  readonly #dialog = part("handoff", HTMLDialogElement);
  readonly #content = part("handoff-content", HTMLElement);
  #opener: Element | null = null;

  constructor() {
    part("handoff-close", HTMLButtonElement).addEventListener("click", () => this.#dialog.close());
    this.#dialog.addEventListener("click", (event) => {
      if (event.target === this.#dialog) this.#dialog.close();
    });
    this.#dialog.addEventListener("close", () => {
      if (this.#opener instanceof HTMLElement) this.#opener.focus();
    });
  }

  /** `about`: what the record is called, for the person alone. */
  open(handoff: Handoff, record: string, about: string): void {
    this.#opener = document.activeElement;
    part("handoff-title", HTMLElement).textContent = handoff.title;
    this.#content.replaceChildren(...content(handoff, record, about));
    this.#dialog.showModal();
    part("handoff-title", HTMLElement).focus();
  }

  close(): void {
    this.#dialog.close();
  }
}

function content(handoff: Handoff, record: string, about: string): Node[] {
  const { requires, continuation } = handoff;
  const scopes = requires.scopes.map((scope) => SCOPES[scope] ?? scope).join("; ");
  const minutes = Math.round(continuation.ttl_s / 60);
  const once = continuation.single_use ? " and works once" : "";
  return [
    element("p", { class: "about" }, about),
    element("p", { class: "lead-in" }, handoff.consent_text),
    ...steps(handoff, record, minutes),
    element("h3", {}, "What happens with what is yours"),
    element(
      "dl",
      { class: "contract" },
      row("The link carries", handoff.carries.map(carried).join("; ")),
      row("It never carries", handoff.never_carries.map(carried).join("; ")),
      handoff.ask_user !== undefined && row("Your agent asks you", handoff.ask_user),
      row("Your agent must be allowed to", scopes),
      row(
        "Your phone",
        requires.claimed ? "You prove once, with a code, that your agent is yours" : "Not needed",
      ),
      row("The link is good for", `${minutes} minutes${once}. Opening it changes nothing`),
    ),
  ];
}

/** What a person does, one thing after the other. */
function steps(handoff: Handoff, record: string, minutes: number): Node[] {
  const made = call(handoff, record);
  if (!made) return [element("p", {}, "This record cannot be handed over.")];
  const step = (...children: Child[]) => element("li", {}, ...children);
  const embedded = document.body.classList.contains("embed");
  const apart = embedded ? { target: "_blank" } : {};
  const link = { href: made.page, rel: "noopener noreferrer nofollow", ...apart };
  return [
    element("h3", {}, "Do it yourself"),
    element(
      "p",
      {},
      element("a", link, "Sign in and look at the draft"),
      ": you can change it, and nothing is sent before you send it.",
    ),
    element("h3", {}, "Or let your agent do it"),
    element(
      "ol",
      { class: "steps" },
      step(...request(made.words)),
      step("Give it to your agent, which is connected to Portolan."),
      step(`Your agent answers with a link. Open it within ${minutes} minutes, and read the draft.`),
      step("Nothing is published or sent before you tell your agent so."),
    ),
    element(
      "details",
      {},
      element("summary", {}, "For developers: call it yourself"),
      ...copied(made.json, "json", "Copy the input"),
      ...copied(made.curl, "curl", "Copy the call"),
      element("p", { class: "quiet" }, outside(made.guide, "How a program gets a token")),
    ),
  ];
}

/** The words for an agent: to be copied, and to be read by who wants to. */
function request(words: string): Node[] {
  const [shown, button] = copied(words, "words", "Copy the request");
  const details = element("details", {}, element("summary", {}, "Read the request"), shown);
  return [button, details];
}

/** Text, and a button that copies it, which says whether it did. */
function copied(text: string, id: string, words: string): [Node, Node] {
  const shown = element(
    "pre",
    { id: `handoff-${id}`, tabindex: "0", role: "group", "aria-label": words },
    text,
  );
  const said = element("span", { role: "status", class: "quiet" });
  const look = id === "words" ? "primary" : "more";
  const button = element("button", { type: "button", class: look }, words);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = "Copied";
    } catch {
      shown.closest("details")?.setAttribute("open", "");
      getSelection()?.selectAllChildren(shown);
      said.textContent = "Marked: copy it with your keyboard";
    }
  });
  return [shown, element("p", { class: "copy" }, button, " ", said)];
}

function row(name: string, value: Child): HTMLElement {
  return element("div", {}, element("dt", {}, name), element("dd", {}, value));
}

function carried(id: string): string {
  return CARRIED[id] ?? term(id).toLowerCase();
}
