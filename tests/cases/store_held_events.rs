//! Events that the rules of a person hold, at the interface of the store.

use crate::cases::store::Opened;
use portolan_store::{
    Attachments, Audience, NewEvent, OutboxCommand, Release, Store, TimerChange, TimerKey, Unit,
    Verdict,
};
use portolan_vocabulary::{
    Cap, DeliveryRules, HELD_EVENTS, OwnerRules, QuietHours, RulesChange, Timestamp,
};
use serde_json::json;
use std::sync::Arc;

crate::on_all! {
    an_event_without_rules_is_delivered_and_a_disabled_one_is_not
    quiet_hours_hold_events_and_their_timer_delivers_them_in_order
    a_new_event_follows_those_that_are_due
    changed_rules_apply_to_what_is_held
    many_held_events_are_delivered_in_several_steps
    a_cap_counts_from_its_first_event
    a_cap_counts_what_is_released_and_frees_it_when_it_is_removed
}

const OWNER: &str = "own_01J00000000000000000000001";
const AGENT: &str = "agt_01J00000000000000000000002";
const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
/// A midnight in UTC.
const MIDNIGHT: u64 = 1_790_000_000_000 / (24 * HOUR) * (24 * HOUR);

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(MIDNIGHT + millis)
}

/// Returns quiet hours for the first hour of a day.
fn quiet() -> DeliveryRules {
    let quiet_hours = Some(QuietHours { from: 0, to: 60, time_zone: "UTC".to_owned() });
    DeliveryRules { quiet_hours, ..DeliveryRules::default() }
}

fn of_owner(rules: DeliveryRules) -> Arc<OwnerRules> {
    Arc::new(OwnerRules { owner_id: OWNER.to_owned(), test_mode: false, rules })
}

async fn publish(store: &Store, rules: Option<DeliveryRules>, texts: &[&str], now: Timestamp) {
    let mut unit = Unit::new(store.clone(), now);
    let rules = rules.map(of_owner);
    for text in texts {
        let (audience, data) = (Audience::Owner(OWNER.to_owned()), json!({ "text": text }));
        let event = NewEvent::of_host("herald.told", "towns/1", audience, &data, now);
        unit.publish(NewEvent { agents: vec![AGENT.to_owned()], rules: rules.clone(), ..event });
    }
    assert_eq!(unit.commit(Attachments::default()).await.unwrap(), Verdict::Committed);
}

/// Does the due work that releases held events, with these rules; returns whether there is any.
async fn release(store: &Store, rules: DeliveryRules, now: Timestamp) -> bool {
    let Some(work) = store.lease_timers(now, HELD_EVENTS, 10).await.unwrap().pop() else {
        return false;
    };
    let held = store.summarized_events(OWNER, now).await.unwrap();
    let mut unit = Unit::new(store.clone(), now);
    unit.add_command(OutboxCommand::Release(Release {
        rules: of_owner(rules),
        agents: vec![AGENT.to_owned()],
        summarized: held.iter().map(|event| event.sequence()).collect(),
        counted: store.counted_events(OWNER, now).await.unwrap(),
        has_email: false,
        at: now,
    }));
    let attachments = Attachments { task: Some(work.task), ..Attachments::default() };
    assert_eq!(unit.commit(attachments).await.unwrap(), Verdict::Committed);
    true
}

async fn inbox(store: &Store) -> Vec<String> {
    let entries = store.unacknowledged(AGENT, 0, &[], 10_000).await.unwrap();
    let sequences: Vec<u64> = entries.iter().map(|entry| entry.seq).collect();
    assert_eq!(sequences, (1..=entries.len() as u64).collect::<Vec<_>>(), "without gaps");
    let text = |data: &str| {
        let data: serde_json::Value = serde_json::from_str(data).unwrap();
        data["text"].as_str().unwrap().to_owned()
    };
    entries.iter().map(|entry| text(&entry.data)).collect()
}

async fn an_event_without_rules_is_delivered_and_a_disabled_one_is_not(opened: Opened) {
    let store = &opened.store;
    publish(store, None, &["one"], at(0)).await;
    let disabled = vec!["herald".to_owned()];
    let rules = DeliveryRules { disabled, ..DeliveryRules::default() };
    publish(store, Some(rules), &["two"], at(0)).await;
    publish(store, Some(DeliveryRules::default()), &["three"], at(0)).await;
    assert_eq!(inbox(store).await, ["one", "three"]);
    assert_eq!(store.held_count(OWNER).await.unwrap(), 0);
    assert!(!release(store, DeliveryRules::default(), at(HOUR)).await, "there is no timer");
}

async fn quiet_hours_hold_events_and_their_timer_delivers_them_in_order(opened: Opened) {
    let store = &opened.store;
    publish(store, Some(quiet()), &["one", "two"], at(0)).await;
    publish(store, Some(quiet()), &["three"], at(30 * MINUTE)).await;
    assert_eq!((inbox(store).await.len(), store.held_count(OWNER).await.unwrap()), (0, 3));
    assert!(!release(store, quiet(), at(HOUR - 1)).await, "nothing is due before the hour ends");
    assert!(release(store, quiet(), at(HOUR)).await);
    assert_eq!(inbox(store).await, ["one", "two", "three"]);
    assert_eq!(store.held_count(OWNER).await.unwrap(), 0);
    assert!(!release(store, quiet(), at(2 * HOUR)).await, "the timer has ended");
}

async fn a_new_event_follows_those_that_are_due(opened: Opened) {
    let store = &opened.store;
    publish(store, Some(quiet()), &["one", "two"], at(0)).await;
    publish(store, Some(quiet()), &["three"], at(HOUR + 1)).await;
    assert_eq!(inbox(store).await.len(), 0);
    assert!(release(store, quiet(), at(HOUR + 2)).await);
    assert_eq!(inbox(store).await, ["one", "two", "three"]);
    assert!(!release(store, quiet(), at(HOUR + 2)).await, "the timer has ended");
}

