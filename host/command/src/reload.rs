//! A running host takes over the changes of its configuration, without a restart and without ending a
//! connection. A faulty configuration changes nothing.

use crate::{
    config::Config,
    secret_keys::{SECRET_KEYS, read_secret_keys},
};
use portolan_http::{App, Setting};
use std::sync::{Arc, Mutex, PoisonError};

/// The settings that take effect without a restart. The others are named and wait for one.
const RELOADED: [&str; 14] = [
    "limits.anonymous_calls_per_minute",
    "limits.anonymous_run_ms_per_hour",
    "limits.claimed_calls_per_minute",
    "limits.claimed_run_ms_per_hour",
    "limits.connections_per_address",
    "limits.page_work_ms_per_hour",
    "limits.registrations_per_hour",
    "limits.requests_per_minute",
    "limits.stored_bytes_per_hour",
    "limits.token_requests_per_minute",
    "limits.work_ms_per_hour",
    "limits.writes_per_minute",
    "log",
    "secret_keys",
];

/// Reloads the configuration of one host.
#[derive(Debug)]
pub struct Reloader {
    app: Arc<App>,
    /// The configuration whose settings are in force, or wait for a restart.
    current: Mutex<Config>,
}

/// The settings that a reload has changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Reloaded {
    /// The changed settings that are in force now; `secret.keys` if its keys have changed; and `certificate` if there is
    /// one, which is read again.
    pub applied: Vec<String>,
    /// The changed settings that take effect at the next start.
    pub waiting: Vec<String>,
}

impl Reloader {
    pub(crate) fn new(app: Arc<App>, config: Config) -> Self {
        Self { app, current: Mutex::new(config) }
    }

    /// Takes over another configuration. The secret keys are those of the configuration or of the data folder
    /// in force, because another data folder waits for a restart.
    ///
    /// # Errors
    ///
    /// Fails if the secret keys cannot be read, or lack one that is in use; then nothing is changed.
    pub async fn reload(&self, next: &Config) -> anyhow::Result<Reloaded> {
        let (store, rates) = (&self.app.host.store, &self.app.host.rates);
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = read_secret_keys(next, &current.data_dir)?;
        // Other data that a key has sealed, such as webhooks' secrets, cannot be known without opening all of it.
        let (own, next_names) = (store.keys().names(), keys.names());
        let missing: Vec<_> = own.iter().filter(|name| !next_names.contains(name)).collect();
        anyhow::ensure!(
            missing.is_empty(),
            "the secret keys lack {} of the {} that are in use: keep the earlier lines below the new one, or restart the host, which takes over a removal",
            missing.len(),
            own.len()
        );
        let mut reloaded = Reloaded::default();
        for (name, digest) in &next.digests {
            if current.digests.get(name) != Some(digest) {
                let is_reloaded = RELOADED.contains(&name.as_str());
                let list = if is_reloaded { &mut reloaded.applied } else { &mut reloaded.waiting };
                list.push(name.clone());
            }
        }
        let gone = current.digests.keys().filter(|name| !next.digests.contains_key(*name));
        reloaded.waiting.extend(gone.cloned());
        if keys != *store.keys() {
            store.keys().replace(&keys);
            if next.secret_keys.is_none() {
                reloaded.applied.push(SECRET_KEYS.to_owned());
            }
        }
        if let (Some(own), Some(next)) = (&current.tls, &next.tls)
            && own.take_over(next)
        {
            reloaded.applied.push("certificate".to_owned());
        }
        rates.set_limits(&next.limits);
        self.app.connections.set_address_maximum(next.limits.connections_per_address);
        let shown = shown(&self.app.operator.settings.load(), &next.shown);
        self.app.operator.settings.store(Arc::new(shown));
        // A setting that waits for a restart is named again by the next reload.
        let waits = |name: &String| reloaded.waiting.contains(name);
        let earlier = std::mem::take(&mut current.digests);
        let waiting = earlier.into_iter().filter(|(name, _)| waits(name));
        let applied = next.digests.iter().filter(|(name, _)| !waits(name));
        current.digests =
            waiting.chain(applied.map(|(name, digest)| (name.clone(), *digest))).collect();
        Ok(reloaded)
    }
}

/// Returns the settings in force: those that are reloaded as they are now, the others as they were.
fn shown(earlier: &[Setting], next: &[Setting]) -> Vec<Setting> {
    let now = |setting: &Setting| {
        let is_reloaded = RELOADED.contains(&setting.name.as_str());
        let found = next.iter().find(|other| is_reloaded && other.name == setting.name);
        found.unwrap_or(setting).clone()
    };
    earlier.iter().map(now).collect()
}
