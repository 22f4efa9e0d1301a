//! The agents of which a call waits for a person, one call of each at a time.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

#[derive(Debug, Default, Clone)]
pub(super) struct Waiting(Arc<Mutex<HashSet<Arc<str>>>>);

/// The right of an agent's call to wait, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    agent_id: Arc<str>,
    waiting: Waiting,
}

impl Waiting {
    /// Lets a call of an agent wait; `None` if another one waits already.
    pub(super) fn enter(&self, agent_id: &Arc<str>) -> Option<Turn> {
        let mut agents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = agents.insert(Arc::clone(agent_id));
        is_first.then(|| Turn { agent_id: Arc::clone(agent_id), waiting: self.clone() })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut agents = self.waiting.0.lock().unwrap_or_else(PoisonError::into_inner);
        agents.remove(&self.agent_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_call_of_an_agent_waits_at_a_time() {
        let waiting = Waiting::default();
        let (ada, bo) = (Arc::from("ada"), Arc::from("bo"));
        let turn = waiting.enter(&ada).unwrap();
        assert!(waiting.enter(&ada).is_none());
        assert!(waiting.enter(&bo).is_some());
        drop(turn);
        assert!(waiting.enter(&ada).is_some());
    }
}
