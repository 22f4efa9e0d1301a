//! What the host keeps of agents, their clients, and people: documents of its own, in the same
//! transactions as those of capabilities.

use crate::{Identity, IdentityError, metadata::ClientMetadata};
use portolan_store::{
    Attachments, Collection, DbError, Document, Expectation, StateError, Store, Unit, Verdict,
    query::{Query, Request},
};
use portolan_vocabulary::{self as vocabulary, HOST, Index, Timestamp};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::collections::BTreeMap;

/// The member by which records that expire are found: milliseconds since the Unix epoch.
const EXPIRES_AT: &str = "expires_at";
/// Records of one unit that are removed at once.
const REMOVED_AT_ONCE: u32 = 100;

/// A registered agent, by its id.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct AgentRecord {
    /// `anonymous` or `client`.
    pub identity_type: String,
    pub name: Option<String>,
    pub software_id: Option<String>,
    pub software_version: Option<String>,
    pub install_id: Option<String>,
    pub test_mode: bool,
    /// The person behind it, once claimed.
    pub owner_id: Option<String>,
    /// Milliseconds since the Unix epoch, as every time here.
    pub claimed_at: Option<u64>,
    pub revoked_at: Option<u64>,
    /// It only carries a person's code to where the person signs in, and never is one of theirs.
    #[serde(default)]
    pub signs_in: bool,
    /// The client that was registered with it.
    #[serde(default)]
    pub client_id: Option<String>,
    /// About a day exact.
    #[serde(default)]
    pub last_call_at: Option<u64>,
    /// None as long as a person stands behind it.
    #[serde(default)]
    pub expires_at: Option<u64>,
}

impl AgentRecord {
    pub(super) fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now.as_millis())
    }
}

/// A client that was registered, by its id. Secrets are kept as SHA-256 hashes in hexadecimal
/// digits.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ClientRecord {
    /// Whom it is by itself; none if it only acts for people who let it.
    pub agent_id: Option<String>,
    pub secret_hash: Option<String>,
    pub key_hash: Option<String>,
    /// As registered; none of the clients of agents.
    #[serde(default)]
    pub metadata: Option<ClientMetadata>,
    #[serde(default)]
    pub registration_token_hash: Option<String>,
}

/// Whom a person's key means, by the key.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PersonRecord {
    pub owner_id: String,
}

/// A person, by the owner's id.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OwnerRecord {
    pub person_key: String,
    /// In the order in which they were claimed.
    pub agents: Vec<String>,
}

/// An authorization code, by its hash.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CodeRecord {
    pub client_id: String,
    pub agent_id: String,
    pub redirect_uri: String,
    pub scope: String,
    pub audience: String,
    pub code_challenge: String,
    /// Until here it can be redeemed.
    pub good_until: u64,
    /// What it was redeemed for; a second time ends that.
    pub grant_id: Option<String>,
    pub expires_at: u64,
}

/// What a person has let a client do, by its id: the family of its refresh tokens.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct GrantRecord {
    pub client_id: String,
    pub agent_id: String,
    pub scope: String,
    pub audience: String,
    /// Number of the one refresh token that is good.
    pub generation: u64,
    pub expires_at: u64,
}

/// The agent that a client is for a person, by both their ids.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PartnerRecord {
    pub agent_id: String,
}

/// A person who has signed in with a browser, by the hash of its cookie.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SessionRecord {
    pub owner_id: String,
    /// For the person to recognise: the number's last digits.
    pub phone_masked: String,
    pub expires_at: u64,
}

/// Something that is over before its time, by its id: a token, a grant, a client, an assertion.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct EndedRecord {
    pub expires_at: u64,
}

/// The host's own collections.
#[derive(Debug)]
pub(super) struct Records {
    pub agents: Collection,
    pub clients: Collection,
    pub persons: Collection,
    pub owners: Collection,
    pub codes: Collection,
    pub grants: Collection,
    pub partners: Collection,
    pub sessions: Collection,
    pub ended: Collection,
}

impl Records {
    pub(super) async fn open(store: &Store) -> Result<Self, IdentityError> {
        let lasting =
            ["clients", "persons", "owners", "partners"].map(|name| declaration(name, false));
        let expiring =
            ["agents", "codes", "grants", "sessions", "ended"].map(|name| declaration(name, true));
        let declared: Vec<_> = lasting.into_iter().chain(expiring).collect();
        let mut collections = store.declare(HOST, &declared).await?;
        let mut take = |name: &str| take(&mut collections, name);
        Ok(Self {
            agents: take("agents")?,
            clients: take("clients")?,
            persons: take("persons")?,
            owners: take("owners")?,
            codes: take("codes")?,
            grants: take("grants")?,
            partners: take("partners")?,
            sessions: take("sessions")?,
            ended: take("ended")?,
        })
    }
}

