//! The origin of each setting: a default, the file, the environment or a flag.

use super::raw::{
    DEFAULT, ENVIRONMENT, ENVIRONMENT_PREFIX, ENVIRONMENT_SETTINGS, FLAG, Flags, sources,
};
use figment::{Figment, Provider as _, value::Value};
use std::{collections::BTreeMap, path::Path};

/// Variables that are not settings of the host: those of commands, of the build and of the tests.
const OTHER_VARIABLES: [&str; 7] = [
    "PORTOLAN_ADMIN_URL",
    "PORTOLAN_GUESTS_BUILT",
    "PORTOLAN_PUBLISHER",
    "PORTOLAN_REGISTRY_PASSWORD",
    "PORTOLAN_SIGNING_KEY",
    "PORTOLAN_TEST_FULL",
    "PORTOLAN_TOKEN",
];

/// The origin of every setting, by its name.
#[derive(Debug)]
pub(crate) struct Origins(BTreeMap<String, String>);

impl Origins {
    /// Reads the sources as `serve` does.
    pub(crate) fn read(file: &Path, flags: &Flags) -> Self {
        let sources = sources(file, flags);
        let mut origins = BTreeMap::new();
        for tables in sources.data().into_iter().flat_map(figment::value::Map::into_values) {
            for (name, value) in &tables {
                add(&mut origins, &sources, name.clone(), value);
            }
        }
        Self(origins)
    }

    /// Returns the origin of a setting, or of the table that it is in.
    pub(crate) fn of(&self, setting: &str) -> &str {
        let table = setting.rsplit_once('.').map_or(setting, |(table, _)| table);
        let found = self.0.get(setting).or_else(|| self.0.get(table));
        found.map_or(DEFAULT, String::as_str)
    }
}

fn add(origins: &mut BTreeMap<String, String>, sources: &Figment, setting: String, value: &Value) {
    match value {
        Value::Dict(_, table) if !table.is_empty() => {
            for (key, value) in table {
                add(origins, sources, format!("{setting}.{key}"), value);
            }
        }
        value => {
            let metadata = sources.get_metadata(value.tag());
            let file = metadata.and_then(|metadata| metadata.source.as_ref()?.file_path());
            let origin = match (file, metadata.map(|metadata| &*metadata.name)) {
                (Some(file), _) => file.display().to_string(),
                (None, Some(ENVIRONMENT)) => variable(&setting),
                (None, Some(FLAG)) => format!("--{}", setting.replace('_', "-")),
                _ => DEFAULT.to_owned(),
            };
            origins.insert(setting, origin);
        }
    }
}

fn variable(setting: &str) -> String {
    format!("{ENVIRONMENT_PREFIX}{}", setting.to_uppercase())
}

/// Returns the variables of the environment that look like settings but are not.
pub(crate) fn unknown_variables() -> Vec<String> {
    let known: Vec<_> = ENVIRONMENT_SETTINGS.iter().map(|setting| variable(setting)).collect();
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let is_unknown = |name: &String| {
        name.starts_with(ENVIRONMENT_PREFIX)
            && !known.contains(name)
            && !OTHER_VARIABLES.contains(&name.as_str())
    };
    names.filter(is_unknown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_names_its_source() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("portolan.toml");
        let text = "feeds_dir = \"elsewhere\"\n[limits]\ncall_wall_time_ms = 1000\n[grants]\nweather = [\"sms\"]\n";
        std::fs::write(&file, text).unwrap();
        let flags = Flags { listen: Some("127.0.0.1:1".to_owned()), ..Flags::default() };
        let origins = Origins::read(&file, &flags);
        for name in ["feeds_dir", "limits.call_wall_time_ms", "grants.weather"] {
            assert_eq!(origins.of(name), file.display().to_string(), "{name}");
        }
        assert_eq!(origins.of("listen"), "--listen");
        for name in ["limits.call_memory_bytes", "roles.handoffs", "tls", "data_dir"] {
            assert_eq!(origins.of(name), DEFAULT, "{name}");
        }
    }
}
