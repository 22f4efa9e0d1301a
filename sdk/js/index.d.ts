/**
 * Write a capability for a Portolan host.
 *
 * The entry file's default export is `capability({ … })`. These types are written by hand from `wit/`.
 */

// Schemas

declare const TYPE: unique symbol;

/** A JSON Schema of values of type `T`. */
export interface Schema<T = unknown> {
  readonly [TYPE]: T;
}

/** The type of a schema's values. */
export type Infer<S> = S extends Schema<infer T> ? T : unknown;

type Fields = { readonly [name: string]: Schema<any> };
type OptionalKeys<F> = { [K in keyof F]: undefined extends Infer<F[K]> ? K : never }[keyof F];
type Flat<T> = { [K in keyof T]: T[K] };

/** The type of the objects with these fields. */
export type Shape<F> = Flat<
  { [K in Exclude<keyof F, OptionalKeys<F>>]: Infer<F[K]> } & { [K in OptionalKeys<F>]?: Exclude<Infer<F[K]>, undefined> }
>;

/** The type of an action's input or output: that of a schema of an object, or of its fields. */
export type Given<S> = S extends Schema<infer T> ? T : S extends Fields ? Shape<S> : {};

/** Options, or the description and more options. */
type Described<O> = [options?: O] | [description: string, options?: Omit<O, "description">];

interface Options<T> {
  description?: string;
  /** A field with a default may be left out; the SDK fills it in before `run`. */
  default?: T;
  /** Examples of fields make the example of their action. */
  example?: T;
}
interface Numeric extends Options<number> {
  min?: number;
  max?: number;
  /** The value is greater than this. */
  above?: number;
  /** The value is less than this. */
  below?: number;
}

export function string(...options: Described<Options<string> & { min?: number; max?: number; pattern?: string; format?: string }>): Schema<string>;
export function integer(...options: Described<Numeric>): Schema<number>;
export function number(...options: Described<Numeric>): Schema<number>;
export function boolean(...options: Described<Options<boolean>>): Schema<boolean>;
/** A time as RFC 3339 text, as `new Date().toISOString()` writes it. */
export function time(...options: Described<Options<string>>): Schema<string>;
/** A text of 1 to 64 characters, or with `prefix` an id as `call.newId(prefix)` makes it. */
export function id(...options: Described<Options<string> & { prefix?: string }>): Schema<string>;
/** One of some texts. */
export function choice<const V extends readonly string[]>(values: V, ...options: Described<Options<V[number]>>): Schema<V[number]>;
export function array<S extends Schema<any>>(
  items: S,
  ...options: Described<Options<Infer<S>[]> & { min?: number; max?: number; unique?: boolean }>
): Schema<Infer<S>[]>;
/** An object of exactly these fields. All are required but those of `optional` and those with a default. */
export function object<const F extends Fields>(fields: F, ...options: Described<Options<Shape<F>>>): Schema<Shape<F>>;
/** An object whose keys are data. */
export function map<S extends Schema<any>>(values: S, ...options: Described<Options<Record<string, Infer<S>>>>): Schema<Record<string, Infer<S>>>;
/** A field that may be left out. */
export function optional<S extends Schema<any>>(schema: S): Schema<Infer<S> | undefined>;
/** A value that may be null. */
export function nullable<S extends Schema<any>>(schema: S): Schema<Infer<S> | null>;
/** Any other JSON Schema, for values of type `T`. */
export function schema<T = any>(json: object): Schema<T>;
/** Any JSON value. */
export function anything(...options: Described<Options<unknown>>): Schema<any>;

// Refusals

export type ErrorKind =
  | "invalid" | "unprocessable" | "payment_required" | "forbidden" | "not_found" | "conflict" | "gone" | "too_many"
  | "upstream" | "unavailable";

