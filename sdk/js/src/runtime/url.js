// `URL` and `URLSearchParams` for addresses with a host, such as https ones, and for opaque ones, such as mailto.
// Host names are ASCII: others are refused and not converted.

const PORTS = { "http:": "80", "https:": "443", "ws:": "80", "wss:": "443", "ftp:": "21" };
const isSpecial = (protocol) => protocol in PORTS;

// `encodeURIComponent` leaves the apostrophe as it is.
const escape = (text, unsafe) =>
  text.replace(unsafe, (character) => (character === "'" ? "%27" : encodeURIComponent(character.toWellFormed())));
const IN_PATH = /[\x00-\x20"#<>?`{}^\x7f-\u{10ffff}]/gu;
const IN_QUERY = /[\x00-\x20"#<>'\x7f-\u{10ffff}]/gu;
const IN_HASH = /[\x00-\x20"<>`\x7f-\u{10ffff}]/gu;
const IN_USER = /[\x00-\x20"#<>?`{}/:;=@[\\\]^|\x7f-\u{10ffff}]/gu;

const encodeForm = (text) =>
  encodeURIComponent(text.toWellFormed())
    .replace(/%20/g, "+")
    .replace(/[!'()~]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

function decodeForm(text) {
  const spaced = text.replaceAll("+", " ");
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

globalThis.URLSearchParams = class URLSearchParams {
  #pairs;
  #changed;

  constructor(init = "", changed = () => {}) {
    this.#changed = changed;
    if (typeof init === "string") this.#pairs = parsePairs(init.replace(/^\?/, ""));
    else this.#pairs = (init[Symbol.iterator] ? [...init] : Object.entries(init)).map(([name, value]) => [String(name), String(value)]);
  }

  #set(pairs) {
    this.#pairs = pairs;
    this.#changed(this.toString());
  }

  get size() {
    return this.#pairs.length;
  }

  get(name) {
    return this.#pairs.find(([own]) => own === name)?.[1] ?? null;
  }

  getAll(name) {
    return this.#pairs.filter(([own]) => own === name).map(([, value]) => value);
  }

  has(name) {
    return this.#pairs.some(([own]) => own === name);
  }

  append(name, value) {
    this.#set([...this.#pairs, [String(name), String(value)]]);
  }

  delete(name) {
    this.#set(this.#pairs.filter(([own]) => own !== name));
  }

  set(name, value) {
    const first = this.#pairs.findIndex(([own]) => own === name);
    if (first < 0) return this.append(name, value);
    return this.#set(this.#pairs.flatMap((pair, at) => (at === first ? [[name, String(value)]] : pair[0] === name ? [] : [pair])));
  }

  sort() {
    this.#set(this.#pairs.toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0)));
  }

  forEach(visit) {
    for (const [name, value] of this) visit(value, name, this);
  }

  *keys() {
    for (const [name] of this) yield name;
  }

  *values() {
    for (const [, value] of this) yield value;
  }

  *entries() {
    yield* this.#pairs.map((pair) => [...pair]);
  }

  [Symbol.iterator]() {
    return this.entries();
  }

  toString() {
    return this.#pairs.map((pair) => pair.map(encodeForm).join("=")).join("&");
  }
};

function parsePairs(text) {
  const parts = text.split("&").filter((part) => part !== "");
  return parts.map((part) => {
    const [, name, value = ""] = /^([^=]*)(?:=(.*))?$/s.exec(part);
    return [decodeForm(name), decodeForm(value)];
  });
}

// Scheme, authority, path, query and fragment, as in appendix B of RFC 3986.
const PARTS = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s;

function split(given) {
  const trimmed = given.replace(/^[\x00-\x20]+|[\x00-\x20]+$/g, "").replace(/[\t\n\r]/g, "");
  const protocol = `${/^[A-Za-z][A-Za-z0-9+.-]*(?=:)/.exec(trimmed)?.[0].toLowerCase()}:`;
  const [before, after] = /^([^?#]*)(.*)$/s.exec(trimmed).slice(1);
  const text = isSpecial(protocol) || protocol === "undefined:" ? before.replaceAll("\\", "/") + after : trimmed;
  const [, scheme, authority, path, query, hash] = PARTS.exec(text);
  return { protocol: scheme && `${scheme.toLowerCase()}:`, authority, path, query, hash };
}

/** Removes the segments `.` and `..` (section 5.2.4 of RFC 3986). */
function normalize(path) {
  const kept = [];
  const segments = path.split("/").slice(1);
  segments.forEach((segment, at) => {
    const name = segment.replace(/%2e/gi, ".");
    const last = at === segments.length - 1;
    if (name === "..") kept.pop();
    else if (name !== ".") kept.push(segment);
    if (last && (name === ".." || name === ".")) kept.push("");
  });
  return `/${kept.join("/")}`;
}

function parseAuthority(protocol, authority, fail) {
  const [, user, username = "", password = "", host] = /^(([^:]*)(?::(.*))?@)?([^@]*)$/s.exec(authority.replace(/@(?=.*@)/g, "%40")) ?? fail();
  const [, name, port = ""] = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]*)(?::([0-9]*))?$/.exec(host) ?? fail();
  const hostname = isSpecial(protocol) ? decodeURIComponent(name).toLowerCase() : name;
  const bad = isSpecial(protocol) ? /[^!$&-;=A-_a-z~[\]]|[/\\?@]/ : /[\x00-\x20#<>?@\\^|]/;
  if (bad.test(hostname) || (isSpecial(protocol) && hostname === "") || Number(port) > 65535) fail();
  const shown = port === "" ? "" : String(Number(port));
  return {
    username: user ? escape(username, IN_USER) : "",
    password: user ? escape(password, IN_USER) : "",
    hostname,
    port: shown === PORTS[protocol] ? "" : shown,
  };
}

globalThis.URL = class URL {
  #parts;
  #params;

  constructor(given, base) {
    this.#parts = resolve(String(given), base === undefined ? null : new URL(base));
    this.#params = new URLSearchParams(this.search, (query) => (this.#parts.query = query === "" ? undefined : query));
  }

  static canParse(given, base) {
    try {
      return Boolean(new URL(given, base));
    } catch {
      return false;
    }
  }

  get protocol() {
    return this.#parts.protocol;
  }

  get username() {
    return this.#parts.username ?? "";
  }

  get password() {
    return this.#parts.password ?? "";
  }

  get hostname() {
    return this.#parts.hostname ?? "";
  }

  get port() {
    return this.#parts.port ?? "";
  }

  get host() {
    return this.port === "" ? this.hostname : `${this.hostname}:${this.port}`;
  }

  get origin() {
    return isSpecial(this.protocol) ? `${this.protocol}//${this.host}` : "null";
  }

  get pathname() {
    return this.#parts.path;
  }

  set pathname(path) {
    this.#parts.path = normalize(escape(path.startsWith("/") ? path : `/${path}`, IN_PATH));
  }

  get search() {
    return this.#parts.query ? `?${this.#parts.query}` : "";
  }

  set search(query) {
    this.#parts.query = escape(query.replace(/^\?/, ""), IN_QUERY) || undefined;
    this.#params = new URLSearchParams(this.search, (changed) => (this.#parts.query = changed === "" ? undefined : changed));
  }

  get searchParams() {
    return this.#params;
  }

  get hash() {
    return this.#parts.hash ? `#${this.#parts.hash}` : "";
  }

  set hash(hash) {
    this.#parts.hash = escape(hash.replace(/^#/, ""), IN_HASH) || undefined;
  }

  get href() {
    const { hostname, query, hash } = this.#parts;
    const secret = this.password === "" ? "" : `:${this.password}`;
    const user = this.username === "" && secret === "" ? "" : `${this.username}${secret}@`;
    const authority = hostname === undefined ? "" : `//${user}${this.host}`;
    const rest = [query === undefined ? "" : `?${query}`, hash === undefined ? "" : `#${hash}`];
    return `${this.protocol}${authority}${this.pathname}${rest.join("")}`;
  }

  toString() {
    return this.href;
  }

  toJSON() {
    return this.href;
  }

  /** The parts that an address relative to this one takes over. */
  static partsOf(url) {
    return { ...url.#parts };
  }
};

const { partsOf } = URL;
delete URL.partsOf;

function resolve(given, base) {
  const fail = () => {
    throw new TypeError(`${given} is not an address.`);
  };
  const found = split(given);
  const query = found.query === undefined ? undefined : escape(found.query, IN_QUERY);
  const hash = found.hash === undefined ? undefined : escape(found.hash, IN_HASH);
  const protocol = found.protocol ?? base?.protocol ?? fail();
  const path = escape(found.path, IN_PATH);
  if (found.authority !== undefined || (found.protocol && isSpecial(protocol))) {
    const [authority, rest] = found.authority ? [found.authority, path] : takeAuthority(path);
    const host = parseAuthority(protocol, authority, fail);
    return { protocol, ...host, path: rest === "" && !isSpecial(protocol) ? "" : normalize(rest || "/"), query, hash };
  }
  if (found.protocol) return { protocol, path: path.startsWith("/") ? normalize(path) : path, query, hash };
  const own = partsOf(base);
  if (own.hostname === undefined && !own.path.startsWith("/")) fail();
  if (path === "") return { ...own, query: found.query === undefined ? own.query : query, hash };
  const full = path.startsWith("/") ? path : own.path.replace(/[^/]*$/, "") + path;
  return { ...own, path: normalize(full.startsWith("/") ? full : `/${full}`), query, hash };
}

/** `https:example.org/a` and `https:///example.org/a` name their host too. */
function takeAuthority(path) {
  const [, authority, rest] = /^\/*([^/]*)(.*)$/s.exec(path);
  return [authority, rest];
}
