//! The parts of a node that can be wrong.

/// A part of a node.
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    pub name: &'static str,
    /// When a node with this part is not ready; empty if it always stays ready.
    pub unready: &'static str,
    /// The effect of the fault.
    pub why: &'static str,
}

const fn part(name: &'static str, unready: &'static str, why: &'static str) -> Part {
    Part { name, unready, why }
}

pub const CONFIGURATION: Part = part("configuration", "", "the host does not start with it");
pub const HOST: Part = part("host", "", "nobody is served");
pub const PORTS: Part = part("ports", "", "the host does not start without its addresses");
pub const DATABASE: Part = part(
    "database",
    "it takes no writes, or its file was deleted or replaced",
    "calls that need it are refused with 503",
);
pub const DATA_FOLDER: Part = part(
    "data_folder",
    "it was deleted or replaced, or takes no files",
    "compiled components, keys and erasures cannot be kept, and a second host could start on what replaces it",
);
pub const DISK: Part = part(
    "disk",
    "less than 16 MiB are free, or it does not answer",
    "without space, writes are refused and components are not compiled",
);
pub const KEYS: Part = part(
    "keys",
    "a signing key is sealed by a secret key that this node does not have",
    "tokens cannot be signed, and what other keys have sealed cannot be opened: secrets, webhooks, the phones of people",
);
pub const CATALOG: Part = part(
    "catalog",
    "its folder cannot be read",
    "new versions do not arrive, and other nodes may serve other ones",
);
pub const CLOCK: Part = part(
    "clock",
    "it differs from the database's clock by more than 10 seconds, or on SQLite is more than a minute behind the newest record",
    "codes, tokens and leases expire too early or too late; on PostgreSQL, the node works by the clock of the database until its own is right",
);
pub const CHECKS: Part = part(
    "checks",
    "no check has ended for 30 seconds",
    "the process hangs, and its state is unknown",
);
pub const LIMITS: Part = part("limits", "", "connections beyond the limit are closed");
pub const DOCUMENTS: Part =
    part("documents", "", "capabilities run without the documents in quarantine");
pub const EVENTS: Part = part("events", "", "capabilities have not received events");
pub const WEBHOOKS: Part = part("webhooks", "", "agents do not hear of their events");
pub const MESSAGES: Part = part("messages", "", "nobody can sign in with a code");
pub const EMAILS: Part = part("emails", "", "people without an agent do not hear of what happens");
pub const FEEDS: Part = part("feeds", "", "readers get old or incomplete data");
pub const FILES: Part = part(
    "files",
    "",
    "files that no longer belong to a person are not deleted, or files cannot be stored or read",
);
pub const QUOTAS: Part = part("quotas", "", "writes beyond a quota are refused");
pub const OPERATORS: Part = part("operators", "", "the operator will be locked out");

/// Every part, in the order of the documentation.
pub const PARTS: [&Part; 20] = [
    &CONFIGURATION,
    &HOST,
    &PORTS,
    &DATABASE,
    &DATA_FOLDER,
    &DISK,
    &KEYS,
    &CATALOG,
    &CLOCK,
    &CHECKS,
    &LIMITS,
    &DOCUMENTS,
    &EVENTS,
    &WEBHOOKS,
    &MESSAGES,
    &EMAILS,
    &FEEDS,
    &FILES,
    &QUOTAS,
    &OPERATORS,
];
