//! The settings of an operator: defaults, then `portolan.toml`, then the environment, then flags.

use figment::{
    Figment,
    providers::{Format as _, Serialized, Toml},
};
use ipnet::IpNet;
use portolan_catalog::Grants;
use portolan_events::WebhookSettings;
use portolan_identity::{LONGEST_LIFETIME_S, RedirectHosts, SHORTEST_LIFETIME_S};
use portolan_mcp::McpSettings;
use portolan_outgoing::{lookups::LookupSettings, sms::SmsPort};
use portolan_publication::Provider;
use portolan_store::DatabaseUrl;
use portolan_vocabulary::{Keyring, Limits, Retention};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fmt,
    net::SocketAddr,
    path::{Path, PathBuf},
};

/// The file that is read if there is one.
pub const FILE: &str = "portolan.toml";
const ENVIRONMENT: &str = "PORTOLAN_";
/// Settings that the environment can hold, as `PORTOLAN_` and the name in capitals.
const NAMES: [&str; 13] = [
    "listen",
    "admin_listen",
    "public_url",
    "data_dir",
    "database_url",
    "catalog_dir",
    "feeds_dir",
    "secret_keys",
    "sms",
    "redirect_hosts",
    "reachable_networks",
    "trusted_proxies",
    "rate_limits",
];

/// Settings whose values are secret or can hold a password. No error names their values.
const SECRET_NAMES: [&str; 4] = ["database_url", "public_url", "secret_keys", "sms"];

/// The settings as they are written, before they are checked.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    listen: String,
    admin_listen: String,
    public_url: Option<String>,
    data_dir: PathBuf,
    database_url: Option<String>,
    catalog_dir: PathBuf,
    feeds_dir: Option<PathBuf>,
    secret_keys: Option<String>,
    sms: Option<String>,
    redirect_hosts: List,
    reachable_networks: List,
    trusted_proxies: List,
    rate_limits: Switch,
    limits: Limits,
    grants: Grants,
    retention: Retention,
    tokens: Tokens,
    webhooks: WebhookSettings,
    lookups: LookupSettings,
    mcp: McpSettings,
    provider: Provider,
}

/// A list in the file, or a text with commas between, as the environment has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum List {
    Items(Vec<String>),
    Text(String),
}

impl List {
    fn items(self) -> Vec<String> {
        let items = match self {
            Self::Items(items) => items,
            Self::Text(text) => text.split(',').map(str::to_owned).collect(),
        };
        let trimmed = items.into_iter().map(|item| item.trim().to_owned());
        trimmed.filter(|item| !item.is_empty()).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Switch {
    On,
    Off,
}

/// How long tokens are good.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tokens {
    pub access_seconds: u64,
    /// Of a refresh token that is not used.
    pub refresh_days: u64,
}

impl Default for Tokens {
    fn default() -> Self {
        Self { access_seconds: 3600, refresh_days: 30 }
    }
}

impl Default for Written {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8080".to_owned(),
            admin_listen: "127.0.0.1:8081".to_owned(),
            public_url: None,
            data_dir: PathBuf::from("data"),
            database_url: None,
            catalog_dir: PathBuf::from("catalog"),
            feeds_dir: None,
            secret_keys: None,
            sms: None,
            redirect_hosts: List::Items(Vec::new()),
            reachable_networks: List::Items(Vec::new()),
            trusted_proxies: List::Items(Vec::new()),
            rate_limits: Switch::On,
            limits: Limits::default(),
            grants: Grants::default(),
            retention: Retention::default(),
            tokens: Tokens::default(),
            webhooks: WebhookSettings::default(),
            lookups: LookupSettings::default(),
            mcp: McpSettings::default(),
            provider: Provider::default(),
        }
    }
}

/// Flags of the command line; each wins over the file and the environment.
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
    /// Where agents reach this host from outside [default: http:// and the listen address]
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
}

/// Settings that hold together.
#[derive(Debug, Clone)]
pub struct Config {
    pub listen: SocketAddr,
    pub admin_listen: SocketAddr,
    /// Without a slash at the end.
    pub public_url: Option<String>,
    pub data_dir: PathBuf,
    pub database_url: DatabaseUrl,
    pub catalog_dir: PathBuf,
    pub feeds_dir: PathBuf,
    /// None: they are in the data folder.
    pub secret_keys: Option<Keyring>,
    pub sms: SmsPort,
    /// Where clients may send people back to, beside this machine's own addresses.
    pub redirect_hosts: RedirectHosts,
    /// Networks that are not public, where documents about clients and pages are read and events are
    /// sent all the same.
    pub reachable_networks: Vec<IpNet>,
    /// Proxies that are believed about whom they forward.
    pub trusted_proxies: Vec<IpNet>,
    pub rate_limits: bool,
    pub limits: Limits,
    pub grants: Grants,
    pub retention: Retention,
    pub tokens: Tokens,
    pub webhooks: WebhookSettings,
    pub lookups: LookupSettings,
    pub mcp: McpSettings,
    pub provider: Provider,
}

