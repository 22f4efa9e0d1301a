//! Incidents and planned maintenance that the operator tells the public about.

use crate::Timestamp;
use serde::{Deserialize, Serialize};

/// The state of an incident, as an update says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IncidentState {
    /// Maintenance that is announced.
    Planned,
    Investigating,
    Identified,
    Monitoring,
    Resolved,
}

/// A row of the table of the states of incidents.
#[derive(Debug, Clone, Copy)]
pub struct IncidentStateRow {
    pub state: IncidentState,
    pub name: &'static str,
    /// The title that people read.
    pub title: &'static str,
}

/// Every state of an incident, from the first to the last.
pub const INCIDENT_STATES: [IncidentStateRow; 5] = [
    IncidentStateRow {
        state: IncidentState::Planned,
        name: "planned",
        title: "Planned maintenance",
    },
    IncidentStateRow {
        state: IncidentState::Investigating,
        name: "investigating",
        title: "Investigating",
    },
    IncidentStateRow { state: IncidentState::Identified, name: "identified", title: "Identified" },
    IncidentStateRow { state: IncidentState::Monitoring, name: "monitoring", title: "Monitoring" },
    IncidentStateRow { state: IncidentState::Resolved, name: "resolved", title: "Resolved" },
];

impl IncidentState {
    /// Returns the name of the state, as commands and the database have it.
    pub fn name(self) -> &'static str {
        self.row().map_or("", |row| row.name)
    }

    /// Returns the state for people to read.
    pub fn title(self) -> &'static str {
        self.row().map_or("", |row| row.title)
    }

    /// Returns the state with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        INCIDENT_STATES.iter().find(|row| row.name == name).map(|row| row.state)
    }

    fn row(self) -> Option<&'static IncidentStateRow> {
        INCIDENT_STATES.iter().find(|row| row.state == self)
    }
}

/// An incident, or planned maintenance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Incident {
    /// `inc_` and a ULID.
    pub id: String,
    pub title: String,
    /// The state of the newest update.
    pub state: IncidentState,
    pub opened_at: Timestamp,
    /// The time of planned maintenance; `None` for an incident.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maintenance: Option<Maintenance>,
    /// The newest one comes first.
    pub updates: Vec<IncidentUpdate>,
}

/// The time of planned maintenance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Maintenance {
    pub starts_at: Timestamp,
    pub ends_at: Timestamp,
}

/// An operator's statement about an incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IncidentUpdate {
    pub at: Timestamp,
    pub state: IncidentState,
    pub text: String,
}

impl Incident {
    /// Returns whether the incident has not ended.
    pub fn is_open(&self) -> bool {
        self.state != IncidentState::Resolved
    }

    /// Returns the time of the newest update.
    pub fn updated_at(&self) -> Timestamp {
        self.updates.first().map_or(self.opened_at, |update| update.at)
    }
}