/** The host's common codes, which need no declaration. */
export type CommonCode =
  | "phone_binding_required" | "approval_required" | "approval_denied" | "approval_expired" | "validation_failed"
  | "cursor_invalid" | "not_found" | "resource_gone" | "not_permitted" | "not_owner" | "not_participant"
  | "confirm_required" | "version_conflict" | "invalid_transition" | "rate_limited" | "quota_exceeded"
  | "insufficient_credits" | "account_frozen" | "internal_error" | "dependency_unavailable" | "maintenance";

/** A call that the caller can make next. */
export interface Next {
  capability: string;
  /** The body of the call, with `action`. */
  input: { [field: string]: unknown };
  /** Fields of the input that the caller must find out first. */
  missing?: string[];
  /** The question for the person. */
  ask_user?: string;
  /** After this step, the refused call succeeds. */
  then?: "retry_original";
  /** The number of seconds to wait before the step. */
  after_s?: number;
}

/** Returns the next step of calling an action of this capability: `step("get", { id }, { after_s: 60 })`. */
export function step(action: string, input?: object, details?: Omit<Next, "capability" | "input">): Next;

export interface RefusalDetails {
  /** One sentence by the author, never other people's text. */
  message?: string;
  /** The cause for programs. */
  conflict?: { kind: string; [field: string]: unknown };
  next?: Next;
  /** Commits the writes of the refused call. */
  keepWrites?: boolean;
}

/** A refusal on its way to the caller; also what a nested call throws if it is refused. */
export class Refusal extends Error {
  readonly code: string;
  readonly conflict: { [field: string]: unknown } | null;
  readonly next: Next | null;
  readonly keepWrites: boolean;
}

/** The class of an error code. */
export interface RefusalClass {
  new (details?: RefusalDetails): Refusal;
  readonly declaration: { code: string; kind: string; retryable: boolean; description: string };
}

/** Declares an error code as a class. An action lists it in `errors` and throws `new BookTaken({ next })`. */
export function refusal(
  code: string,
  kind: ErrorKind,
  message: string,
  /** `retryable`: the same call can succeed later. `description`: for the catalog, otherwise the message. */
  declared?: Omit<RefusalDetails, "message"> & { retryable?: boolean; description?: string },
): RefusalClass;

/** Returns a refusal with a common code: `throw refuse("not_permitted", "Only members may see this.")`. */
export function refuse(code: CommonCode, message: string, details?: Omit<RefusalDetails, "message">): Refusal;

/** Refuses a field for a rule that a schema cannot express. `pointer` is a JSON Pointer into the call's body. */
export function validation(pointer: string, rule: string, expected: unknown): Refusal;

/**
 * Why the host refused a request. Uncaught, it becomes the refusal `version_conflict`, `cursor_invalid`,
 * `quota_exceeded` or `dependency_unavailable`; `invalid` and `duplicate` become `internal_error` and are logged.
 */
export class HostError extends Error {
  readonly kind: "invalid" | "conflict" | "duplicate" | "bad-cursor" | "limit" | "unavailable";
  /** The host's text, or with `duplicate` the id of the document that has the unique value. */
  readonly detail: string | null;
}

// Capabilities and actions

export type Access = "read" | "write" | "events" | "open" | "internal";

export interface Agent {
  agentId: string;
  /** The person behind the agent; null until one has claimed it. */
  ownerId: string | null;
  /** Untrusted text. */
  agentName: string | null;
  scopes: string[];
  /** The ids of the calling capabilities, the outermost first. */
  via: string[];
  testMode: boolean;
}

/** The running call. */
export interface Call {
  /** The calling agent, or null if the host itself calls: a timer, an event, a look-up. */
  readonly agent: Agent | null;
  /** The person behind the agent; never null in an action of access `write`. */
  readonly ownerId: string | null;
  /** Returns the id of the person behind the agent; refuses the call if there is none. */
  requireOwner(): string;
  /** The OAuth client of the agent's token. */
  readonly clientId: string | null;
  /** Whether the call runs in test mode, whose data is separate from that of live mode. */
  readonly testMode: boolean;
  /** Milliseconds since the Unix epoch, the same for the whole call. `Date` shows it too. */
  readonly now: number;
  /** Returns unpredictable bytes. `Math.random` and `crypto` draw from the same source. */
  random(length: number): Uint8Array;
  /** Returns a new sortable identifier: the prefix, an underscore and a ULID. */
  newId(prefix: string): string;
}

