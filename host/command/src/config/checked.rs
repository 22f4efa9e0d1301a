//! The checked settings, or every fault of the written ones.

use crate::config::{
    database,
    error::ConfigError,
    raw::{Flags, List, LogFormat, RawConfig, Switch, Tokens, TrustPolicy, shipped_roles},
    shown, tls,
};
use ipnet::IpNet;
use portolan_blobs::MediaSettings;
use portolan_catalog::{Grants, Permission, PublishSettings, Trust};
use portolan_events::WebhookSettings;
use portolan_http::{MapSettings, Setting, Tls};
use portolan_identity::{LONGEST_LIFETIME_S, RedirectHosts, SHORTEST_LIFETIME_S};
use portolan_mcp::McpSettings;
use portolan_outgoing::{
    email::SmtpServer,
    lookups::LookupSettings,
    sms::{SmsTransport, TextMessageSettings},
};
use portolan_publication::{FeedsSettings, Provider, city_faults};
use portolan_signing::PublicKey;
use portolan_store::{DatabaseUrl, ServerSettings};
use portolan_telemetry::TelemetrySettings;
use portolan_vocabulary::{
    Digest, Keyring, Limits, Publisher, Quotas, RecordingSettings, Retention, Role, Roles,
    is_capability_id,
};
use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
};
use tracing_subscriber::EnvFilter;

/// The minimum length of a token, because a shorter one could be guessed.
const MIN_TOKEN_BYTES: usize = 32;

/// Settings that are valid together.
#[derive(Debug, Clone)]
pub struct Config {
    pub listen: SocketAddr,
    pub admin_listen: SocketAddr,
    /// Without a trailing slash.
    pub public_url: Option<String>,
    /// `None` for plain HTTP.
    pub tls: Option<Tls>,
    pub data_dir: PathBuf,
    pub database_url: DatabaseUrl,
    /// How PostgreSQL is reached.
    pub database_server: ServerSettings,
    pub catalog_dir: PathBuf,
    pub feeds_dir: PathBuf,
    /// `None` if the keys are in the data folder.
    pub secret_keys: Option<Keyring>,
    pub sms: SmsTransport,
    /// Allowed hosts of redirect addresses, in addition to loopback.
    pub redirect_hosts: RedirectHosts,
    /// Private networks that the host may connect to, for client documents, pages and webhooks.
    pub reachable_networks: Vec<IpNet>,
    /// The networks of proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<IpNet>,
    pub rate_limits: bool,
    pub test_mode: bool,
    /// `None` if the token is in the data folder.
    pub operator_token: Option<String>,
    /// Host names of the operator's address, in addition to `localhost` and every IP address.
    pub operator_hosts: Vec<String>,
    pub metrics_public: bool,
    pub limits: Limits,
    pub quotas: Quotas,
    pub trust: Trust,
    pub grants: Grants,
    pub roles: Roles,
    pub publishing: PublishSettings,
    pub retention: Retention,
    pub recording: RecordingSettings,
    pub tokens: Tokens,
    pub webhooks: WebhookSettings,
    pub lookups: LookupSettings,
    pub text_messages: TextMessageSettings,
    /// `None` if no emails are sent.
    pub email: Option<SmtpServer>,
    pub mcp: McpSettings,
    pub media: MediaSettings,
    pub map: MapSettings,
    pub feeds: FeedsSettings,
    pub provider: Provider,
    pub telemetry: TelemetrySettings,
    pub log_format: LogFormat,
    /// The filter of the log, unless `RUST_LOG` is set.
    pub log: String,
    /// Every setting as it is written, without secrets, for the operator.
    pub shown: Vec<Setting>,
    /// The digest of every setting, by its name.
    pub(crate) digests: BTreeMap<String, Digest>,
}

impl Config {
    /// Reads and checks all settings, including those of this file if it exists. The error has
    /// every fault.
    pub fn load(file: &Path, flags: &Flags) -> Result<Self, ConfigError> {
        let (raw, mut faults) = (RawConfig::read(file, flags)?, Vec::new());
        let variable = |name: &str| std::env::var(name).ok();
        let telemetry = raw.telemetry.with_environment(variable, &mut faults);
        Self::check(RawConfig { telemetry, ..raw }, faults)
    }

    /// Returns the default settings with these folders, without rate limits and with test mode. Neither a file nor the
    /// environment is read.
    pub(crate) fn for_tests(data_dir: PathBuf, catalog_dir: PathBuf) -> Result<Self, ConfigError> {
        let (rate_limits, test_mode) = (Switch::Off, Switch::On);
        let others = RawConfig::default();
        let raw = RawConfig { data_dir, catalog_dir, rate_limits, test_mode, ..others };
        Self::check(raw, Vec::new())
    }

