//! The states of a thing, as one table.
//!
//! A table says which action leads from where to where. It stands in the descriptor, so agents,
//! documentation and tests read the same table as the code:
//!
//! ```
//! use portolan_sdk::prelude::*;
//!
//! #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, States)]
//! #[serde(rename_all = "snake_case")]
//! enum State {
//!     Draft,
//!     Active,
//!     Expired,
//! }
//!
//! use State::{Active, Draft, Expired};
//!
//! const LISTING: Machine<State> = Machine::new("listing", &[
//!     Transition::new("create", &[], &[Draft, Active]),
//!     Transition::new("edit", &[Draft, Active], &[]),
//!     Transition::new("publish", &[Draft, Expired], &[Active]),
//!     Transition::internal("expire", &[Active], &[Expired]),
//! ])
//! .read_by("listings", "get", "listing_id");
//!
//! assert_eq!(LISTING.allowed(Active), ["edit"]);
//! assert_eq!(LISTING.step("lst_1", Draft, "publish").unwrap(), Active);
//! assert_eq!(LISTING.step("lst_1", Active, "edit").unwrap(), Active);
//! let refusal = LISTING.step("lst_1", Active, "publish").unwrap_err();
//! assert_eq!(refusal.code, "invalid_transition");
//! assert_eq!(LISTING.faults(), Vec::<String>::new());
//! ```
//!
//! `#[capability(…, state_machines = [LISTING])]` puts it into the descriptor.

use crate::{
    answer::{Next, Refusal},
    contract::description,
};
use portolan_codes::ErrorCode;
use serde::Serialize;

/// An enum of states. Derived; a state's name is the variant's in `snake_case`.
pub trait States: Copy + PartialEq + 'static {
    const ALL: &'static [Self];
    fn name(self) -> &'static str;
}

/// What an action does to the state of a thing.
#[derive(Debug, Clone, Copy)]
pub struct Transition<S: 'static> {
    action: &'static str,
    from: &'static [S],
    to: &'static [S],
    role: Option<&'static str>,
    internal: bool,
}

impl<S> Transition<S> {
    /// By an action that agents call. Without `from`, it makes the thing; without `to`, the state
    /// stays; with several `to`, something else decides.
    pub const fn new(action: &'static str, from: &'static [S], to: &'static [S]) -> Self {
        Self { action, from, to, role: None, internal: false }
    }

    /// By an action of access `internal`: a timer, an event, another capability.
    pub const fn internal(action: &'static str, from: &'static [S], to: &'static [S]) -> Self {
        Self { action, from, to, role: None, internal: true }
    }

    /// Open to one side only, such as `recipient`.
    #[must_use]
    pub const fn by(mut self, role: &'static str) -> Self {
        self.role = Some(role);
        self
    }
}

/// The table of one kind of thing, declared as a constant.
#[derive(Debug, Clone, Copy)]
pub struct Machine<S: 'static> {
    name: &'static str,
    transitions: &'static [Transition<S>],
    read: Option<Read>,
}

/// How an agent reads the thing again.
#[derive(Debug, Clone, Copy)]
struct Read {
    capability: &'static str,
    action: &'static str,
    field: &'static str,
}

/// What stands in the way of an action.
#[derive(Serialize)]
struct StateConflict {
    kind: &'static str,
    current: &'static str,
    allowed_actions: Vec<&'static str>,
}

impl<S: States> Machine<S> {
    /// `name` is the kind of thing, `snake_case`.
    pub const fn new(name: &'static str, transitions: &'static [Transition<S>]) -> Self {
        Self { name, transitions, read: None }
    }

    /// The call that reads the thing, with the field that takes its id: refusals name it as the
    /// next step.
    #[must_use]
    pub const fn read_by(
        mut self,
        capability: &'static str,
        action: &'static str,
        field: &'static str,
    ) -> Self {
        self.read = Some(Read { capability, action, field });
        self
    }

    /// The actions that agents may call now, in the order of the table.
    pub fn allowed(&self, state: S) -> Vec<&'static str> {
        self.open(state, |_| true)
    }

    /// The same for one side: its own actions, and those of both.
    pub fn allowed_as(&self, role: &str, state: S) -> Vec<&'static str> {
        self.open(state, |transition| transition.role.is_none_or(|it| it == role))
    }

    fn open(&self, state: S, is_open: impl Fn(&Transition<S>) -> bool) -> Vec<&'static str> {
        let mut actions = Vec::new();
        for transition in self.transitions {
            let now = transition.from.contains(&state) && !transition.internal;
            if now && is_open(transition) && !actions.contains(&transition.action) {
                actions.push(transition.action);
            }
        }
        actions
    }

    /// The state that an action leads to, or `invalid_transition` with the state and what is
    /// allowed in it. Where the table leaves it open, use [`step_to`](Self::step_to): here the
    /// first of the states is meant.
    pub fn step(&self, id: &str, state: S, action: &str) -> Result<S, Refusal> {
        let transition = self.find(state, action);
        let transition = transition.ok_or_else(|| self.invalid_transition(id, state))?;
        Ok(transition.to.first().copied().unwrap_or(state))
    }

    /// Checks that an action may lead to this state.
    pub fn step_to(&self, id: &str, state: S, action: &str, to: S) -> Result<S, Refusal> {
        let leads = |transition: &Transition<S>| {
            transition.to.contains(&to) || (transition.to.is_empty() && to == state)
        };
        match self.find(state, action).filter(|transition| leads(transition)) {
            Some(_) => Ok(to),
            None => Err(self.invalid_transition(id, state)),
        }
    }

    fn find(&self, state: S, action: &str) -> Option<&'static Transition<S>> {
        self.transitions.iter().find(|it| it.action == action && it.from.contains(&state))
    }

    fn invalid_transition(&self, id: &str, state: S) -> Refusal {
        let mut refusal =
            Refusal::common(ErrorCode::InvalidTransition, "The state does not allow this action.");
        refusal.conflict = Some(Box::new(crate::to_value(&StateConflict {
            kind: "state",
            current: state.name(),
            allowed_actions: self.allowed(state),
        })));
        refusal.next = self.read.map(|read| {
            let next = Next::call(read.capability).field("action", read.action);
            Box::new(next.field(read.field, id))
        });
        refusal
    }

    /// What is wrong with the table: a state that nothing leads to, an action that stands twice for
    /// one state. For a test; sound tables have none.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for state in S::ALL {
            let name = state.name();
            if !self.transitions.iter().any(|it| it.to.contains(state)) {
                faults.push(format!("{}: nothing leads to {name}", self.name));
            }
            let leaving: Vec<_> =
                self.transitions.iter().filter(|it| it.from.contains(state)).collect();
            for (number, transition) in leaving.iter().enumerate() {
                let action = transition.action;
                if leaving.iter().skip(number + 1).any(|it| it.action == action) {
                    faults.push(format!("{}: {action} stands twice for {name}", self.name));
                }
            }
        }
        faults
    }

    /// The descriptor's record of this table.
    pub fn declaration(&self) -> description::StateMachine {
        let names = |states: &[S]| states.iter().map(|state| state.name().into()).collect();
        let transition = |it: &Transition<S>| description::Transition {
            action: it.action.into(),
            from: names(it.from),
            to: names(it.to),
            role: it.role.map(Into::into),
        };
        description::StateMachine {
            name: self.name.into(),
            states: names(S::ALL),
            transitions: self.transitions.iter().map(transition).collect(),
        }
    }
}
