// A receiver of webhooks, which verifies with the library of Standard Webhooks for JavaScript.
//
// node receiver.mjs
//
// Prints `{"listening": PORT}`. Reads lines `{"secret": "whsec_..."}`, each with the secret for all
// later requests. Answers a challenge whether it is verified or not, and other events with 204 or
// 401; then prints a line about the request:
//
// - type, body: of the event; null when it is not JSON
// - id: the header webhook-id
// - verified: null when there is no secret yet
// - refused: why it is not verified
// - tampering_refused: of a verified request, whether the library refuses it with another body, an
//   old timestamp, and another secret, each for the right reason
//
// The program ends when its input ends.

import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { Webhook } from "standardwebhooks";

const OLD_MS = 6 * 60 * 1000;
const MISMATCH = "No matching signature found";
const TOO_OLD = "Message timestamp too old";
let webhook;

const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

function parsed(body) {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

/** Returns why the library does not verify the request; null when it does. */
function refusal(webhook, body, headers) {
  try {
    webhook.verify(body, headers);
    return null;
  } catch (error) {
    return error.message;
  }
}

function tamperingRefused(webhook, body, headers) {
  // The changed body is still valid JSON.
  const changed = Buffer.concat([body, Buffer.from(" ")]);
  const then = new Date(Date.now() - OLD_MS);
  // The old request is signed, so that only its age is wrong.
  const old = {
    ...headers,
    "webhook-timestamp": `${Math.floor(then / 1000)}`,
    "webhook-signature": webhook.sign(headers["webhook-id"], then, body),
  };
  const other = new Webhook(`whsec_${randomBytes(32).toString("base64")}`);
  return {
    body: refusal(webhook, changed, headers) === MISMATCH,
    timestamp: refusal(webhook, body, old) === TOO_OLD,
    secret: refusal(other, body, headers) === MISMATCH,
  };
}

function receive(body, headers, response) {
  const event = parsed(body);
  const type = event?.type ?? null;
  const refused = webhook ? refusal(webhook, body, headers) : null;
  const verified = webhook ? refused === null : null;
  const tampering_refused = verified ? tamperingRefused(webhook, body, headers) : null;
  const id = headers["webhook-id"] ?? null;
  // The line is printed once the answer is sent or the connection is closed.
  response.on("close", () => {
    print({ type, id, verified, refused, body: event, tampering_refused });
  });
  if (type === "webhook.challenge") {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ challenge: event.data?.challenge }));
  } else {
    response.writeHead(verified ? 204 : 401).end();
  }
}

const server = createServer((request, response) => {
  if (request.method !== "POST") {
    response.writeHead(405, { allow: "POST" }).end();
    return;
  }
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    // A secret that was sent before the request may be read after it, but in the same
    // turn of the event loop.
    setImmediate(() => receive(Buffer.concat(chunks), request.headers, response));
  });
});

createInterface({ input: process.stdin })
  .on("line", (line) => (webhook = new Webhook(JSON.parse(line).secret)))
  .on("close", () => process.exit());
server.listen(0, "127.0.0.1", () => print({ listening: server.address().port }));
