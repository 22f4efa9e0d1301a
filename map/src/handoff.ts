// What a contract does, said before anything is begun. This page can begin nothing by itself: a
// link is made for a person's own agent, with that agent's token.

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

  open(handoff: Handoff, record: string): void {
    this.#opener = document.activeElement;
    part("handoff-title", HTMLElement).textContent = handoff.title;
    this.#content.replaceChildren(...content(handoff, record));
    this.#dialog.showModal();
    part("handoff-title", HTMLElement).focus();
  }

  close(): void {
    this.#dialog.close();
  }
}

function content(handoff: Handoff, record: string): Node[] {
  const { requires, continuation } = handoff;
  const scopes = requires.scopes.map((scope) => SCOPES[scope] ?? scope).join("; ");
  const minutes = Math.round(continuation.ttl_s / 60);
  const once = continuation.single_use ? " and works once" : "";
  return [
    element("p", { class: "lead-in" }, handoff.consent_text),
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
    ...ready(handoff, record),
  ];
}

function ready(handoff: Handoff, record: string): Node[] {
  const made = call(handoff, record);
  if (!made) return [element("p", {}, "This record cannot be handed over.")];
  return [
    element("h3", {}, "Tell your agent"),
    element(
      "p",
      {},
      "This page signs nobody in. Give these words to an agent that is connected to Portolan:",
    ),
    ...copied(made.words, "words", "Copy the words"),
    element(
      "details",
      {},
      element("summary", {}, "Or call it yourself"),
      ...copied(made.curl, "curl", "Copy the call"),
      element("p", { class: "quiet" }, outside(made.guide, "How a program gets a token")),
    ),
  ];
}

/** Text with a button that copies it, which says whether it did. */
function copied(text: string, id: string, words: string): Node[] {
  const shown = element(
    "pre",
    { id: `handoff-${id}`, tabindex: "0", role: "group", "aria-label": words },
    text,
  );
  const said = element("span", { role: "status", class: "quiet" });
  const button = element("button", { type: "button", class: "primary" }, words);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = "Copied";
    } catch {
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
