//! `platform`: what components may know of the host, its limits and the other capabilities.

use crate::{
    contract::{CONTRACT, description, platform},
    interfaces::{
        interface::Interface,
        taped::{TapedState, taped},
    },
    state::CallState,
};
use portolan_vocabulary::{Access, Status};
use wasmtime::Result;

pub(super) const INTERFACE: Interface =
    Interface::open("platform", |linker| platform::add_to_linker::<_, TapedState>(linker, taped));

impl platform::Host for CallState {
    fn about(&mut self) -> Result<platform::Service> {
        let platform = &self.context.platform;
        Ok(platform::Service {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: platform.started_at.as_millis(),
            public_url: platform.public_url.clone(),
            contract: CONTRACT.to_owned(),
            catalog_version: platform.catalog_version,
        })
    }

    fn limits(&mut self) -> Result<Vec<platform::Limit>> {
        let limits = self.context.platform.limits.iter().map(|limit| platform::Limit {
            name: limit.name.to_owned(),
            value: limit.value,
            unit: limit.unit.to_owned(),
            description: limit.description.to_owned(),
        });
        Ok(limits.collect())
    }

    fn components(&mut self) -> Result<Vec<platform::Component>> {
        let components = self.context.platform.components.iter().map(|component| {
            let actions = component.actions.iter().map(|action| platform::ComponentAction {
                name: action.name.clone(),
                access: contract_access(action.access),
                emits: action.emits.clone(),
            });
            platform::Component {
                id: component.id.clone(),
                version: component.version.clone(),
                title: component.title.clone(),
                status: match component.status {
                    Status::Beta => description::Status::Beta,
                    Status::Stable => description::Status::Stable,
                    Status::Deprecated => description::Status::Deprecated,
                },
                sunset_at: component.sunset_at.map(|at| at.as_millis()),
                successor: component.successor.clone(),
                digest: component.digest.to_string(),
                actions: actions.collect(),
            }
        });
        Ok(components.collect())
    }
}

fn contract_access(access: Access) -> description::Access {
    match access {
        Access::Read => description::Access::Read,
        Access::Write => description::Access::Write,
        Access::Events => description::Access::Events,
        Access::Open => description::Access::Open,
        Access::Internal => description::Access::Internal,
    }
}
