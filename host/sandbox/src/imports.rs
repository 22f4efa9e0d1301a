//! A component's imports are its permission list: which are open to all, which need a grant.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The package of the contract, as it stands in import names.
pub(super) const CONTRACT: &str = "portolan:capability/";

/// A sensitive interface that an operator may allow a component to import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grant {
    Sms,
    Identity,
    Inbox,
    Webhooks,
    Lookups,
}

impl Grant {
    pub const ALL: [Self; 5] =
        [Self::Sms, Self::Identity, Self::Inbox, Self::Webhooks, Self::Lookups];

    /// The name of the interface.
    fn name(self) -> &'static str {
        match self {
            Self::Sms => "sms",
            Self::Identity => "identity",
            Self::Inbox => "inbox",
            Self::Webhooks => "webhooks",
            Self::Lookups => "lookups",
        }
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// What an import asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportKind {
    /// An interface of the contract that every component may use, or a type-only one.
    Open,
    /// An interface of WASI 0.2, which is linked empty.
    Wasi,
    /// Loaded only with this grant.
    Sensitive(Grant),
    /// This host does not offer it.
    Unknown,
}

/// One import of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// Such as `portolan:capability/context@1.0.0`.
    pub name: String,
    pub kind: ImportKind,
}

impl Import {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), kind: kind(name) }
    }
}

const OPEN: [&str; 10] = [
    "types",
    "description",
    "documents",
    "events",
    "timers",
    "invoke",
    "context",
    "secrets",
    "feeds",
    "platform",
];

/// WASI 0.2 worlds that an empty context can serve. Sockets and files are among them because
/// standard libraries import them; they find nothing there.
const WASI: [&str; 6] =
    ["wasi:cli/", "wasi:clocks/", "wasi:filesystem/", "wasi:io/", "wasi:random/", "wasi:sockets/"];

fn kind(name: &str) -> ImportKind {
    let bare = name.split('@').next().unwrap_or(name);
    if let Some(interface) = bare.strip_prefix(CONTRACT) {
        let sensitive = Grant::ALL.into_iter().find(|grant| grant.name() == interface);
        return match sensitive {
            Some(grant) => ImportKind::Sensitive(grant),
            None if OPEN.contains(&interface) => ImportKind::Open,
            None => ImportKind::Unknown,
        };
    }
    match WASI.iter().any(|prefix| bare.starts_with(prefix)) {
        true => ImportKind::Wasi,
        false => ImportKind::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_told_apart() {
        let kinds = [
            ("portolan:capability/context@1.0.0", ImportKind::Open),
            ("portolan:capability/sms@1.0.0", ImportKind::Sensitive(Grant::Sms)),
            ("portolan:capability/identity@1.0.0", ImportKind::Sensitive(Grant::Identity)),
            ("portolan:capability/root@1.0.0", ImportKind::Unknown),
            ("portolan:capabilities/context@1.0.0", ImportKind::Unknown),
            ("wasi:cli/environment@0.2.6", ImportKind::Wasi),
            ("wasi:http/outgoing-handler@0.2.6", ImportKind::Unknown),
            ("acme:thing/stuff@1.0.0", ImportKind::Unknown),
        ];
        for (name, expected) in kinds {
            assert_eq!(Import::new(name).kind, expected, "{name}");
        }
    }
}
