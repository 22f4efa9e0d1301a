//! Releases to a share of callers: a promotion and an abort exclude each other.

use super::person::{HOUR, MINUTE, Person, at};
use crate::{
    Arrival, NewRelease, Promotion, ReleaseEnding, ReleaseRecord, ReleaseState, Store,
    VersionRecord, VersionState,
};
use std::time::Duration;

const ID: &str = "notes";
const CANARY: &str = "digest 1.1.0";
const KEEP: u64 = 10;
const LEASE: Duration = Duration::from_secs(300);

fn release() -> NewRelease {
    NewRelease {
        capability_id: ID.to_owned(),
        version: "1.1.0".to_owned(),
        digest: CANARY.to_owned(),
        file: "notes.wasm".to_owned(),
        source: String::new(),
        served_version: "1.0.0".to_owned(),
        served_digest: "digest 1.0.0".to_owned(),
        share: 5,
        started_at: at(0),
        started_by: "ada".to_owned(),
        due_at: Some(at(HOUR)),
        promotes: true,
    }
}

fn version(version: &str, state: VersionState) -> VersionRecord {
    VersionRecord {
        capability_id: ID.to_owned(),
        version: version.to_owned(),
        digest: format!("digest {version}"),
        publisher: "unsigned:notes".to_owned(),
        bytes: 1,
        arrival: Arrival::Published,
        file: "notes.wasm".to_owned(),
        source: String::new(),
        decided_by: None,
        at: at(MINUTE),
        breaking: Vec::new(),
        state,
    }
}

async fn begin(store: &Store) -> i64 {
    store.begin_release(&release(), b"canary").await.unwrap().unwrap()
}

/// Records the canary as published by a promotion. Returns whether it was.
async fn promote(store: &Store, release: i64, state: VersionState) -> bool {
    let ending = ReleaseEnding { by: Some("bo".to_owned()), ..ReleaseEnding::default() };
    let (record, promotion) = (version("1.1.0", state), Promotion { release, ending });
    store.add_version(&record, Some(b"canary"), KEEP, Some(&promotion)).await.unwrap().is_some()
}

async fn abort(store: &Store, release: i64) -> bool {
    let ending = ReleaseEnding::default();
    store.end_release(release, ReleaseState::Aborted, &ending, at(MINUTE)).await.unwrap()
}

async fn newest(store: &Store) -> ReleaseRecord {
    store.releases(ID).await.unwrap().remove(0)
}

/// Returns a store with a version that was published.
async fn served() -> Person {
    let person = Person::new().await;
    let record = version("1.0.0", VersionState::Accepted);
    let added = person.store.add_version(&record, Some(b"served"), KEEP, None).await.unwrap();
    assert!(added.is_some());
    person
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_aborted_is_not_promoted_and_what_was_promoted_is_not_aborted() {
    let person = served().await;
    let store = &person.store;
    let first = begin(store).await;
    assert!(abort(store, first).await);
    assert!(!promote(store, first, VersionState::Accepted).await);
    assert!(!promote(store, first, VersionState::PendingApproval).await);
    assert_eq!(store.versions(ID).await.unwrap().len(), 1);
    let aborted = store.aborted_versions().await.unwrap();
    assert!(aborted.contains(&(ID.to_owned(), CANARY.to_owned())), "{aborted:?}");
    let second = begin(store).await;
    assert!(promote(store, second, VersionState::Accepted).await);
    assert!(!abort(store, second).await);
    let ended = newest(store).await;
    assert_eq!((ended.state, ended.ended_at), (ReleaseState::Promoted, Some(at(MINUTE))));
    assert_eq!(ended.ending.unwrap().by.as_deref(), Some("bo"));
    assert_eq!(store.versions(ID).await.unwrap().len(), 2);
    assert!(store.aborted_versions().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_that_waits_for_approval_is_not_among_those_that_an_abort_keeps_out() {
    let person = served().await;
    let store = &person.store;
    let release = begin(store).await;
    assert!(promote(store, release, VersionState::PendingApproval).await);
    let running = newest(store).await;
    assert_eq!((running.state, running.release.promotes), (ReleaseState::Running, false));
    assert!(abort(store, release).await);
    assert!(store.aborted_versions().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_promotion_is_tried_again_after_the_lease_until_it_is_given_up() {
    let person = served().await;
    let store = &person.store;
    let release = begin(store).await;
    let claim = async |time| store.claim_promotion(release, LEASE, time).await.unwrap();
    let due = at(HOUR);
    assert!(!claim(at(HOUR - 1)).await);
    assert!(claim(due).await);
    assert!(!claim(due.plus(LEASE / 2)).await);
    let again = due.plus(LEASE);
    assert!(claim(again).await);
    store.give_up_promotion(release, again).await.unwrap();
    assert!(!claim(again.plus(LEASE)).await);
    let waiting = newest(store).await;
    assert_eq!((waiting.state, waiting.release.due_at), (ReleaseState::Running, Some(again)));
}