/// Everything that is wrong with the settings.
#[derive(Debug, PartialEq, Eq)]
pub struct ConfigError(Vec<String>);

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the configuration is not usable:")?;
        self.0.iter().try_for_each(|fault| write!(formatter, "\n  - {fault}"))
    }
}

impl Config {
    /// Reads and judges everything; reports every fault at once.
    pub fn load(flags: &Flags) -> Result<Self, ConfigError> {
        let mut written = Figment::from(Serialized::defaults(Written::default()));
        if Path::new(FILE).exists() {
            written = written.merge(Toml::file_exact(FILE));
        }
        let written =
            written.merge(Serialized::defaults(environment())).merge(Serialized::defaults(flags));
        let written: Written = written.extract().map_err(|error| {
            ConfigError(error.into_iter().map(|fault| describe(&fault)).collect())
        })?;
        Self::check(written)
    }

    fn check(written: Written) -> Result<Self, ConfigError> {
        let mut faults = Vec::new();
        let listen = address("listen", &written.listen, &mut faults);
        let admin_listen = address("admin_listen", &written.admin_listen, &mut faults);
        let public_url = written.public_url.and_then(|url| public_url(&url, &mut faults));
        let database_url = match &written.database_url {
            None => Some(DatabaseUrl::from(written.data_dir.join("portolan.db"))),
            Some(url) => match url.parse() {
                Ok(url) => Some(url),
                Err(fix) => {
                    faults.push(format!("database_url cannot be used: {fix}"));
                    None
                }
            },
        };
        let secret_keys = match written.secret_keys.as_deref().map(Keyring::parse) {
            None => None,
            Some(Ok(keys)) => Some(keys),
            Some(Err(fix)) => {
                faults.push(format!("secret_keys cannot be used: {fix}"));
                None
            }
        };
        let sms = match written.sms.as_deref().map(str::parse) {
            None => SmsPort::Outbox(written.data_dir.join("sms-outbox.jsonl")),
            Some(Ok(port)) => port,
            Some(Err(fix)) => {
                faults.push(format!("sms cannot be used: {fix}"));
                SmsPort::Outbox(PathBuf::new())
            }
        };
        for limit in written.limits.table() {
            if limit.value < limit.least {
                faults.push(format!(
                    "limits.{} is {}: it must be at least {}",
                    limit.name, limit.value, limit.least
                ));
            }
        }
        let Retention { audit_days, event_days } = written.retention;
        for (name, days) in [("audit_days", audit_days), ("event_days", event_days)] {
            if days == 0 {
                faults.push(format!("retention.{name} is 0: it must be at least 1"));
            }
        }
        let tables = [written.webhooks.faults(), written.lookups.faults(), written.mcp.faults()];
        faults.extend(tables.into_iter().flatten());
        faults.extend(written.provider.faults());
        let Tokens { access_seconds, refresh_days } = written.tokens;
        if !(SHORTEST_LIFETIME_S..=LONGEST_LIFETIME_S).contains(&access_seconds) {
            faults.push(format!(
                "tokens.access_seconds is {access_seconds}: it must be {SHORTEST_LIFETIME_S} to {LONGEST_LIFETIME_S}"
            ));
        }
        if !(1..=366).contains(&refresh_days) {
            faults.push(format!("tokens.refresh_days is {refresh_days}: it must be 1 to 366"));
        }
        let reachable_networks =
            networks("reachable_networks", written.reachable_networks, &mut faults);
        let trusted_proxies = networks("trusted_proxies", written.trusted_proxies, &mut faults);
        let per_capability = written.limits.concurrent_calls_per_capability;
        if per_capability > written.limits.concurrent_calls {
            faults.push(
                "limits.concurrent_calls_per_capability is above limits.concurrent_calls: lower it"
                    .to_owned(),
            );
        }
        match (listen, admin_listen, database_url) {
            (Some(listen), Some(admin_listen), Some(database_url)) if faults.is_empty() => {
                Ok(Self {
                    listen,
                    admin_listen,
                    public_url,
                    feeds_dir: written.feeds_dir.unwrap_or_else(|| written.data_dir.join("feeds")),
                    data_dir: written.data_dir,
                    database_url,
                    catalog_dir: written.catalog_dir,
                    secret_keys,
                    sms,
                    redirect_hosts: RedirectHosts::new(written.redirect_hosts.items()),
                    reachable_networks,
                    trusted_proxies,
                    rate_limits: written.rate_limits == Switch::On,
                    limits: written.limits,
                    grants: written.grants,
                    retention: written.retention,
                    tokens: written.tokens,
                    webhooks: written.webhooks,
                    lookups: written.lookups,
                    mcp: written.mcp,
                    provider: written.provider,
                })
            }
            _ => Err(ConfigError(faults)),
        }
    }
}

