//! The parts of a descriptor other than its schemas: errors, events and states.

use super::fixes::{KEEP, RESTORE};
use crate::problem::Problems;
use portolan_vocabulary::{Access, Descriptor, ErrorDeclaration, StateMachine, Transition};

/// Finds error codes that are removed, renamed, or mean something else.
pub(super) fn compare_errors(old: &Descriptor, new: &Descriptor, changes: &mut Problems) {
    let find = |list: &Descriptor, code: &str| -> Option<ErrorDeclaration> {
        list.errors.iter().find(|error| error.code == code).cloned()
    };
    for before in &old.errors {
        let at = format!("error {}", before.code);
        let Some(after) = find(new, &before.code) else {
            let mut added = new.errors.iter().filter(|error| find(old, &error.code).is_none());
            let problem = match added.find(|error| error.kind == before.kind) {
                Some(other) => format!("is removed or renamed to {}", other.code),
                None => "is removed".to_owned(),
            };
            changes.add(at, problem, RESTORE);
            continue;
        };
        if before.kind != after.kind {
            let (was, is) = (before.kind.http_status(), after.kind.http_status());
            changes.add(&at, format!("has another kind: HTTP {is} instead of {was}"), RESTORE);
        }
        if before.retryable && !after.retryable {
            changes.add(&at, "is no longer retryable", RESTORE);
        }
    }
}

/// Finds event types that are no longer published, or not by the same actions or to the same receivers.
pub(super) fn compare_events(old: &Descriptor, new: &Descriptor, changes: &mut Problems) {
    for before in &old.publishes {
        let at = format!("event {}", before.event_type);
        let after = new.publishes.iter().find(|other| other.event_type == before.event_type);
        match after {
            None => changes.add(at, "is removed", KEEP),
            Some(after) if after.sensitive && !before.sensitive => changes.add(
                at,
                "is sensitive now: subscribers of other publishers need an approval",
                RESTORE,
            ),
            Some(_) => {}
        }
    }
    let is_published =
        |event_type: &String| new.publishes.iter().any(|other| other.event_type == *event_type);
    for before in old.actions.iter().filter(|action| action.access != Access::Internal) {
        let Some(after) = new.actions.iter().find(|action| action.name == before.name) else {
            continue;
        };
        for event_type in before.emits.iter().filter(|event_type| is_published(event_type)) {
            if !after.emits.contains(event_type) {
                let at = format!("action {}", before.name);
                changes.add(at, format!("no longer publishes {event_type}"), RESTORE);
            }
        }
    }
}

/// Finds states that are removed or added, and transitions that are no longer permitted.
pub(super) fn compare_states(old: &Descriptor, new: &Descriptor, changes: &mut Problems) {
    for before in &old.state_machines {
        let at = format!("states of {}", before.name);
        match new.state_machines.iter().find(|machine| machine.name == before.name) {
            None => changes.add(at, "are removed", RESTORE),
            Some(after) => compare_machines(before, after, &at, changes),
        }
    }
}

fn compare_machines(old: &StateMachine, new: &StateMachine, at: &str, changes: &mut Problems) {
    for state in old.states.iter().filter(|state| !new.states.contains(state)) {
        changes.add(at, format!("no longer have {state}"), RESTORE);
    }
    for state in new.states.iter().filter(|state| !old.states.contains(state)) {
        changes.add(at, format!("have {state}, which callers do not know"), RESTORE);
    }
    for before in &old.transitions {
        let same = |other: &&Transition| other.action == before.action && other.role == before.role;
        let after: Vec<_> = new.transitions.iter().filter(same).collect();
        let action = &before.action;
        let is_no_longer_permitted = |state: &&String| {
            new.states.contains(state) && !after.iter().any(|other| other.from.contains(state))
        };
        for state in before.from.iter().filter(is_no_longer_permitted) {
            changes.add(at, format!("no longer permit {action} in {state}"), RESTORE);
        }
        if before.from.is_empty() && after.is_empty() {
            changes.add(at, format!("no longer begin with {action}"), RESTORE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_vocabulary::{ErrorKind, Publication, Status};

    fn descriptor() -> Descriptor {
        Descriptor {
            id: "library".to_owned(),
            version: "1.0.0".to_owned(),
            title: String::new(),
            summary: String::new(),
            description: String::new(),
            tags: Vec::new(),
            status: Status::Stable,
            sunset_at: None,
            successor: None,
            actions: Vec::new(),
            default_action: None,
            errors: vec![error("book_taken", ErrorKind::Conflict)],
            collections: Vec::new(),
            invokes: Vec::new(),
            publishes: vec![Publication {
                event_type: "library.lent".to_owned(),
                sensitive: false,
            }],
            subscriptions: Vec::new(),
            state_machines: vec![machine(&["free", "lent"], &["free"])],
            roles: Vec::new(),
            prompts: Vec::new(),
            annotations: Vec::new(),
        }
    }

    fn error(code: &str, kind: ErrorKind) -> ErrorDeclaration {
        let (code, description) = (code.to_owned(), String::new());
        ErrorDeclaration { code, kind, retryable: true, description }
    }

    fn machine(states: &[&str], from: &[&str]) -> StateMachine {
        let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let transition = Transition {
            action: "lend".to_owned(),
            from: texts(from),
            to: texts(&["lent"]),
            role: None,
        };
        StateMachine {
            name: "book".to_owned(),
            states: texts(states),
            transitions: vec![transition],
        }
    }

    fn changes(change: impl Fn(&mut Descriptor)) -> Vec<String> {
        let (old, mut new) = (descriptor(), descriptor());
        change(&mut new);
        super::super::describe_breaking_changes(&old, &new)
    }

    #[test]
    fn changed_declarations_are_breaking() {
        assert_eq!(changes(|_| {}), [""; 0]);
        assert_eq!(
            changes(|new| new.errors = vec![error("taken", ErrorKind::Conflict)]),
            ["error book_taken is removed or renamed to taken"]
        );
        assert_eq!(
            changes(|new| new.errors = vec![error("book_taken", ErrorKind::Gone)]),
            ["error book_taken has another kind: HTTP 410 instead of 409"]
        );
        assert_eq!(changes(|new| new.publishes.clear()), ["event library.lent is removed"]);
        assert_eq!(
            changes(|new| new.state_machines = vec![machine(&["lent"], &["lent"])]),
            ["states of book no longer have free"]
        );
        assert_eq!(
            changes(|new| new.state_machines = vec![machine(&["free", "lent"], &["lent"])]),
            ["states of book no longer permit lend in free"]
        );
    }
}
