//! The records of agents, clients, people, grants and sessions: documents of the host's own, in the
//! same transactions as those of capabilities.

use crate::{error::IdentityError, metadata::ClientMetadata};
use portolan_store::{
    Attachments, Collection, DbError, Document, Expectation, StateError, Store, Unit, Verdict,
};
use portolan_vocabulary::{
    self as vocabulary, ApprovalPolicy, Audience, Erasure, HOST, Index, Person, PersonalField,
    Timestamp,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::collections::BTreeMap;
use webauthn_rs::prelude::Passkey;

/// The member by which expired records are found, in milliseconds since the Unix epoch.
pub(crate) const EXPIRES_AT: &str = "expires_at";
/// An anonymous agent expires after this time without a call, and a client that acts only for people after
/// this time without a new token.
const UNUSED_MS: u64 = 90 * 24 * 3600 * 1000;
/// The agent of a person of test mode expires after this time without a call.
const TEST_PERSON_UNUSED_MS: u64 = 365 * 24 * 3600 * 1000;

/// The prefix of the key of a person of test mode, who does not exist in live mode.
pub(crate) const TEST_PREFIX: &str = "test:";

/// A registered agent, keyed by its id.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AgentRecord {
    /// `anonymous` or `client`.
    pub identity_type: String,
    pub name: Option<String>,
    pub software_id: Option<String>,
    pub software_version: Option<String>,
    pub install_id: Option<String>,
    pub test_mode: bool,
    /// The owner, once the agent is claimed.
    pub owner_id: Option<String>,
    /// The owner from whom the agent was unbound, and to whom its documents still belong.
    #[serde(default)]
    pub former_owner_id: Option<String>,
    /// In milliseconds since the Unix epoch, like every time in a record.
    pub claimed_at: Option<u64>,
    pub revoked_at: Option<u64>,
    /// Whether the agent exists only to verify the phone number of a person who signs in. Such an agent is
    /// never bound to an owner.
    #[serde(default)]
    pub signs_in: bool,
    /// The approval of a person with passkeys, without whom nobody claims the agent for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalRecord>,
    /// The person's consent, if the agent acts for them as a client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<Consent>,
    /// The client that was registered with the agent.
    #[serde(default)]
    pub client_id: Option<String>,
    /// The time of the last call, accurate to about a day.
    #[serde(default)]
    pub last_call_at: Option<u64>,
    /// `None` for an agent with an owner in live mode, which does not expire.
    #[serde(default)]
    pub expires_at: Option<u64>,
}

impl AgentRecord {
    /// Returns whether the agent has expired because it did not call.
    pub(crate) fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|expires_at| expires_at <= now.as_millis())
    }

    /// Returns when the agent expires if this was its last call, in milliseconds since the Unix epoch.
    pub(crate) fn expiry(&self, last_call: Timestamp) -> Option<u64> {
        match (&self.owner_id, self.test_mode) {
            (None, _) => Some(unused_expiry(last_call)),
            (Some(_), true) => Some(last_call.as_millis() + TEST_PERSON_UNUSED_MS),
            (Some(_), false) => None,
        }
    }
}

/// The approval of an agent by a person who is signed in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ApprovalRecord {
    /// Hash of the owner's id, so that the agent's record names the person only once it is theirs.
    pub owner: String,
    pub expires_at: u64,
}

/// The last consent of a person to a client that acts for them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Consent {
    pub client_id: String,
    /// Scopes, separated by spaces.
    pub scope: String,
}

/// A registered client, keyed by its id. Secrets are kept as SHA-256 hashes in hexadecimal digits.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ClientRecord {
    /// The agent as which the client acts for itself. A client that acts only for people has none.
    pub agent_id: Option<String>,
    pub secret_hash: Option<String>,
    pub key_hash: Option<String>,
    /// Its metadata. A client that was registered together with an agent has none.
    #[serde(default)]
    pub metadata: Option<ClientMetadata>,
    #[serde(default)]
    pub registration_token_hash: Option<String>,
    /// `None` for a client with an agent, with which it is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
}

