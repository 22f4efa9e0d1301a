//! The release of held events: its order, its steps, and what the rules do to it.

use super::person::{AGENT, HOUR, MINUTE, OWNER, Person, at, capped, numbers, quiet};
use crate::{Audience, Verdict};
use portolan_vocabulary::{DailyDigest, DeliveryRules};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_events_follow_a_release_that_is_under_way() {
    let person = Person::new().await;
    person.is_told(&quiet(), &numbers(0, 1100), at(0)).await;
    let work = person.take_timer(at(HOUR)).await;
    assert_eq!(person.release(work, &quiet(), at(HOUR)).await, Verdict::Committed);
    assert_eq!(person.inbox().await, numbers(0, 500));
    // Neither rules that hold nothing nor an event for one agent alone overtake.
    let nothing = DeliveryRules::default();
    person.is_told(&quiet(), &numbers(1100, 1), at(HOUR)).await;
    person.is_told(&nothing, &numbers(1101, 1), at(HOUR)).await;
    let agent = Audience::Agent(AGENT.to_owned());
    person.publish(&nothing, &numbers(1102, 1), &agent, at(HOUR)).await;
    assert_eq!(person.inbox().await.len(), 500);
    assert_eq!(person.release_all(&nothing, at(HOUR)).await, 2);
    assert_eq!(person.inbox().await, numbers(0, 1103));
    person.is_told(&nothing, &numbers(1103, 1), at(HOUR)).await;
    assert_eq!((person.inbox().await, person.held().await), (numbers(0, 1104), 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_events_wait_for_what_is_due_and_not_for_what_is_not() {
    let person = Person::new().await;
    person.is_told(&quiet(), &numbers(0, 1), at(0)).await;
    let nothing = DeliveryRules::default();
    person.is_told(&nothing, &numbers(10, 1), at(MINUTE)).await;
    assert_eq!(person.inbox().await, numbers(10, 1));
    person.is_told(&nothing, &numbers(11, 1), at(HOUR)).await;
    assert_eq!(person.inbox().await, numbers(10, 1));
    assert_eq!(person.release_all(&nothing, at(HOUR)).await, 1);
    assert_eq!(person.inbox().await, ["10", "0", "11"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cap_counts_what_is_released() {
    let person = Person::new().await;
    let rules = DeliveryRules { caps: capped(10).caps, ..quiet() };
    person.is_told(&rules, &numbers(0, 400), at(0)).await;
    person.release_all(&rules, at(HOUR)).await;
    assert_eq!((person.inbox().await, person.held().await), (numbers(0, 10), 390));
    // The cap is reached for new events, too, and its time began with the first of those released.
    person.is_told(&rules, &numbers(400, 1), at(2 * HOUR - 1)).await;
    assert_eq!(person.store.summarized_events(OWNER, at(2 * HOUR - 1)).await.unwrap().len(), 0);
    assert_eq!(person.store.summarized_events(OWNER, at(2 * HOUR)).await.unwrap().len(), 391);
    assert_eq!(person.release_all(&rules, at(2 * HOUR)).await, 1);
    assert_eq!((person.inbox().await.len(), person.held().await), (10, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cap_that_is_removed_or_raised_frees_what_it_held() {
    let person = Person::new().await;
    person.is_told(&capped(2), &numbers(0, 1200), at(0)).await;
    assert_eq!(person.inbox().await.len(), 2);
    // Another change of the rules frees nothing.
    person.reconsider(at(1)).await;
    for _ in 0..3 {
        assert_eq!(person.release(None, &capped(2), at(1)).await, Verdict::Committed);
    }
    assert_eq!((person.inbox().await.len(), person.held().await), (2, 1198));
    person.reconsider(at(2)).await;
    assert_eq!(person.release(None, &capped(700), at(2)).await, Verdict::Committed);
    person.release_all(&capped(700), at(2)).await;
    assert_eq!((person.inbox().await, person.held().await), (numbers(0, 700), 500));
    person.reconsider(at(HOUR)).await;
    let nothing = DeliveryRules::default();
    let digest = person.store.summarized_events(OWNER, at(HOUR)).await.unwrap();
    assert_eq!(digest.len(), 0, "what is freed is not summarized as well");
    person.is_told(&nothing, &numbers(1200, 1), at(HOUR)).await;
    assert_eq!(person.inbox().await.len(), 700, "a new event waits");
    person.release_all(&nothing, at(HOUR)).await;
    assert_eq!((person.inbox().await, person.held().await), (numbers(0, 1201), 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_applies_to_what_is_held_in_steps() {
    let person = Person::new().await;
    person.is_told(&quiet(), &numbers(0, 700), at(0)).await;
    person.reconsider(at(1)).await;
    let mut longer = quiet();
    longer.quiet_hours.as_mut().unwrap().to = 120;
    assert_eq!(person.release(None, &longer, at(1)).await, Verdict::Committed);
    // The rules change again before the release has passed.
    person.reconsider(at(2)).await;
    let disabled = vec!["herald".to_owned()];
    let none = DeliveryRules { disabled, ..quiet() };
    assert!(person.release_all(&none, at(2)).await > 1);
    assert_eq!((person.inbox().await.len(), person.held().await), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_goes_on_after_a_restart() {
    let mut person = Person::new().await;
    person.is_told(&quiet(), &numbers(0, 1100), at(0)).await;
    let work = person.take_timer(at(HOUR)).await;
    assert_eq!(person.release(work, &quiet(), at(HOUR)).await, Verdict::Committed);
    // The host ends between the steps, and then after it has taken the timer.
    person.restart().await;
    assert!(person.take_timer(at(HOUR)).await.is_some());
    person.restart().await;
    assert_eq!(person.release_all(&quiet(), at(HOUR)).await, 2);
    assert_eq!((person.inbox().await, person.held().await), (numbers(0, 1100), 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_nodes_one_does_a_step() {
    let person = Person::new().await;
    person.is_told(&quiet(), &numbers(0, 700), at(0)).await;
    let slow = person.take_timer(at(HOUR)).await;
    // The lease of the first node expires.
    let now = at(HOUR + MINUTE);
    let fast = person.take_timer(now).await;
    assert!(slow.is_some() && fast.is_some());
    assert_eq!(person.release(fast, &quiet(), now).await, Verdict::Committed);
    assert_eq!(person.release(slow, &quiet(), now).await, Verdict::Superseded);
    assert_eq!(person.inbox().await, numbers(0, 500));
    assert_eq!(person.release_all(&quiet(), now).await, 1);
    assert_eq!(person.inbox().await, numbers(0, 700));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_puts_nothing_off_that_is_not_due() {
    let person = Person::new().await;
    let (events, time_zone) = (vec!["herald".to_owned()], "UTC".to_owned());
    let daily = DailyDigest { events, at: 30, time_zone };
    // At half past, the hours are quiet until one, and then the event is delivered, not a day later.
    let rules = DeliveryRules { digest: Some(daily), ..quiet() };
    person.is_told(&rules, &numbers(0, 1), at(0)).await;
    assert_eq!(person.release_all(&rules, at(30 * MINUTE)).await, 1);
    person.reconsider(at(40 * MINUTE)).await;
    assert_eq!(person.release(None, &rules, at(40 * MINUTE)).await, Verdict::Committed);
    assert_eq!(person.release_all(&rules, at(HOUR)).await, 1);
    assert_eq!((person.inbox().await, person.held().await), (numbers(0, 1), 0));
}
