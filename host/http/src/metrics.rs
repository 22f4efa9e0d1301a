//! `GET /metrics` for the operator: counters since this node's start and gauges of its current state, in
//! the OpenMetrics 1.0 format.

use crate::{
    App, Refusal,
    node::{Problem, parts::DATABASE},
};
use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use portolan_pipeline::MessageCosts;
use portolan_store::{Backlog, QuotaUse};
use portolan_vocabulary::{ErrorCode, Failure};
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{family::Family, gauge::Gauge, info::Info},
    registry::{Registry, Unit},
};
use std::sync::{Arc, atomic::AtomicU64};

const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct QuotaLabels {
    capability: String,
    mode: &'static str,
    quota: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RecipientLabels {
    recipient: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CityLabels {
    city: String,
}

pub(super) async fn metrics(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let stored = stored(&app).await;
    let mut registry = Registry::default();
    let version = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
    registry.register("portolan_build", "The version of the host", version);
    let own = registry.sub_registry_with_prefix("portolan");
    app.host.meters.register(own);
    app.connections.register(own);
    for (name, help, unit, value) in gauges(&app, stored.as_ref()).into_iter().flatten() {
        let gauge = Gauge::<f64, AtomicU64>::default();
        gauge.set(value);
        match unit {
            Some(unit) => registry.register_with_unit(name, help, unit, gauge),
            None => registry.register(name, help, gauge),
        }
    }
    register_cities(&app, &mut registry);
    let spent = Family::<RecipientLabels, Gauge<f64, AtomicU64>>::default();
    let costs = stored.as_ref().map(|stored| stored.costs);
    let spending = costs.map(|costs| [("known", costs.known), ("unknown", costs.unknown)]);
    for (recipient, micros) in spending.into_iter().flatten() {
        spent.get_or_create(&RecipientLabels { recipient }).set(micros as f64 / 1e6);
    }
    registry.register(
        "portolan_text_message_spending",
        "What the text messages of this day cost, over all nodes",
        spent,
    );
    let (used, limits) =
        (Family::<QuotaLabels, Gauge>::default(), Family::<QuotaLabels, Gauge>::default());
    for quota in stored.into_iter().flat_map(|stored| stored.quotas) {
        let labels = QuotaLabels {
            capability: quota.capability,
            mode: if quota.test_mode { "test" } else { "live" },
            quota: quota.quota,
        };
        used.get_or_create(&labels).set(i64::try_from(quota.used).unwrap_or(i64::MAX));
        limits.get_or_create(&labels).set(i64::try_from(quota.limit).unwrap_or(i64::MAX));
    }
    registry.register("portolan_quota_used", "How much of the quota the capability uses", used);
    registry.register("portolan_quota_limit", "The quota", limits);
    let mut text = String::new();
    encode(&mut text, &registry).map_err(|error| {
        tracing::error!(%error, "the metrics cannot be encoded");
        Failure::new(ErrorCode::InternalError)
    })?;
    Ok(([(header::CONTENT_TYPE, MEDIA_TYPE)], text).into_response())
}

/// What is read from the database.
struct Stored {
    backlog: Backlog,
    costs: MessageCosts,
    quotas: Vec<QuotaUse>,
}

/// Reads what the database has. Returns `None` if it is away: the other metrics are needed most then.
async fn stored(app: &App) -> Option<Stored> {
    let is_away = |problem: &Problem| problem.unready && problem.part == &DATABASE;
    if app.node.last().problems.iter().any(is_away) {
        return None;
    }
    let store = &app.host.store;
    let read = async {
        Ok::<_, Refusal>(Stored {
            backlog: store.backlog(app.host.clock.now()).await?,
            costs: app.host.message_costs().await?,
            quotas: store.quota_uses().await?,
        })
    };
    read.await.ok()
}

/// A gauge's name without its unit, its help text, its unit and its value.
type GaugeRow = (&'static str, &'static str, Option<Unit>, f64);

/// Returns the gauges of the node's current state, with `None` for each value that is unknown.
fn gauges(app: &App, stored: Option<&Stored>) -> Vec<Option<GaugeRow>> {
    let host = &app.host;
    let (catalog, feeds) = (host.catalog.status(), host.feeds.status());
    let gauge = |name, help, value: u64| Some((name, help, None, value as f64));
    let generated =
        feeds.in_force.map(|publication| publication.generated_at.as_millis() as f64 / 1e3);
    let of_backlog = |name, help, value: fn(&Backlog) -> u64| {
        stored.and_then(|stored| gauge(name, help, value(&stored.backlog)))
    };
    let costs = stored.map(|stored| stored.costs);
    let is_ready = !app.node.last().problems.iter().any(|problem| problem.unready);
    vec![
        gauge("portolan_ready", "1 while the node is ready", u64::from(is_ready)),
        gauge("portolan_capabilities", "Capabilities in the catalog", count(catalog.loaded.len())),
        gauge(
            "portolan_catalog_refused_files",
            "Files of the catalog folder whose current content was refused",
            count(catalog.refused.len()),
        ),
        gauge(
            "portolan_waiting_readers",
            "Readers that wait for events at this node",
            count(host.events.waiting_reader_count()),
        ),
        gauge(
            "portolan_connections",
            "Open connections at the address for agents",
            count(app.connections.open()),
        ),
        gauge(
            "portolan_connections_limit",
            "How many there can be",
            count(app.connections.maximum()),
        ),
        gauge(
            "portolan_remembered_tokens",
            "Verified tokens in the cache",
            host.identity.cached_tokens(),
        ),
        of_backlog("portolan_due_timers", "Timers that are due", |backlog| backlog.timers),
        of_backlog(
            "portolan_due_deliveries",
            "Deliveries to capabilities that are due",
            |backlog| backlog.deliveries,
        ),
        of_backlog(
            "portolan_due_webhook_deliveries",
            "Deliveries to webhooks that are due",
            |backlog| backlog.webhooks,
        ),
        of_backlog(
            "portolan_dead_letters",
            "Deliveries and timers that failed for good",
            |backlog| backlog.dead_letters,
        ),
        costs.map(|costs| {
            let help = "What the text messages of a day may cost";
            ("portolan_text_message_budget", help, None, costs.budget as f64 / 1e6)
        }),
        costs.and_then(|costs| {
            gauge(
                "portolan_text_message_budget_exhausted",
                "1 while people without an account get no text messages because the budget is spent",
                u64::from(costs.is_exhausted()),
            )
        }),
        generated.map(|at| {
            let help = "When the published feeds were built, since the Unix epoch";
            ("portolan_feeds_generated_timestamp", help, Some(Unit::Seconds), at)
        }),
        gauge(
            "portolan_feeds_refused",
            "1 while the newest publication of the feeds is invalid and an earlier one is served",
            u64::from(feeds.refused.is_some()),
        ),
        resident_bytes().map(|bytes| {
            let help = "Resident memory of the process";
            ("process_resident_memory", help, Some(Unit::Bytes), bytes as f64)
        }),
        open_files().and_then(|files| gauge("process_open_fds", "Open file descriptors", files)),
    ]
}

/// Registers the gauges of the feeds of each city after the first one.
fn register_cities(app: &App, registry: &mut Registry) {
    let generated = Family::<CityLabels, Gauge<f64, AtomicU64>>::default();
    let refused = Family::<CityLabels, Gauge>::default();
    for feeds in &app.host.other_cities {
        let status = feeds.status();
        let labels = CityLabels { city: feeds.roads().city().unwrap_or_default().to_owned() };
        refused.get_or_create(&labels).set(status.refused.is_some().into());
        if let Some(publication) = status.in_force {
            let at = publication.generated_at.as_millis() as f64 / 1e3;
            generated.get_or_create(&labels).set(at);
        }
    }
    let help = "When the published feeds of the city were built, since the Unix epoch";
    let name = "portolan_city_feeds_generated_timestamp";
    registry.register_with_unit(name, help, Unit::Seconds, generated);
    let help = "1 while the newest publication of the city's feeds is invalid and an earlier one is served";
    registry.register("portolan_city_feeds_refused", help, refused);
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// Returns the resident memory in bytes, or `None` on systems without `/proc`.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

fn open_files() -> Option<u64> {
    Some(count(std::fs::read_dir("/proc/self/fd").ok()?.count()))
}
