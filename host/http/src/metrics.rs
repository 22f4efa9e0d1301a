//! `GET /metrics` for the operator: counters since this node's start and gauges of its current state, in
//! the OpenMetrics 1.0 format.

use crate::{App, Refusal, database_sample::Sample};
use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use portolan_pipeline::{EmailStatus, MessageCosts};
use portolan_store::Backlog;
use portolan_telemetry::SpanCounts;
use portolan_vocabulary::{ErrorCode, Failure};
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, info::Info},
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
struct KindLabels {
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabels {
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabels {
    reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PoolLabels {
    db_client_connection_pool_name: &'static str,
    db_client_connection_state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CapabilityLabels {
    capability: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CityLabels {
    city: String,
}

pub(super) async fn metrics(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let (sample, is_new) = app.database.take(&app.host).await;
    let mut registry = Registry::default();
    let version = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
    registry.register("portolan_build", "The version of the host", version);
    app.host.meters.register_conventional(&mut registry);
    app.requests.register(&mut registry);
    register_pools(&app, &mut registry);
    let own = registry.sub_registry_with_prefix("portolan");
    app.host.meters.register(own);
    app.host.events.meters.register(own);
    register_spans(&app, own);
    register_recordings(&app, own);
    register_releases(&app, own);
    app.connections.register(own);
    register_gauges(&mut registry, gauges(&app));
    register_cities(&app, &mut registry);
    register_gauges(
        &mut registry,
        vec![gauge(
            "portolan_database_up",
            "1 if the database answered when these metrics were asked for",
            u64::from(is_new),
        )],
    );
    if let Some(sample) = sample {
        register_sample(&app, &mut registry, &sample);
    }
    let mut text = String::new();
    encode(&mut text, &registry).map_err(|error| {
        tracing::error!(%error, "the metrics cannot be encoded");
        Failure::new(ErrorCode::InternalError)
    })?;
    Ok(([(header::CONTENT_TYPE, MEDIA_TYPE)], text).into_response())
}

fn register_gauges(registry: &mut Registry, rows: Vec<Option<GaugeRow>>) {
    for (name, help, unit, value) in rows.into_iter().flatten() {
        let gauge = Gauge::<f64, AtomicU64>::default();
        gauge.set(value);
        match unit {
            Some(unit) => registry.register_with_unit(name, help, unit, gauge),
            None => registry.register(name, help, gauge),
        }
    }
}

/// Registers the numbers of spans by outcome.
fn register_spans(app: &App, registry: &mut Registry) {
    let SpanCounts { exported, dropped, failed } = app.host.telemetry.span_counts();
    let spans = Family::<OutcomeLabels, Counter>::default();
    for (outcome, count) in [("exported", exported), ("dropped", dropped), ("failed", failed)] {
        spans.get_or_create(&OutcomeLabels { outcome }).inc_by(count);
    }
    let help = "Spans of traces: sent to the collector, dropped before that, or not taken by it";
    registry.register("telemetry_spans", help, spans);
}

/// Registers what became of the calls that were to be recorded.
fn register_recordings(app: &App, registry: &mut Registry) {
    let (kept, lost) = app.host.recordings.counts();
    let written = Counter::<u64>::default();
    written.inc_by(kept);
    registry.register("recordings_kept", "Recorded calls that were written", written);
    let reasons = Family::<ReasonLabels, Counter>::default();
    for (reason, count) in lost {
        reasons.get_or_create(&ReasonLabels { reason }).inc_by(count);
    }
    registry.register("recordings_lost", "Calls that were not recorded, by reason", reasons);
}

/// Registers the releases that run, and how many were aborted by a rule.
fn register_releases(app: &App, registry: &mut Registry) {
    let shares = Family::<CapabilityLabels, Gauge>::default();
    for (capability, release) in &app.host.catalog.snapshot().releases {
        let labels = CapabilityLabels { capability: capability.to_string() };
        shares.get_or_create(&labels).set(i64::try_from(release.share).unwrap_or(i64::MAX));
    }
    let help = "The share of callers who get another version of the capability, in percent";
    registry.register("release_share", help, shares);
    let aborted = Counter::<u64>::default();
    aborted.inc_by(app.host.catalog.aborted_releases());
    registry.register("releases_aborted", "Releases that this node has aborted by a rule", aborted);
}

/// Registers how the connections to the database are used, by OpenTelemetry's conventions.
fn register_pools(app: &App, registry: &mut Registry) {
    let (used, most) =
        (Family::<PoolLabels, Gauge>::default(), Family::<PoolLabels, Gauge>::default());
    for pool in app.host.store.pools() {
        let set = |family: &Family<PoolLabels, Gauge>, state, count: u64| {
            let labels = PoolLabels {
                db_client_connection_pool_name: pool.name,
                db_client_connection_state: state,
            };
            family.get_or_create(&labels).set(i64::try_from(count).unwrap_or(i64::MAX));
        };
        set(&used, "used", pool.used);
        set(&used, "idle", pool.idle);
        set(&most, "", pool.maximum);
    }
    registry.register("db_client_connection_count", "Connections to the database", used);
    registry.register("db_client_connection_max", "How many there can be", most);
}

/// Registers the sample of the database.
fn register_sample(app: &App, registry: &mut Registry, sample: &Sample) {
    let Sample { backlog, costs, emails, quotas, .. } = sample;
    register_gauges(registry, of_database(app, backlog, costs));
    register_gauges(registry, emails.iter().flat_map(email_gauges).collect());
    let age = sample.age().as_secs_f64();
    let help = "How long ago what is in the database was read";
    let row = ("portolan_database_sample_age", help, Some(Unit::Seconds), age);
    register_gauges(registry, vec![Some(row)]);
    let due = Family::<KindLabels, Gauge<f64, AtomicU64>>::default();
    let now = app.host.clock.now().as_millis();
    for (kind, since) in [
        ("timer", backlog.timers_since),
        ("delivery", backlog.deliveries_since),
        ("webhook", backlog.webhooks_since),
    ] {
        let waited = since.map_or(0, |since| now.saturating_sub(since.as_millis()));
        due.get_or_create(&KindLabels { kind }).set(waited as f64 / 1e3);
    }
    let help = "How long the oldest due work has waited";
    registry.register_with_unit("portolan_due_age", help, Unit::Seconds, due);
    let spent = Family::<RecipientLabels, Gauge<f64, AtomicU64>>::default();
    for (recipient, micros) in [("known", costs.known), ("unknown", costs.unknown)] {
        spent.get_or_create(&RecipientLabels { recipient }).set(micros as f64 / 1e6);
    }
    registry.register(
        "portolan_text_message_spending",
        "What the text messages of this day cost, over all nodes",
        spent,
    );
    let (used, limits) =
        (Family::<QuotaLabels, Gauge>::default(), Family::<QuotaLabels, Gauge>::default());
    for quota in quotas {
        let labels = QuotaLabels {
            capability: quota.capability.clone(),
            mode: if quota.test_mode { "test" } else { "live" },
            quota: quota.quota,
        };
        used.get_or_create(&labels).set(i64::try_from(quota.used).unwrap_or(i64::MAX));
        limits.get_or_create(&labels).set(i64::try_from(quota.limit).unwrap_or(i64::MAX));
    }
    registry.register("portolan_quota_used", "How much of the quota the capability uses", used);
    registry.register("portolan_quota_limit", "The quota", limits);
}

/// A gauge's name without its unit, its help text, its unit and its value.
type GaugeRow = (&'static str, &'static str, Option<Unit>, f64);

fn gauge(name: &'static str, help: &'static str, value: u64) -> Option<GaugeRow> {
    Some((name, help, None, value as f64))
}

/// Returns the gauges of the contents of the database.
fn of_database(app: &App, backlog: &Backlog, costs: &MessageCosts) -> Vec<Option<GaugeRow>> {
    let waiting = app.host.store.waiting_commits();
    vec![
        gauge("portolan_commit_queue_length", "Commits that wait", count(waiting)),
        gauge("portolan_due_timers", "Timers that are due", backlog.timers),
        gauge(
            "portolan_due_deliveries",
            "Deliveries to capabilities that are due",
            backlog.deliveries,
        ),
        gauge(
            "portolan_due_webhook_deliveries",
            "Deliveries to webhooks that are due",
            backlog.webhooks,
        ),
        gauge(
            "portolan_dead_letters",
            "Deliveries and timers that failed for good",
            backlog.dead_letters,
        ),
        Some((
            "portolan_text_message_budget",
            "What the text messages of a day may cost",
            None,
            costs.budget as f64 / 1e6,
        )),
        gauge(
            "portolan_text_message_budget_exhausted",
            "1 while people without an account get no text messages because the budget is spent",
            u64::from(costs.is_exhausted()),
        ),
    ]
}

/// Returns the gauges of the node's current state, with `None` for each value that is unknown.
fn gauges(app: &App) -> Vec<Option<GaugeRow>> {
    let host = &app.host;
    let (catalog, feeds) = (host.catalog.status(), host.feeds.status());
    let generated =
        feeds.in_force.map(|publication| publication.generated_at.as_millis() as f64 / 1e3);
    let is_unready = app.node.last().problems.iter().any(|problem| problem.unready);
    let is_ready = !is_unready && !host.events.is_stopping();
    vec![
        gauge("portolan_ready", "1 while the node is ready", u64::from(is_ready)),
        gauge("portolan_capabilities", "Capabilities in the catalog", count(catalog.loaded.len())),
        gauge(
            "portolan_catalog_refused_files",
            "Files of the catalog folder whose current content was refused",
            count(catalog.refused.len()),
        ),
        gauge("portolan_sandboxes_in_use", "Calls that run now", count(host.sandbox.in_use())),
        gauge(
            "portolan_sandboxes_limit",
            "How many calls can run at once",
            host.sandbox.limits().concurrent_calls,
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

/// Returns the gauges of the sending of emails.
fn email_gauges(emails: &EmailStatus) -> [Option<GaugeRow>; 5] {
    [
        gauge("portolan_emails_waiting", "Emails that wait, over all nodes", emails.waiting),
        gauge("portolan_emails_due", "How many of them are due", emails.due),
        gauge(
            "portolan_emails_sent_today",
            "Emails that the SMTP server has taken on this day, over all nodes",
            emails.sent_today,
        ),
        gauge("portolan_email_budget", "How many emails are sent in a day", emails.per_day),
        gauge(
            "portolan_email_server_paused",
            "1 while this node leaves the SMTP server alone, because it has failed several times in a row",
            u64::from(emails.is_paused),
        ),
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