/** The call as an action of the access `A` gets it: with access `write`, it always has a person. */
type CallOf<A> = A extends "write" ? Call & { readonly ownerId: string } : Call;

declare class Answer<T> {
  readonly output: T;
}
/** Returns an output with the most likely next call. */
export function answer<T>(output: T, more: { next?: Next }): Answer<T>;

/** Facts for programs by their keys, such as `example.org/review`. */
export type Annotations = { [key: string]: unknown };

export interface Action<I, O, A extends Access> {
  /** Who may call: `read` (scope svc.read), `write` (svc.write, claimed), `events`, `open` (any token), `internal`. */
  access: A;
  /** Says to an agent when and how to call the action. Without `title`, the first paragraph is the title. */
  description: string;
  title?: string;
  /** The refusals that it throws. Common codes need no declaration. */
  errors?: RefusalClass[];
  /** The events that it publishes. */
  emits?: Event<any>[];
  /** Types of events to which an internal action subscribes; its input is the event. */
  on?: string | string[];
  /** Ids of the capabilities that may call an internal action. */
  callers?: string[];
  /** An input that agents can copy. Without it, the examples of the input's fields are taken. */
  example?: unknown;
  examples?: unknown[];
  /** Calling it twice has the effect of calling it once. True for `read` by default. */
  idempotent?: boolean;
  /** Its effect is hard to undo. */
  destructive?: boolean;
  /** For display. */
  costCredits?: number;
  /** Why it is deprecated, and what to use instead. */
  deprecated?: string;
  /** What people say who want it, in other words than the description: for the search of actions. */
  intents?: string[];
  annotations?: Annotations;
  /** The fields of the input, or a schema of an object. */
  input?: I;
  /** The fields of the output, or a schema of an object. */
  output?: O;
  /** Runs it: returns the output, or throws a refusal. Anything else that it throws is a trap. */
  run(call: CallOf<A>, input: Given<I>): Given<O> | Answer<Given<O>> | (unknown extends O ? void : never);
}

/** Types an action: `run` then gets the type of `input` and returns that of `output`. In JavaScript it can be left out. */
export function action<I, O, const A extends Access>(definition: Action<I, O, A>): Action<I, O, A>;

export interface StateMachine {
  name: string;
  states: string[];
  transitions: { action: string; from: string[]; to: string[]; role?: string }[];
}

export interface Prompt {
  name: string;
  title: string;
  description: string;
  arguments?: { name: string; description: string; required: boolean }[];
  /** CommonMark, in which `{name}` stands for an argument. */
  text: string;
  requires?: string[];
}

/** A tool of MCP: some actions, of which all have the access `read` or none has. */
export interface Tool {
  /** The name after the capability's id. */
  name: string;
  title: string;
  /** What it does in one line, and in a sentence with "Use" when to use it. */
  description: string;
  actions: string[];
  /** Whether it is among the few tools that a host lists by default. */
  default?: boolean;
}

export interface Definition {
  /** Lower-case names of letters, digits, `_` and `-`, joined by dots. */
  id: string;
  /** Three numbers, such as `1.0.0`. */
  version: string;
  /** A few words. */
  title: string;
  /** One sentence; the first paragraph of the description by default. */
  summary?: string;
  /** CommonMark, for agents that choose a capability. */
  description: string;
  tags?: string[];
  status?: "beta" | "stable" | "deprecated";
  sunsetAt?: Date | number;
  successor?: string;
  /** The action of a body without `action`. */
  defaultAction?: string;
  actions: { [name: string]: Action<any, any, any> };
  collections?: Collection<any>[];
  /** The nested calls that it makes. */
  invokes?: Invocation<any, any>[];
  stateMachines?: StateMachine[];
  /** What the host may use it for. */
  roles?: string[];
  prompts?: Prompt[];
  /** Tools by task; other actions are in tools by what they change. */
  tools?: Tool[];
  annotations?: Annotations;
}