/// The owner to whom a person's key belongs, keyed by that key.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PersonRecord {
    pub owner_id: String,
}

/// A person, keyed by the owner's id.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OwnerRecord {
    pub person_key: String,
    /// The person's agents, in the order in which they were claimed.
    pub agents: Vec<String>,
    /// The ids of the sessions that have not ended, the oldest first. A session that is not in this list is
    /// not valid, whatever its record says.
    #[serde(default)]
    pub sessions: Vec<String>,
    /// How often all sessions were ended at once. An authorization code from before the last time is not
    /// valid.
    #[serde(default)]
    pub sign_outs: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension: Option<SuspensionRecord>,
    /// The end of the suspension that was kept for the person's number when somebody with it was erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_suspension_until: Option<u64>,
    /// Whether the erasure of the person has begun. A suspension from now on is also kept for the number.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_erasing: bool,
    /// Whether the person has a record of delivery rules.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_rules: bool,
    /// Whether the person has confirmed an email address and wants emails.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_email: bool,
    /// The approval policy, if the person limits their agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<ApprovalPolicy>,
    /// The oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passkeys: Vec<PasskeyRecord>,
}

/// A passkey of a person.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PasskeyRecord {
    /// The name that the person has given it.
    pub name: String,
    /// The name of the host's address when it was made, where alone it works.
    pub relying_party: String,
    /// The public key and its counter.
    pub key: Passkey,
    pub created_at: u64,
    pub last_used_at: Option<u64>,
}

/// The suspension of a person. It may have ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SuspensionRecord {
    pub reason: String,
    /// `None` until the person is reinstated.
    pub until: Option<u64>,
    /// The step by which the person appeals.
    pub appeal: Option<Value>,
}

/// The rest of the suspension of an erased person, keyed by the hash of the person's key: it names nobody, and
/// only a person who proves the same number has the same key.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeptSuspensionRecord {
    /// The end of the suspension, also for the person who has the number by then.
    pub expires_at: u64,
}

impl OwnerRecord {
    pub(crate) fn is_of_test_mode(&self) -> bool {
        self.person_key.starts_with(TEST_PREFIX)
    }
}

/// An authorization code, keyed by its hash.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CodeRecord {
    pub client_id: String,
    pub agent_id: String,
    pub redirect_uri: String,
    pub scope: String,
    pub audience: String,
    pub code_challenge: String,
    /// The person who has consented; `None` for a code of an earlier version.
    #[serde(default)]
    pub owner_id: Option<String>,
    /// The person's number of sign-outs when they consented.
    #[serde(default)]
    pub sign_outs: u64,
    /// The time until which it can be redeemed.
    pub good_until: u64,
    /// The grant that it was redeemed for. A second use revokes that grant.
    pub grant_id: Option<String>,
    pub expires_at: u64,
}

/// A grant of a person to a client, keyed by its id. Its refresh tokens form one family.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct GrantRecord {
    pub client_id: String,
    pub agent_id: String,
    pub scope: String,
    pub audience: String,
    /// The number of the only refresh token that is valid.
    pub generation: u64,
    pub expires_at: u64,
}

/// The agent as which a client acts for a person, keyed by a hash of the client's and the owner's ids.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ClientAgentRecord {
    pub agent_id: String,
}

/// A browser's sign-in, keyed by the hash of its cookie.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SessionRecord {
    pub owner_id: String,
    /// The credential that the person signed in with: the phone number with most digits hidden, or the name of
    /// a passkey. The serialized name is that of an earlier version.
    #[serde(rename = "phone_masked")]
    pub proof: String,
    /// The family of the browser, such as `Firefox`.
    #[serde(default)]
    pub browser: Option<String>,
    #[serde(default)]
    pub started_at: u64,
    /// The time of the last use, accurate to about an hour.
    #[serde(default)]
    pub last_used_at: u64,
    pub expires_at: u64,
}

