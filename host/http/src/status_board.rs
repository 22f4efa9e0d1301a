//! The state that the public status page shows: the observed database, and how well calls succeed. A task
//! observes, so that no visitor of the page causes a request to the database.

use portolan_catalog::Capability;
use portolan_pipeline::{Condition, Host, TEXT_MESSAGES};
use portolan_publication::Feeds;
use portolan_vocabulary::{DAY, Incident, MINUTE, Publisher, Role, Timestamp};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::watch;

/// How long incidents are shown after they were opened.
const SHOWN: Duration = DAY.saturating_mul(90);
/// The interval of observations.
const INTERVAL: Duration = Duration::from_secs(5);
/// The database counts as away if it does not answer in this time.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Feeds are late when they are as old as this many of their promised intervals, and an hour.
const LATE_INTERVALS: u32 = 2;
/// The maximum number of groups of capabilities that are shown.
const MAX_GROUPS: usize = 100;
/// The group of capabilities without tags, and of those of other publishers.
const NO_TOPIC: &str = "other";

/// The state of a host as it was last observed.
#[derive(Debug)]
pub(super) struct StatusBoard {
    observed: Mutex<Observed>,
    /// Held while incidents are read, so that no older reading replaces a newer one.
    observing: tokio::sync::Mutex<()>,
}

#[derive(Debug, Clone)]
struct Observed {
    started_at: Timestamp,
    database: (Condition, Timestamp),
    /// The incidents of the last successful read.
    incidents: Arc<[Incident]>,
}

/// A part of the host, for the public.
#[derive(Debug, Clone)]
pub(super) struct Service {
    pub(super) name: String,
    pub(super) condition: Condition,
    /// Since when it has been in this condition.
    pub(super) since: Timestamp,
    /// When its data was published; `None` if it publishes none.
    pub(super) published_at: Option<Timestamp>,
}

/// The state for the public.
#[derive(Debug, Clone)]
pub(super) struct StatusNow {
    pub(super) services: Vec<Service>,
    /// The newest one comes first.
    pub(super) incidents: Arc<[Incident]>,
}

impl StatusBoard {
    pub(super) fn new(now: Timestamp) -> Self {
        let database = (Condition::Operational, now);
        let observed = Observed { started_at: now, database, incidents: Arc::default() };
        Self { observed: Mutex::new(observed), observing: tokio::sync::Mutex::default() }
    }

    /// Observes until `stop` becomes true.
    pub(super) async fn watch(&self, host: &Host, mut stop: watch::Receiver<bool>) {
        loop {
            self.observe(host).await;
            tokio::select! {
                () = tokio::time::sleep(INTERVAL) => {}
                _ = stop.changed() => return,
            }
        }
    }

    /// Reads the incidents, which also tells whether the database answers.
    pub(super) async fn observe(&self, host: &Host) {
        let _turn = self.observing.lock().await;
        let now = host.clock.now();
        let reading = host.store.incidents(shown_since(now));
        let read = tokio::time::timeout(TIMEOUT, reading).await.ok().and_then(Result::ok);
        let condition = if read.is_some() { Condition::Operational } else { Condition::Outage };
        let mut observed = self.observed.lock().unwrap_or_else(PoisonError::into_inner);
        if observed.database.0 != condition {
            observed.database = (condition, now);
        }
        if let Some(incidents) = read {
            observed.incidents = incidents.into();
        }
    }

    /// Returns the state of the host now.
    pub(super) fn now(&self, host: &Host) -> StatusNow {
        let observed = self.observed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Observed { started_at, database: (condition, since), incidents } = observed;
        let service = |name: &str, condition, since| Service {
            name: name.to_owned(),
            condition,
            since,
            published_at: None,
        };
        let mut services = vec![
            service("Calls over REST and MCP", Condition::Operational, started_at),
            service("Database", condition, since),
        ];
        services.extend(groups(host, started_at));
        let snapshot = host.catalog.snapshot();
        if snapshot.holder(Role::PhoneVerification).is_ok() {
            let (condition, since) = host.health.condition(TEXT_MESSAGES, host.clock.now());
            services.push(service("Text messages", condition, since.unwrap_or(started_at)));
        }
        services.extend(host.cities().filter_map(|feeds| of_feeds(feeds, host.clock.now())));
        StatusNow { services, incidents }
    }
}

