//! The operator's address while the host starts: it answers the probes, which show what the start does.

use crate::{
    Connections, Dispatcher, Refusal, Server, Stop,
    serve::{Listener, accept},
};
use axum::{Json, Router, extract::State, http::StatusCode, routing::get};
use portolan_vocabulary::{Clock, ErrorCode, Failure, Limits, Timestamp};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::watch;

/// The current step of a start, for the probes. Clones share it.
#[derive(Debug, Clone)]
pub struct StartProgress {
    step: Arc<watch::Sender<&'static str>>,
    since: Timestamp,
}

impl StartProgress {
    pub fn new(now: Timestamp) -> Self {
        Self { step: Arc::new(watch::Sender::new("it reads its configuration")), since: now }
    }

    /// Says what the start does from now on.
    pub fn step(&self, step: &'static str) {
        tracing::debug!(step, "starting");
        self.step.send_replace(step);
    }

    /// Returns the answer of a probe, which is true or not during the start.
    fn answer(&self, probe: &str, value: bool) -> (StatusCode, Json<Value>) {
        let reason = json!({ "part": "start", "reason": *self.step.borrow() });
        let (status, reasons) = match value {
            true => (StatusCode::OK, Vec::new()),
            false => (StatusCode::SERVICE_UNAVAILABLE, vec![reason]),
        };
        (status, Json(json!({ probe: value, "reasons": reasons, "since": self.since })))
    }
}

/// Answers the probes at an address until this is dropped. Every connection is closed after its answer, so that none
/// outlives the start.
pub async fn answer_probes(
    listener: &(impl Listener + Sync),
    progress: StartProgress,
    limits: &Limits,
    clock: Clock,
) {
    let routes = Router::new()
        .route("/startupz", get(startupz))
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .fallback(starting)
        .with_state(progress);
    let (_closing, closing) = watch::channel(false);
    let (_told, told) = watch::channel(true);
    let dispatcher = Dispatcher { cities: Arc::default(), routes, clock, has_error_pages: false };
    let server = Server {
        dispatcher,
        connections: Connections::of_operator(),
        limits: limits.clone(),
        tls: None,
        stop: Stop { told, closing },
    };
    accept(listener, server).await;
}

async fn startupz(State(progress): State<StartProgress>) -> (StatusCode, Json<Value>) {
    progress.answer("started", false)
}

async fn healthz(State(progress): State<StartProgress>) -> (StatusCode, Json<Value>) {
    progress.answer("healthy", true)
}

async fn readyz(State(progress): State<StartProgress>) -> (StatusCode, Json<Value>) {
    progress.answer("ready", false)
}

async fn starting() -> Refusal {
    let message = "The host is starting. Ask again when /startupz answers 200.";
    Refusal(Failure::new(ErrorCode::DependencyUnavailable).message(message))
}
