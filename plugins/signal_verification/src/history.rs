//! The history of a signal: its changes in the feed and all statements about it, in one order.

use crate::{
    feed::{Signal, Step},
    kept::{Confirmation, Dispute, Evidence},
    life::{DisputeState, EvidenceState},
    read::Case,
};
use people_kit::UNTRUSTED;
use portolan_sdk::prelude::*;
use std::collections::BTreeMap;

/// The subject of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
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
        Self {
            at: rfc3339(at_ms),
            about,
            id: None,
            from: None,
            to,
            reason: None,
            url: None,
            trust: UNTRUSTED,
            at_ms,
        }
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

fn of_evidence(evidence: &Stored<Evidence>) -> Vec<Entry> {
    let value = &evidence.value;
    let entry = |at, from: Option<EvidenceState>, to: EvidenceState| Entry {
        id: Some(evidence.id.clone()),
        from: from.map(EvidenceState::name),
        url: Some(value.url.clone()),
        ..Entry::new(at, About::Evidence, to.name())
    };
    let submitted = Entry {
        reason: value.note.clone(),
        ..entry(value.submitted_at, None, EvidenceState::Submitted)
    };
    let decided = Entry {
        reason: value.decision.clone(),
        ..entry(value.changed_at, Some(EvidenceState::Submitted), value.state)
    };
    match value.state {
        EvidenceState::Submitted => vec![submitted],
        _ => vec![submitted, decided],
    }
}

fn of_dispute(dispute: &Stored<Dispute>) -> Vec<Entry> {
    let value = &dispute.value;
    let entry = |at, from: Option<DisputeState>, to: DisputeState, reason: &Option<String>| Entry {
        id: Some(dispute.id.clone()),
        from: from.map(DisputeState::name),
        reason: reason.clone(),
        ..Entry::new(at, About::Dispute, to.name())
    };
    let opened = entry(value.opened_at, None, DisputeState::Open, &value.reason);
    match value.state {
        DisputeState::Open => vec![opened],
        state => {
            let from = Some(DisputeState::Open);
            vec![opened, entry(value.changed_at, from, state, &value.decision)]
        }
    }
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
        let source =
            signal.sources.iter().find(|source| step.source_id.as_ref() == Some(&source.id));
        Entry {
            id: step.source_id.clone(),
            from: step.from.map(States::name),
            reason: Some(step.reason.clone()),
            url: source.map(|source| source.url.clone()),
            ..Entry::new(step.at_ms(), About::Maturity, step.to.name())
        }
    };
    signal.maturity_history.iter().map(entry).collect()
}