/// A revoked token, grant or client, keyed by its id, or a used assertion, keyed by a hash. The record is
/// kept until the revoked tokens, or the assertion, have expired.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RevocationRecord {
    pub expires_at: u64,
}

/// The host's own collections.
#[derive(Debug)]
pub(crate) struct Records {
    pub agents: Collection,
    pub clients: Collection,
    pub persons: Collection,
    pub owners: Collection,
    pub codes: Collection,
    pub grants: Collection,
    pub client_agents: Collection,
    pub sessions: Collection,
    pub mcp_sessions: Collection,
    pub revoked: Collection,
    pub ceremonies: Collection,
    pub device_codes: Collection,
    pub kept_suspensions: Collection,
    /// The delivery rules of people, by the owner's id.
    pub rules: Collection,
    /// The email addresses of people, by the owner's id.
    pub emails: Collection,
    pub email_links: Collection,
}

impl Records {
    /// Declares the collections to the store.
    pub(crate) async fn open(store: &Store) -> Result<Self, IdentityError> {
        let declared: Vec<_> = COLLECTIONS.iter().map(CollectionDeclaration::declaration).collect();
        let mut collections = store.declare(HOST, &declared).await?;
        let mut take = |name: &str| take_collection(&mut collections, name);
        Ok(Self {
            agents: take("agents")?,
            clients: take("clients")?,
            persons: take("persons")?,
            owners: take("owners")?,
            codes: take("codes")?,
            grants: take("grants")?,
            client_agents: take("partners")?,
            sessions: take("sessions")?,
            mcp_sessions: take("mcp_sessions")?,
            revoked: take("ended")?,
            ceremonies: take("ceremonies")?,
            device_codes: take("device_codes")?,
            kept_suspensions: take("kept_suspensions")?,
            rules: take("delivery_rules")?,
            emails: take(EMAILS)?,
            email_links: take("email_links")?,
        })
    }
}

/// A collection whose records are found by their ids and, if they expire, by their times of expiry.
struct CollectionDeclaration {
    name: &'static str,
    expires: bool,
    /// The paths that name a person; their erasure deletes the record.
    people: &'static [&'static str],
    /// The paths of lists that also name people; their erasure removes them from the list.
    lists: &'static [&'static str],
}

/// The collection of email addresses.
const EMAILS: &str = "emails";
/// The sealed fields of a collection, which are the person's alone.
const SEALED: [(&str, &[&str]); 1] = [(EMAILS, &["address", "pending.address", "refused"])];

const COLLECTIONS: [CollectionDeclaration; 16] = [
    CollectionDeclaration { name: "clients", expires: true, people: &["agent_id"], lists: &[] },
    CollectionDeclaration { name: "persons", expires: false, people: &["owner_id"], lists: &[] },
    CollectionDeclaration {
        name: "owners",
        expires: false,
        people: &["$id"],
        lists: &["agents[]"],
    },
    CollectionDeclaration { name: "partners", expires: false, people: &["agent_id"], lists: &[] },
    CollectionDeclaration {
        name: "agents",
        expires: true,
        people: &["$id", "owner_id", "former_owner_id"],
        lists: &[],
    },
    CollectionDeclaration {
        name: "codes",
        expires: true,
        people: &["agent_id", "owner_id"],
        lists: &[],
    },
    CollectionDeclaration { name: "grants", expires: true, people: &["agent_id"], lists: &[] },
    CollectionDeclaration { name: "sessions", expires: true, people: &["owner_id"], lists: &[] },
    CollectionDeclaration {
        name: "mcp_sessions",
        expires: true,
        people: &["agent_id"],
        lists: &[],
    },
    CollectionDeclaration { name: "ended", expires: true, people: &[], lists: &[] },
    CollectionDeclaration { name: "ceremonies", expires: true, people: &["owner_id"], lists: &[] },
    CollectionDeclaration {
        name: "device_codes",
        expires: true,
        people: &["agent_id", "owner_id"],
        lists: &[],
    },
    CollectionDeclaration { name: "kept_suspensions", expires: true, people: &[], lists: &[] },
    CollectionDeclaration { name: "delivery_rules", expires: false, people: &["$id"], lists: &[] },
    CollectionDeclaration { name: EMAILS, expires: true, people: &["$id"], lists: &[] },
    CollectionDeclaration { name: "email_links", expires: true, people: &["owner_id"], lists: &[] },
];

