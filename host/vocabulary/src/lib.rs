//! The types that every crate of the host shares.
//!
//! The modules in reading order:
//!
//! - `timestamp`, `clock`: instants, and the clock that is passed to whatever needs the time.
//! - `identifier`, `digest`: ids and the names that capabilities may use; SHA-256 digests.
//! - `text`: untrusted texts with their control characters escaped.
//! - `access`, `caller`: access classes of actions, and the agent or system that a call acts for.
//! - `publisher`: the publisher of a component.
//! - `descriptor`: the descriptor of a component.
//! - `plain_json`: JSON texts as they are stored.
//! - `zone`: time zones, and instants in them for people to read.
//! - `delivery`: the rules of a person about the events that reach them.
//! - `approvals`: what a person's agents may do alone, and the calls that wait for the person.
//! - `role`: what the host itself needs capabilities for.
//! - `operator`: who runs the host, and what they may do.
//! - `incident`: what the operator tells the public about incidents and planned maintenance.
//! - `failure`: the envelope of every failure.
//! - `release`: when a version that is given to a share of callers is taken back.
//! - `people`, `people_request`: whose data a document is, its export and its erasure; the stored requests
//!   for an export or an erasure.
//! - `bucket`: a rate limit over a period.
//! - `limits`, `quotas`, `retention`: the limits of calls and of the host, the quotas of capabilities, and
//!   how long records are kept.
//! - `keyring`, [`sealed`], `key_seal`: the host's secret keys, authenticated encryption with them, and the
//!   sealing of private keys.
//! - `text_message`, `email`: a text message and an email as they are stored until they are sent.
//!
//! Invariants:
//!
//! - This crate never uses HTTP, SQL or WebAssembly.
//! - `Timestamp::now` alone reads the system's time; callers get it from a [`Clock`].
//! - No secret key is ever shown by `Debug`.

mod access;
mod approvals;
mod bucket;
mod caller;
mod clock;
mod delivery;
mod descriptor;
mod digest;
mod email;
mod failure;
mod hexadecimal;
mod identifier;
mod incident;
mod key_seal;
mod keyring;
mod limits;
mod operator;
mod people;
mod people_request;
mod plain_json;
mod publisher;
mod quotas;
mod recording;
mod release;
mod retention;
mod role;
pub mod sealed;
mod text_message;
mod text;
mod timestamp;
mod zone;

pub use access::{Access, SCOPES};
pub use approvals::{
    Amount, ApprovalPolicy, ApprovedCall, Consequence, CoveredCall, HeldCall, InvalidPolicy,
    WaitReason,
};
pub use bucket::{Bucket, DAY, HOUR, MINUTE};
pub use caller::{AgentCaller, Caller, Claimed, KnownOwner, OwnedAgent, Suspension};
pub use clock::Clock;
pub use delivery::{
    ALWAYS_DELIVERED, Cap, DailyDigest, DeliveryRules, EventParts, OwnerRules, QuietHours,
    RulesChange, Timing, is_always_delivered, is_time_zone,
};
pub use descriptor::{
    ActionDescriptor, Annotation, BY_PERSON, CONSEQUENCE, Collection, Descriptor, ErrorDeclaration,
    Geo, INTENTS, Index, Invocation, KNOWN_ANNOTATIONS, LEFT_OUT_OF_EXPORTS, NO_DRY_RUN,
    PERSON_PAGE, PUBLISHED, Prompt, PromptArgument, Publication, StateMachine, Status,
    Subscription, TOOLS, Transition, WHILE_SUSPENDED,
};
pub use digest::Digest;
pub use email::{Email, EmailContent, is_told_by_email};
pub use failure::{Failure, RETRY_SOON_S};
pub use hexadecimal::{from_hex, to_hex};
pub use identifier::{
    APPROVED_OF, CATALOG_CHANGED, EMAIL_NOTICES, FEEDS_PUBLISHED, FINDER_TOOLS, HELD_EVENTS, HOST,
    HOST_EVENTS, LOOKUPS_OF, NOTIFICATIONS_DIGEST, OUTGOING_EMAIL, OUTGOING_SMS, OWNER_LEAVING,
    OWNER_LEFT, PEOPLE_OF, RESERVED_IDS, SMS_UNDELIVERABLE, STREAM_GAP, WEBHOOK_CHALLENGE,
    WEBHOOK_DISABLED, WEBHOOK_TEST, entropy, is_capability_id, is_event_name, is_event_type,
    is_idempotency_key, is_snake_case, made_at, new_identifier, new_request_id,
};
pub use incident::{
    INCIDENT_STATES, Incident, IncidentState, IncidentStateRow, IncidentUpdate, Maintenance,
};
pub use key_seal::{KeySeal, KeySealError, PrivateKey, SealFuture, SealedKey};
pub use keyring::{DerivedKeys, Keyring};
pub use limits::{Limit, Limits};
pub use operator::{OPERATOR_ROLES, Operator, OperatorRole, OperatorRoleRow, operator_caller};
pub use people::{
    Audience, Erased, Erasure, People, Person, PersonalField, UndeclaredPerson, merge_people,
    person_ids, redact_ids,
};
pub use people_request::PeopleRequest;
pub use plain_json::plain_json;
pub use portolan_codes::{CATEGORIES, ErrorCode, ErrorKind, OWN, is_category};
pub use publisher::{NotAPublisher, Publisher};
pub use quotas::{Quota, QuotaRow, Quotas};
pub use recording::RecordingSettings;
pub use release::{
    CallResult, RELEASE_RULES, RELEASE_SHARES, RELEASE_SPANS_MINUTES, ReleaseBreach,
    ReleaseFigures, ReleaseRule, failures_in_a_row, promotion_doubt, release_breach,
};
pub use retention::Retention;
pub use role::{Role, Roles};
pub use text::{one_line, printable};
pub use text_message::TextMessage;
pub use timestamp::Timestamp;
pub use zone::{Precision, Zone};
