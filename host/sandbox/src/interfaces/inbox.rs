//! `inbox`: the calling agent's events, read and acknowledged.

use crate::{
    contract::{inbox, types::HostError},
    grant::Grant,
    interfaces::{
        agent_events::ensure_limit,
        interface::Interface,
        reply::{Answer, Reply},
        taped::{TapedState, taped},
    },
    state::CallState,
};
use portolan_events::Poll;
use portolan_vocabulary::Timestamp;
use serde_json::Value;

pub(super) const INTERFACE: Interface = Interface::sensitive(Grant::Inbox, |linker| {
    inbox::add_to_linker::<_, TapedState>(linker, taped)
});

/// The maximum number of events of one acknowledgement.
const ACKNOWLEDGED: usize = 500;

impl inbox::Host for CallState {
    async fn pull(
        &mut self,
        cursor: Option<String>,
        types: Vec<String>,
        limit: u32,
    ) -> Reply<inbox::Page> {
        Ok(self.pull_events(cursor, types, limit).await)
    }

    async fn acknowledge(&mut self, event_ids: Vec<String>) -> Reply<inbox::Acknowledged> {
        Ok(self.acknowledge_events(event_ids).await)
    }

    async fn replay(&mut self, since: u64, types: Vec<String>) -> Reply<u32> {
        Ok(self.replay_events(since, types).await)
    }
}

impl CallState {
    async fn pull_events(
        &mut self,
        cursor: Option<String>,
        types: Vec<String>,
        limit: u32,
    ) -> Answer<inbox::Page> {
        let (agent, events) = self.own_events()?;
        ensure_limit(limit)?;
        let cursor =
            cursor.map(|text| text.parse().map_err(|_| HostError::BadCursor)).transpose()?;
        let (agent_id, test_mode) = (agent.agent_id, agent.test_mode);
        let poll = Poll { agent_id, test_mode, cursor, types, limit: limit as usize };
        let polled = events.page(&poll).await;
        let polled = self.answer(polled)?;
        let events = polled.events.into_iter().map(|event| Value::Object(event).to_string());
        Ok(inbox::Page {
            events: events.collect(),
            cursor: polled.cursor.to_string(),
            has_more: polled.has_more,
        })
    }

    async fn acknowledge_events(&mut self, ids: Vec<String>) -> Answer<inbox::Acknowledged> {
        if ids.len() > ACKNOWLEDGED {
            let text = format!("at most {ACKNOWLEDGED} events can be acknowledged at once");
            return Err(HostError::Limit(text));
        }
        let (agent, events, unit) = self.writable_events()?;
        let result = events.acknowledge(unit, &agent.agent_id, ids).await;
        let (acknowledged, unknown) = self.answer(result)?;
        Ok(inbox::Acknowledged { acknowledged, unknown })
    }

    async fn replay_events(&mut self, since: u64, types: Vec<String>) -> Answer<u32> {
        let (agent, events, unit) = self.writable_events()?;
        let since = Timestamp::from_millis(since);
        let result = events.replay(unit, &agent.agent_id, since, &types).await;
        Ok(u32::try_from(self.answer(result)?).unwrap_or(u32::MAX))
    }
}