    /// Checks all settings, and returns them, or every fault after those that were found before.
    fn check(raw: RawConfig, mut faults: Vec<String>) -> Result<Self, ConfigError> {
        let (shown, digests) = (shown::settings(&raw), shown::digests(&raw));
        let (database_url, database_server) = database::check(&raw, &mut faults);
        if EnvFilter::try_new(&raw.log).is_err() {
            faults.push(format!(
                "log is {:?}: write a level or filters, such as info or info,portolan::catalog=debug",
                raw.log
            ));
        }
        let listen = address("listen", &raw.listen, &mut faults);
        let admin_listen = address("admin_listen", &raw.admin_listen, &mut faults);
        let tls =
            raw.tls.and_then(|files| tls::check(files, raw.public_url.as_deref(), &mut faults));
        let public_url = raw.public_url.and_then(|url| public_url(&url, &mut faults));
        let secret_keys = match raw.secret_keys.as_deref().map(Keyring::parse) {
            None => None,
            Some(Ok(keys)) => Some(keys),
            Some(Err(fix)) => {
                faults.push(format!("secret_keys cannot be used: {fix}"));
                None
            }
        };
        let sms = match raw.sms.as_deref().map(str::parse) {
            None => SmsTransport::Outbox(raw.data_dir.join("sms-outbox.jsonl")),
            Some(Ok(port)) => port,
            Some(Err(fix)) => {
                faults.push(format!("sms cannot be used: {fix}"));
                SmsTransport::Outbox(PathBuf::new())
            }
        };
        let password = raw.email_password.filter(|password| !password.is_empty());
        let email = match raw.email {
            Some(settings) => settings.check(password, &mut faults),
            None => None,
        };
        if raw.operator_token.as_ref().is_some_and(|token| token.len() < MIN_TOKEN_BYTES) {
            faults.push(format!(
                "operator_token cannot be used: write at least {MIN_TOKEN_BYTES} random characters"
            ));
        }
        for limit in raw.limits.table() {
            if limit.value < limit.minimum {
                faults.push(format!(
                    "limits.{} is {}: it must be at least {}",
                    limit.name, limit.value, limit.minimum
                ));
            }
        }
        let Retention { audit_days, event_days } = raw.retention;
        for (name, days) in [("audit_days", audit_days), ("event_days", event_days)] {
            if days == 0 {
                faults.push(format!("retention.{name} is 0: it must be at least 1"));
            }
        }
        let feeds_dir = raw.feeds_dir.unwrap_or_else(|| raw.data_dir.join("feeds"));
        let tables = [
            raw.webhooks.faults(),
            raw.lookups.faults(),
            raw.text_messages.faults(),
            raw.mcp.faults(),
            raw.media.faults(),
            raw.map.faults(),
            raw.feeds.faults(),
            raw.telemetry.faults(),
            raw.recording.faults(),
            city_faults(&raw.feeds.cities, &feeds_dir),
        ];
        faults.extend(tables.into_iter().flatten());
        faults.extend(raw.provider.faults());
        faults.extend(raw.publish.faults());
        faults.extend(raw.quotas.faults());
        let Tokens { access_seconds, refresh_days, key_days } = raw.tokens;
        if !(SHORTEST_LIFETIME_S..=LONGEST_LIFETIME_S).contains(&access_seconds) {
            faults.push(format!(
                "tokens.access_seconds is {access_seconds}: it must be {SHORTEST_LIFETIME_S} to {LONGEST_LIFETIME_S}"
            ));
        }
        if !(1..=366).contains(&refresh_days) {
            faults.push(format!("tokens.refresh_days is {refresh_days}: it must be 1 to 366"));
        }
        if key_days > 3660 {
            faults.push(format!(
                "tokens.key_days is {key_days}: it must be 1 to 3660, or 0 to keep the key until `portolan keys rotate`"
            ));
        }
        for (role, id) in &raw.roles.0 {
            if !id.is_empty() && !is_capability_id(id) {
                faults.push(format!(
                    "roles.{role} is {id:?}: write the id of a capability, or \"\" for none"
                ));
            }
        }
        for id in raw.grants.0.keys().filter(|id| !is_capability_id(id)) {
            faults.push(format!("grants has {id:?}: write the id of a capability"));
        }
        let trusted_keys = keys(raw.trusted_keys, &mut faults);
        let only_trusted = (raw.trust == TrustPolicy::Signed).then_some(trusted_keys);
        let reachable_networks =
            networks("reachable_networks", raw.reachable_networks, &mut faults);
        let trusted_proxies = networks("trusted_proxies", raw.trusted_proxies, &mut faults);
        let per_capability = raw.limits.concurrent_calls_per_capability;
        if per_capability > raw.limits.concurrent_calls {
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
                    tls,
                    feeds_dir,
                    data_dir: raw.data_dir,
                    database_url,
                    database_server,
                    catalog_dir: raw.catalog_dir,
                    secret_keys,
                    sms,
                    redirect_hosts: redirect_hosts(raw.redirect_hosts, raw.known_clients),
                    reachable_networks,
                    trusted_proxies,
                    rate_limits: raw.rate_limits == Switch::On,
                    test_mode: raw.test_mode == Switch::On,
                    operator_token: raw.operator_token,
                    operator_hosts: raw.operator_hosts.items(),
                    metrics_public: raw.metrics_public == Switch::On,
                    limits: raw.limits,
                    quotas: raw.quotas,
                    trust: Trust {
                        host: publisher_key(),
                        only: only_trusted,
                        reserved_ids: raw.reserved_ids.items(),
                        reserved_namespaces: raw.reserved_namespaces.items(),
                    },
                    grants: raw.grants.with(role_grants(&raw.roles)),
                    roles: raw.roles,
                    publishing: raw.publish,
                    retention: raw.retention,
                    recording: raw.recording,
                    tokens: raw.tokens,
                    webhooks: raw.webhooks,
                    lookups: raw.lookups,
                    text_messages: raw.text_messages,
                    email,
                    mcp: raw.mcp,
                    media: raw.media,
                    map: raw.map,
                    feeds: raw.feeds,
                    provider: raw.provider,
                    telemetry: raw.telemetry,
                    log_format: raw.log_format,
                    log: raw.log,
                    shown,
                    digests,
                })
            }
            _ => Err(ConfigError(faults)),
        }
    }
}

