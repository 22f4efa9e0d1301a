//! Operators: the people and programs that run a host.

use serde::{Deserialize, Serialize};
use std::{fmt, sync::Arc};

/// The role of an operator. Each role may also do what the roles before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OperatorRole {
    Read,
    Operate,
    Admin,
}

/// A row of the table of operators' roles.
#[derive(Debug, Clone, Copy)]
pub struct OperatorRoleRow {
    pub role: OperatorRole,
    pub name: &'static str,
    pub purpose: &'static str,
}

/// Every role, the one that may do the least first.
pub const OPERATOR_ROLES: [OperatorRoleRow; 3] = [
    OperatorRoleRow {
        role: OperatorRole::Read,
        name: "read",
        purpose: "sees the state of the host and its audit log, and no content of anybody",
    },
    OperatorRoleRow {
        role: OperatorRole::Operate,
        name: "operate",
        purpose: "runs the day: versions, timers, dead letters, documents in quarantine, incidents, internal actions",
    },
    OperatorRoleRow {
        role: OperatorRole::Admin,
        name: "admin",
        purpose: "decides about power and personal data: permissions, publishers, keys, operators, people",
    },
];

impl OperatorRole {
    /// Returns the name of the role, as commands and the database have it.
    pub fn name(self) -> &'static str {
        let row = OPERATOR_ROLES.iter().find(|row| row.role == self);
        row.map_or("", |row| row.name)
    }

    /// Returns the role with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        OPERATOR_ROLES.iter().find(|row| row.name == name).map(|row| row.role)
    }
}

impl fmt::Display for OperatorRole {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The operator that a request comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operator {
    /// The name of a token, or `socket:` and the system user at the other end of the socket.
    pub name: Arc<str>,
    pub role: OperatorRole,
}

impl Operator {
    /// Makes an operator with the role `admin`.
    pub fn admin(name: &str) -> Self {
        Self { name: Arc::from(name), role: OperatorRole::Admin }
    }

    /// Returns the first caller in the rows of the audit log for what this operator does:
    /// `operator:` and the name.
    pub fn caller(&self) -> String {
        operator_caller(&self.name)
    }
}

/// Returns how the audit log names the operator with this name as a caller.
pub fn operator_caller(name: &str) -> String {
    format!("operator:{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_each_role_in_order() {
        assert!(OPERATOR_ROLES.is_sorted_by_key(|row| row.role));
        for row in OPERATOR_ROLES {
            assert_eq!(OperatorRole::from_name(row.name), Some(row.role));
            assert_eq!(serde_json::to_value(row.role).unwrap(), row.role.to_string());
        }
        assert_eq!(OperatorRole::from_name("Admin"), None);
    }
}
