// The large documents, which a worker reads; the page asks it for one organisation at a time.

import type { Person, Role, Signal } from "./records.ts";

/** What is known beside the organisations; a part is missing until it has been read. */
export interface Details {
  signals?: Signal[];
  roles?: Role[];
  people?: Person[];
}

export type Question =
  | { type: "load"; base: string }
  | { type: "watch"; target: string | undefined }
  | { type: "describe"; role: string; number: number };

export type Answer =
  | { type: "details"; target: string; details: Details }
  | { type: "texts"; texts: [string, string][] }
  | { type: "description"; number: number; text?: string }
  | { type: "failed" }
  | { type: "complete" };

export interface Listener {
  /** More is known of the organisation that is watched. */
  details(target: string, details: Details): void;
  /** Folded words that a search for these organisations looks through as well. */
  texts(texts: [string, string][]): void;
  failed(): void;
  complete(): void;
}

export class Archive {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, (text: string | undefined) => void>();
  #asked = 0;
  #failed = false;

  constructor(script: string, listener: Listener) {
    this.#worker = new Worker(script, { type: "module" });
    this.#worker.addEventListener("error", () => {
      this.#failed = true;
      for (const number of this.#waiting.keys()) this.#described(number, undefined);
      listener.failed();
    });
    this.#worker.addEventListener("message", ({ data }: MessageEvent<Answer>) => {
      if (data.type === "details") listener.details(data.target, data.details);
      else if (data.type === "texts") listener.texts(data.texts);
      else if (data.type === "description") this.#described(data.number, data.text);
      else listener[data.type]();
    });
    this.#ask({ type: "load", base: new URL("data/", document.baseURI).href });
  }

  /** From now on the details of this organisation are told, as far as they are known. */
  watch(target: string | undefined): void {
    this.#ask({ type: "watch", target });
  }

  /** The whole description of a role, if it can be read. */
  describe(role: string): Promise<string | undefined> {
    if (this.#failed) return Promise.resolve(undefined);
    this.#asked += 1;
    const number = this.#asked;
    this.#ask({ type: "describe", role, number });
    return new Promise((resolve) => this.#waiting.set(number, resolve));
  }

  #described(number: number, text: string | undefined): void {
    this.#waiting.get(number)?.(text);
    this.#waiting.delete(number);
  }

  #ask(question: Question): void {
    this.#worker.postMessage(question);
  }
}
