//! The capability of each role, and the status of roles for the operator.

use crate::{
    capability::Capability,
    permission::{Grants, Permission},
    snapshot::Snapshot,
};
use portolan_vocabulary::{ErrorCode, Failure, Publisher, Role, Roles};
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;

/// One role and the capability that has it.
#[derive(Debug, Clone, Serialize)]
pub struct RoleStatus {
    pub role: Role,
    /// The features that do not work while no capability has the role.
    pub purpose: &'static str,
    /// The capability that the operator has assigned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Why no capability has the role, and how to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vacant: Option<String>,
}

/// Returns the permissions for the sensitive roles that a capability declares and is assigned. The host's own
/// publisher needs none.
pub(super) fn needed_permissions<'a>(
    capability: &'a Capability,
    roles: &'a Roles,
) -> impl Iterator<Item = Permission> + 'a {
    let has = move |role: &Role| {
        roles.assigned(*role) == Some(&*capability.id) && capability.declares(*role)
    };
    Role::all()
        .filter(has)
        .filter(move |role| is_restricted(capability, *role))
        .map(Permission::Role)
}

fn is_restricted(capability: &Capability, role: Role) -> bool {
    role.is_sensitive() && capability.publisher != Publisher::Host
}

fn is_permitted(capability: &Capability, role: Role, grants: &Grants) -> bool {
    !is_restricted(capability, role) || grants.permit(&capability.id, &Permission::Role(role))
}

impl Snapshot {
    /// Returns the capability that has a role: the role is assigned to it, and it is loaded, declares the
    /// role, and is permitted to have it. The failure of a vacant role is `unknown_capability`.
    pub fn holder(&self, role: Role) -> Result<&Arc<Capability>, Failure> {
        let assigned = self.roles.assigned(role).and_then(|id| self.capabilities.get(id));
        let has = |capability: &&Arc<Capability>| {
            capability.declares(role) && is_permitted(capability, role, &self.grants)
        };
        assigned.filter(has).ok_or_else(|| {
            let message = format!("No capability of this host has the role {role}.");
            Failure::new(ErrorCode::UnknownCapability)
                .message(message)
                .next(json!({ "http": { "method": "GET", "url": "/v1/capabilities" } }))
        })
    }

    pub(super) fn role_statuses(&self) -> Vec<RoleStatus> {
        Role::all()
            .map(|role| RoleStatus {
                role,
                purpose: role.purpose(),
                id: self.roles.assigned(role).map(str::to_owned),
                vacant: self.vacancy(role),
            })
            .collect()
    }

    fn vacancy(&self, role: Role) -> Option<String> {
        let Some(id) = self.roles.assigned(role) else {
            return Some(format!(
                "it is assigned to no capability; set {role} in [roles] of portolan.toml"
            ));
        };
        match self.capabilities.get(id) {
            None => Some(format!("{id} is not loaded; add its component to the catalog folder")),
            Some(capability) if !capability.declares(role) => Some(format!(
                "{id} does not declare it; assign a capability that does in [roles] of portolan.toml"
            )),
            Some(capability) if !is_permitted(capability, role, &self.grants) => Some(format!(
                "{id} is of another publisher and is not permitted to have it; if you trust it, run `portolan catalog approve {id}`"
            )),
            Some(_) => None,
        }
    }
}
