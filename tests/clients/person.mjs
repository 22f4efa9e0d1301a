// A person at a browser without JavaScript: reads the pages, fills in the forms, receives messages.
//
// As a program: `node person.mjs OUTBOX PHONE ADDRESS...` signs in, allows every request, and
// prints the address to which the browser is redirected each time.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const PATIENCE_MS = 30_000;

/** Waits for more than `seen` messages to this phone, and returns the code in the newest. */
export async function code(outbox, phone, seen = 0) {
  for (const started = Date.now(); Date.now() - started < PATIENCE_MS; await sleep(20)) {
    const sent = await messages(outbox, phone);
    if (sent.length > seen) return sent.at(-1).text.match(/\b\d{6}\b/)[0];
  }
  throw new Error(`no message to ${phone}`);
}

/** Returns the messages to this phone, the oldest first. */
export async function messages(outbox, phone) {
  const lines = (await readFile(outbox, "utf8").catch(() => "")).split("\n");
  // The last line may not be complete yet.
  return lines.slice(0, -1).map((line) => JSON.parse(line)).filter(({ to }) => to === phone);
}

export class Person {
  #cookies = new Map();

  constructor(outbox, phone) {
    Object.assign(this, { outbox, phone });
  }

  /** Signs in if the page asks for it, allows the request, and returns the redirect address. */
  async allow(address) {
    let page = await this.#get(new URL(address));
    if (page.buttons.has("phone")) {
      const seen = (await messages(this.outbox, this.phone)).length;
      page = await this.#press(page, "phone", { phone: this.phone });
      page = await this.#press(page, "code", { code: await code(this.outbox, this.phone, seen) });
    }
    const { sentTo } = await this.#press(page, "allow");
    assert(sentTo, "the browser is sent back to the client");
    return sentTo;
  }

  /** Returns the status with which a page is answered, which is not followed further. */
  async status(address) {
    const response = await fetch(address, { headers: { cookie: this.#cookie() }, redirect: "manual" });
    await response.body?.cancel();
    return response.status;
  }

  #cookie() {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  #get(url) {
    return this.#fetch(url, {});
  }

  async #press(page, step, fields = {}) {
    assert(page.buttons.has(step), `no button ${step} at ${page.url.pathname}: ${page.text}`);
    const body = new URLSearchParams({ ...fields, steps: page.steps, step });
    const next = await this.#fetch(new URL(page.action, page.url), { method: "POST", body });
    assert(!next.text?.includes('role="alert"'), next.text);
    return next;
  }

  async #fetch(url, request) {
    const response = await fetch(url, { ...request, headers: { cookie: this.#cookie() }, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = line.match(/^([^=]+)=([^;]*)/);
      this.#cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location) {
      assert.equal(response.status, 303);
      const next = new URL(location, url);
      return next.origin === url.origin ? this.#get(next) : { sentTo: next };
    }
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const buttons = text.matchAll(/<button name="step" value="([^"]*)"/g);
    return {
      url,
      text,
      steps: text.match(/name="steps" value="([^"]*)"/)[1],
      action: text.match(/action="([^"]*)"/)[1],
      buttons: new Set([...buttons].map(([, step]) => step)),
    };
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [outbox, phone, ...addresses] = process.argv.slice(2);
  const person = new Person(outbox, phone);
  for (const address of addresses) console.log((await person.allow(address)).href);
}