impl CollectionDeclaration {
    fn declaration(&self) -> vocabulary::Collection {
        let index = Index {
            name: EXPIRES_AT.to_owned(),
            paths: vec![EXPIRES_AT.to_owned()],
            unique: false,
        };
        let sealed = SEALED.iter().filter(|(name, _)| *name == self.name);
        let field =
            |path: &&str| PersonalField { path: (*path).to_owned(), audience: Audience::Personal };
        let fields: Vec<_> = sealed.flat_map(|(_, paths)| paths.iter().map(field)).collect();
        let person = |erasure| {
            let fields = fields.clone();
            move |path: &&str| Person { path: (*path).to_owned(), erasure, fields: fields.clone() }
        };
        let people = self.people.iter().map(person(Erasure::DeleteDocument));
        let lists = self.lists.iter().map(person(Erasure::RemoveElement));
        vocabulary::Collection {
            name: self.name.to_owned(),
            indexes: self.expires.then_some(index).into_iter().collect(),
            text: Vec::new(),
            geo: None,
            version: 1,
            people: Some(people.chain(lists).collect()),
        }
    }
}

fn take_collection(
    collections: &mut BTreeMap<String, Collection>,
    name: &str,
) -> Result<Collection, IdentityError> {
    collections.remove(name).ok_or_else(|| DbError::Declaration(name.to_owned()).into())
}

/// Reads a record and its revision. `id` may be any text that a request names.
pub(crate) async fn read<T: DeserializeOwned>(
    unit: &mut Unit,
    collection: &Collection,
    id: &str,
) -> Result<Option<(T, u64)>, StateError> {
    let Some(document) = unit.get(collection, id).await? else { return Ok(None) };
    Ok(Some((parse(&document)?, document.revision)))
}

pub(crate) fn parse<T: DeserializeOwned>(document: &Document) -> Result<T, StateError> {
    let unreadable = |error| format!("the record {} cannot be read: {error}", document.id);
    serde_json::from_str(&document.body).map_err(|error| StateError::Invalid(unreadable(error)))
}

pub(crate) async fn write<T: Serialize>(
    unit: &mut Unit,
    collection: &Collection,
    id: &str,
    record: &T,
    expect: Expectation,
) -> Result<(), StateError> {
    let body = serde_json::to_string(record)
        .map_err(|error| StateError::Invalid(format!("the record {id}: {error}")))?;
    unit.put(collection, id, body, expect).await?;
    Ok(())
}

/// Commits a unit. Returns `false` if it was not committed, such as after a conflict.
pub(crate) async fn commit(unit: Unit) -> Result<bool, IdentityError> {
    let verdict = unit.commit(Attachments::default()).await.map_err(DbError::Shared)?;
    Ok(verdict == Verdict::Committed)
}

/// Commits a unit. Fails with a conflict if it was not committed.
pub(crate) async fn commit_or_conflict(unit: Unit) -> Result<(), IdentityError> {
    if commit(unit).await? { Ok(()) } else { Err(StateError::Conflict.into()) }
}

/// Returns when an agent without an owner, or a client without an agent, expires if this was its last use,
/// in milliseconds since the Unix epoch.
pub(crate) fn unused_expiry(last_use: Timestamp) -> u64 {
    last_use.as_millis() + UNUSED_MS
}
