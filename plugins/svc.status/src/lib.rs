//! The capability `svc.status`: health, limits, versions and sunset dates.

mod intents;

use portolan_sdk::contract::description::{Access, Status as Stage};
use portolan_sdk::contract::platform::{self, Component, ComponentAction};
use portolan_sdk::prelude::*;

#[output]
struct Status {
    /// The state: always `operational`, because a host that is not does not answer.
    state: &'static str,
    /// The version of the host software.
    version: String,
    /// The version of the contract between the host and its capabilities.
    contract: String,
    /// When the host started, in milliseconds since the Unix epoch.
    started_at_ms: u64,
    /// The milliseconds since the host started.
    uptime_ms: u64,
    /// The version of the catalog, which increases with every change.
    catalog_version: u64,
    capabilities: usize,
    base_url: String,
}

#[output]
struct List<T> {
    items: Vec<T>,
}

/// A limit of one call, or of this host.
#[output]
struct Limit {
    name: String,
    value: u64,
    /// The unit: byte, millisecond or count.
    unit: String,
    description: String,
}

#[output]
struct Versions {
    host: String,
    contract: String,
    catalog_version: u64,
    capabilities: Vec<Version>,
}

#[output]
struct Version {
    id: String,
    version: String,
    /// The digest of the component's file, after `sha256:`.
    digest: String,
}

#[output]
struct Deprecation {
    id: String,
    version: String,
    /// The sunset: when this version stops answering, in milliseconds since the Unix epoch.
    sunset_at_ms: Option<u64>,
    /// The capability to use instead.
    successor: Option<String>,
}

#[output]
struct ComponentStatus {
    id: String,
    title: String,
    version: String,
    /// The status: beta, stable or deprecated.
    status: &'static str,
    actions: Vec<ActionStatus>,
}

#[output]
struct ActionStatus {
    name: String,
    /// The access class: read, write, events or open.
    access: &'static str,
}

struct SvcStatus;

/// Reports whether the service is up, what its limits are, and what changes.
///
/// Any valid token may ask. Check it before a long piece of work: the limits say how large a call
/// may be, and the deprecations say which capabilities will stop answering.
#[capability(id = "svc.status", title = "Service status", tags = ["service", "limits"], default_action = "get")]
impl SvcStatus {
    /// Get the state of the service.
    #[action(access = open, idempotent, intents = intents::GET)]
    fn get(call: &Call) -> Result<Status, Infallible> {
        let about = platform::about();
        Ok(Status {
            state: "operational",
            version: about.version,
            contract: about.contract,
            started_at_ms: about.started_at,
            uptime_ms: call.now().saturating_sub(about.started_at),
            catalog_version: about.catalog_version,
            capabilities: platform::components().len(),
            base_url: about.public_url,
        })
    }

    /// List the current limits.
    #[action(access = open, idempotent, intents = intents::LIMITS)]
    fn limits(_call: &Call) -> Result<List<Limit>, Infallible> {
        Ok(list(platform::limits(), |limit| {
            Some(view!(move limit => Limit { name, value, unit, description; }))
        }))
    }

    /// List the versions of the host and of every capability.
    #[action(access = open, idempotent, intents = intents::VERSIONS)]
    fn versions(_call: &Call) -> Result<Versions, Infallible> {
        let about = platform::about();
        let version =
            |component: Component| Some(view!(move component => Version { id, version, digest; }));
        Ok(view!(about => Versions {
            contract, catalog_version;
            host: about.version,
            capabilities: list(platform::components(), version).items,
        }))
    }

    /// List the deprecated capabilities, with their sunset and successor.
    #[action(access = open, idempotent, intents = intents::DEPRECATIONS)]
    fn deprecations(_call: &Call) -> Result<List<Deprecation>, Infallible> {
        Ok(list(platform::components(), |component| {
            let ends = component.status == Stage::Deprecated || component.sunset_at.is_some();
            ends.then_some(view!(move component => Deprecation {
                id, version, successor;
                sunset_at_ms: component.sunset_at,
            }))
        }))
    }

    /// List every capability with its actions.
    #[action(access = open, idempotent, intents = intents::COMPONENTS)]
    fn components(_call: &Call) -> Result<List<ComponentStatus>, Infallible> {
        // Actions that no agent can call are omitted.
        let action = |action: ComponentAction| {
            Some(ActionStatus { name: action.name, access: access(action.access)? })
        };
        Ok(list(platform::components(), |component| {
            Some(view!(move component => ComponentStatus {
                id, title, version;
                status: match component.status {
                    Stage::Beta => "beta",
                    Stage::Stable => "stable",
                    Stage::Deprecated => "deprecated",
                },
                actions: list(component.actions, action).items,
            }))
        }))
    }
}

/// Returns the list of the views, without those that are `None`.
fn list<T, V>(all: Vec<T>, view: impl Fn(T) -> Option<V>) -> List<V> {
    List { items: all.into_iter().filter_map(view).collect() }
}

/// Returns the access class of an action; `None` if no agent can call the action.
fn access(access: Access) -> Option<&'static str> {
    Some(match access {
        Access::Read => "read",
        Access::Write => "write",
        Access::Events => "events",
        Access::Open => "open",
        Access::Internal => return None,
    })
}
