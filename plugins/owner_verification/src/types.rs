//! Inputs, stored documents and events.

use crate::{refusals::VerificationError, states::State};
use portolan_sdk::{documents::Person, prelude::*};
use std::collections::BTreeMap;

pub(crate) const CAPABILITY: &str = "owner_verification";

#[id]
pub(crate) struct Id(String);

pub(crate) const VERIFICATIONS: Collection<Verification> = Collection::new("verifications")
    .people(&[Person::delete("owner_id")])
    .unique("subject", &["owner_id", "subject_id"])
    .index("owner", &["owner_id", "changed_at"]);

/// The people who speak for a company, keyed by the id of its record.
pub(crate) const SUBJECTS: Collection<Subject> =
    Collection::new("subjects").version(2).people(&[Person::remove("proved{}.owner_id")]);

pub(crate) const DAYS: Collection<Day> = Collection::new("days").people(&[Person::delete("$id")]);

pub(crate) const UPDATED: Event<Data<Updated>> = Event::new("verification.updated");

/// The data of the event, in addition to the fields that every event has.
#[derive(Serialize)]
pub(crate) struct Updated {
    pub(crate) owner_id: String,
    #[serde(flatten)]
    pub(crate) of: SubjectRef,
    pub(crate) domain: String,
    /// Whether this person or another one has proved this domain of the record, and the proof is
    /// still valid.
    pub(crate) anybody_verified: bool,
}

/// The record of a company: a target of the map, or an organisation.
#[input(Clone, PartialEq, Eq)]
pub(crate) struct SubjectRef {
    /// The id of a target of the map.
    pub(crate) target_id: Option<String>,
    /// The id of an organisation of `social_org`.
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

/// A verification. Times are milliseconds since the Unix epoch.
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
    pub(crate) of: SubjectRef,
    /// The domain that the record had when the challenge was issued.
    pub(crate) domain: String,
    pub(crate) method: Method,
    pub(crate) state: State,
    /// The number of the challenge, so that each has a text of its own.
    pub(crate) challenge: u64,
    pub(crate) issued_at: u64,
    pub(crate) changed_at: u64,
    pub(crate) checked_at: Option<u64>,
    /// The id of the look-up whose result is awaited.
    pub(crate) lookup_id: Option<String>,
    /// The number of failed checks of this challenge.
    #[serde(default)]
    pub(crate) in_vain: u32,
    /// Why the last check has failed, or why the verification has ended.
    pub(crate) reason: Option<String>,
    pub(crate) verified_at: Option<u64>,
    pub(crate) stale_since: Option<u64>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Subject {
    /// The proof of each verification, keyed by the verification's id.
    pub(crate) proved: BTreeMap<String, Proof>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Proof {
    pub(crate) domain: String,
    /// The person; empty if the proof was stored before people were.
    pub(crate) owner_id: String,
}

#[input]
pub(crate) struct Start {
    /// The id of a target of the map: its website's domain is to be proved. Give either this or
    /// `org_id`.
    pub(crate) target_id: Option<Id>,
    /// The id of an organisation of `social_org` of which the person is owner or admin: its domain
    /// is to be proved. If no owner and no admin has called for 60 days, anybody may prove it, and can
    /// then take over the organisation with `social_org` `request_succession`.
    pub(crate) org_id: Option<Id>,
    /// Where the text will be published.
    pub(crate) method: Method,
}

#[input]
pub(crate) struct OwnInput {
    /// The id of one's own verification: `ver_` and a ULID.
    pub(crate) verification_id: Id,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Status {
    /// The id of the verification to return. Omit this field to get all of the person's
    /// verifications.
    pub(crate) verification_id: Option<Id>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct Withdraw {
    pub(crate) verification_id: Id,
    /// The reason, which the person reads.
    pub(crate) reason: Text<1, 300>,
}

/// The input of a timer, and of a look-up.
#[input]
pub(crate) struct About {
    pub(crate) verification_id: Id,
    /// The number of the challenge.
    pub(crate) challenge: u64,
}

impl About {
    pub(crate) fn of(id: &str, verification: &Verification) -> Self {
        Self { verification_id: id.into(), challenge: verification.challenge }
    }
}
