//! What a call has stored outside of the database is undone unless its unit of work is committed.

use super::person::{Person, at};
use crate::{Attachments, Audience, NewEvent, Unit, Verdict};
use serde_json::json;
use std::sync::{Arc, Mutex};

/// The names of the guards that have undone something, in order.
#[derive(Clone, Default)]
struct Undone(Arc<Mutex<Vec<&'static str>>>);

impl Undone {
    fn guard(&self, unit: &mut Unit, name: &'static str) {
        let undone = self.clone();
        unit.guard(move || undone.0.lock().unwrap().push(name));
    }

    #[track_caller]
    fn ensure(&self, expected: &[&str]) {
        assert_eq!(*self.0.lock().unwrap(), expected);
    }
}

/// Returns a unit with a guard of its own and one of a refused callee, whose writes are kept.
fn with_kept_callee(person: &Person, undone: &Undone) -> Unit {
    let mut unit = Unit::new(person.store.clone(), at(0));
    undone.guard(&mut unit, "caller");
    unit.savepoint();
    undone.guard(&mut unit, "callee");
    let (audience, data) = (Audience::Capabilities, json!({}));
    unit.publish(NewEvent::of_host("herald.told", "towns/1", audience, &data, at(0)));
    unit.release_and_keep();
    unit
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_rolled_back_or_discarded_is_undone() {
    let (person, undone) = (Person::new().await, Undone::default());
    let mut unit = Unit::new(person.store.clone(), at(0));
    undone.guard(&mut unit, "caller");
    unit.savepoint();
    undone.guard(&mut unit, "refused");
    unit.rollback();
    undone.ensure(&["refused"]);
    unit.savepoint();
    undone.guard(&mut unit, "callee");
    unit.release();
    undone.ensure(&["refused"]);
    unit.discard();
    undone.ensure(&["refused", "caller", "callee"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_kept_writes_may_need_stays_as_long_as_they_can_be_committed() {
    let (person, undone) = (Person::new().await, Undone::default());
    let unit = with_kept_callee(&person, &undone);
    let remainder = unit.remainder();
    drop(unit);
    undone.ensure(&[]);
    drop(remainder);
    undone.ensure(&["caller", "callee"]);

    let undone = Undone::default();
    with_kept_callee(&person, &undone).discard_all();
    undone.ensure(&["caller", "callee"]);

    let undone = Undone::default();
    let mut unit = with_kept_callee(&person, &undone);
    unit.discard();
    undone.ensure(&[]);
    assert_eq!(unit.commit(Attachments::default()).await.unwrap(), Verdict::Committed);
    undone.ensure(&[]);
}
