//! The components and the configuration with which a host is started.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};
use tempfile::TempDir;

/// The number of bytes of a signature section: its id, its size, and 116 bytes of content.
const SIGNATURE: usize = 118;

pub fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_portolan"))
}

/// Returns the bytes of a fixture guest, an example or a plugin. `describe_x` is the guest
/// `describes_badly` in its mode `x`.
pub fn component(name: &str) -> Vec<u8> {
    if let Some(mode) = name.strip_prefix("describe_") {
        let mode = format!("mode:{mode:<8}");
        return patched(&component("describes_badly"), &[("mode:loops   ", &mode)]);
    }
    let file = format!("{name}.wasm");
    let folder = guests();
    let mut kinds = ["fixtures", "plugins"].iter();
    let found = kinds.find_map(|kind| std::fs::read(folder.join(kind).join(&file)).ok());
    found.unwrap_or_else(|| panic!("{file} is not in {}", folder.display()))
}

/// Set for a process that a test starts after it has built the guests.
pub const GUESTS_BUILT: &str = "PORTOLAN_GUESTS_BUILT";

/// Returns the folder of the built guests; the first call builds them.
pub fn guests() -> &'static Path {
    static GUESTS: OnceLock<PathBuf> = OnceLock::new();
    GUESTS.get_or_init(|| {
        let folder = binary().parent().unwrap().parent().unwrap().join("guests");
        if std::env::var_os(GUESTS_BUILT).is_some() {
            return folder;
        }
        let built = Command::new(env!("CARGO")).args(["xtask", "fixtures"]).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        folder
    })
}

/// Returns a component without its signature, which is its last section.
pub fn unsigned(component: &[u8]) -> Vec<u8> {
    let length = component.len() - SIGNATURE;
    assert!(component[length..].starts_with(b"\0\x74\x12portolan-signature"), "it is not signed");
    component[..length].to_vec()
}

/// Returns this many components with the files `template_000.wasm` and so on, each with the id of its file.
pub fn template_copies(count: usize) -> Vec<(String, Vec<u8>)> {
    let template = component("template");
    let copy = |number| {
        let id = format!("template_{number:03}");
        (format!("{id}.wasm"), patched(&template, &[("template_000", &id)]))
    };
    (0..count).map(copy).collect()
}

/// Replaces texts in a component, wherever they occur, each by one of the same length.
pub fn patched(component: &[u8], changes: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = component.to_vec();
    for (from, to) in changes {
        assert_eq!(from.len(), to.len());
        let places: Vec<_> = bytes
            .windows(from.len())
            .enumerate()
            .filter(|(_, window)| *window == from.as_bytes())
            .map(|(at, _)| at)
            .collect();
        assert!(!places.is_empty(), "{from} is not in the component");
        for at in places {
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        }
    }
    bytes
}

/// The permission grants that the hosts of tests give to the fixture guests.
const GRANTS: &str = r#"
[grants]
clerk = [
    "invoke:calendar.alternatives", "invoke:calendar.free", "invoke:calendar.release",
    "invoke:calendar.reserve", "invoke:social_org.set_verified", "invoke:social_permissions.allowed",
    "invoke:social_permissions.relate",
]
ledger = ["invoke:notes.add_internal", "invoke:notes.guess"]
notes = ["subscribe:ledger.transferred"]
permitted_read = ["invoke:agent_credits.balance"]
other_arguments = ["invoke:agent_credits.balance"]
calls_in_a_circle = ["invoke:called_in_a_circle.act"]
called_in_a_circle = ["invoke:calls_in_a_circle.act"]
spender = [
    "invoke:agent_credits.capture", "invoke:agent_credits.expire", "invoke:agent_credits.freeze",
    "invoke:agent_credits.hold", "invoke:agent_credits.issue_code", "invoke:agent_credits.on_claimed",
    "invoke:agent_credits.release", "invoke:agent_credits.top_up", "invoke:agent_credits.unfreeze",
]
"#;

/// The options with which a host is started.
#[derive(Default)]
pub struct Options {
    /// The content of `portolan.toml`.
    pub configuration: String,
    /// The name and content of the files that are in the catalog folder before the host starts.
    pub components: Vec<(String, Vec<u8>)>,
    /// The file of a certificate authority that the host trusts beside those of the system.
    pub trusted: Option<PathBuf>,
}

/// The secret keys of hosts on one PostgreSQL database.
pub const SHARED_KEYS: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

impl Options {
    pub fn with(names: &[&str]) -> Self {
        let components =
            names.iter().map(|name| (format!("{name}.wasm"), component(name))).collect();
        Self { components, ..Self::default() }
    }

    pub fn trusting(mut self, certificate: &Path) -> Self {
        self.trusted = Some(certificate.to_owned());
        self
    }

    pub fn configuration(mut self, text: &str) -> Self {
        text.clone_into(&mut self.configuration);
        self
    }

    /// Adds settings at the top level: they are written before every table.
    pub fn add_configuration(mut self, text: &str) -> Self {
        self.configuration = format!("{text}\n{}", self.configuration);
        self
    }

    /// Makes the host use the PostgreSQL database with this URL, with the secret keys that all such hosts
    /// share.
    pub fn postgres(self, url: &str) -> Self {
        self.add_configuration(&format!(
            "database_url = \"{url}\"\nsecret_keys = \"{SHARED_KEYS}\""
        ))
    }

    /// Creates a folder for a host, with the configuration and the components in it.
    pub fn folder(self) -> TempDir {
        let folder = TempDir::new().unwrap();
        let catalog = folder.path().join("catalog");
        std::fs::create_dir(&catalog).unwrap();
        // Tests call more often than people's agents do. Tests of rate limits configure them.
        let off =
            if self.configuration.contains("rate_limits") { "" } else { "rate_limits = \"off\"\n" };
        let grants = if self.configuration.contains("[grants]") { "" } else { GRANTS };
        // A test's clock may move by a year between the creation of a key and the next reading of it, and the
        // former key then counts as no longer needed. A test of the replacement configures it.
        let keys = match self.configuration.contains("[tokens]") {
            true => "",
            false => "[tokens]\nkey_days = 0\n",
        };
        let test_mode =
            if self.configuration.contains("test_mode") { "" } else { "test_mode = \"on\"\n" };
        let configuration = format!("{off}{test_mode}{}\n{grants}{keys}", self.configuration);
        std::fs::write(folder.path().join("portolan.toml"), configuration).unwrap();
        for (name, bytes) in self.components {
            std::fs::write(catalog.join(name), bytes).unwrap();
        }
        folder
    }
}

/// Returns the folder in which compiled components are kept for all tests and for later runs.
pub fn kept_artifacts() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| guests().join("artifacts"))
}
