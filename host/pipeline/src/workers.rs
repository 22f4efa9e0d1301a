//! The due work that runs at once, and how much more may start.
//!
//! A lane is the due work of one capability, its look-ups, its requests for people's data, or the text
//! messages or emails of the host. Text messages, emails, look-ups and actions each have a limit of their own, so that
//! a slow server or a component with much due work does not delay the host's messages. The lanes share each limit.

use crate::host::Host;
use portolan_store::DueWork;
use portolan_vocabulary::{LOOKUPS_OF, OUTGOING_EMAIL, OUTGOING_SMS};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};
use tokio::task::{Id, JoinSet};

/// A kind of due work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Message,
    Email,
    Lookup,
    Action,
}

impl Kind {
    fn of(lane: &str) -> Self {
        match lane {
            OUTGOING_SMS => Self::Message,
            OUTGOING_EMAIL => Self::Email,
            lookups if lookups.starts_with(LOOKUPS_OF) => Self::Lookup,
            _ => Self::Action,
        }
    }

    /// Returns how many items of this kind run at once on this node, and how many of one lane.
    const fn limits(self) -> (usize, usize) {
        match self {
            Self::Message => (16, 16),
            Self::Email => (8, 8),
            Self::Lookup => (8, 4),
            Self::Action => (16, 8),
        }
    }
}

/// The running due work of this node.
#[derive(Debug, Default)]
pub(super) struct Workers {
    tasks: JoinSet<()>,
    lanes: HashMap<Id, String>,
    /// The number of running tasks of each lane.
    running: BTreeMap<String, usize>,
    /// The lane that was served last.
    last: String,
}

impl Workers {
    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    pub(super) fn spawn(&mut self, host: Arc<Host>, work: DueWork) {
        let lane = work.capability.clone();
        let task = self.tasks.spawn(async move { host.run_due(&work).await });
        self.last.clone_from(&lane);
        *self.running.entry(lane.clone()).or_default() += 1;
        self.lanes.insert(task.id(), lane);
    }

    pub(super) fn remove_finished(&mut self) {
        while let Some(ended) = self.tasks.try_join_next_with_id() {
            self.remove(ended.map_or_else(|error| error.id(), |(id, ())| id));
        }
    }

    pub(super) async fn join_next(&mut self) {
        if let Some(ended) = self.tasks.join_next_with_id().await {
            self.remove(ended.map_or_else(|error| error.id(), |(id, ())| id));
        }
    }

    fn remove(&mut self, task: Id) {
        let Some(lane) = self.lanes.remove(&task) else { return };
        if let Some(count) = self.running.get_mut(&lane) {
            *count -= 1;
            if *count == 0 {
                self.running.remove(&lane);
            }
        }
    }

    /// Returns the lanes in the order of their turns, which begins after the lane that was served last.
    pub(super) fn round_robin<'a>(&self, lanes: &'a BTreeSet<String>) -> Vec<&'a str> {
        let (served, next): (Vec<&str>, Vec<&str>) =
            lanes.iter().map(String::as_str).partition(|lane| *lane <= self.last.as_str());
        next.into_iter().chain(served).collect()
    }

    /// Returns how many more items of a lane's work may start. The lanes of a kind share the limit of the
    /// kind equally, and each may run at least one item. Running items and those in `taken` count towards both
    /// limits.
    pub(super) fn capacity(
        &self,
        lane: &str,
        taken: &[DueWork],
        lanes: &BTreeSet<String>,
    ) -> usize {
        let kind = Kind::of(lane);
        let (kind_limit, lane_limit) = kind.limits();
        let running = |matches: &dyn Fn(&str) -> bool| -> usize {
            let running = self.running.iter().filter(|(lane, _)| matches(lane));
            let taken = taken.iter().filter(|work| matches(&work.capability)).count();
            running.map(|(_, count)| count).sum::<usize>() + taken
        };
        let available = kind_limit.saturating_sub(running(&|other| Kind::of(other) == kind));
        let lane_count = lanes.iter().filter(|other| Kind::of(other) == kind).count().max(1);
        let share = (kind_limit / lane_count).clamp(1, lane_limit);
        available.min(share.saturating_sub(running(&|other| other == lane)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_store::Task;

    fn lanes(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn work(lane: &str) -> DueWork {
        DueWork {
            task: Task::Delivery { id: 1 },
            capability: lane.to_owned(),
            action: String::new(),
            input: String::new(),
            test_mode: false,
            attempts: 0,
            trace: None,
        }
    }

    #[test]
    fn lanes_take_turns_and_share_the_limit() {
        let mut workers = Workers::default();
        let names = lanes(&["a", "b", "c"]);
        assert_eq!(workers.round_robin(&names), ["a", "b", "c"]);
        workers.last = "a".into();
        assert_eq!(workers.round_robin(&names), ["b", "c", "a"]);
        // Alone, a capability gets half of the limit; of three, each gets a third.
        assert_eq!(workers.capacity("a", &[], &lanes(&["a"])), 8);
        assert_eq!(workers.capacity("a", &[], &names), 5);
        workers.running = BTreeMap::from([("a".to_owned(), 8)]);
        assert_eq!(workers.capacity("a", &[], &names), 0);
        assert_eq!(workers.capacity("b", &[work("b"), work("b")], &names), 3);
        // If two lanes run all but one of the items, the third may run the last one.
        workers.running.insert("b".to_owned(), 7);
        assert_eq!(workers.capacity("c", &[], &names), 1);
        assert_eq!(workers.capacity("c", &[work("c")], &names), 0);
    }

    #[test]
    fn messages_have_a_capacity_of_their_own() {
        let running_actions: BTreeMap<_, _> =
            (0..16).map(|number| (format!("c{number}"), 1)).collect();
        let workers = Workers { running: running_actions, ..Workers::default() };
        let names = lanes(&[":lookups/c1", ":sms", "c1"]);
        assert_eq!(workers.capacity("c1", &[], &names), 0);
        assert_eq!(workers.capacity(":sms", &[], &names), 16);
        assert_eq!(workers.capacity(":lookups/c1", &[], &names), 4);
    }
}
