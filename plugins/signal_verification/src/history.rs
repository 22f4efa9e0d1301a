//! The history of a signal: its changes in the feed and all statements about it, in one order.

use crate::{documents::*, feed::*, read::Case, states::*};
use people_kit::UNTRUSTED;
use portolan_sdk::prelude::*;
use std::collections::BTreeMap;

/// The subject of an entry.
#[choice(PartialOrd, Ord)]
pub(crate) enum About {
    Evidence,
    Confirmation,
    Dispute,
    /// A change of the signal's maturity in the feed, which follows from the other entries.
    Maturity,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Entry {
    /// When it happened (RFC 3339).
    at: String,
    about: About,
    /// The id of the evidence, the dispute or the confirmation; for a change in the feed, of the
    /// source that it is based on.
    id: Option<String>,
    from: Option<&'static str>,
    to: &'static str,
    /// The reason; written by people, except for a change in the feed.
    reason: Option<String>,
    /// The address at which it can be read.
    url: Option<String>,
    /// Always `untrusted_user_content`: a person wrote the text.
    trust: &'static str,
    #[serde(skip)]
    at_ms: u64,
}

impl Entry {
    fn new(at_ms: u64, about: About, to: &'static str) -> Self {
        let (at, trust) = (rfc3339(at_ms), UNTRUSTED);
        Self { at, about, id: None, from: None, to, reason: None, url: None, trust, at_ms }
    }
}

/// Returns the entries, oldest first; of the same instant, statements come before their effects.
pub(crate) fn history(case: &Case) -> Vec<Entry> {
    let evidence: BTreeMap<&str, &Stored<Evidence>> =
        case.accepted.iter().chain(&case.own).map(|known| (known.id.as_str(), known)).collect();
    let mut entries: Vec<Entry> = evidence.into_values().flat_map(of_evidence).collect();
    entries.extend(case.disputes.iter().flat_map(of_dispute));
    entries.extend(case.confirmations.iter().map(of_confirmation));
    entries.extend(case.signal.iter().flat_map(of_signal));
    entries.sort_by_key(|entry| (entry.at_ms, entry.about));
    entries
}

fn of_evidence(Stored { id, value, .. }: &Stored<Evidence>) -> Vec<Entry> {
    let submitted = (value.submitted_at, EvidenceState::Submitted, value.note.clone());
    let decided = (value.changed_at, value.state, value.decision.clone());
    let mut entries = of_review(About::Evidence, id, submitted, decided);
    entries.iter_mut().for_each(|entry| entry.url = Some(value.url.clone()));
    entries
}

fn of_dispute(Stored { id, value, .. }: &Stored<Dispute>) -> Vec<Entry> {
    let opened = (value.opened_at, DisputeState::Open, value.reason.clone());
    let decided = (value.changed_at, value.state, value.decision.clone());
    of_review(About::Dispute, id, opened, decided)
}

/// A state, when it was reached, and why.
type StateChange<S> = (u64, S, Option<String>);

/// Returns how a review began and, if it has another state by now, how it ended.
fn of_review<S: States>(
    about: About,
    id: &str,
    first: StateChange<S>,
    last: StateChange<S>,
) -> Vec<Entry> {
    let first_state = first.1;
    let ended = (last.1 != first_state).then_some((last, Some(first_state)));
    let entry = |((at, to, reason), from): (StateChange<S>, Option<S>)| Entry {
        id: Some(id.to_owned()),
        from: from.map(States::name),
        reason,
        ..Entry::new(at, about, to.name())
    };
    std::iter::once((first, None)).chain(ended).map(entry).collect()
}

fn of_confirmation(confirmation: &Confirmation) -> Entry {
    Entry {
        id: Some(confirmation.confirmation_id.clone()),
        reason: confirmation.reason.clone(),
        ..Entry::new(confirmation.confirmed_at, About::Confirmation, "confirmed")
    }
}

fn of_signal(signal: &Signal) -> Vec<Entry> {
    let entry = |step: &Step| {
        let is_of_step = |source: &&Source| step.source_id.as_ref() == Some(&source.id);
        Entry {
            id: step.source_id.clone(),
            from: step.from.map(States::name),
            reason: Some(step.reason.clone()),
            url: signal.sources.iter().find(is_of_step).map(|source| source.url.clone()),
            ..Entry::new(step.at_ms(), About::Maturity, step.to.name())
        }
    };
    signal.maturity_history.iter().map(entry).collect()
}