/** Defines a capability. A mistake fails the build with a sentence that names the field and the fix. */
export function capability(definition: Definition): object;

// Documents

/** A stored document. */
export interface Stored<T> {
  id: string;
  /** Counts up from 1 with every write. */
  revision: number;
  value: T;
  /** Milliseconds since the Unix epoch. */
  createdAt: number;
  updatedAt: number;
}
export interface Hit<T> extends Stored<T> {
  /** How well the document fits `text`: higher is better. Null if the query has no `text`. */
  relevance: number | null;
  /** Metres from the centre of `near`. Null if the query has no `near`. */
  distanceM: number | null;
}
export interface Page<T> {
  documents: Hit<T>[];
  /** Where the next page starts; null on the last one. */
  next: string | null;
}

/**
 * Returns the fields of an input that read a list page by page: `limit`, 20 by default and at most 50, and
 * `cursor`.
 */
export function paging(options?: { limit?: number; max?: number }): { limit: Schema<number>; cursor: Schema<string | undefined> };
/** Returns the schema of the output of such a list: `items` and `next_cursor`. */
export function pageOf<S extends Schema<any>>(item: S, description?: string): Schema<{ items: Infer<S>[]; next_cursor: string | null }>;
/** Returns a page of documents as `pageOf` declares it. */
export function toItems<T, I>(page: Page<T>, show: (document: Hit<T>, at: number) => I): { items: I[]; next_cursor: string | null };

type Value = string | number | boolean | null;
type Comparison = { eq: Value } | { in: Value[] } | { lt: Value } | { lte: Value } | { gt: Value } | { gte: Value } | { exists: boolean };
/** A condition on indexed paths: `{ price: { lt: 10 } }`, `{ and: [… ] }`, `{ or: […] }`, `{ not: … }`. */
export type Filter = { and: Filter[] } | { or: Filter[] } | { not: Filter } | { [path: string]: Comparison };

export interface Query {
  filter?: Filter | null;
  /** Words that the text paths must contain. */
  text?: string | null;
  near?: { latitude: number; longitude: number; radiusM: number } | null;
  within?: { south: number; west: number; north: number; east: number } | null;
  /** At most four indexed paths, `relevance` or `distance`; one that begins with `-` sorts descending. */
  order?: string | string[];
  /** 1 to 1000; 100 by default. */
  limit?: number;
  /** The `next` of the page before. */
  cursor?: string | null;
  /** Leaves the found documents out of the commit's check. */
  unchecked?: boolean;
}

/** "any", "absent", or the revision that the document must have. */
export type Expect = "any" | "absent" | number;

export interface PutOptions {
  expect?: Expect;
  /** Returns the error to throw if a unique value is taken; `id` is that of the document that has it. */
  onDuplicate?(id: string): Error;
  /** Returns the error to throw if the document is not as `expect` says. */
  onConflict?(): Error;
}

export interface Person {
  /** A path to an owner's or an agent's id: `owner_id`, `members[].owner_id`, `votes{}`, `$id`. */
  path: string;
  /** What the person's erasure does: deletes the document, removes the element, or replaces the id and empties the fields. */
  erasure: "delete" | "remove" | "redact";
  /** The paths of fields about the person, by who may know them. */
  personal?: string[];
  shared?: string[];
  public?: string[];
}

/** Indexes by name, with one path or several, or a list of paths with one index each. */
type Indexes = string[] | { [name: string]: string | string[] };

export interface CollectionDeclaration {
  indexes?: Indexes;
  /** Indexes with at most one document per value. */
  unique?: Indexes;
  /** The paths of the texts for full-text search, in order of weight. */
  text?: string[];
  geo?: { latitude: string; longitude: string };
  /** The version of the documents' form, 1 by default. */
  version?: number;
  /** The people whom documents name; an empty list if they name nobody. */
  people: Person[];
  annotations?: Annotations;
}

