//! The settings of the database: where it is, and how a node reaches its server.

use super::raw::{Number, RawConfig};
use portolan_store::{DatabaseUrl, Pooling, ServerSettings};

/// Returns the database, if it can be used, and how its server is reached.
pub(super) fn check(
    raw: &RawConfig,
    faults: &mut Vec<String>,
) -> (Option<DatabaseUrl>, ServerSettings) {
    let mut parse = |name: &str, url: &str| match url.parse::<DatabaseUrl>() {
        Ok(url) => Some(url),
        Err(fix) => {
            faults.push(format!("{name} cannot be used: {fix}"));
            None
        }
    };
    let url = match &raw.database_url {
        None => Some(DatabaseUrl::from(raw.data_dir.join("portolan.db"))),
        Some(url) => parse("database_url", url),
    };
    let direct_url = raw.database_direct_url.as_deref();
    let direct_url = direct_url.and_then(|url| parse("database_direct_url", url));
    let pooling = match raw.database_pooler.as_deref().map(str::parse::<Pooling>) {
        None => None,
        Some(Ok(pooling)) => Some(pooling),
        Some(Err(fix)) => {
            faults.push(format!("database_pooler cannot be used: {fix}"));
            None
        }
    };
    let connections = match &raw.database_connections {
        Number::Whole(number) => *number,
        // A text that is no number is told as 0.
        Number::Text(text) => text.trim().parse().unwrap_or(0),
    };
    let settings = ServerSettings { pooling, direct_url, connections };
    faults.extend(settings.faults());
    (url, settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(raw: &RawConfig) -> (ServerSettings, Vec<String>) {
        let mut faults = Vec::new();
        let (url, settings) = check(raw, &mut faults);
        assert!(url.is_some());
        (settings, faults)
    }

    #[test]
    fn a_server_is_reached_as_it_is_written() {
        let (settings, faults) = checked(&RawConfig::default());
        assert_eq!((settings.pooling, settings.connections, faults.len()), (None, 35, 0));
        assert!(settings.direct_url.is_none());
        let raw = RawConfig {
            database_url: Some("postgres://portolan@pooler:6432/portolan".to_owned()),
            database_pooler: Some("transaction".to_owned()),
            database_direct_url: Some("postgres://portolan@db/portolan".to_owned()),
            database_connections: Number::Text("20".to_owned()),
            ..RawConfig::default()
        };
        let (settings, faults) = checked(&raw);
        assert_eq!(settings.pooling, Some(Pooling::Transaction));
        assert_eq!((settings.connections, faults.len()), (20, 0), "{faults:?}");
        assert!(matches!(settings.direct_url, Some(DatabaseUrl::Postgres(_))));
    }

    #[test]
    fn every_fault_names_its_setting_and_no_url() {
        let raw = RawConfig {
            database_pooler: Some("session".to_owned()),
            database_direct_url: Some("mysql://app:hunter2@db/x".to_owned()),
            database_connections: Number::Whole(3),
            ..RawConfig::default()
        };
        let (_, faults) = checked(&raw);
        let text = faults.join("\n");
        for name in ["database_pooler", "database_direct_url", "database_connections is 3"] {
            assert!(text.contains(name), "{name}: {text}");
        }
        assert!(!text.contains("hunter2"), "{text}");
        let raw = RawConfig {
            database_connections: Number::Text("many".to_owned()),
            ..RawConfig::default()
        };
        assert_eq!(checked(&raw).1.len(), 1);
    }
}
