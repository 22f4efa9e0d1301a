//! Approved calls that name somebody who is erased.

use super::person::{OWNER, Person, at};
use crate::{Attachments, TimerChange, TimerKey, Unit};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approved_call_that_names_an_erased_person_is_not_made() {
    let person = Person::new().await;
    let mut unit = Unit::new(person.store.clone(), at(0));
    for (capability, name) in
        [(":approved/approvals", "apr_1"), (":approved/approvals", "apr_2"), ("pay", "later")]
    {
        let key = TimerKey { capability: capability.into(), name: name.into(), test_mode: false };
        let named = if name == "apr_2" { "nobody" } else { OWNER };
        unit.change_timer(
            key,
            TimerChange::Set {
                setting: format!("set_{name}"),
                at: at(0),
                action: "executed".into(),
                input: format!(r#"{{"to":"{named}"}}"#),
            },
        );
    }
    unit.commit(Attachments::default()).await.unwrap();
    person.store.erase_person(&[OWNER.to_owned()], at(0)).await.unwrap();
    let left = person.store.lease_timers(at(1), ":approved/approvals", 10).await.unwrap();
    let left: Vec<_> = left.iter().map(|work| work.input.as_str()).collect();
    assert_eq!(left, [r#"{"to":"nobody"}"#]);
    // Other timers run on, without the person's id.
    let redacted = person.store.lease_timers(at(1), "pay", 10).await.unwrap();
    assert_eq!(redacted.len(), 1);
    assert!(!redacted[0].input.contains(OWNER));
}