async fn changed_rules_apply_to_what_is_held(opened: Opened) {
    let store = &opened.store;
    publish(store, Some(quiet()), &["one"], at(0)).await;
    let reconsider = async |now: Timestamp, rules: DeliveryRules| {
        let mut unit = Unit::new(store.clone(), now);
        unit.add_command(OutboxCommand::ReconsiderHeld { owner_id: OWNER.to_owned() });
        let (capability, name) = (HELD_EVENTS.to_owned(), OWNER.to_owned());
        let key = TimerKey { capability, name, test_mode: false };
        let (setting, action) = (format!("changed at {}", now.as_millis()), String::new());
        let input = "{}".to_owned();
        unit.change_timer(key, TimerChange::Set { setting, at: now, action, input });
        assert_eq!(unit.commit(Attachments::default()).await.unwrap(), Verdict::Committed);
        publish(store, Some(rules.clone()), &["next"], now).await;
        assert!(release(store, rules, now).await);
    };
    let mut longer = quiet();
    longer.quiet_hours.as_mut().unwrap().to = 120;
    reconsider(at(MINUTE), longer.clone()).await;
    assert_eq!(store.held_count(OWNER).await.unwrap(), 2);
    assert!(release(store, longer.clone(), at(HOUR)).await, "the first timer is due");
    assert_eq!(inbox(store).await.len(), 0);
    assert!(release(store, longer, at(2 * HOUR)).await, "the timer was set again");
    assert_eq!(inbox(store).await, ["one", "next"]);

    publish(store, Some(quiet()), &["two"], at(24 * HOUR)).await;
    let mut muted = quiet();
    let mute = RulesChange::Mute { subject: "1".to_owned(), until: None };
    assert!(mute.apply(&mut muted, at(24 * HOUR)));
    reconsider(at(24 * HOUR + 1), muted).await;
    assert_eq!((inbox(store).await.len(), store.held_count(OWNER).await.unwrap()), (2, 0));
}

async fn many_held_events_are_delivered_in_several_steps(opened: Opened) {
    let store = &opened.store;
    let mut texts: Vec<String> = (0..1100).map(|number| format!("{number:04}")).collect();
    for (number, part) in texts.chunks(550).enumerate() {
        let part: Vec<&str> = part.iter().map(String::as_str).collect();
        publish(store, Some(quiet()), &part, at(number as u64 * 10 * MINUTE)).await;
    }
    assert!(release(store, quiet(), at(HOUR)).await);
    assert_eq!(inbox(store).await.len(), 500);
    // A new event waits behind those that are left, also one that the rules would not hold.
    publish(store, Some(DeliveryRules::default()), &["last"], at(HOUR)).await;
    let mut steps = 0;
    while release(store, quiet(), at(HOUR)).await {
        steps += 1;
    }
    texts.push("last".to_owned());
    assert_eq!((steps, inbox(store).await), (2, texts));
}

async fn a_cap_counts_from_its_first_event(opened: Opened) {
    let store = &opened.store;
    let caps = vec![Cap { events: "herald".to_owned(), most: 2, hours: 1 }];
    let rules = DeliveryRules { caps, ..DeliveryRules::default() };
    publish(store, Some(rules.clone()), &["one"], at(MINUTE)).await;
    publish(store, Some(rules.clone()), &["two", "three", "four"], at(30 * MINUTE)).await;
    publish(store, Some(rules.clone()), &["five"], at(HOUR)).await;
    assert_eq!(inbox(store).await, ["one", "two"]);
    assert!(!release(store, rules.clone(), at(HOUR)).await, "the hour began with the first event");
    let end = at(HOUR + MINUTE);
    let subjects = store.summarized_events(OWNER, end).await.unwrap();
    assert_eq!(subjects.iter().map(|event| &*event.subject).collect::<Vec<_>>(), ["towns/1"; 3]);
    assert!(release(store, rules.clone(), end).await);
    assert_eq!(store.held_count(OWNER).await.unwrap(), 0);
    publish(store, Some(rules), &["six"], end).await;
    assert_eq!(inbox(store).await, ["one", "two", "six"]);
}

async fn a_cap_counts_what_is_released_and_frees_it_when_it_is_removed(opened: Opened) {
    let store = &opened.store;
    let caps = vec![Cap { events: "herald".to_owned(), most: 2, hours: 1 }];
    let rules = DeliveryRules { caps, ..quiet() };
    publish(store, Some(rules.clone()), &["one", "two", "three", "four"], at(0)).await;
    assert!(release(store, rules, at(HOUR)).await);
    assert_eq!((inbox(store).await, store.held_count(OWNER).await.unwrap()), (texts(2), 2));
    let mut unit = Unit::new(store.clone(), at(HOUR + 1));
    unit.add_command(OutboxCommand::ReconsiderHeld { owner_id: OWNER.to_owned() });
    assert_eq!(unit.commit(Attachments::default()).await.unwrap(), Verdict::Committed);
    // A new event waits for what is freed.
    publish(store, Some(quiet()), &["five"], at(HOUR + 2)).await;
    assert_eq!(inbox(store).await, texts(2));
    assert!(release(store, quiet(), at(HOUR + 2)).await);
    assert_eq!((inbox(store).await, store.held_count(OWNER).await.unwrap()), (texts(5), 0));
}

fn texts(count: usize) -> Vec<String> {
    ["one", "two", "three", "four", "five"].iter().take(count).map(ToString::to_string).collect()
}
