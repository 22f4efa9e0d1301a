// The documents, as the host serves them beside this page.

import type { Handoff, Listing, Person, Role, Signal, Targets } from "./records.ts";

interface Documents {
  "sf-live-targets.json": Targets;
  "live-signal-feed.json": Listing<Signal>;
  "sf-job-roles.json": Listing<Role>;
  "sf-people.json": Listing<Person>;
  "hi-handoff-manifest.json": Listing<Handoff>;
}

/** There are no feeds here yet, as opposed to a host that cannot be reached. */
export class FeedsAbsent extends Error {}

export async function load<Name extends keyof Documents>(name: Name): Promise<Documents[Name]> {
  const response = await fetch(`data/${name}`, { credentials: "omit" });
  if (response.status === 503 || response.status === 404) throw new FeedsAbsent(name);
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  return (await response.json()) as Documents[Name];
}

/** Records by the organisation they belong to. */
export function byTarget<T extends { target_id: string }>(records: T[]): Map<string, T[]> {
  const all = new Map<string, T[]>();
  for (const record of records) {
    const others = all.get(record.target_id);
    if (others) others.push(record);
    else all.set(record.target_id, [record]);
  }
  return all;
}
