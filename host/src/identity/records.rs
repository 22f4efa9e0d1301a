//! What the host keeps of agents, their clients, and people: documents of its own, in the same
//! transactions as those of capabilities.

use crate::{
    db::{
        Attachments, Collection, DbError, Document, Expectation, StateError, Store, Unit, Verdict,
    },
    identity::IdentityError,
    vocabulary::{self, Timestamp},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::collections::BTreeMap;

/// In the place of a capability's id; no capability can have it.
const HOST: &str = ":host";

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
}

/// The credentials of an install, by the client's id. Secrets are kept as SHA-256 hashes in
/// hexadecimal digits.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ClientRecord {
    pub agent_id: String,
    pub secret_hash: String,
    pub key_hash: String,
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

/// The host's own collections.
#[derive(Debug)]
pub(super) struct Records {
    pub agents: Collection,
    pub clients: Collection,
    pub persons: Collection,
    pub owners: Collection,
}

impl Records {
    pub(super) async fn open(store: &Store) -> Result<Self, IdentityError> {
        let declared = ["agents", "clients", "persons", "owners"].map(declaration);
        let mut collections = store.declare(HOST, &declared).await?;
        let mut take = |name: &str| take(&mut collections, name);
        Ok(Self {
            agents: take("agents")?,
            clients: take("clients")?,
            persons: take("persons")?,
            owners: take("owners")?,
        })
    }
}

/// Found by their ids alone.
fn declaration(name: &str) -> vocabulary::Collection {
    vocabulary::Collection {
        name: name.to_owned(),
        indexes: Vec::new(),
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

/// Commits what nobody else can have changed meanwhile.
pub(super) async fn commit_new(unit: Unit) -> Result<(), IdentityError> {
    match unit.commit(Attachments::default()).await.map_err(DbError::Shared)? {
        Verdict::Committed => Ok(()),
        Verdict::Conflict(_) | Verdict::Superseded => Err(StateError::Conflict.into()),
    }
}

/// A unit of the host's own.
pub(super) fn unit(store: &Store) -> Unit {
    Unit::new(store.clone(), Timestamp::now())
}
