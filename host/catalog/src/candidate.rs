//! A component about which the operator decides.

use crate::{capability::Capability, permission::Permission};
use portolan_vocabulary::{Digest, Publisher};
use std::collections::BTreeSet;

/// A component that claims an id.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub id: String,
    pub publisher: Publisher,
    pub digest: Digest,
    /// The first names of the event types that it publishes.
    pub namespaces: Vec<String>,
}

/// A component that waits for a decision.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pub(super) candidate: Candidate,
    /// The permissions that it needs and does not have; empty if it claims an id or a namespace of another
    /// publisher.
    pub(super) missing: Vec<Permission>,
}

impl Candidate {
    pub(super) fn new(capability: &Capability) -> Self {
        Self {
            id: capability.id.to_string(),
            publisher: capability.publisher.clone(),
            digest: capability.digest,
            namespaces: namespaces(capability).into_iter().map(str::to_owned).collect(),
        }
    }
}

/// Returns the namespaces of the events that a capability publishes: the first name of each event type.
pub(super) fn namespaces(capability: &Capability) -> BTreeSet<&str> {
    let first = |event_type: &'_ str| event_type.split('.').next().map(str::len);
    let publishes = capability.descriptor.publishes.iter();
    publishes
        .filter_map(|declared| declared.event_type.get(..first(&declared.event_type)?))
        .collect()
}
