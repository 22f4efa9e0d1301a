//! Inputs, what is kept, and events.

use crate::life::State;
use common::{event::Data, page::PageInput, window::Day};
use portolan_sdk::{events::Event, prelude::*};
use std::collections::BTreeMap;

pub(crate) const CAPABILITY: &str = "owner_verification";

pub(crate) const VERIFICATIONS: Collection<Verification> = Collection::new("verifications")
    .unique("subject", &["owner_id", "subject_id"])
    .index("owner", &["owner_id", "changed_at"]);

/// Who speaks for a company, by the id of its record.
pub(crate) const SUBJECTS: Collection<Subject> = Collection::new("subjects");

pub(crate) const DAYS: Collection<Day> = Collection::new("days");

pub(crate) const UPDATED: Event<Data<Updated>> = Event::new("verification.updated");

/// Beside what every event has.
#[derive(Serialize)]
pub(crate) struct Updated {
    pub(crate) owner_id: String,
    #[serde(flatten)]
    pub(crate) of: Of,
    pub(crate) domain: String,
    /// Whether anybody has proved this domain of the record and it holds, this person or another one.
    pub(crate) anybody_verified: bool,
}

/// The record that stands for a company: a target of the map, or an organisation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Of {
    /// A target of the map.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) target_id: Option<String>,
    /// An organisation of `social_org`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) org_id: Option<String>,
}

/// Where the text is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Method {
    /// As a TXT record of the name `_portolan-challenge` under the domain.
    DnsTxt,
    /// As a line of the file `/.well-known/portolan-verification.txt` of the domain's web server.
    WellKnownFile,
}

/// Times are milliseconds since the Unix epoch.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Verification {
    pub(crate) owner_id: String,
    /// The id of the record.
    pub(crate) subject_id: String,
    #[serde(flatten)]
    pub(crate) of: Of,
    /// What the record had when the challenge was issued.
    pub(crate) domain: String,
    pub(crate) method: Method,
    pub(crate) state: State,
    /// Counts the challenges, so that each has a text of its own.
    pub(crate) challenge: u64,
    pub(crate) issued_at: u64,
    pub(crate) changed_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) checked_at: Option<u64>,
    /// The question that is not answered yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lookup_id: Option<String>,
    /// Checks of this challenge that have not found the text.
    #[serde(default)]
    pub(crate) in_vain: u32,
    /// Why the last check has not found it, or why it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) verified_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stale_since: Option<u64>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Subject {
    /// The domain that each verification has proved.
    pub(crate) proved: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Start {
    /// A target of the map, whose website's domain is to be proved. Either this or `org_id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 40))]
    pub(crate) target_id: Option<String>,
    /// An organisation of `social_org` of which the person is owner or admin, whose domain is to be
    /// proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 40))]
    pub(crate) org_id: Option<String>,
    /// Where the text will be published.
    pub(crate) method: Method,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Own {
    /// One's own verification, `ver_` and a ULID.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) verification_id: String,
    /// The version that was read: if there is a newer one by now, nothing is changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expected_version: Option<u64>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Status {
    /// Only this one of one's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 40))]
    pub(crate) verification_id: Option<String>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Withdraw {
    #[schemars(length(min = 1, max = 40))]
    pub(crate) verification_id: String,
    /// For whose it is.
    #[schemars(length(min = 1, max = 300))]
    pub(crate) reason: String,
}

/// Of a timer, and of a question.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct About {
    #[schemars(length(min = 1, max = 40))]
    pub(crate) verification_id: String,
    /// Which of its challenges.
    pub(crate) challenge: u64,
}
