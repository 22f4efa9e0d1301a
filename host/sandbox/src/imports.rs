//! The kinds of imports: which every component may use, and which need a permission grant.

use crate::{grant::Grant, interfaces::INTERFACES};

/// The package of the contract, with which the names of its imports begin.
pub(super) const CONTRACT: &str = "portolan:capability/";

/// The kind of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportKind {
    /// An interface of the contract that every component may use, or one that has only types.
    Open,
    /// An interface of WASI 0.2, which is linked without files, environment and sockets.
    Wasi,
    /// An interface that a component may import only with this grant.
    Sensitive(Grant),
    /// An interface that this host does not offer.
    Unknown,
}

/// One import of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The full name, such as `portolan:capability/context@2.0.0`.
    pub name: String,
    pub kind: ImportKind,
}

impl Import {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), kind: kind(name) }
    }

    /// Returns whether a component can change nothing through this import.
    pub fn only_reads(&self) -> bool {
        let interface = self.name.split('@').next().unwrap_or_default();
        match interface.strip_prefix(CONTRACT) {
            Some(name) => READING.contains(&name),
            None => self.kind == ImportKind::Wasi,
        }
    }
}

impl Grant {
    /// Returns every grant there is, in the order of the table of interfaces.
    pub fn all() -> Vec<Self> {
        let named =
            INTERFACES.iter().filter_map(|interface| Some((interface.name, interface.grant?)));
        named.filter(|(name, grant)| *name == grant.name()).map(|(_, grant)| grant).collect()
    }
}

/// The interfaces of the contract without a function that changes something.
const READING: [&str; 5] = ["types", "description", "context", "platform", "feeds"];

/// The packages of WASI 0.2 that this host links. Sockets and files are among them because standard
/// libraries import them; a guest finds no file, and every connection is refused.
const WASI: [&str; 6] =
    ["wasi:cli/", "wasi:clocks/", "wasi:filesystem/", "wasi:io/", "wasi:random/", "wasi:sockets/"];

/// The beginning of each version that a host links: of the contract, and of WASI.
const CONTRACT_VERSION_PREFIX: &str = "2.";
const WASI_VERSION_PREFIX: &str = "0.2.";

fn kind(name: &str) -> ImportKind {
    let (interface_name, version) = name
        .split_once('@')
        .map_or((name, None), |(interface_name, at)| (interface_name, Some(at)));
    let version_prefix = if interface_name.starts_with(CONTRACT) {
        CONTRACT_VERSION_PREFIX
    } else {
        WASI_VERSION_PREFIX
    };
    if version.is_some_and(|version| !version.starts_with(version_prefix)) {
        return ImportKind::Unknown;
    }
    if let Some(name) = interface_name.strip_prefix(CONTRACT) {
        let interface = INTERFACES.iter().find(|interface| interface.name == name);
        return match interface.map(|interface| interface.grant) {
            Some(Some(grant)) => ImportKind::Sensitive(grant),
            Some(None) => ImportKind::Open,
            None => ImportKind::Unknown,
        };
    }
    match WASI.iter().any(|prefix| interface_name.starts_with(prefix)) {
        true => ImportKind::Wasi,
        false => ImportKind::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_classified() {
        let kinds = [
            ("portolan:capability/context@2.0.0", ImportKind::Open),
            ("portolan:capability/types@2.0.0", ImportKind::Open),
            ("portolan:capability/sms@2.0.0", ImportKind::Sensitive(Grant::Sms)),
            ("portolan:capability/messages@2.0.0", ImportKind::Sensitive(Grant::Sms)),
            ("portolan:capability/identity@2.0.0", ImportKind::Sensitive(Grant::Identity)),
            ("portolan:capability/root@2.0.0", ImportKind::Unknown),
            ("portolan:capabilities/context@2.0.0", ImportKind::Unknown),
            ("wasi:cli/environment@0.2.6", ImportKind::Wasi),
            ("wasi:http/outgoing-handler@0.2.6", ImportKind::Unknown),
            ("acme:thing/stuff@1.0.0", ImportKind::Unknown),
            ("portolan:capability/context@3.0.0", ImportKind::Unknown),
            ("portolan:capability/context@2.7.0", ImportKind::Open),
            ("wasi:cli/environment@0.3.0", ImportKind::Unknown),
        ];
        for (name, expected) in kinds {
            assert_eq!(Import::new(name).kind, expected, "{name}");
        }
    }

    #[test]
    fn an_import_only_reads_if_none_of_its_functions_changes_something() {
        let reads = |name: &str| Import::new(name).only_reads();
        assert!(
            reads("portolan:capability/platform@2.0.0") && reads("wasi:clocks/wall-clock@0.2.6")
        );
        for name in ["documents", "events", "timers", "invoke", "secrets", "sms", "inbox", "root"] {
            assert!(!reads(&format!("portolan:capability/{name}@2.0.0")), "{name}");
        }
    }

    #[test]
    fn a_grant_is_written_in_configurations_as_the_name_of_its_interface() {
        for grant in Grant::all() {
            assert_eq!(serde_json::to_value(grant).unwrap(), grant.name());
        }
    }
}
