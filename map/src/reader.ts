// A worker that reads the large documents, so that the page stays usable meanwhile. It keeps what
// cards show of them, and answers for one organisation at a time.

import { fold } from "./fold.ts";
import type { Answer, Details, Question } from "./archive.ts";
import type { Person, Role, Signal } from "./records.ts";
import { readRecords } from "./stream.ts";

const FIELDS = [
  "id", "target_id", "title", "department", "employment_type", "workplace_type", "locations",
  "base_salary", "date_posted", "apply_url", "source_url", "maturity", "summary", "description_url",
] as const; // prettier-ignore
/** As many characters are shown of a description that the roles carry themselves. */
const SUMMARY = 300;
/** A part of the roles' descriptions, by its file name alone; the role's id follows. */
const PART = /\/parts\/([a-z0-9-]{1,80}\.json)(?:#|$)/;

type Documents = { [Name in keyof Details]-?: Map<string, NonNullable<Details[Name]>> };

const documents: Partial<Documents> = {};
/** Descriptions that came with the roles, and where the others are. */
const descriptions = new Map<string, string>();
const parts = new Map<string, string>();
let base = "";
let watched: string | undefined;

addEventListener("message", ({ data }: MessageEvent<Question>) => {
  if (data.type === "load") void load(data.base);
  else if (data.type === "watch") watch(data.target);
  else void describe(data.role, data.number);
});

function answer(message: Answer): void {
  postMessage(message);
}

async function load(address: string): Promise<void> {
  base = address;
  await Promise.all([
    read<Signal>("signals", "live-signal-feed.json", (signal) => [signal.target_id]),
    read<Person>("people", "sf-people.json", (person) => {
      for (const { target_id } of person.affiliations) tell(target_id, person.full_name);
      return [person.target_id];
    }),
  ]);
  await read<Role>("roles", "sf-job-roles.json", (role) => {
    tell(role.target_id, role.title, role.department);
    return [role.target_id];
  });
  answer({ type: "complete" });
}

async function read<T>(
  name: keyof Details,
  file: string,
  owners: (record: T) => string[],
): Promise<void> {
  const found = new Map<string, T[]>();
  try {
    await readRecords(await ask(file), "items", (item) => {
      const record = (name === "roles" ? withoutDescription(item as Role) : item) as T;
      for (const owner of owners(record)) {
        const others = found.get(owner);
        if (others) others.push(record);
        else found.set(owner, [record]);
      }
    });
  } catch {
    answer({ type: "failed" });
  }
  (documents as Record<string, unknown>)[name] = found;
  sendTexts();
  watch(watched);
}

async function ask(file: string): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const response = await fetch(new URL(file, base), { credentials: "omit" });
  if (!response.ok || !response.body) throw new Error(`${file}: ${response.status}`);
  return response.body;
}

/** Earlier publications have the whole text in each role, later ones in parts. */
function withoutDescription(role: Role & { description_text?: string }): Role {
  const kept = Object.fromEntries(FIELDS.map((name) => [name, role[name]])) as unknown as Role;
  const part = PART.exec(role.description_url ?? "")?.[1];
  if (part !== undefined) parts.set(role.id, part);
  const text = role.description_text;
  if (text !== undefined && text !== "") descriptions.set(role.id, text);
  kept.summary = role.summary ?? text?.slice(0, SUMMARY) ?? "";
  return kept;
}

const texts = new Map<string, string[]>();

/** Adds to what a search looks through. */
function tell(target: string, ...words: (string | undefined)[]): void {
  const known = words.filter((word) => word !== undefined);
  const all = texts.get(target);
  if (all) all.push(...known);
  else texts.set(target, known);
}

function sendTexts(): void {
  const folded = [...texts].map(([id, words]): [string, string] => [id, fold(words.join("\n"))]);
  texts.clear();
  answer({ type: "texts", texts: folded });
}

/** Answers with what is known of an organisation, and again when more is. */
function watch(target: string | undefined): void {
  watched = target;
  if (target === undefined) return;
  const { signals, roles, people } = documents;
  const details: Details = {};
  if (signals) details.signals = signals.get(target) ?? [];
  if (roles) details.roles = roles.get(target) ?? [];
  if (people) details.people = people.get(target) ?? [];
  answer({ type: "details", target, details });
}

async function describe(role: string, number: number): Promise<void> {
  let text = descriptions.get(role);
  const part = parts.get(role);
  if (text === undefined && part !== undefined) {
    text = (await inPart(role, part)) ?? (await ofRole(role));
  }
  answer(text === undefined ? { type: "description", number } : { type: "description", number, text });
}

async function inPart(role: string, part: string): Promise<string | undefined> {
  let text: string | undefined;
  try {
    await readRecords(await ask(`parts/${part}`), "items", (item) => {
      const { id, description_text } = item as { id: string; description_text: string };
      if (id === role) text = description_text;
    });
  } catch {
    // The role itself may still have it.
  }
  return text;
}

/** What the role itself says; later publications can have other parts than the one that was read. */
async function ofRole(role: string): Promise<string | undefined> {
  try {
    const address = new URL(`../roles/${encodeURIComponent(role)}.json`, base);
    const response = await fetch(address, { credentials: "omit" });
    const { description_text: text } = (await response.json()) as { description_text?: string };
    return response.ok ? text : undefined;
  } catch {
    // The page says that it could not be loaded.
    return undefined;
  }
}
