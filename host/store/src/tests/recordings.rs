//! Recordings: sealed, bounded, and gone with a person in them.

use super::person::{AGENT, HOUR, OWNER, Person, at};
use crate::{NewRecording, RecordingQuery, RecordingUse, connection::read};
use portolan_vocabulary::Digest;
use std::collections::BTreeSet;

const ANOTHER: &str = "own_01J00000000000000000000009";

fn recording(number: u64, people: &[&str]) -> NewRecording {
    NewRecording {
        request_id: format!("req_{number}"),
        at: at(number * HOUR),
        capability: "notes".to_owned(),
        action: "put".to_owned(),
        version: "1.0.0".to_owned(),
        digest: String::new(),
        outcome: "ok".to_owned(),
        failed: number.is_multiple_of(2),
        test_mode: false,
        capabilities: BTreeSet::from(["notes".to_owned(), "ledger".to_owned()]),
        people: people.iter().map(|id| (*id).to_owned()).collect(),
        content: format!("the content {number}").into_bytes(),
    }
}

async fn listed(person: &Person, capability: &str, failed: bool) -> Vec<String> {
    let query = RecordingQuery { capability: Some(capability.to_owned()), failed, limit: 100 };
    let recordings = person.store.recordings(&query).await.unwrap();
    recordings.into_iter().map(|recording| recording.request_id).collect()
}

async fn content(person: &Person, id: &str) -> Option<Vec<u8>> {
    person.store.recording(id).await.unwrap()?.content
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erasure_takes_every_recording_that_names_the_person_or_an_agent() {
    let person = Person::new().await;
    let recordings = vec![
        recording(1, &[OWNER, ANOTHER]),
        recording(2, &[AGENT]),
        recording(3, &[ANOTHER]),
        recording(4, &[]),
    ];
    assert_eq!(person.store.add_recordings(recordings).await.unwrap(), 4);
    assert_eq!(listed(&person, "ledger", false).await, ["req_4", "req_3", "req_2", "req_1"]);
    assert_eq!(listed(&person, "notes", true).await, ["req_4", "req_2"]);
    assert_eq!(listed(&person, "note", false).await, Vec::<String>::new());
    for number in 1..=4 {
        let expected = format!("the content {number}").into_bytes();
        assert_eq!(content(&person, &format!("req_{number}")).await, Some(expected));
    }
    let ids = [OWNER, AGENT].map(str::to_owned);
    assert_eq!(person.store.count_recordings_of(&ids).await.unwrap(), 2);
    person.store.erase_person(&ids, at(0)).await.unwrap();
    assert_eq!(listed(&person, "notes", false).await, ["req_4", "req_3"]);
    assert!(content(&person, "req_3").await.is_some());
    // A later recording about the person is not written.
    let late = vec![recording(5, &[ANOTHER, AGENT]), recording(6, &[ANOTHER])];
    assert_eq!(person.store.add_recordings(late).await.unwrap(), 1);
    assert_eq!(listed(&person, "notes", false).await, ["req_6", "req_4", "req_3"]);
}

/// Returns the names of all keys.
async fn keys(person: &Person) -> Vec<String> {
    let read = async || -> Result<Vec<String>, crate::DbError> {
        Ok(read!(person.store.inner.backend, |pool| {
            sqlx::query_scalar("SELECT name FROM recording_keys ORDER BY name")
                .fetch_all(pool)
                .await?
        }))
    };
    read().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_keys_of_people_and_agents_are_kept_as_long_as_a_recording_names_them() {
    let person = Person::new().await;
    let recordings =
        vec![recording(1, &[AGENT]), recording(2, &[AGENT, ANOTHER]), recording(3, &[])];
    assert_eq!(person.store.add_recordings(recordings).await.unwrap(), 3);
    let day = format!("day:{}", at(3 * HOUR).day());
    assert_eq!(keys(&person).await, [AGENT, &day, ANOTHER]);
    let all = RecordingUse { calls: 10, bytes: u64::MAX };
    person.store.trim_recordings(at(2 * HOUR), all).await.unwrap();
    assert_eq!(keys(&person).await, [AGENT, &day, ANOTHER]);
    person.store.trim_recordings(at(3 * HOUR), all).await.unwrap();
    assert_eq!(keys(&person).await, [day]);
    person.store.trim_recordings(at(4 * HOUR), all).await.unwrap();
    assert!(keys(&person).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_erasure_elsewhere_has_left_is_removed() {
    let person = Person::new().await;
    let recordings = vec![recording(1, &[OWNER, AGENT]), recording(2, &[ANOTHER, AGENT])];
    assert_eq!(person.store.add_recordings(recordings).await.unwrap(), 2);
    // A list of erasures that another node has written; it knew of no recordings.
    let list = person.folder().join("erasures");
    std::fs::write(&list, format!("{}\n", Digest::of(ANOTHER.as_bytes()).hex())).unwrap();
    person.store.use_erasure_list(&list, at(0)).await.unwrap();
    assert!(content(&person, "req_2").await.is_some());
    let all = RecordingUse { calls: 10, bytes: u64::MAX };
    person.store.trim_recordings(at(0), all).await.unwrap();
    assert_eq!(listed(&person, "notes", false).await, ["req_1"]);
    assert_eq!(keys(&person).await, [AGENT, OWNER]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_oldest_recordings_are_removed_first() {
    let person = Person::new().await;
    let recordings = (1..=6).map(|number| recording(number, &[OWNER])).collect();
    person.store.add_recordings(recordings).await.unwrap();
    let most = RecordingUse { calls: 3, bytes: u64::MAX };
    person.store.trim_recordings(at(2 * HOUR), most).await.unwrap();
    assert_eq!(listed(&person, "notes", false).await, ["req_6", "req_5", "req_4"]);
    let one = person.store.recording_use().await.unwrap().bytes / 3;
    let most = RecordingUse { calls: 3, bytes: one + 8 };
    person.store.trim_recordings(at(0), most).await.unwrap();
    assert_eq!(listed(&person, "notes", false).await, ["req_6"]);
    person.store.trim_recordings(at(7 * HOUR), most).await.unwrap();
    assert_eq!(person.store.recording_use().await.unwrap(), RecordingUse::default());
}
