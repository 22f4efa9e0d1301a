// A host in memory: what the SDK asks for, with the contract's values.

import { randomBytes } from "node:crypto";

const fail = (tag, val) => {
  throw { tag, val };
};

/** Installs a host and returns what it keeps. `calls` answers nested calls. */
export function installHost({ at = 0, collections = {}, before = {}, calls = [] } = {}) {
  const kept = { documents: new Map(), events: [], timers: new Map(), log: [], lastWords: [] };
  for (const [collection, documents] of Object.entries(before)) {
    for (const { $id, ...body } of documents) store(kept, collection, $id, JSON.stringify(body));
  }
  let ids = 0;
  globalThis.portolanHost = {
    context: {
      now: () => at,
      random: (length) => new Uint8Array(randomBytes(length)),
      newId: (prefix) => `${prefix}_${String((ids += 1)).padStart(26, "0")}`,
      log: (level, message) => kept.log.push([level, message]),
      lastWords: (words) => kept.lastWords.push(words),
      clientId: () => null,
      testMode: () => false,
    },
    documents: documents(kept, collections),
    events: { publish: (to, event) => kept.events.push({ to, ...event }) },
    timers: {
      set: (name, time, action, input) => kept.timers.set(name, { at: time, action, input: JSON.parse(input) }),
      cancel: (name) => kept.timers.delete(name),
    },
    invoke: { call: (capability, action) => invoke(calls, capability, action) },
  };
  return kept;
}

function invoke(calls, capability, action) {
  const stub = calls.find((one) => one.capability === capability && one.action === action);
  if (!stub) throw { code: "not_permitted", message: "There is no stub.", keepWrites: false };
  if (stub.error) throw { message: "A stub refused.", keepWrites: false, ...stub.error };
  return { output: JSON.stringify(stub.output), next: null };
}

const key = (collection, id) => `${collection}/${id}`;

function store(kept, collection, id, body) {
  const revision = (kept.documents.get(key(collection, id))?.revision ?? 0) + 1;
  kept.documents.set(key(collection, id), { id, revision, body, createdAt: 0, updatedAt: 0 });
  return revision;
}

export function documentsOf(kept, collection) {
  const found = [...kept.documents].filter(([name]) => name.startsWith(`${collection}/`)).map(([, document]) => document);
  return found.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
const matches = (filter, body) => Object.entries(JSON.parse(filter ?? "{}")).every(([path, { eq }]) => body[path] === eq);

function documents(kept, collections) {
  const declared = (name) => collections[name] ?? fail("invalid", `there is no collection ${name}`);
  const found = (name, filter) => documentsOf(kept, name).filter(({ body }) => matches(filter, JSON.parse(body)));
  const get = (name, id) => (declared(name), kept.documents.get(key(name, id)) ?? null);
  return {
    get,
    getMany: (name, ids) => ids.map((id) => get(name, id)),
    count: (name, filter) => found(name, filter).length,
    find(name, { filter, text, order, limit, cursor }) {
      if (cursor) fail("bad-cursor");
      const has = (words, body) => words.every((word) => declared(name).text.some((path) => plain(body[path]).split(/\W+/).includes(word)));
      const all = found(name, filter).filter(({ body }) => text === null || has(plain(text).split(/\s+/), JSON.parse(body)));
      const value = ({ body }) => order.map(({ path }) => JSON.parse(body)[path]).join();
      const sorted = all.toSorted((one, other) => (value(one) < value(other) ? -1 : 1));
      const hits = sorted.slice(0, limit).map((document) => ({ document, relevance: null, distanceM: null }));
      return { hits, next: sorted.length > limit ? "more" : null };
    },
    put(name, id, body, expect) {
      const before = get(name, id);
      if (expect.tag === "absent" && before) fail("conflict");
      if (expect.tag === "revision" && before?.revision !== expect.val) fail("conflict");
      for (const { unique, paths } of declared(name).indexes) {
        const same = (one) => one.id !== id && JSON.parse(one.body)[paths[0]] === JSON.parse(body)[paths[0]];
        const other = unique && documentsOf(kept, name).find(same);
        if (other) fail("duplicate", other.id);
      }
      return store(kept, name, id, body);
    },
    delete: (name, id) => void kept.documents.delete(key(name, id)),
  };
}
