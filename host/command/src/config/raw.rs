//! Reads the settings as they are written: defaults, then those of the shipped components, then
//! `portolan.toml`, then the environment, then flags.

use crate::config::error::ConfigError;
use figment::{
    Figment, Metadata, Profile,
    providers::{Format as _, Serialized, Toml},
    value::{Dict, Map},
};
use portolan_blobs::MediaSettings;
use portolan_catalog::{Grants, PublishSettings};
use portolan_events::WebhookSettings;
use portolan_http::{MapSettings, TlsFiles};
use portolan_mcp::McpSettings;
use portolan_outgoing::{email::EmailSettings, lookups::LookupSettings, sms::TextMessageSettings};
use portolan_publication::{FeedsSettings, Provider};
use portolan_store::ServerSettings;
use portolan_telemetry::TelemetrySettings;
use portolan_vocabulary::{Limits, Quotas, RecordingSettings, Retention, Roles};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The configuration file in the working folder, which is optional.
pub const FILE: &str = "portolan.toml";
/// The ids, grants and roles of the components that ship with this host.
const SHIPPED_CONFIG: &str = include_str!("../../../../plugins/shipped.toml");
pub(super) const ENVIRONMENT_PREFIX: &str = "PORTOLAN_";
/// The settings that can be environment variables, named `PORTOLAN_` and the name in capitals.
pub(super) const ENVIRONMENT_SETTINGS: [&str; 28] = [
    "listen",
    "admin_listen",
    "public_url",
    "data_dir",
    "database_url",
    "database_pooler",
    "database_direct_url",
    "database_connections",
    "catalog_dir",
    "feeds_dir",
    "secret_keys",
    "sms",
    "email_password",
    "redirect_hosts",
    "known_clients",
    "reachable_networks",
    "trusted_proxies",
    "rate_limits",
    "test_mode",
    "operator_token",
    "operator_hosts",
    "metrics_public",
    "log_format",
    "log",
    "trust",
    "trusted_keys",
    "reserved_ids",
    "reserved_namespaces",
];

/// The names of sources without a file.
pub(super) const DEFAULT: &str = "default";
pub(super) const ENVIRONMENT: &str = "environment";
pub(super) const FLAG: &str = "flag";

/// Settings whose values are secret or can hold a password. No error names their values.
pub(super) const SECRET_SETTINGS: [&str; 7] = [
    "database_direct_url",
    "database_url",
    "email_password",
    "operator_token",
    "public_url",
    "secret_keys",
    "sms",
];

/// The settings as they are written, before they are checked.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawConfig {
    pub(super) listen: String,
    pub(super) admin_listen: String,
    pub(super) public_url: Option<String>,
    pub(super) tls: Option<TlsFiles>,
    pub(super) data_dir: PathBuf,
    pub(super) database_url: Option<String>,
    pub(super) database_pooler: Option<String>,
    pub(super) database_direct_url: Option<String>,
    pub(super) database_connections: Number,
    pub(super) catalog_dir: PathBuf,
    pub(super) feeds_dir: Option<PathBuf>,
    pub(super) secret_keys: Option<String>,
    pub(super) sms: Option<String>,
    pub(super) email_password: Option<String>,
    pub(super) redirect_hosts: List,
    pub(super) known_clients: Switch,
    pub(super) reachable_networks: List,
    pub(super) trusted_proxies: List,
    pub(super) rate_limits: Switch,
    pub(super) test_mode: Switch,
    pub(super) operator_token: Option<String>,
    pub(super) operator_hosts: List,
    pub(super) metrics_public: Switch,
    pub(super) log_format: LogFormat,
    pub(super) log: String,
    pub(super) limits: Limits,
    pub(super) quotas: Quotas,
    pub(super) trust: TrustPolicy,
    pub(super) trusted_keys: List,
    pub(super) reserved_ids: List,
    pub(super) reserved_namespaces: List,
    pub(super) grants: Grants,
    pub(super) roles: Roles,
    pub(super) publish: PublishSettings,
    pub(super) retention: Retention,
    pub(super) recording: RecordingSettings,
    pub(super) tokens: Tokens,
    pub(super) webhooks: WebhookSettings,
    pub(super) lookups: LookupSettings,
    pub(super) text_messages: TextMessageSettings,
    pub(super) email: Option<EmailSettings>,
    pub(super) mcp: McpSettings,
    pub(super) media: MediaSettings,
    pub(super) map: MapSettings,
    pub(super) feeds: FeedsSettings,
    pub(super) provider: Provider,
    pub(super) telemetry: TelemetrySettings,
}

