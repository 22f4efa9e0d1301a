// Calls of capabilities with a token.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

export async function call(url, token, capability, body) {
  const response = await fetch(`${url}/v1/capabilities/${capability}/call`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

export async function reads(url, token) {
  const reply = await call(url, token, "faq_search", { action: "search", query: "phone" });
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
}

export async function writes(url, token) {
  const account = randomUUID();
  const reply = await call(url, token, "ledger", { action: "open", account });
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  const balance = await call(url, token, "ledger", { action: "balance", account });
  assert.equal(balance.body.result.balance, 0);
}

/** Asserts that a revoked token is refused within a second, with the challenge of RFC 6750. */
export async function refused(url, token) {
  const ended = Date.now();
  for (;;) {
    const late = Date.now() - ended >= 1000;
    const reply = await call(url, token, "faq_search", { action: "search", query: "phone" });
    if (late || reply.status !== 200) {
      assert.equal(reply.status, 401, JSON.stringify(reply.body));
      assert.match(reply.headers.get("www-authenticate"), /^Bearer .*error="invalid_token"/);
      return;
    }
    await sleep(50);
  }
}
