//! Inputs, what is kept, and events.

use crate::{life::State, refusals::VerificationError};
use portolan_sdk::prelude::*;
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
#[input(Clone, PartialEq, Eq)]
pub(crate) struct Of {
    /// A target of the map.
    pub(crate) target_id: Option<String>,
    /// An organisation of `social_org`.
    pub(crate) org_id: Option<String>,
}

/// Where the text is published.
#[choice]
pub(crate) enum Method {
    /// As a TXT record of the name `_portolan-challenge` under the domain.
    DnsTxt,
    /// As a line of the file `/.well-known/portolan-verification.txt` of the domain's web server.
    WellKnownFile,
}

/// Times are milliseconds since the Unix epoch.
#[document]
#[entity(
    kind = "verification", collection = VERIFICATIONS, owner = owner_id,
    not_found = VerificationError::unknown()
)]
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
    pub(crate) checked_at: Option<u64>,
    /// The question that is not answered yet.
    pub(crate) lookup_id: Option<String>,
    /// Checks of this challenge that have not found the text.
    #[serde(default)]
    pub(crate) in_vain: u32,
    /// Why the last check has not found it, or why it has ended.
    pub(crate) reason: Option<String>,
    pub(crate) verified_at: Option<u64>,
    pub(crate) stale_since: Option<u64>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Subject {
    /// The domain that each verification has proved.
    pub(crate) proved: BTreeMap<String, String>,
}

#[input]
pub(crate) struct Start {
    /// A target of the map, whose website's domain is to be proved. Either this or `org_id`.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) target_id: Option<String>,
    /// An organisation of `social_org` of which the person is owner or admin, whose domain is to be
    /// proved.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) org_id: Option<String>,
    /// Where the text will be published.
    pub(crate) method: Method,
}

#[input]
pub(crate) struct Own {
    /// One's own verification, `ver_` and a ULID.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) verification_id: String,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Status {
    /// Only this one of one's own.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) verification_id: Option<String>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct Withdraw {
    #[schemars(length(min = 1, max = 40))]
    pub(crate) verification_id: String,
    /// For whose it is.
    #[schemars(length(min = 1, max = 300))]
    pub(crate) reason: String,
}

/// Of a timer, and of a question.
#[input]
pub(crate) struct About {
    #[schemars(length(min = 1, max = 40))]
    pub(crate) verification_id: String,
    /// Which of its challenges.
    pub(crate) challenge: u64,
}
