//! The settings as the operator of a running host reads them: every one by its name, without secrets.

use crate::config::raw::{RawConfig, SECRET_SETTINGS};
use portolan_http::Setting;
use portolan_vocabulary::{Digest, one_line};
use serde_json::Value;
use std::collections::BTreeMap;

/// The maximum number of bytes of a shown value.
const MAX_VALUE_BYTES: usize = 500;
/// The texts in place of a secret, and of a setting that is left to its default.
const SET: &str = "set, and not shown";
const DEFAULT: &str = "default";

/// Returns every setting with its name in the configuration. A secret only has whether it is set.
pub(super) fn settings(raw: &RawConfig) -> Vec<Setting> {
    let shown = |(name, text): (String, String)| {
        let is_secret = SECRET_SETTINGS.contains(&name.as_str()) && text != DEFAULT;
        let value = if is_secret { SET.to_owned() } else { one_line(&text, MAX_VALUE_BYTES) };
        Setting { name, value }
    };
    written(raw).into_iter().map(shown).collect()
}

/// Returns the digest of every setting, by which two configurations are compared without their secrets.
pub(super) fn digests(raw: &RawConfig) -> BTreeMap<String, Digest> {
    let digest = |(name, text): (String, String)| (name, Digest::of(text.as_bytes()));
    written(raw).into_iter().map(digest).collect()
}

/// Returns every setting by its name, as it is written.
fn written(raw: &RawConfig) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    if let Ok(Value::Object(tables)) = serde_json::to_value(raw) {
        tables.into_iter().for_each(|(name, value)| add(&mut settings, name, value));
    }
    settings
}

fn add(settings: &mut Vec<(String, String)>, name: String, value: Value) {
    let text = match value {
        Value::Object(table) if !table.is_empty() => {
            for (key, value) in table {
                add(settings, format!("{name}.{key}"), value);
            }
            return;
        }
        Value::Null => DEFAULT.to_owned(),
        Value::String(text) => text,
        other => other.to_string(),
    };
    settings.push((name, text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let secret = || Some("https://ACCOUNT:hunter2@example.com".to_owned());
        let raw = RawConfig {
            database_url: secret(),
            database_direct_url: secret(),
            operator_token: secret(),
            public_url: secret(),
            secret_keys: secret(),
            sms: secret(),
            email_password: secret(),
            ..RawConfig::default()
        };
        let settings = settings(&raw);
        assert!(settings.iter().all(|setting| !setting.value.contains("hunter2")), "{settings:?}");
        let of = |name: &str| {
            settings.iter().find(|setting| setting.name == name).map(|setting| &*setting.value)
        };
        for name in SECRET_SETTINGS {
            assert_eq!(of(name), Some(SET), "{name}");
        }
        assert_eq!(of("limits.call_wall_time_ms"), Some("2000"));
        assert_eq!(of("test_mode"), Some("off"));
        assert_eq!(of("feeds_dir"), Some(DEFAULT));
        assert_eq!(of("database_pooler"), Some(DEFAULT));
        assert_eq!(of("database_connections"), Some("35"));
    }
}
