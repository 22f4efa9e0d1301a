//! The part of the feeds that is read.

use crate::{documents::has_records, refusals::*, states::Maturity};
use portolan_sdk::{feeds::Feed, prelude::*};

pub(crate) const SIGNALS: Feed<Signal> = Feed::new("signals");
const TARGETS: Feed<Target> = Feed::new("targets");

#[choice]
pub(crate) enum SignalKind {
    Funding,
    Hiring,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Signal {
    pub(crate) kind: SignalKind,
    pub(crate) target_id: String,
    pub(crate) headline: String,
    pub(crate) summary: String,
    pub(crate) label: String,
    pub(crate) maturity: Maturity,
    pub(crate) maturity_history: Vec<Step>,
    pub(crate) confidence: f64,
    pub(crate) occurred_at: String,
    pub(crate) detected_at: String,
    pub(crate) sources: Vec<Source>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Step {
    pub(crate) from: Option<Maturity>,
    pub(crate) to: Maturity,
    pub(crate) at: String,
    pub(crate) reason: String,
    pub(crate) source_id: Option<String>,
}

#[input(Clone)]
pub(crate) struct Source {
    pub(crate) id: String,
    pub(crate) publisher: String,
    pub(crate) url: String,
}

#[derive(Debug, Deserialize)]
struct Target {
    properties: Properties,
}

#[derive(Debug, Deserialize)]
struct Properties {
    name: String,
}

impl Step {
    pub(crate) fn at_ms(&self) -> u64 {
        time::parse(&self.at).unwrap_or(0)
    }
}

/// Returns a signal of the feed. Refuses a signal that has left the feed with `resource_gone` if
/// statements about it are stored, and any other with `not_found`.
pub(crate) fn signal(signal_id: &str) -> Result<Signal> {
    match SIGNALS.get(signal_id)? {
        Some(signal) => Ok(signal.value),
        None if has_records(signal_id)? => Err(gone(signal_id).into()),
        None => Err(unknown().into()),
    }
}

/// Returns a company's name; `None` if it is not on the map.
pub(crate) fn name(target_id: &str) -> Result<Option<String>, HostError> {
    Ok(TARGETS.get(target_id)?.map(|target| target.value.properties.name))
}