/// Describes what is wrong with a setting without a value that may be secret.
fn describe(fault: &figment::Error) -> String {
    match fault.path.first() {
        Some(name) if SECRET_NAMES.contains(&name.as_str()) => {
            format!("{name} cannot be used: write it as a text in quotes")
        }
        // A fault of the syntax quotes the line of the file, in lines that have a bar in the margin.
        _ => {
            let text = fault.to_string();
            let margin = |line: &&str| {
                line.trim_start_matches(|letter: char| letter == ' ' || letter.is_ascii_digit())
                    .starts_with('|')
            };
            let lines: Vec<&str> = text.lines().filter(|line| !margin(line)).collect();
            lines.join(" ")
        }
    }
}

/// Returns every value of the environment as a text, because a folder may be called 2026.
fn environment() -> BTreeMap<&'static str, String> {
    let value = |name: &str| std::env::var(format!("{ENVIRONMENT}{}", name.to_uppercase())).ok();
    NAMES.iter().filter_map(|name| Some((*name, value(name)?))).collect()
}

fn address(name: &str, text: &str, faults: &mut Vec<String>) -> Option<SocketAddr> {
    let address = text.parse();
    if address.is_err() {
        faults.push(format!(
            "{name} is {text:?}: write an IP address and a port, such as 127.0.0.1:8080"
        ));
    }
    address.ok()
}

fn networks(name: &str, list: List, faults: &mut Vec<String>) -> Vec<IpNet> {
    let mut networks = Vec::new();
    for text in list.items() {
        match text.parse() {
            Ok(network) => networks.push(network),
            Err(_) => {
                faults.push(format!("{name} has {text:?}: write networks such as 10.0.0.0/8"));
            }
        }
    }
    networks
}

fn public_url(text: &str, faults: &mut Vec<String>) -> Option<String> {
    let url = text.trim_end_matches('/');
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let usable = rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(['?', '#', '@', ' ']));
    if !usable {
        let fix = "write http:// or https:// and a host, without a user name or a query";
        faults.push(format!("public_url cannot be used: {fix}"));
    }
    usable.then(|| url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_usable() {
        let config = Config::check(Written::default()).unwrap();
        assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
    }

    #[test]
    fn every_fault_is_reported_at_once() {
        let mut written = Written {
            listen: "localhost".to_owned(),
            public_url: Some("example.com".to_owned()),
            database_url: Some("mysql://db".to_owned()),
            ..Written::default()
        };
        written.limits.call_wall_time_ms = 0;
        let error = Config::check(written).unwrap_err().to_string();
        for part in [
            "listen is",
            "public_url cannot be used",
            "database_url cannot be used",
            "limits.call_wall_time_ms is 0",
        ] {
            assert!(error.contains(part), "{part}: {error}");
        }
    }

    #[test]
    fn no_fault_names_a_value_that_may_be_secret() {
        for url in
            ["postgres://app:hunter2@db.example:notaport/x", "hunter2", "mysql://app:hunter2@db/x"]
        {
            let written = Written {
                public_url: Some("https://app:hunter2@host.example".to_owned()),
                database_url: Some(url.to_owned()),
                secret_keys: Some("hunter2".to_owned()),
                sms: Some("https://app:hunter2@sms.example/".to_owned()),
                mcp: McpSettings {
                    hosts: vec!["app:hunter2@host.example".to_owned()],
                    origins: vec!["https://app:hunter2@host.example".to_owned()],
                    ..McpSettings::default()
                },
                ..Written::default()
            };
            let error = Config::check(written).unwrap_err().to_string();
            for name in
                ["public_url", "database_url", "secret_keys", "sms", "mcp.hosts", "mcp.origins"]
            {
                assert!(error.contains(&format!("{name} ")), "{name}: {error}");
            }
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn no_fault_of_the_file_quotes_it() {
        for text in [
            "database_url = \"postgres://app:hunter2@db/x",
            "secret_keys = [\"hunter2\"]",
            "sms = hunter2",
            "secret_keys = 4815162342",
        ] {
            let written = Figment::from(Serialized::defaults(Written::default()));
            let error = written.merge(Toml::string(text)).extract::<Written>().unwrap_err();
            let faults: Vec<String> = error.into_iter().map(|fault| describe(&fault)).collect();
            let faults = faults.join("\n");
            assert!(!faults.contains("hunter2") && !faults.contains("4815162342"), "{faults}");
            assert!(!faults.is_empty());
        }
    }
}
