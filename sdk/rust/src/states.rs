//! State machines: the states of an entity and its transitions, as one table.
//!
//! The table is part of the descriptor, so agents, documentation and tests read the same table as the code:
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
//! `#[capability(…, state_machines = [LISTING])]` puts the table into the descriptor.

use crate::{
    answer::{Next, Refusal},
    contract::description,
};
use portolan_codes::ErrorCode;
use serde::Serialize;

/// An enum of states, for `#[derive(States)]`. A state's name is the variant's in `snake_case`.
pub trait States: Copy + PartialEq + 'static {
    const ALL: &'static [Self];
    fn name(self) -> &'static str;
}

/// A change of state by an action.
#[derive(Debug, Clone, Copy)]
pub struct Transition<S: 'static> {
    action: &'static str,
    from: &'static [S],
    to: &'static [S],
    role: Option<&'static str>,
    internal: bool,
}

impl<S> Transition<S> {
    /// Makes a transition by an action that agents call. Without `from`, the action creates the entity;
    /// without `to`, the state stays; with several `to`, the action chooses one.
    pub const fn new(action: &'static str, from: &'static [S], to: &'static [S]) -> Self {
        Self { action, from, to, role: None, internal: false }
    }

    /// Makes a transition by an action of access `internal`, for a timer, an event or another capability.
    pub const fn internal(action: &'static str, from: &'static [S], to: &'static [S]) -> Self {
        Self { action, from, to, role: None, internal: true }
    }

    /// Restricts the transition to one role, such as `recipient`.
    #[must_use]
    pub const fn by(mut self, role: &'static str) -> Self {
        self.role = Some(role);
        self
    }
}

/// The table of one kind of entity, declared as a constant.
#[derive(Debug, Clone, Copy)]
pub struct Machine<S: 'static> {
    name: &'static str,
    transitions: &'static [Transition<S>],
    read: Option<Read>,
}

/// The call that reads the entity.
#[derive(Debug, Clone, Copy)]
struct Read {
    capability: &'static str,
    action: &'static str,
    field: &'static str,
}

/// The conflict of a refusal because of a state: the current state and the actions that it allows.
#[derive(Debug, Serialize)]
pub struct StateConflict {
    kind: &'static str,
    current: &'static str,
    allowed_actions: Vec<&'static str>,
}

impl StateConflict {
    pub fn new(current: &'static str, allowed_actions: Vec<&'static str>) -> Self {
        Self { kind: "state", current, allowed_actions }
    }
}

impl<S: States> Machine<S> {
    /// Makes the table of a kind of entity. `name` is the kind, in `snake_case`.
    pub const fn new(name: &'static str, transitions: &'static [Transition<S>]) -> Self {
        Self { name, transitions, read: None }
    }

    /// Sets the call that reads the entity, with the field for its id. Refusals have it as the next step.
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

    /// Returns the actions that agents may call in this state, in the order of the table.
    pub fn allowed(&self, state: S) -> Vec<&'static str> {
        self.open(state, |_| true)
    }

    /// Returns the actions that agents may call in this state in one role.
    pub fn allowed_as(&self, role: &str, state: S) -> Vec<&'static str> {
        self.open(state, |transition| transition.role.is_none_or(|own| own == role))
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

    /// Returns the state after an action, or `invalid_transition` with the state and its allowed actions.
    /// If the transition has several next states, the first is returned; see [`step_to`](Self::step_to).
    pub fn step(&self, id: &str, state: S, action: &str) -> Result<S, Refusal> {
        let transition = self.find(state, action);
        let transition = transition.ok_or_else(|| self.invalid_transition(id, state))?;
        Ok(transition.to.first().copied().unwrap_or(state))
    }

    /// Returns `to` if the action may lead from `state` to it; otherwise refuses like
    /// [`step`](Self::step).
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
        self.transitions
            .iter()
            .find(|transition| transition.action == action && transition.from.contains(&state))
    }

    fn invalid_transition(&self, id: &str, state: S) -> Refusal {
        let mut refusal =
            Refusal::common(ErrorCode::InvalidTransition, "The state does not allow this action.");
        refusal.conflict =
            Some(Box::new(crate::to_value(&StateConflict::new(state.name(), self.allowed(state)))));
        refusal.next = self.read.map(|read| {
            let next = Next::call(read.capability).field("action", read.action);
            Box::new(next.field(read.field, id))
        });
        refusal
    }

    /// Returns the faults of the table: a state that no transition leads to, or an action that is listed
    /// twice for one state. `#[capability]` makes a unit test that there are none.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for state in S::ALL {
            let name = state.name();
            if !self.transitions.iter().any(|transition| transition.to.contains(state)) {
                faults.push(format!("{}: no transition leads to {name}", self.name));
            }
            let leaving: Vec<_> = self
                .transitions
                .iter()
                .filter(|transition| transition.from.contains(state))
                .collect();
            for (number, transition) in leaving.iter().enumerate() {
                let action = transition.action;
                if leaving.iter().skip(number + 1).any(|transition| transition.action == action) {
                    faults.push(format!("{}: {action} is listed twice for {name}", self.name));
                }
            }
        }
        faults
    }

    /// Returns the descriptor's record of this table.
    pub fn declaration(&self) -> description::StateMachine {
        let names = |states: &[S]| states.iter().map(|state| state.name().into()).collect();
        let transition = |transition: &Transition<S>| description::Transition {
            action: transition.action.into(),
            from: names(transition.from),
            to: names(transition.to),
            role: transition.role.map(Into::into),
        };
        description::StateMachine {
            name: self.name.into(),
            states: names(S::ALL),
            transitions: self.transitions.iter().map(transition).collect(),
        }
    }
}