/// Found by their ids, and by when they expire.
fn declaration(name: &str, expires: bool) -> vocabulary::Collection {
    let index =
        Index { name: EXPIRES_AT.to_owned(), paths: vec![EXPIRES_AT.to_owned()], unique: false };
    vocabulary::Collection {
        name: name.to_owned(),
        indexes: expires.then_some(index).into_iter().collect(),
        text: Vec::new(),
        geo: None,
    }
}

fn take(
    collections: &mut BTreeMap<String, Collection>,
    name: &str,
) -> Result<Collection, IdentityError> {
    collections.remove(name).ok_or_else(|| DbError::Declaration(name.to_owned()).into())
}

impl Identity {
    /// Removes records whose time is over.
    pub async fn sweep(&self) -> Result<(), IdentityError> {
        let records = &self.records;
        for collection in [&records.codes, &records.grants, &records.sessions, &records.ended] {
            self.remove_expired(collection, |_, _| {}).await?;
        }
        // With an agent goes the client that nobody else is.
        let mut clients = Vec::new();
        self.remove_expired(&records.agents, |_, agent| clients.extend(client_of(agent))).await?;
        for clients in clients.chunks(REMOVED_AT_ONCE as usize) {
            let mut unit = unit(&self.store);
            for client in clients {
                unit.delete(&records.clients, client, Expectation::Any).await?;
            }
            commit(unit).await?;
        }
        Ok(())
    }

    async fn remove_expired(
        &self,
        collection: &Collection,
        mut removed: impl FnMut(&str, &str),
    ) -> Result<(), IdentityError> {
        loop {
            let mut unit = unit(&self.store);
            let filter = format!("{{\"{EXPIRES_AT}\":{{\"lte\":{}}}}}", unit.now().as_millis());
            let request = Request {
                filter: Some(&filter),
                text: None,
                near: None,
                within: None,
                order: &[],
                limit: REMOVED_AT_ONCE,
                unchecked: false,
            };
            let query = Query::new(collection.shape(), request)
                .map_err(|error| StateError::Invalid(error.to_string()))?;
            let found = unit.find(collection, &query, None).await?.hits;
            for hit in &found {
                unit.delete(collection, &hit.document.id, Expectation::Any).await?;
                removed(&hit.document.id, &hit.document.body);
            }
            // A conflict is a record that lives on after all; the next round finds the others.
            commit(unit).await?;
            if found.len() < REMOVED_AT_ONCE as usize {
                return Ok(());
            }
        }
    }
}

fn client_of(agent: &str) -> Option<String> {
    serde_json::from_str::<AgentRecord>(agent).ok()?.client_id
}

/// A record and its revision.
pub(super) async fn read<T: DeserializeOwned>(
    unit: &mut Unit,
    collection: &Collection,
    id: &str,
) -> Result<Option<(T, u64)>, StateError> {
    let Some(document) = unit.get(collection, id).await? else { return Ok(None) };
    Ok(Some((parse(&document)?, document.revision)))
}

pub(super) fn parse<T: DeserializeOwned>(document: &Document) -> Result<T, StateError> {
    let unreadable = |error| format!("the record {} cannot be read: {error}", document.id);
    serde_json::from_str(&document.body).map_err(|error| StateError::Invalid(unreadable(error)))
}

pub(super) async fn write<T: Serialize>(
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

/// Whether it was committed; not if somebody else has changed what it read.
pub(super) async fn commit(unit: Unit) -> Result<bool, IdentityError> {
    let verdict = unit.commit(Attachments::default()).await.map_err(DbError::Shared)?;
    Ok(verdict == Verdict::Committed)
}

/// Commits what nobody else can have changed meanwhile.
pub(super) async fn commit_new(unit: Unit) -> Result<(), IdentityError> {
    if commit(unit).await? { Ok(()) } else { Err(StateError::Conflict.into()) }
}

/// A unit of the host's own.
pub(super) fn unit(store: &Store) -> Unit {
    Unit::new(store.clone(), Timestamp::now())
}
