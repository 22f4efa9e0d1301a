// Reads a document record by record while it arrives: what is not kept of a record is not held in
// memory, and a page that reads a large document stays usable.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);
/** How long a page may be kept from answering, in milliseconds. */
const SLICE_MS = 10;

/** What a document has beside its records. */
export type Rest = Record<string, unknown>;

/**
 * Calls `take` with each record of the list of this name, and returns the other members that are
 * objects or lists. Throws where the document is not JSON of that form.
 */
export async function readRecords(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  list: string,
  take: (record: unknown) => void,
): Promise<Rest> {
  const splitter = new Splitter(list, take);
  const reader = body.getReader();
  let since = performance.now();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return splitter.end();
    for (let start = 0; start < value.length; start += 65_536) {
      splitter.push(value.subarray(start, start + 65_536));
      if (performance.now() - since > SLICE_MS) {
        await pause();
        since = performance.now();
      }
    }
  }
}

/** Lets the browser answer the person first. */
export function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

class Splitter {
  readonly #list: string;
  readonly #take: (record: unknown) => void;
  readonly #rest: Rest = {};
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  /** The bytes of the value that is being read, of earlier chunks. */
  #held: Uint8Array[] = [];
  #depth = 0;
  #inText = false;
  #escaped = false;
  /** The member of the document that is being read. */
  #name = "";
  /** Whether a value is being read, and whether it is only a name. */
  #reading: "value" | "name" | undefined;

  constructor(list: string, take: (record: unknown) => void) {
    this.#list = list;
    this.#take = take;
  }

  push(chunk: Uint8Array): void {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (this.#inText) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) {
          this.#inText = false;
          if (this.#reading === "name") this.#name = String(this.#value(chunk, start, at));
        }
      } else if (byte === QUOTE) {
        this.#inText = true;
        if (this.#depth === 1) {
          this.#reading = "name";
          start = at;
        }
      } else if (OPENING.has(byte)) {
        this.#depth += 1;
        if (this.#depth === this.#starts()) {
          this.#reading = "value";
          start = at;
        }
      } else if (CLOSING.has(byte)) {
        if (this.#reading === "value" && this.#depth === this.#starts()) {
          const value = this.#value(chunk, start, at);
          if (this.#depth === 3) this.#take(value);
          else this.#rest[this.#name] = value;
        }
        this.#depth -= 1;
      }
    }
    if (this.#reading) this.#held.push(chunk.slice(start));
  }

  end(): Rest {
    if (this.#depth !== 0 || this.#inText) throw new SyntaxError("the document ends early");
    return this.#rest;
  }

  /** The depth at which a value begins: that of the records within their list. */
  #starts(): number {
    return this.#name === this.#list ? 3 : 2;
  }

  #value(chunk: Uint8Array, start: number, at: number): unknown {
    const held = this.#held;
    const last = chunk.subarray(held.length > 0 ? 0 : start, at + 1);
    const text =
      held.map((bytes) => this.#decoder.decode(bytes, { stream: true })).join("") +
      this.#decoder.decode(last);
    this.#held = [];
    this.#reading = undefined;
    return JSON.parse(text);
  }
}
