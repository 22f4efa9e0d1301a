//! `GET /metrics` for the operator: what this node has done since its start and how it stands now, in
//! the format of OpenMetrics 1.0.

use crate::{App, Refusal};
use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use portolan_store::Backlog;
use portolan_vocabulary::{ErrorCode, Failure};
use prometheus_client::{
    encoding::text::encode,
    metrics::{gauge::Gauge, info::Info},
    registry::{Registry, Unit},
};
use std::sync::{Arc, atomic::AtomicU64};

const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(super) async fn metrics(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let backlog = app.host.store.backlog(app.host.clock.now()).await?;
    let mut registry = Registry::default();
    let version = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
    registry.register("portolan_build", "Which version this is", version);
    app.host.meters.register(registry.sub_registry_with_prefix("portolan"));
    for (name, help, unit, value) in standing(&app, backlog).into_iter().flatten() {
        let gauge = Gauge::<f64, AtomicU64>::default();
        gauge.set(value);
        match unit {
            Some(unit) => registry.register_with_unit(name, help, unit, gauge),
            None => registry.register(name, help, gauge),
        }
    }
    let mut text = String::new();
    encode(&mut text, &registry).map_err(|error| {
        tracing::error!(%error, "the metrics cannot be written");
        Failure::new(ErrorCode::InternalError)
    })?;
    Ok(([(header::CONTENT_TYPE, MEDIA_TYPE)], text).into_response())
}

/// A name without its unit, a help text, the unit and the value.
type Standing = (&'static str, &'static str, Option<Unit>, f64);

/// How this node stands. What is not known is left out.
fn standing(app: &App, backlog: Backlog) -> Vec<Option<Standing>> {
    let host = &app.host;
    let (catalog, feeds) = (host.catalog.status(), host.feeds.status());
    let told = |name, help, value: u64| Some((name, help, None, value as f64));
    let generated = feeds.in_force.map(|it| it.generated_at.as_millis() as f64 / 1e3);
    vec![
        told("portolan_capabilities", "Capabilities in the catalog", count(catalog.loaded.len())),
        told(
            "portolan_catalog_refused_files",
            "Files of the catalog folder that serve nothing, or an earlier content",
            count(catalog.refused.len()),
        ),
        told(
            "portolan_waiting_readers",
            "Agents that wait for events at this node",
            count(host.events.waiting()),
        ),
        told(
            "portolan_remembered_tokens",
            "Tokens that need not be verified again",
            host.identity.cached_tokens(),
        ),
        told("portolan_due_timers", "Timers whose time has come", backlog.timers),
        told("portolan_due_deliveries", "Events that are due at capabilities", backlog.deliveries),
        told(
            "portolan_due_webhook_deliveries",
            "Events that are due at webhooks",
            backlog.webhooks,
        ),
        told("portolan_dead_letters", "Deliveries that were given up", backlog.dead_letters),
        generated.map(|at| {
            let help = "When the feeds in force were made, since the Unix epoch";
            ("portolan_feeds_generated_timestamp", help, Some(Unit::Seconds), at)
        }),
        told(
            "portolan_feeds_refused",
            "1 while the newest publication of the feeds is not sound, and an earlier one is in force",
            u64::from(feeds.refused.is_some()),
        ),
        resident().map(|bytes| {
            let help = "Resident memory of the process";
            ("process_resident_memory", help, Some(Unit::Bytes), bytes as f64)
        }),
        open_files().and_then(|files| told("process_open_fds", "Open file descriptors", files)),
    ]
}

fn count(many: usize) -> u64 {
    u64::try_from(many).unwrap_or(u64::MAX)
}

/// In bytes, where the operating system tells it as Linux does.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

fn open_files() -> Option<u64> {
    Some(count(std::fs::read_dir("/proc/self/fd").ok()?.count()))
}
