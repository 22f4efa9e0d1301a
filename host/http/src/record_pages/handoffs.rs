//! Links that begin handoffs at a record.

use super::records::Handoff;
use std::collections::BTreeMap;

/// The contracts that the records of a page name, by id.
pub(super) struct Handoffs(BTreeMap<String, Handoff>);

/// A link that begins a handoff.
pub(super) struct HandoffLink {
    pub(super) title: String,
    pub(super) href: String,
    pub(super) consent: String,
    /// Whether the agent must be claimed.
    pub(super) claimed: bool,
}

impl Handoffs {
    pub(super) fn new(handoffs: Vec<Handoff>) -> Self {
        Self(handoffs.into_iter().map(|handoff| (handoff.id.clone(), handoff)).collect())
    }

    /// Returns the links that begin the contracts with these ids at a record.
    pub(super) fn links(&self, ids: &[String], record_id: &str) -> Vec<HandoffLink> {
        let found = ids.iter().filter_map(|id| self.0.get(id));
        found.map(|handoff| HandoffLink::new(handoff, record_id)).collect()
    }
}

impl HandoffLink {
    fn new(handoff: &Handoff, record_id: &str) -> Self {
        Self {
            title: handoff.title.clone(),
            href: format!("/map/handoffs/{}/{record_id}", handoff.id),
            consent: handoff.consent_text.clone(),
            claimed: handoff.requires.claimed,
        }
    }
}