/// A list as the file has it, or a comma-separated text as the environment has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum List {
    Items(Vec<String>),
    Text(String),
}

impl List {
    pub(super) fn items(self) -> Vec<String> {
        let items = match self {
            Self::Items(items) => items,
            Self::Text(text) => text.split(',').map(str::to_owned).collect(),
        };
        let trimmed = items.into_iter().map(|item| item.trim().to_owned());
        trimmed.filter(|item| !item.is_empty()).collect()
    }
}

/// A number as the file has it, or its text as the environment has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged, expecting = "it is not a whole number")]
pub(super) enum Number {
    Whole(u32),
    Text(String),
}

/// The publishers whose components are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TrustPolicy {
    /// Components of any publisher, and unsigned ones.
    Any,
    /// Components of the host's publisher and of `trusted_keys`.
    Signed,
}

/// The format of the lines of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Text,
    /// An object in each line.
    Json,
}

/// A setting that is written as `"on"` or `"off"`, or as a boolean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", from = "SwitchText")]
pub(super) enum Switch {
    On,
    Off,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum SwitchText {
    Boolean(bool),
    Word(SwitchWord),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SwitchWord {
    #[serde(alias = "true")]
    On,
    #[serde(alias = "false")]
    Off,
}

impl From<SwitchText> for Switch {
    fn from(text: SwitchText) -> Self {
        match text {
            SwitchText::Boolean(true) | SwitchText::Word(SwitchWord::On) => Self::On,
            SwitchText::Boolean(false) | SwitchText::Word(SwitchWord::Off) => Self::Off,
        }
    }
}

/// The lifetimes of tokens.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tokens {
    pub access_seconds: u64,
    /// The number of days without use after which a refresh token expires.
    pub refresh_days: u64,
    /// The number of days after which a new key signs tokens; 0 for never.
    pub key_days: u64,
}

impl Default for Tokens {
    fn default() -> Self {
        Self { access_seconds: 3600, refresh_days: 30, key_days: 90 }
    }
}

impl Default for RawConfig {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8080".to_owned(),
            admin_listen: "127.0.0.1:8081".to_owned(),
            public_url: None,
            tls: None,
            data_dir: PathBuf::from("data"),
            database_url: None,
            database_pooler: None,
            database_direct_url: None,
            database_connections: Number::Whole(ServerSettings::default().connections),
            catalog_dir: PathBuf::from("catalog"),
            feeds_dir: None,
            secret_keys: None,
            sms: None,
            email_password: None,
            redirect_hosts: List::Items(Vec::new()),
            known_clients: Switch::On,
            reachable_networks: List::Items(Vec::new()),
            trusted_proxies: List::Items(Vec::new()),
            rate_limits: Switch::On,
            test_mode: Switch::Off,
            operator_token: None,
            operator_hosts: List::Items(Vec::new()),
            metrics_public: Switch::Off,
            log_format: LogFormat::Text,
            log: "info".to_owned(),
            limits: Limits::default(),
            quotas: Quotas::default(),
            trust: TrustPolicy::Any,
            trusted_keys: List::Items(Vec::new()),
            reserved_ids: List::Items(Vec::new()),
            reserved_namespaces: List::Items(Vec::new()),
            grants: Grants::default(),
            roles: Roles::default(),
            publish: PublishSettings::default(),
            retention: Retention::default(),
            recording: RecordingSettings::default(),
            tokens: Tokens::default(),
            webhooks: WebhookSettings::default(),
            lookups: LookupSettings::default(),
            text_messages: TextMessageSettings::default(),
            email: None,
            mcp: McpSettings::default(),
            media: MediaSettings::default(),
            map: MapSettings::default(),
            feeds: FeedsSettings::default(),
            provider: Provider::default(),
            telemetry: TelemetrySettings::default(),
        }
    }
}

