// The documents, as the host serves them beside this page.

import type { Feature, Handoff, Listing, Meta, Settings, Targets } from "./records.ts";
import { readRecords } from "./stream.ts";

/** There are no feeds here yet, as opposed to a host that cannot be reached. */
export class FeedsAbsent extends Error {}

/** The organisations. The page's head names this document too, so that it is asked for at once. */
export async function loadTargets(): Promise<Targets> {
  const features: Feature[] = [];
  const take = (feature: unknown) => void features.push(feature as Feature);
  const { _meta } = await readRecords(await ask("data/sf-live-targets.json"), "features", take);
  return { _meta: _meta as Meta, features };
}

export async function loadHandoffs(): Promise<Handoff[]> {
  const body = new Response(await ask("data/hi-handoff-manifest.json"));
  return ((await body.json()) as Listing<Handoff>).items;
}

export async function loadSettings(): Promise<Settings> {
  return (await new Response(await ask("settings.json")).json()) as Settings;
}

async function ask(path: string): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const response = await fetch(path);
  if (response.status === 503 || response.status === 404) throw new FeedsAbsent(path);
  if (!response.ok || !response.body) throw new Error(`${path}: ${response.status}`);
  return response.body;
}
