//! Adds recordings: all that wait in one transaction, with one statement for each table.

use super::seal::{compress, content_key, key_names, new_key, seal_content};
use crate::{connection::transact_recordings, error::DbError, integers::signed, store::Store};
use portolan_vocabulary::{Digest, Keyring, Timestamp};
use sqlx::QueryBuilder;
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

/// A recorded call.
#[derive(Debug)]
pub struct NewRecording {
    pub request_id: String,
    pub at: Timestamp,
    pub capability: String,
    pub action: String,
    pub version: String,
    /// The digest of the component.
    pub digest: String,
    /// `ok`, or the error code.
    pub outcome: String,
    /// Whether it failed through no fault of its caller.
    pub failed: bool,
    pub test_mode: bool,
    /// The ids of all capabilities that ran.
    pub capabilities: BTreeSet<String>,
    /// The ids of the people and agents whom it names.
    pub people: BTreeSet<String>,
    pub content: Vec<u8>,
}

/// Keys of recordings by their names, each sealed by the host's own.
type SealedKeys = BTreeMap<String, Vec<u8>>;

/// A recording with its keys.
struct Sealed<'r> {
    recording: &'r NewRecording,
    /// The names of the keys, separated by spaces.
    key_names: String,
    content: Vec<u8>,
}

impl Store {
    /// Adds recordings, and returns how many were written. Those that name a person who is erased are left out.
    ///
    /// No erasure is recorded meanwhile, so that an erasure finds what was written before it, and what is written
    /// after it finds the erasure. Calls are committed meanwhile.
    pub async fn add_recordings(&self, recordings: Vec<NewRecording>) -> Result<u64, DbError> {
        let compressed = tokio::task::spawn_blocking(move || -> io::Result<Vec<_>> {
            let compressed = recordings.into_iter().map(|recording| {
                let content = compress(&recording.content)?;
                Ok(NewRecording { content, ..recording })
            });
            compressed.collect()
        });
        let recordings = compressed.await.unwrap_or_else(|error| Err(io::Error::other(error)));
        let recordings = recordings.map_err(|error| DbError::Sqlx(sqlx::Error::Io(error)))?;
        let keyring = self.keys();
        let digests: BTreeSet<String> = recordings
            .iter()
            .flat_map(|recording| &recording.people)
            .map(|id| digest(id))
            .collect();
        Ok(transact_recordings!(self.inner.backend, |transaction| {
            let mut erased: Vec<String> = Vec::new();
            if !digests.is_empty() {
                let mut sql =
                    QueryBuilder::new("SELECT owner_digest FROM erasures WHERE owner_digest IN (");
                let mut list = sql.separated(", ");
                for digest in &digests {
                    list.push_bind(digest.as_str());
                }
                list.push_unseparated(")");
                erased = sql.build_query_scalar().fetch_all(&mut *transaction).await?;
            }
            let is_kept = |recording: &&NewRecording| {
                !recording.people.iter().any(|person| erased.contains(&digest(person)))
            };
            let kept: Vec<_> = recordings.iter().filter(is_kept).collect();
            let names = names(&kept);
            let mut written = 0;
            if !names.is_empty() {
                let mut sql =
                    QueryBuilder::new("INSERT INTO recording_keys (name, sealed, created_at) ");
                sql.push_values(new_keys(keyring, &names), |mut row, (name, at, key)| {
                    row.push_bind(name).push_bind(key).push_bind(at);
                });
                sql.push(" ON CONFLICT (name) DO NOTHING");
                sql.build().execute(&mut *transaction).await?;
                let mut sql =
                    QueryBuilder::new("SELECT name, sealed FROM recording_keys WHERE name IN (");
                let mut list = sql.separated(", ");
                for name in names.keys() {
                    list.push_bind(name.as_str());
                }
                list.push_unseparated(")");
                let keys: Vec<(String, Vec<u8>)> =
                    sql.build_query_as().fetch_all(&mut *transaction).await?;
                let sealed = seal(keyring, &kept, &keys.into_iter().collect());
                let people: Vec<_> = sealed.iter().flat_map(people).collect();
                if !sealed.is_empty() {
                    let mut sql = QueryBuilder::new(
                        "INSERT INTO recordings (request_id, at, capability, action, version, digest,
                         outcome, failed, test_mode, capabilities, key_names, bytes, content) ",
                    );
                    sql.push_values(sealed, |mut row, sealed| {
                        let Sealed { recording, key_names, content } = sealed;
                        let ids: Vec<_> =
                            recording.capabilities.iter().map(String::as_str).collect();
                        row.push_bind(recording.request_id.as_str())
                            .push_bind(signed(recording.at.as_millis()))
                            .push_bind(recording.capability.as_str())
                            .push_bind(recording.action.as_str())
                            .push_bind(recording.version.as_str())
                            .push_bind(recording.digest.as_str())
                            .push_bind(recording.outcome.as_str())
                            .push_bind(i64::from(recording.failed))
                            .push_bind(i64::from(recording.test_mode))
                            .push_bind(format!(" {} ", ids.join(" ")))
                            .push_bind(key_names)
                            .push_bind(signed(content.len() as u64))
                            .push_bind(content);
                    });
                    sql.push(" ON CONFLICT (request_id) DO NOTHING");
                    written = sql.build().execute(&mut *transaction).await?.rows_affected();
                }
                if !people.is_empty() {
                    let mut sql =
                        QueryBuilder::new("INSERT INTO recording_people (person, request_id) ");
                    sql.push_values(people, |mut row, (person, request_id)| {
                        row.push_bind(person).push_bind(request_id);
                    });
                    sql.push(" ON CONFLICT (person, request_id) DO NOTHING");
                    sql.build().execute(&mut *transaction).await?;
                }
            }
            written
        }))
    }
}

