//! What the operator sees of the roles.

use crate::snapshot::Snapshot;
use portolan_vocabulary::Role;
use serde::Serialize;

/// One role and the capability that has it.
#[derive(Debug, Clone, Serialize)]
pub struct RoleStatus {
    pub role: Role,
    /// What does not work while no capability has the role.
    pub purpose: &'static str,
    /// The capability that the operator has assigned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Why no capability has the role, and how to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vacant: Option<String>,
}

impl Snapshot {
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
            Some(_) => None,
        }
    }
}