/// Flags of the command line. They override the file and the environment.
#[derive(Debug, Clone, Default, Serialize, clap::Args)]
pub struct Flags {
    /// Address for agents [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<String>,
    /// Address for the operator: health and catalog status [default: 127.0.0.1:8081]
    #[arg(long, value_name = "ADDRESS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin_listen: Option<String>,
    /// Public address of this host for agents [default: http:// and the listen address]
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
    /// Folder of the database and the compiled components [default: data]
    #[arg(long, value_name = "FOLDER")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_dir: Option<PathBuf>,
    /// sqlite://PATH or postgres://USER:PASSWORD@HOST:PORT/NAME [default: portolan.db in the data folder]
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database_url: Option<String>,
    /// Folder of the components [default: catalog]
    #[arg(long, value_name = "FOLDER")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalog_dir: Option<PathBuf>,
    /// Folder in which the feeds are published [default: feeds in the data folder]
    #[arg(long, value_name = "FOLDER")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feeds_dir: Option<PathBuf>,
    /// Let agents register for test mode, in which everybody can claim an agent, over data of its own
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub test_mode: bool,
}

impl RawConfig {
    /// Reads every source. Later sources override earlier ones.
    pub(super) fn read(file: &Path, flags: &Flags) -> Result<Self, ConfigError> {
        sources(file, flags)
            .extract()
            .map_err(|error| ConfigError(error.into_iter().map(|fault| describe(&fault)).collect()))
    }
}

/// Returns every source of settings, the later ones over the earlier ones.
pub(super) fn sources(file: &Path, flags: &Flags) -> Figment {
    let defaults = Serialized::defaults(RawConfig::default());
    let mut sources =
        Figment::from(Named(DEFAULT, defaults)).merge(Named(DEFAULT, Toml::string(SHIPPED_CONFIG)));
    if file.exists() {
        sources = sources.merge(Toml::file_exact(file));
    }
    sources
        .merge(Named(ENVIRONMENT, Serialized::defaults(environment())))
        .merge(Named(FLAG, Serialized::defaults(flags)))
}

/// A source with a name.
struct Named<P>(&'static str, P);

impl<P: figment::Provider> figment::Provider for Named<P> {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.0)
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        self.1.data()
    }
}

/// Returns the roles of the components that ship with this host.
pub(super) fn shipped_roles() -> Roles {
    Figment::from(Toml::string(SHIPPED_CONFIG)).extract_inner("roles").unwrap_or_default()
}

/// Describes a fault of a setting without its value, which may be secret.
fn describe(fault: &figment::Error) -> String {
    match fault.path.first() {
        Some(name) if SECRET_SETTINGS.contains(&name.as_str()) => {
            format!("{name} cannot be used: write it as a text in quotes")
        }
        // A syntax error quotes lines of the file. These lines have a bar in the margin and are
        // left out.
        _ => {
            let text = fault.to_string();
            let is_margin = |line: &&str| {
                line.trim_start_matches(|letter: char| letter == ' ' || letter.is_ascii_digit())
                    .starts_with('|')
            };
            let lines: Vec<&str> = text.lines().filter(|line| !is_margin(line)).collect();
            lines.join(" ")
        }
    }
}

/// Returns every value of the environment as a text, so that a folder called 2026 does not become a
/// number.
fn environment() -> BTreeMap<&'static str, String> {
    let value =
        |name: &str| std::env::var(format!("{ENVIRONMENT_PREFIX}{}", name.to_uppercase())).ok();
    ENVIRONMENT_SETTINGS.iter().filter_map(|name| Some((*name, value(name)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_fault_quotes_the_file() {
        for text in [
            "database_url = \"postgres://app:hunter2@db/x",
            "secret_keys = [\"hunter2\"]",
            "sms = hunter2",
            "secret_keys = 4815162342",
        ] {
            let raw = Figment::from(Serialized::defaults(RawConfig::default()));
            let error = raw.merge(Toml::string(text)).extract::<RawConfig>().unwrap_err();
            let faults: Vec<String> = error.into_iter().map(|fault| describe(&fault)).collect();
            let faults = faults.join("\n");
            assert!(!faults.contains("hunter2") && !faults.contains("4815162342"), "{faults}");
            assert!(!faults.is_empty());
        }
    }
}