/// Returns the digest of an id, as the list of erasures has it.
fn digest(id: &str) -> String {
    Digest::of(id.as_bytes()).hex()
}

/// Returns the names of all keys that these recordings need, each with the time of a recording.
fn names(recordings: &[&NewRecording]) -> BTreeMap<String, Timestamp> {
    let names = recordings.iter().map(|recording| {
        let names = key_names(&recording.people, recording.at).into_iter();
        names.map(|name| (name, recording.at))
    });
    names.flatten().collect()
}

/// Returns a new key for each of these names, with its time. Those that are there already stay in its place.
fn new_keys<'n>(
    keyring: &Keyring,
    names: &'n BTreeMap<String, Timestamp>,
) -> Vec<(&'n str, i64, Vec<u8>)> {
    let key = |(name, at): (&'n String, &Timestamp)| {
        Some((name.as_str(), signed(at.as_millis()), new_key(keyring, name)?))
    };
    names.iter().filter_map(key).collect()
}

/// Seals the recordings whose keys can be opened.
fn seal<'r>(
    keyring: &Keyring,
    recordings: &[&'r NewRecording],
    keys: &SealedKeys,
) -> Vec<Sealed<'r>> {
    let seal = |recording: &&'r NewRecording| {
        let names = key_names(&recording.people, recording.at);
        let own = names.iter().map(|name| Some((name.clone(), keys.get(name)?.clone())));
        let key = content_key(keyring, &own.collect::<Option<Vec<_>>>()?)?;
        let content = seal_content(&key, &recording.content)?;
        Some(Sealed { recording, key_names: names.join(" "), content })
    };
    recordings.iter().filter_map(seal).collect()
}

/// Returns the people and agents of a recording, each with the request.
fn people<'r>(sealed: &Sealed<'r>) -> impl Iterator<Item = (&'r str, &'r str)> + use<'r> {
    let recording = sealed.recording;
    let request_id = recording.request_id.as_str();
    recording.people.iter().map(move |person| (person.as_str(), request_id))
}
