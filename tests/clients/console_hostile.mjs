// Pages of others in the browser of an operator who has signed in: nothing that they send to the operator's address
// has an effect, and they read nothing from it.
//
// node console_hostile.mjs URL OUTBOX
//
// URL is the operator's address, and the token is beside OUTBOX.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { launched } from "./chromium.mjs";

const [url, outbox] = process.argv.slice(2);
const token = (await readFile(join(dirname(outbox), "operator.token"), "utf8")).trim();
const { port } = new URL(url);
// A name of the attacker that leads to the operator's address once the attacker's page is loaded.
const REBOUND = `http://rebound.example:${port}`;
const READS = ["/", "/console", "/console/audit", "/console/live/calls", "/status", "/audit", "/keys", "/healthz"];
const WRITES = [
  "/keys/rotate",
  "/token/rotate",
  "/console/sign-in",
  "/console/sign-out",
  "/console/decisions/drop_timers",
];
let browser, context, elsewhere, keys, operator, server;

/** Reads a document of the operator's address as the operator's own program. */
async function read(path) {
  const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(answer.status, 200);
  return answer.text();
}

before(async () => {
  keys = await read("/keys");
  server = createServer((request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Others</title>");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const others = server.address().port;
  // Pages of another site, and of another port of the same site, with which the browser sends cookies.
  elsewhere = [`http://attacker.example:${others}`, `http://127.0.0.1:${others}`];
  browser = await launched([
    "--host-resolver-rules=MAP attacker.example 127.0.0.1,MAP rebound.example 127.0.0.1",
  ]);
  context = await browser.newContext();
  context.setDefaultTimeout(120_000);
  operator = await context.newPage();
  await operator.goto(url);
  await operator.getByLabel("Your operator's token").fill(token);
  await operator.getByRole("button", { name: "Sign in" }).click();
  await operator.getByRole("heading", { name: "Overview" }).waitFor();
});

after(async () => {
  await browser?.close();
  server?.close();
});

/** Opens a page of others. `statuses` are those of the answers of the operator's address to it. */
async function hostile(origin) {
  const page = await context.newPage();
  page.statuses = [];
  page.on("response", (response) => {
    if (response.url().startsWith(url)) page.statuses.push(response.status());
  });
  await page.goto(origin);
  return page;
}

/** Asserts that the operator's address was asked, and has refused everything. */
function refused(page) {
  assert(page.statuses.length > 0, "nothing was sent");
  assert.deepEqual([...new Set(page.statuses)], [403]);
}

/** Returns the text of a page or a frame, also of one that the browser shows in its place. */
const textOf = (frame) => frame.evaluate(() => document.body?.innerText ?? "");

function shownNothing(text) {
  assert.doesNotMatch(text, /Overview|Your operator's token|Sign out/);
}

test("scripts of other pages read nothing and change nothing", async () => {
  for (const origin of elsewhere) {
    const page = await hostile(origin);
    const outcomes = await page.evaluate(
      async ({ url, reads, writes, token }) => {
        const found = [];
        const attempt = async (path, options) => {
          try {
            const answer = await fetch(url + path, options);
            found.push([path, answer.type, answer.status, await answer.text()]);
          } catch (error) {
            found.push([path, error.name, 0, ""]);
          }
        };
        const body = new URLSearchParams({ token, form_token: "x", id: "x" });
        for (const credentials of ["include", "omit"]) {
          for (const mode of ["cors", "no-cors"]) {
            for (const path of reads) await attempt(path, { mode, credentials });
            for (const path of writes) await attempt(path, { method: "POST", mode, credentials, body });
          }
        }
        // These need the permission of a preflight.
        const headers = { authorization: `Bearer ${token}` };
        for (const path of reads) await attempt(path, { headers });
        for (const path of writes) await attempt(path, { method: "POST", headers });
        return found;
      },
      { url, reads: READS, writes: WRITES, token },
    );
    for (const [path, kind, status, text] of outcomes) {
      assert(["TypeError", "opaque"].includes(kind), `${path}: ${kind}`);
      assert.deepEqual([status, text], [0, ""], path);
    }
    refused(page);
    await page.close();
  }
});

test("forms of other pages are refused", async () => {
  for (const origin of elsewhere) {
    const page = await hostile(origin);
    for (const path of WRITES) {
      for (const kind of ["application/x-www-form-urlencoded", "text/plain"]) {
        const action = `${url}${path}`;
        const answered = page.waitForResponse(action);
        await page.evaluate(
          ({ action, kind, token }) => {
            const form = document.createElement("form");
            Object.assign(form, { action, method: "post", enctype: kind });
            for (const [name, value] of Object.entries({ token, form_token: "x", id: "x" })) {
              const input = document.createElement("input");
              Object.assign(input, { name, value });
              form.append(input);
            }
            document.body.append(form);
            form.submit();
          },
          { action, kind, token },
        );
        assert.equal((await answered).status(), 403, `${origin} ${path}`);
        await page.waitForURL(action);
        shownNothing(await textOf(page));
        await page.goto(origin);
      }
    }
    await page.close();
  }
});

test("the console is in no frame and in no window of another page", async () => {
  for (const origin of elsewhere) {
    const page = await hostile(origin);
    await page.evaluate(async (address) => {
      const frame = document.createElement("iframe");
      const loaded = new Promise((resolve) => (frame.onload = resolve));
      frame.src = address;
      document.body.append(frame);
      await loaded;
    }, `${url}/console`);
    const frames = page.frames().slice(1);
    assert.equal(frames.length, 1);
    shownNothing(await textOf(frames[0]));
    refused(page);
    const opened = context.waitForEvent("page");
    await page.evaluate((address) => {
      window.opened = window.open(address);
    }, `${url}/console`);
    const popup = await opened;
    await popup.waitForLoadState();
    shownNothing(await textOf(popup));
    const reached = await page.evaluate(() => {
      try {
        return window.opened.document.title;
      } catch (error) {
        return error.name;
      }
    });
    assert.equal(reached, "SecurityError");
    await popup.close();
    await page.close();
  }
});

test("nothing of the operator's address is a part of another page", async () => {
  for (const origin of elsewhere) {
    const page = await hostile(origin);
    const outcomes = await page.evaluate(async (url) => {
      const outcome = (target) =>
        new Promise((resolve) => {
          target.onload = target.onopen = target.onmessage = () => resolve("used");
          target.onerror = () => resolve("error");
        });
      const element = (name, members) => {
        const made = Object.assign(document.createElement(name), members);
        const ended = outcome(made);
        document.head.append(made);
        return ended;
      };
      navigator.sendBeacon(`${url}/keys/rotate`, "x");
      return Promise.all([
        element("script", { src: `${url}/status` }),
        element("img", { src: `${url}/console` }),
        element("link", { rel: "stylesheet", href: `${url}/console` }),
        outcome(new EventSource(`${url}/console/live/calls`, { withCredentials: true })),
        outcome(new WebSocket(`${url.replace("http", "ws")}/console/live/calls`)),
      ]);
    }, url);
    assert.deepEqual([...new Set(outcomes)], ["error"], `${origin}: ${outcomes}`);
    refused(page);
    await page.close();
  }
});

test("a name that comes to lead to the operator's address opens nothing", async () => {
  // The page under this name stands for the attacker's own, whose policy permits every request.
  const others = await browser.newContext({ bypassCSP: true });
  const page = await others.newPage();
  const first = await page.goto(`${REBOUND}/console`);
  assert.equal(first.status(), 403);
  const outcomes = await page.evaluate(
    async ({ reads, writes, token }) => {
      const found = [];
      const headers = { authorization: `Bearer ${token}` };
      const attempt = async (path, options) => {
        const answer = await fetch(path, options);
        found.push([path, answer.status, await answer.text()]);
      };
      for (const path of reads) {
        await attempt(path, { cache: "no-store" });
        await attempt(path, { headers, cache: "no-store" });
      }
      for (const path of writes) {
        await attempt(path, { method: "POST", body: new URLSearchParams({ token, form_token: "x" }) });
        await attempt(path, { method: "POST", headers });
      }
      return found;
    },
    { reads: READS, writes: WRITES, token },
  );
  assert.equal(outcomes.length, 2 * (READS.length + WRITES.length));
  for (const [path, status, text] of outcomes) {
    assert.equal(status, 403, path);
    shownNothing(text);
  }
  await others.close();
});

test("the operator is still signed in, and nothing has changed", async () => {
  await operator.goto(`${url}/console`);
  await operator.getByRole("heading", { name: "Overview" }).waitFor();
  assert.equal(await read("/keys"), keys);
  for (const action of ["auth:key_rotated", "operator:rotate_token", "operator:drop_timers"]) {
    const { entries } = JSON.parse(await read(`/audit?action=${action}`));
    assert.deepEqual(entries, [], action);
  }
});
