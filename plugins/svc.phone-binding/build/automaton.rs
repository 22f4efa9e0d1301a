//! One automaton for all numbering plans. States with the same continuations are merged, across
//! countries.

use crate::plan::{Place, Plan, UNKNOWN};
use anyhow::{Result, ensure};
use std::collections::HashMap;

/// The digits of the longest national number in libphonenumber, and one more, after which a pattern
/// must have ended.
const LONGEST: usize = 17 + 1;
const DIGITS: u8 = 10;

/// A state: the kind of the number that ends here, and the next state for each digit.
type State = (u8, [usize; DIGITS as usize]);

pub(crate) struct Automaton {
    states: Vec<State>,
    known: HashMap<State, usize>,
}

impl Default for Automaton {
    /// Makes an automaton with only the state 0, from which no number can be reached.
    fn default() -> Self {
        let nowhere = (UNKNOWN, [0; DIGITS as usize]);
        Self { states: vec![nowhere], known: HashMap::from([(nowhere, 0)]) }
    }
}

impl Automaton {
    /// Adds a plan, and returns its start state.
    pub(crate) fn add(&mut self, plan: &Plan) -> Result<usize> {
        self.state(plan, &plan.start()?, &mut HashMap::new(), 0)
    }

    fn state(
        &mut self,
        plan: &Plan,
        place: &Place,
        seen: &mut HashMap<Place, usize>,
        length: usize,
    ) -> Result<usize> {
        if let Some(state) = seen.get(place) {
            return Ok(*state);
        }
        ensure!(length <= LONGEST, "a pattern has no end");
        let mut next = [0; DIGITS as usize];
        for (digit, next) in (0..DIGITS).zip(&mut next) {
            if let Some(place) = plan.step(place, digit) {
                *next = self.state(plan, &place, seen, length + 1)?;
            }
        }
        let state = (plan.kind(place), next);
        let count = self.states.len();
        let number = *self.known.entry(state).or_insert(count);
        if number == count {
            self.states.push(state);
        }
        seen.insert(place.clone(), number);
        Ok(number)
    }

    /// Returns the kinds and the transitions, state by state.
    pub(crate) fn tables(&self) -> Result<(Vec<u8>, Vec<[u16; DIGITS as usize]>)> {
        ensure!(self.states.len() <= usize::from(u16::MAX), "too many states for the table");
        let narrow = |next: &[usize; DIGITS as usize]| next.map(|number| number as u16);
        Ok(self.states.iter().map(|(kind, next)| (*kind, narrow(next))).unzip())
    }
}
