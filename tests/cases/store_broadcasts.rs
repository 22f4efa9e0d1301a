//! Events to all listeners, at the interface of the store.

use crate::cases::store::Opened;
use portolan_store::{Attachments, Audience, NewEvent, OutboxCommand, Store, Unit, Verdict};
use portolan_vocabulary::Timestamp;
use serde_json::json;

crate::on_all! {
    an_event_to_all_is_in_no_inbox_until_its_agent_reads
    an_inbox_gets_each_event_to_all_once_and_in_order
    an_agent_that_has_never_read_gets_later_events_to_all_only
}

const ADA: &str = "agt_01J00000000000000000000001";
const BOB: &str = "agt_01J00000000000000000000002";

fn now() -> Timestamp {
    Timestamp::from_millis(1_790_000_000_000)
}

async fn commit(unit: Unit) {
    assert_eq!(unit.commit(Attachments::default()).await.unwrap(), Verdict::Committed);
}

async fn publish(store: &Store, audience: Audience, text: &str) {
    let mut unit = Unit::new(store.clone(), now());
    unit.publish(NewEvent::of_host("catalog.changed", text, audience, &json!({}), now()));
    commit(unit).await;
}

async fn run(store: &Store, command: OutboxCommand) {
    let mut unit = Unit::new(store.clone(), now());
    unit.add_command(command);
    commit(unit).await;
}

async fn poll(store: &Store, agent_id: &str) {
    run(store, OutboxCommand::Polled { agent_id: agent_id.to_owned(), at: now() }).await;
}

async fn add_broadcasts(store: &Store, agent_id: &str) {
    run(store, OutboxCommand::AddBroadcasts { agent_id: agent_id.to_owned() }).await;
}

/// Returns the sequences and subjects of an inbox.
async fn inbox(store: &Store, agent_id: &str) -> Vec<(u64, String)> {
    let entries = store.unacknowledged(agent_id, 0, &[], 100).await.unwrap();
    entries.into_iter().map(|entry| (entry.seq, entry.subject)).collect()
}

async fn is_behind(store: &Store, agent_id: &str) -> bool {
    store.inbox_head(agent_id).await.unwrap().unwrap().is_behind
}

fn entries(subjects: &[&str]) -> Vec<(u64, String)> {
    (1..).zip(subjects.iter().map(|subject| (*subject).to_owned())).collect()
}

async fn an_event_to_all_is_in_no_inbox_until_its_agent_reads(opened: Opened) {
    let store = &opened.store;
    for number in 0..50 {
        poll(store, &format!("agt_{number:026}")).await;
    }
    publish(store, Audience::Listeners, "one").await;
    let agent = format!("agt_{:026}", 7);
    assert!(is_behind(store, &agent).await);
    for number in 0..50 {
        assert_eq!(inbox(store, &format!("agt_{number:026}")).await, []);
    }
    add_broadcasts(store, &agent).await;
    assert!(!is_behind(store, &agent).await);
    assert_eq!(inbox(store, &agent).await, entries(&["one"]));
    assert_eq!(store.inbox_head(&agent).await.unwrap().unwrap().last, 1);
}

async fn an_inbox_gets_each_event_to_all_once_and_in_order(opened: Opened) {
    let store = &opened.store;
    poll(store, ADA).await;
    publish(store, Audience::Listeners, "one").await;
    publish(store, Audience::Listeners, "two").await;
    // Two reads at the same time both add what is missing.
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { add_broadcasts(&store, ADA).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    publish(store, Audience::Agent(ADA.to_owned()), "hers").await;
    publish(store, Audience::Listeners, "three").await;
    add_broadcasts(store, ADA).await;
    add_broadcasts(store, ADA).await;
    assert_eq!(inbox(store, ADA).await, entries(&["one", "two", "hers", "three"]));
}

async fn an_agent_that_has_never_read_gets_later_events_to_all_only(opened: Opened) {
    let store = &opened.store;
    // An event of his own makes an inbox for an agent that has not read yet.
    publish(store, Audience::Agent(BOB.to_owned()), "his").await;
    publish(store, Audience::Listeners, "before").await;
    assert!(!is_behind(store, BOB).await);
    poll(store, BOB).await;
    poll(store, ADA).await;
    assert!(!is_behind(store, BOB).await && !is_behind(store, ADA).await);
    publish(store, Audience::Listeners, "after").await;
    for agent in [ADA, BOB] {
        add_broadcasts(store, agent).await;
    }
    assert_eq!(inbox(store, ADA).await, entries(&["after"]));
    assert_eq!(inbox(store, BOB).await, entries(&["his", "after"]));
}
