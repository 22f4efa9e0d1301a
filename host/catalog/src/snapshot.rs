//! The immutable set of capabilities that one request sees from start to end.

use crate::{capability::Capability, documents, refusal::LoadError};
use portolan_sandbox::{Platform, PlatformComponent};
use portolan_store::Served;
use portolan_vocabulary::{ErrorCode, Failure, Limit, Timestamp};
use serde_json::json;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// What does not change with the catalog.
#[derive(Debug, Clone)]
pub struct Service {
    pub started_at: Timestamp,
    pub public_url: String,
    pub limits: Vec<Limit>,
}

/// The capabilities of one moment, ordered by id.
#[derive(Debug)]
pub struct Snapshot {
    pub version: u64,
    pub capabilities: BTreeMap<Arc<str>, Arc<Capability>>,
    /// What components can see of this host.
    pub platform: Arc<Platform>,
    /// `GET /v1/capabilities`.
    pub document: documents::Document,
}

impl Snapshot {
    /// Capability and internal action of each subscriber of a type of event.
    pub fn subscribers(&self, event_type: &str) -> Vec<(String, String)> {
        let mut subscribers = Vec::new();
        for capability in self.capabilities.values() {
            let subscriptions = capability.descriptor.subscriptions.iter();
            let fitting = subscriptions.filter(|it| it.event_type == event_type);
            subscribers.extend(fitting.map(|it| (capability.id.to_string(), it.action.clone())));
        }
        subscribers
    }

    /// The types of events with this beginning that capabilities can publish, in their order.
    pub fn event_types(&self, beginning: &str) -> BTreeSet<&str> {
        let actions = self.capabilities.values().flat_map(|it| &it.actions);
        let emits = actions.flat_map(|action| &action.descriptor.emits).map(String::as_str);
        emits.filter(|event_type| event_type.starts_with(beginning)).collect()
    }

    pub(super) fn new(
        service: &Service,
        version: u64,
        changed_at: Timestamp,
        capabilities: BTreeMap<Arc<str>, Arc<Capability>>,
        served: &BTreeMap<String, Served>,
    ) -> Self {
        let components: Vec<PlatformComponent> =
            capabilities.values().map(|capability| capability.platform_component()).collect();
        let platform = Arc::new(Platform {
            started_at: service.started_at,
            public_url: service.public_url.clone(),
            catalog_version: version,
            limits: service.limits.clone(),
            components,
        });
        let document = documents::catalog(version, changed_at, &capabilities, served);
        Self { version, capabilities, platform, document }
    }

    /// The capability with this id, unless its sunset has passed.
    pub fn find(&self, id: &str, now: Timestamp) -> Result<&Arc<Capability>, Failure> {
        let capability = self.capabilities.get(id).ok_or_else(|| {
            Failure::new(ErrorCode::UnknownCapability)
                .next(json!({ "http": { "method": "GET", "url": "/v1/capabilities" } }))
        })?;
        if capability.has_set(now) {
            let failure = Failure::new(ErrorCode::CapabilityDeprecated);
            return Err(match &capability.descriptor.successor {
                Some(successor) => failure.next(json!({ "capability": successor, "input": {} })),
                None => failure,
            });
        }
        Ok(capability)
    }

    /// Whether this capability may join: its id and its tool name must be free, but for `replaced`.
    pub(super) fn admits(
        capabilities: &BTreeMap<Arc<str>, Arc<Capability>>,
        candidate: &Capability,
        owner_of: impl Fn(&str) -> Option<String>,
        replaced: Option<&str>,
    ) -> Result<(), LoadError> {
        let others = || capabilities.values().filter(|other| replaced != Some(&*other.id));
        if others().any(|other| other.id == candidate.id) {
            let file = owner_of(&candidate.id).unwrap_or_default();
            return Err(LoadError::DuplicateId { id: candidate.id.to_string(), file });
        }
        if let Some(other) = others().find(|other| other.tool_name() == candidate.tool_name()) {
            return Err(LoadError::DuplicateToolName {
                id: candidate.id.to_string(),
                other: other.id.to_string(),
            });
        }
        Ok(())
    }
}
