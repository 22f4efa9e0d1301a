// Collections of documents.

import * as host from "portolan:capability/documents";
import { HostError, request } from "./host_error.js";
import { text, unknownFields } from "./problems.js";
import { toCounts, toDocument, toFilter, toPage, toQuery } from "./query.js";

const FIELDS = ["indexes", "unique", "text", "geo", "version", "people", "annotations"];
const PERSON = ["path", "erasure", "personal", "shared", "public"];
const ERASURES = { delete: "delete-document", remove: "remove-element", redact: "redact" };

/** Declares a collection. `people` is required: the paths at which documents name people, or an empty list. */
export function collection(name, declared) {
  const problems = checkCollection(name, declared);
  if (problems.length > 0) throw new TypeError(problems.join("\n"));
  return new Collection(name, declared);
}

function checkCollection(name, declared) {
  const at = `collection ${name}`;
  const problems = unknownFields(at, declared, FIELDS);
  if (!/^[a-z][a-z0-9_]*$/.test(name)) problems.push(`${at} is not snake_case: use lower-case letters, digits and _.`);
  if (!Array.isArray(declared.people)) {
    problems.push(`${at}.people is missing: list the paths at which its documents name people, or write [] if they name nobody.`);
  }
  for (const person of [].concat(declared.people ?? [])) {
    problems.push(...unknownFields(`${at}.people`, person, PERSON));
    if (!person.path) problems.push(`${at}.people has a person without path: write the path of the id, such as "owner_id".`);
    if (!(person.erasure in ERASURES)) {
      problems.push(`${at}.people.${person.path}.erasure is not an erasure: use ${Object.keys(ERASURES).join(", ")}.`);
    }
  }
  return problems;
}

/** Converts indexes to the contract's: those by name, or those of a list of paths with one index each. */
function toIndexes(unique, declared = {}) {
  const named = Array.isArray(declared) ? declared.map((path) => [path.replace(/[^A-Za-z0-9_]+/g, "_"), path]) : Object.entries(declared);
  return named.map(([name, paths]) => ({ name, paths: [].concat(paths), unique }));
}

function toPerson(person) {
  const fields = ["personal", "shared", "public"].flatMap((audience) =>
    (person[audience] ?? []).map((path) => ({ path, audience })),
  );
  return { path: person.path, erasure: ERASURES[person.erasure], fields };
}

/** Converts a condition for a write to the contract's form: "any", "absent", or a revision. */
function toExpectation(expect) {
  return typeof expect === "number" ? { tag: "revision", val: expect } : { tag: expect };
}

class Collection {
  constructor(name, declared) {
    this.name = name;
    this.declared = declared;
  }

  /** The descriptor's record. */
  get declaration() {
    const { indexes, unique, text = [], geo = null, version = 1, people, annotations = {} } = this.declared;
    return {
      name: this.name,
      indexes: [...toIndexes(false, indexes), ...toIndexes(true, unique)],
      text,
      geo,
      version,
      people: people.map(toPerson),
      annotations: Object.entries(annotations).map(([key, value]) => ({ key, value: JSON.stringify(value) })),
    };
  }

  #id(id) {
    return text(`an id of ${this.name}`, id);
  }

  get(id) {
    const found = request(() => host.get(this.name, this.#id(id)));
    return found ? toDocument(found) : null;
  }

  /** Returns the document, or throws `new Missing()`. */
  require(id, Missing) {
    const found = this.get(id);
    if (!found) throw new Missing();
    return found;
  }

  getMany(ids) {
    return request(() => host.getMany(this.name, ids.map((id) => this.#id(id)))).map((found) => (found ? toDocument(found) : null));
  }

  find(query) {
    return toPage(request(() => host.find(this.name, toQuery(query))));
  }

  /** Yields every document that a query finds, page by page. */
  *all(query) {
    let page = this.find(query);
    yield* page.documents;
    while (page.next) {
      page = this.find({ ...query, cursor: page.next });
      yield* page.documents;
    }
  }

  count(filter) {
    return request(() => host.count(this.name, toFilter(filter)));
  }

  countBy(paths, query) {
    return toCounts(request(() => host.countBy(this.name, toQuery(query), paths)));
  }

  /**
   * Writes the whole document and returns its revision. `onDuplicate(id)` returns the error to throw if the document
   * `id` already has a unique value, and `onConflict()` the one to throw if the document is not as `expect` says.
   */
  put(id, value, { expect = "any", onDuplicate, onConflict } = {}) {
    try {
      return request(() => host.put(this.name, this.#id(id), text(`the document ${id}`, JSON.stringify(value)), toExpectation(expect)));
    } catch (error) {
      if (error instanceof HostError && error.kind === "duplicate" && onDuplicate) throw onDuplicate(error.detail);
      if (error instanceof HostError && error.kind === "conflict" && onConflict) throw onConflict();
      throw error;
    }
  }

  /** Writes a document that was read and changed, if its revision is still the one read. */
  save(document) {
    document.revision = this.put(document.id, document.value, { expect: document.revision });
    return document;
  }

  delete(id, { expect = "any" } = {}) {
    request(() => host.delete(this.name, this.#id(id), toExpectation(expect)));
  }

  /** Reports a document whose form the capability cannot read; the operator finds it in quarantine. */
  reportUnreadable({ id, revision }, reason) {
    request(() => host.reportUnreadable(this.name, id, revision, reason));
  }
}