/// Returns the permissions for roles that the operator assigns to other capabilities than those that ship with
/// the host.
fn role_grants(roles: &Roles) -> Vec<(String, Permission)> {
    let shipped = shipped_roles();
    let is_reassigned =
        |(role, id): &(&Role, &String)| shipped.assigned(**role) != Some(id.as_str());
    let reassigned = roles.0.iter().filter(is_reassigned).filter(|(_, id)| !id.is_empty());
    reassigned.map(|(role, id)| (id.clone(), Permission::Role(*role))).collect()
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

/// Returns the public key of the host's own publisher, if there was one when this binary was built.
pub(crate) fn publisher_key() -> Option<PublicKey> {
    match format!("ed25519:{}", option_env!("PORTOLAN_PUBLISHER").unwrap_or_default()).parse() {
        Ok(Publisher::Key(key)) => Some(key),
        _ => None,
    }
}

fn redirect_hosts(hosts: List, known_clients: Switch) -> RedirectHosts {
    let allowed = RedirectHosts::new(hosts.items());
    match known_clients {
        Switch::On => allowed.and_known_clients(),
        Switch::Off => allowed,
    }
}

fn keys(list: List, faults: &mut Vec<String>) -> Vec<PublicKey> {
    let mut keys = Vec::new();
    for text in list.items() {
        match text.parse() {
            Ok(Publisher::Key(key)) => keys.push(key),
            _ => faults.push(format!(
                "trusted_keys has {text:?}: write ed25519: and 64 hexadecimal digits, as `portolan keygen` prints it"
            )),
        }
    }
    keys
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
    let is_valid =
        rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(['?', '#', '@', ' ']));
    if !is_valid {
        let fix = "write http:// or https:// and a host, without a user name or a query";
        faults.push(format!("public_url cannot be used: {fix}"));
    }
    is_valid.then(|| url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_usable() {
        let config = Config::check(RawConfig::default(), Vec::new()).unwrap();
        assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
    }

    #[test]
    fn every_fault_is_reported_at_once() {
        let mut raw = RawConfig {
            listen: "localhost".to_owned(),
            public_url: Some("example.com".to_owned()),
            database_url: Some("mysql://db".to_owned()),
            ..RawConfig::default()
        };
        raw.limits.call_wall_time_ms = 0;
        let error = Config::check(raw, Vec::new()).unwrap_err().to_string();
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
            let raw = RawConfig {
                public_url: Some("https://app:hunter2@host.example".to_owned()),
                database_url: Some(url.to_owned()),
                secret_keys: Some("hunter2".to_owned()),
                sms: Some("https://app:hunter2@sms.example/".to_owned()),
                operator_token: Some("hunter2".to_owned()),
                mcp: McpSettings {
                    hosts: vec!["app:hunter2@host.example".to_owned()],
                    origins: vec!["https://app:hunter2@host.example".to_owned()],
                    ..McpSettings::default()
                },
                ..RawConfig::default()
            };
            let error = Config::check(raw, Vec::new()).unwrap_err().to_string();
            for name in [
                "public_url",
                "database_url",
                "secret_keys",
                "sms",
                "operator_token",
                "mcp.hosts",
                "mcp.origins",
            ] {
                assert!(error.contains(&format!("{name} ")), "{name}: {error}");
            }
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
