//! The duration of requests, by OpenTelemetry's conventions for HTTP.

use portolan_pipeline::{Latency, TraceLabels, latency};
use portolan_telemetry::TraceContext;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::family::Family,
    registry::{Registry, Unit},
};
use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
    time::Duration,
};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    http_request_method: &'static str,
    /// The route, such as `/docs/{id}`; empty for a request to none.
    http_route: String,
    http_response_status_code: u16,
}

/// The durations of requests to routes. Routes, methods and statuses are the host's own, so their number is bounded.
#[derive(Debug)]
pub(super) struct RequestMeters {
    durations: Family<RequestLabels, Latency, fn() -> Latency>,
    /// The histograms of each route, by method and status, which are found without making labels.
    kept: RwLock<HashMap<String, Vec<Kept>>>,
}

#[derive(Debug)]
struct Kept {
    method: &'static str,
    status: u16,
    duration: Latency,
}

impl RequestMeters {
    pub(super) fn new() -> Self {
        Self { durations: Family::new_with_constructor(latency), kept: RwLock::default() }
    }

    /// Counts an answered request: the time to the head of its response.
    pub(super) fn count(
        &self,
        route: &str,
        (method, status): (&'static str, u16),
        duration: Duration,
        trace: Option<TraceContext>,
    ) {
        let observe = |kept: &Kept| {
            kept.duration.observe(duration.as_secs_f64(), TraceLabels::of(trace), None);
        };
        let is_same = |kept: &&Kept| kept.method == method && kept.status == status;
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kept.get(route).and_then(|of_route| of_route.iter().find(is_same)) {
            return observe(found);
        }
        drop(kept);
        let labels = RequestLabels {
            http_request_method: method,
            http_route: route.to_owned(),
            http_response_status_code: status,
        };
        let duration = self.durations.get_or_create(&labels).clone();
        let new = Kept { method, status, duration };
        observe(&new);
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        let of_route = kept.entry(labels.http_route).or_default();
        if !of_route.iter().any(|kept| is_same(&kept)) {
            of_route.push(new);
        }
    }

    /// Adds the metrics to a registry.
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register_with_unit(
            "http_server_request_duration",
            "The time from the head of a request to that of its response",
            Unit::Seconds,
            self.durations.clone(),
        );
    }
}