export interface Collection<T> {
  readonly name: string;
  /** Returns a document, or null. */
  get(id: string): Stored<T> | null;
  /** Returns a document, or throws `new Missing()`. */
  require(id: string, Missing: new () => Error): Stored<T>;
  getMany(ids: string[]): (Stored<T> | null)[];
  find(query?: Query): Page<T>;
  /** Yields every document that a query finds, page by page. */
  all(query?: Query): Generator<Hit<T>>;
  count(filter?: Filter | null): number;
  /** Counts the found documents by the values of up to four indexed paths. */
  countBy(paths: string[], query?: Query): { value: Value; count: number }[][];
  /** Writes the whole document and returns its revision. */
  put(id: string, value: T, options?: PutOptions): number;
  /** Writes a document that was read and changed, if its revision is still the one read. */
  save<D extends Stored<T>>(document: D): D;
  delete(id: string, options?: { expect?: Expect }): void;
  /** Reports a document whose form cannot be read to the operator. */
  reportUnreadable(document: { id: string; revision: number }, reason: string): void;
}

/** Declares a collection of documents of type `T`. */
export function collection<T = any>(name: string, declaration: CollectionDeclaration): Collection<T>;

export interface Feed<T> {
  get(id: string): Stored<T> | null;
  getMany(ids: string[]): (Stored<T> | null)[];
  find(query?: Query): Page<T>;
  countBy(paths: string[], query?: Query): { value: Value; count: number }[][];
}

/** Returns a public feed, such as `roles`. */
export function feed<T = any>(name: string): Feed<T>;
/** Returns an identifier of the current publication of the feeds. */
export function publication(): string;

/** The changes of the feeds after a cursor, and the cursor after them. */
export interface ChangePage {
  changes: { feed: string; id: string; operation: "added" | "changed" | "removed" }[];
  next: string;
  hasMore: boolean;
}
/**
 * Returns the changes of the feeds after a cursor, at most 1000; without one, none, and the cursor of the current
 * publication.
 */
export function changes(since?: string | null, limit?: number): ChangePage;

// Effects

export type Audience = { owner: string } | { agent: string } | "capabilities";

export interface Event<T> {
  /** Publishes with the commit. Events of one subject, such as `books/7`, are ordered. */
  publish(to: Audience, subject: string, data: T): void;
}
/** Declares a type of event. Without `public`, capabilities of other publishers need the operator's permission. */
export function event<T = object>(type: string, declaration?: { public?: boolean }): Event<T>;

/** The input of an action with `on`. An event may be delivered twice. */
export interface Happened<T> {
  id: string | null;
  event_type: string;
  subject: string;
  data: T;
}

export interface Invocation<I, O> {
  /** Runs the action as the same caller in this call's transaction. Its refusal is thrown. */
  call(input?: I): O;
}
/** Declares an action of another capability. */
export function invocation<I = object, O = any>(capability: string, action: string): Invocation<I, O>;

export namespace timers {
  /** Sets a timer, or replaces the one of this name. `at` is a Date, RFC 3339 text, or milliseconds since the Unix epoch. */
  function set(name: string, at: Date | string | number, action: string, input?: object): void;
  /** Cancels a timer and returns whether it existed. */
  function cancel(name: string): boolean;
}

/** Cryptography with this capability's keys. Texts are taken as UTF-8. */
export namespace secrets {
  function mac(data: string | Uint8Array): Uint8Array;
  function macs(data: string | Uint8Array): Uint8Array[];
  function isMac(data: string | Uint8Array, claimed: Uint8Array): boolean;
  function seal(data: string | Uint8Array): Uint8Array;
  /** Decrypts what `seal` returned. Returns null if it was changed, or if none of this capability's keys sealed it. */
  function open(sealed: Uint8Array): Uint8Array | null;
}

