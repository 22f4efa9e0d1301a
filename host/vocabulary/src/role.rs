//! Roles: what the host itself needs capabilities for, without knowing any of them by its id.

use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// The use that the host makes of a capability. A component declares the roles that it can take on,
/// and the operator's configuration assigns each role to one capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    PhoneVerification,
    AgentManagement,
    WebhookManagement,
    Handoffs,
    Pages,
    SignalStatements,
    Preferences,
    ReportReview,
    Approvals,
}

/// One row of the table of roles.
struct RoleRow {
    role: Role,
    name: &'static str,
    /// The purpose for which the host uses the capability.
    purpose: &'static str,
    /// The actions that the host calls or names to callers.
    actions: &'static [&'static str],
    /// Whether the role gives power over people's accounts and secrets, or over what a handoff starts.
    sensitive: bool,
}

const ROLES: [RoleRow; 9] = [
    RoleRow {
        role: Role::PhoneVerification,
        name: "phone_verification",
        purpose: "people sign in and claim agents with a verified phone number",
        actions: &[
            "bind",
            "resend",
            "verify",
            "adopted",
            "signed_in",
            "signed_out",
            "passkeys_changed",
            "erased",
        ],
        sensitive: true,
    },
    RoleRow {
        role: Role::AgentManagement,
        name: "agent_management",
        purpose: "the sign-in page revokes a person's agents",
        actions: &["revoke_agent"],
        sensitive: true,
    },
    RoleRow {
        role: Role::WebhookManagement,
        name: "webhook_management",
        purpose: "agents manage their webhooks",
        actions: &["create", "list", "get", "delete", "verify"],
        sensitive: true,
    },
    RoleRow {
        role: Role::Handoffs,
        name: "handoffs",
        purpose: "links of the map make handoffs, whose pages show and send what they would begin",
        actions: &["resolve", "preview", "redeem"],
        sensitive: true,
    },
    RoleRow {
        role: Role::Pages,
        name: "pages",
        purpose: "MCP offers its pages as resources",
        actions: &["list", "get"],
        sensitive: false,
    },
    RoleRow {
        role: Role::SignalStatements,
        name: "signal_statements",
        purpose: "the feeds take in what people state about signals",
        actions: &["knowledge", "announce"],
        sensitive: false,
    },
    RoleRow {
        role: Role::Preferences,
        name: "preferences",
        purpose: "digests of held events name the call that shows a person's delivery rules",
        actions: &["get_preferences"],
        sensitive: false,
    },
    RoleRow {
        role: Role::ReportReview,
        name: "report_review",
        purpose: "the operator's console lists people's reports and records decisions",
        actions: &["waiting", "triage", "decide", "decide_appeal", "suspend", "reinstate"],
        sensitive: false,
    },
    RoleRow {
        role: Role::Approvals,
        name: "approvals",
        purpose: "calls of agents that their person wants to decide about wait for the person",
        actions: &["hold", "executed", "get"],
        sensitive: true,
    },
];

impl Role {
    /// Returns every role, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        ROLES.iter().map(|row| row.role)
    }

    /// Returns the role with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        ROLES.iter().find(|row| row.name == name).map(|row| row.role)
    }

    pub fn name(self) -> &'static str {
        self.row().map_or("", |row| row.name)
    }

    pub fn purpose(self) -> &'static str {
        self.row().map_or("", |row| row.purpose)
    }

    /// Returns the actions that a capability needs for this role.
    pub fn actions(self) -> &'static [&'static str] {
        self.row().map_or(&[], |row| row.actions)
    }

    /// Returns whether a component that is not the host's own needs the operator's permission for this role.
    pub fn is_sensitive(self) -> bool {
        self.row().is_none_or(|row| row.sensitive)
    }

    fn row(self) -> Option<&'static RoleRow> {
        ROLES.iter().find(|row| row.role == self)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The operator's assignment: the id of the capability for each role.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Roles(pub BTreeMap<Role, String>);

impl Roles {
    /// Returns the id of the capability that is assigned to a role, whether it is loaded or not.
    pub fn assigned(&self, role: Role) -> Option<&str> {
        self.0.get(&role).map(String::as_str).filter(|id| !id.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_is_written_as_it_is_configured() {
        for role in Role::all() {
            assert_eq!(serde_json::to_value(role).unwrap(), role.name());
            assert_eq!(Role::from_name(role.name()), Some(role));
            assert!(!role.actions().is_empty());
        }
    }

    #[test]
    fn an_empty_id_assigns_a_role_to_nobody() {
        let roles: Roles = serde_json::from_str(r#"{"pages":"","handoffs":"links"}"#).unwrap();
        assert_eq!(roles.assigned(Role::Pages), None);
        assert_eq!(roles.assigned(Role::Handoffs), Some("links"));
    }
}
