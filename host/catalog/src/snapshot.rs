//! The immutable set of capabilities that one request sees from start to end.

use crate::{
    capability::Capability,
    listing::{Listing, Page, listing},
    permission::Grants,
    refusal::LoadError,
    releases::Release,
};
use portolan_sandbox::{Grant, ImportKind, Platform, PlatformComponent};
use portolan_store::ServedCapability;
use portolan_vocabulary::{
    AgentCaller, Descriptor, ErrorCode, Failure, Limit, Roles, Timestamp, one_line,
};
use serde_json::json;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The facts about the host that components can read and that do not change with the catalog.
#[derive(Debug, Clone)]
pub struct Service {
    pub started_at: Timestamp,
    pub public_url: String,
    pub limits: Vec<Limit>,
}

/// The capabilities of one catalog version, ordered by id.
#[derive(Debug)]
pub struct Snapshot {
    pub version: u64,
    pub capabilities: BTreeMap<Arc<str>, Arc<Capability>>,
    /// The facts about the host and its capabilities for components.
    pub platform: Arc<Platform>,
    /// The list of the capabilities, in pages.
    listing: Listing,
    /// The capability that the operator has assigned to each role.
    pub(super) roles: Roles,
    /// The permissions that the operator grants.
    pub(super) grants: Grants,
    /// The versions that shares of callers get in place of the serving ones, by capability.
    pub releases: Releases,
}

/// The releases of a snapshot, by capability.
pub(super) type Releases = BTreeMap<Arc<str>, Arc<Release>>;

impl Snapshot {
    /// Returns the types of events with this prefix that capabilities can publish, in their order.
    pub fn event_types(&self, prefix: &str) -> BTreeSet<&str> {
        let actions = self.capabilities.values().flat_map(|capability| &capability.actions);
        let emits = actions.flat_map(|action| &action.descriptor.emits).map(String::as_str);
        emits.filter(|event_type| event_type.starts_with(prefix)).collect()
    }

    /// Returns the collections that exports of people's data leave out, each with its capability's id. Only a
    /// capability that can make exports has copies of them, so no other one can leave anything out.
    pub fn collections_left_out_of_exports(&self) -> BTreeSet<(String, String)> {
        let exporting = self.capabilities.values().filter(|capability| {
            let mut imports = capability.prepared.imports().iter();
            imports.any(|import| matches!(import.kind, ImportKind::Sensitive(Grant::People)))
        });
        let left_out = exporting.flat_map(|capability| {
            let Descriptor { id, collections, .. } = &capability.descriptor;
            let names = collections.iter().map(|collection| &collection.name);
            let is_left_out =
                move |name: &&String| capability.descriptor.leaves_out_of_exports(name);
            let left_out = names.filter(is_left_out);
            left_out.map(move |name| (id.clone(), name.clone()))
        });
        left_out.collect()
    }

    pub(super) fn new(
        service: &Service,
        (roles, grants): (Roles, Grants),
        (version, changed_at): (u64, Timestamp),
        (capabilities, releases): (BTreeMap<Arc<str>, Arc<Capability>>, Releases),
        served: &BTreeMap<String, ServedCapability>,
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
        let listing = listing(version, changed_at, &capabilities, served);
        Self { version, capabilities, platform, listing, roles, grants, releases }
    }

    /// Returns the page of the list that follows a cursor, which may be of an earlier catalog: then some capabilities
    /// may come twice, and none is missing.
    pub fn page(&self, cursor: Option<&str>) -> &Page {
        self.listing.page(cursor)
    }

    /// Returns the capability with this id, unless its sunset date has passed.
    pub fn find(&self, id: &str, now: Timestamp) -> Result<&Arc<Capability>, Failure> {
        let capability = self.capabilities.get(id).ok_or_else(|| {
            // The id may be that of a capability which another one calls.
            let message = format!("There is no capability {:?}.", one_line(id, 64));
            Failure::new(ErrorCode::UnknownCapability)
                .message(message)
                .next(json!({ "http": { "method": "GET", "url": "/v1/capabilities" } }))
        })?;
        if capability.is_sunset(now) {
            let failure = Failure::new(ErrorCode::CapabilityDeprecated);
            return Err(match &capability.descriptor.successor {
                Some(successor) => failure.next(json!({ "capability": successor, "input": {} })),
                None => failure,
            });
        }
        Ok(capability)
    }

    /// Returns the version of a capability that runs a caller's calls: the canary of its release for the callers of
    /// its share, and otherwise the serving version, which is given. Everything that describes the capability is of the
    /// serving version.
    pub fn version_for<'a>(
        &'a self,
        serving: &'a Arc<Capability>,
        caller: Option<&AgentCaller>,
    ) -> &'a Arc<Capability> {
        if self.releases.is_empty() {
            return serving;
        }
        match self.releases.get(&serving.id) {
            Some(release) if caller.is_some_and(|agent| release.gives_to(agent)) => {
                &release.capability
            }
            _ => serving,
        }
    }

    /// Ensures that no capability except `replaced` has the id or the tool name of the candidate. `owner_of`
    /// returns the name of the file that serves an id.
    pub(super) fn ensure_unique(
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
        let names: BTreeSet<_> = candidate.tool_names().collect();
        let is_taken =
            |other: &&Arc<Capability>| other.tool_names().any(|name| names.contains(&name));
        if let Some(other) = others().find(is_taken) {
            return Err(LoadError::DuplicateToolName {
                id: candidate.id.to_string(),
                other: other.id.to_string(),
            });
        }
        Ok(())
    }
}