/** Public information about the host. */
export namespace platform {
  function about(): { version: string; startedAt: number; publicUrl: string; contract: string; catalogVersion: number };
  function limits(): { name: string; value: number; unit: string; description: string }[];
  function components(): {
    id: string; version: string; title: string; status: "beta" | "stable" | "deprecated"; sunsetAt: number | null;
    successor: string | null; digest: string; actions: { name: string; access: Access; emits: string[] }[];
  }[];
}

// Sensitive interfaces: a component that uses one waits for the operator's permission.

/** Look-ups after the commit. `action` is run with `{ lookup_id, about, found }` or `{ lookup_id, about, error }`. */
export namespace lookups {
  function txt(name: string, action: string, about?: object): string;
  function page(url: string, action: string, about?: object): string;
  /**
   * `action` is run with `{ lookup_id, about }` and `{ text, etag?, last_modified?, moved_to? }`,
   * `{ unchanged: true, etag?, last_modified?, moved_to? }` or `{ error, status?, retry_after_s? }`.
   */
  function file(
    url: string, known: { mediaTypes: string[]; etag?: string; lastModified?: string }, action: string, about?: object,
  ): string;
}

/** The data of the calling person. `action` is run for each part with `{ export_id, about, part, last, items }`. */
export namespace people {
  function requestExport(action: string, about?: object): string;
  function requestErasure(): void;
  /** Erases a person in a call without an agent, such as that of a timer. */
  function requestErasureOf(ownerId: string): void;
}

export namespace sms {
  /** Sends a message after the commit and returns its id. `to` is in E.164. */
  function send(to: string, text: string): string;
}

export namespace identity {
  function claim(personKey: string): { ownerId: string; linkedExisting: boolean };
  function unclaim(): void;
  function rebind(ownerId: string, personKey: string): void;
  function owner(ownerId: string): { createdAt: number; testMode: boolean; agents: number } | null;
  function agents(ownerId: string): { agentId: string; name: string | null; createdAt: number; claimedAt: number | null }[];
  function lastCall(ownerId: string): number | null;
  function rename(agentId: string, name: string): void;
  function revoke(agentId: string): void;
  function signOut(ownerId: string): void;
}

export namespace inbox {
  function pull(options?: { cursor?: string | null; types?: string[]; limit?: number }): { events: any[]; cursor: string; hasMore: boolean };
  function acknowledge(eventIds: string[]): { acknowledged: string[]; unknown: string[] };
  function replay(since: Date | number, types?: string[]): number;
}

export namespace webhooks {
  interface Endpoint {
    id: string; url: string; types: string[]; description: string | null; state: "unverified" | "active" | "paused" | "disabled";
    version: number; createdAt: number; updatedAt: number; previousSecretUntil: number | null; failingSince: number | null;
    lastSuccessAt: number | null; lastError: string | null;
  }
  interface Delivery {
    id: string; endpointId: string; eventId: string; eventType: string; subject: string; outcome: Outcome; attempts: number;
    createdAt: number; lastAttemptAt: number | null; nextAttemptAt: number | null; status: number | null;
    response: string | null; error: string | null; durationMs: number | null;
  }
  type Outcome = "pending" | "delivered" | "dead";
  interface Created { endpoint: Endpoint; secret: string }
  function create(url: string, options?: { types?: string[]; description?: string }): Created;
  function all(): Endpoint[];
  function get(id: string): Endpoint | null;
  function update(id: string, change: { url?: string; types?: string[]; description?: string }, options?: { expect?: number }): Endpoint;
  function pause(id: string): Endpoint;
  function resume(id: string): Endpoint;
  function challenge(id: string): Endpoint;
  function rotateSecret(id: string): Created;
  function test(id: string): string;
  function log(id: string, options?: { outcome?: Outcome; cursor?: string; limit?: number }): { items: Delivery[]; next: string | null };
  function redeliver(deliveryId: string): Delivery | null;
  function remove(id: string): boolean;
}

export const SECOND: number;
export const MINUTE: number;
export const HOUR: number;
export const DAY: number;
