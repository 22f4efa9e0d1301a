//! The events of the calling agent, for `inbox` and `webhooks`.

use crate::{contract::types::HostError, interfaces::reply::Answer, state::CallState};
use portolan_events::Events;
use portolan_store::Unit;
use portolan_vocabulary::AgentCaller;
use std::sync::Arc;

/// The maximum number of entries of one page.
const PAGE: u32 = 100;

impl CallState {
    /// Returns the calling agent, and the service for its events; `invalid` if the host itself calls,
    /// `unavailable` if the host has no such service.
    pub(super) fn own_events(&mut self) -> Answer<(AgentCaller, Arc<Events>)> {
        let agent = self.calling_agent()?.clone();
        let events = self.work()?.services.events();
        let missing = || HostError::Unavailable("this host has no events".to_owned());
        Ok((agent, events.ok_or_else(missing)?))
    }

    /// Returns the result of [`own_events`](Self::own_events), and the unit of work; also `invalid` in
    /// an action of access `read`.
    pub(super) fn writable_events(&mut self) -> Answer<(AgentCaller, Arc<Events>, &mut Unit)> {
        let (agent, events) = self.own_events()?;
        Ok((agent, events, &mut self.writable_work()?.unit))
    }
}

/// Ensures that a page is asked for with a limit of 1 to [`PAGE`] entries.
pub(super) fn ensure_limit(limit: u32) -> Answer<()> {
    match (1..=PAGE).contains(&limit) {
        true => Ok(()),
        false => Err(HostError::Invalid(format!("the limit must be 1 to {PAGE}"))),
    }
}