/// Returns the time since which incidents are shown.
pub(super) fn shown_since(now: Timestamp) -> Timestamp {
    let shown = u64::try_from(SHOWN.as_millis()).unwrap_or(u64::MAX);
    Timestamp::from_millis(now.as_millis().saturating_sub(shown))
}

/// Returns the capabilities by topic.
fn groups(host: &Host, started_at: Timestamp) -> Vec<Service> {
    let now = host.clock.now();
    let mut groups: BTreeMap<String, Vec<(Condition, Timestamp)>> = BTreeMap::new();
    for (id, capability) in &host.catalog.snapshot().capabilities {
        let (condition, since) = host.health.condition(id, now);
        let topic = topic(capability).to_owned();
        groups.entry(topic).or_default().push((condition, since.unwrap_or(started_at)));
    }
    let group = |(topic, members): (String, Vec<(Condition, Timestamp)>)| {
        let (condition, since) = together(&members, started_at);
        let name = format!("Capabilities: {topic}");
        Service { name, condition, since, published_at: None }
    };
    groups.into_iter().take(MAX_GROUPS).map(group).collect()
}

/// Returns the name of a capability's group. Only what this host ships with names groups: what others write is not
/// shown to the public.
fn topic(capability: &Capability) -> &str {
    let named =
        (capability.publisher == Publisher::Host).then(|| capability.descriptor.tags.first());
    named.flatten().map_or(NO_TOPIC, String::as_str)
}

/// Returns the condition of a group, which is degraded if only a part of it works.
fn together(members: &[(Condition, Timestamp)], started_at: Timestamp) -> (Condition, Timestamp) {
    let best = members.iter().map(|(condition, _)| *condition).min();
    let worst = members.iter().map(|(condition, _)| *condition).max();
    let condition = match (best, worst) {
        (Some(Condition::Outage), _) => Condition::Outage,
        (_, Some(Condition::Operational) | None) => Condition::Operational,
        _ => Condition::Degraded,
    };
    let times = members.iter().filter(|(own, _)| match condition {
        Condition::Operational => true,
        _ => *own != Condition::Operational,
    });
    let times = times.map(|(_, since)| *since);
    let since = match condition {
        Condition::Operational => times.max(),
        _ => times.min(),
    };
    (condition, since.unwrap_or(started_at))
}

/// Returns the feeds of a city, if there are any.
fn of_feeds(feeds: &Arc<Feeds>, now: Timestamp) -> Option<Service> {
    let publication = feeds.current()?;
    let published_at = publication.generated_at;
    let interval = Duration::from_secs(publication.meta.next_refresh_s);
    let late = interval.saturating_mul(LATE_INTERVALS).saturating_add(MINUTE * 60);
    // Invented data is made once.
    let is_late = !publication.meta.synthetic && published_at.plus(late) <= now;
    let (condition, since) = match is_late {
        true => (Condition::Degraded, published_at.plus(late)),
        false => (Condition::Operational, published_at),
    };
    let name = format!("Feeds of {}", publication.meta.city.name);
    Some(Service { name, condition, since, published_at: Some(published_at) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_works_as_far_as_its_members_do() {
        use Condition::{Degraded, Operational, Outage};
        let at = Timestamp::from_millis;
        let of = |members: &[(Condition, u64)]| {
            let members: Vec<_> = members.iter().map(|(own, since)| (*own, at(*since))).collect();
            together(&members, at(0))
        };
        assert_eq!(of(&[]), (Operational, at(0)));
        assert_eq!(of(&[(Operational, 0), (Operational, 5)]), (Operational, at(5)));
        assert_eq!(of(&[(Operational, 9), (Outage, 5), (Degraded, 7)]), (Degraded, at(5)));
        assert_eq!(of(&[(Outage, 5), (Outage, 3)]), (Outage, at(3)));
        assert_eq!(of(&[(Degraded, 4)]), (Degraded, at(4)));
    }
}
