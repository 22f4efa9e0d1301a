//! A signal with all statements about it.

use crate::{
    documents::*,
    feed::*,
    history::{Entry, history},
    limits::MOST_SHOWN,
    refusals::*,
    requirements::{Requirement, missing},
    speakers::is_speaker,
    states::*,
    views::{self, DisputeView, EvidenceView, PublicEvidence},
};
use people_kit::UNTRUSTED;
use portolan_sdk::prelude::*;

#[derive(Serialize, JsonSchema)]
pub(crate) struct SignalView {
    signal_id: String,
    /// The company of the signal.
    target_id: String,
    /// The signal from the feed; null if it has left the feed. The statements about it stay.
    signal: Option<Shown>,
    /// The ways to a higher maturity; one of them is enough.
    missing: Vec<Requirement>,
    /// The counts of evidence.
    evidence_counts: Counts,
    /// The accepted evidence, newest first.
    evidence: Vec<PublicEvidence>,
    /// The caller's own evidence in any state, newest first.
    own_evidence: Vec<EvidenceView>,
    /// The last dispute.
    dispute: Option<DisputeView>,
    /// When a person who speaks for the company first confirmed it (RFC 3339).
    confirmed_at: Option<String>,
    /// Whether the caller speaks for the company.
    speaks_for_target: bool,
    /// The actions that the caller may take now.
    allowed_actions: Vec<&'static str>,
}

#[output]
struct Shown {
    kind: SignalKind,
    headline: String,
    summary: String,
    /// The label to be shown with it: a lead is not a fact.
    label: String,
    maturity: Maturity,
    confidence: f64,
    /// When it occurred (RFC 3339).
    occurred_at: String,
    /// When it was detected (RFC 3339).
    detected_at: String,
    sources: Vec<Source>,
    /// Always `untrusted_user_content`: headline, summary and sources were written by others.
    trust: &'static str,
}

#[output(Default)]
struct Counts {
    submitted: u64,
    accepted: u64,
    rejected: u64,
}

#[output]
pub(crate) struct HistoryView {
    signal_id: String,
    /// The company of the signal.
    target_id: String,
    /// Whether the signal is still in the feed.
    in_feed: bool,
    /// The entries, oldest first.
    items: Vec<Entry>,
}

/// All data about one signal that the caller may see.
pub(crate) struct Case {
    pub(crate) signal_id: String,
    pub(crate) target_id: String,
    pub(crate) signal: Option<Signal>,
    pub(crate) accepted: Vec<Stored<Evidence>>,
    pub(crate) own: Vec<Stored<Evidence>>,
    /// The disputes, newest first.
    pub(crate) disputes: Vec<Stored<Dispute>>,
    /// The confirmations, oldest first.
    pub(crate) confirmations: Vec<Confirmation>,
}

impl Case {
    fn read(call: &Call, signal_id: String) -> Result<Self> {
        let about = || about(&signal_id);
        let last = |filter| Query::new().filter(filter).last("changed_at").limit(MOST_SHOWN);
        let signal = SIGNALS.get(&signal_id)?.map(|signal| signal.value);
        let accepted = last(evidence_about(&signal_id, EvidenceState::Accepted));
        let accepted = EVIDENCE.find(accepted)?.into_parts().0;
        let own = match call.owner_id() {
            Some(me) => EVIDENCE.find(last(about().and(field("owner_id").eq(me))))?.into_parts().0,
            None => Vec::new(),
        };
        let disputes = DISPUTES.find(last(about()))?.into_parts().0;
        let first = Query::new().filter(about()).limit(MOST_SHOWN).first("confirmed_at");
        let confirmations = CONFIRMATIONS.find(first)?.into_documents();
        let confirmations: Vec<_> = confirmations.map(|confirmed| confirmed.value).collect();
        let of_signal = signal.iter().map(|signal| &signal.target_id);
        let of_evidence = accepted.iter().chain(&own).map(|known| &known.value.target_id);
        let of_disputes = disputes.iter().map(|dispute| &dispute.value.target_id);
        let of_confirmations = confirmations.iter().map(|confirmation| &confirmation.target_id);
        let mut targets = of_signal.chain(of_evidence).chain(of_disputes).chain(of_confirmations);
        let target_id = targets.next().ok_or_else(unknown)?.clone();
        Ok(Self { signal_id, target_id, signal, accepted, own, disputes, confirmations })
    }

    fn allowed(&self, call: &Call, is_speaker: bool) -> Vec<&'static str> {
        let Some(signal) = self.signal.as_ref().filter(|_| call.owner_id().is_some()) else {
            return Vec::new();
        };
        let open = self.disputes.iter().any(|dispute| dispute.value.state == DisputeState::Open);
        let maturity = if open { Maturity::Disputed } else { signal.maturity };
        SIGNAL.allowed_as(if is_speaker { SPEAKER } else { ANYBODY }, maturity)
    }
}

pub(crate) fn get(call: &Call, signal_id: String) -> Result<SignalView> {
    let case = Case::read(call, signal_id)?;
    let speaks_for_target = match call.owner_id() {
        Some(me) => is_speaker(me, &case.target_id)?,
        None => false,
    };
    let missing = case.signal.as_ref().map(|signal| missing(signal.kind, signal.maturity));
    let first = case.confirmations.first();
    Ok(SignalView {
        missing: missing.unwrap_or_default(),
        evidence_counts: counts(&case.signal_id)?,
        evidence: case.accepted.iter().map(views::public).collect(),
        own_evidence: case.own.iter().map(views::evidence).collect(),
        dispute: case.disputes.first().map(views::dispute),
        confirmed_at: first.map(|confirmation| rfc3339(confirmation.confirmed_at)),
        speaks_for_target,
        allowed_actions: case.allowed(call, speaks_for_target),
        signal: case.signal.as_ref().map(shown),
        signal_id: case.signal_id,
        target_id: case.target_id,
    })
}

pub(crate) fn history_of(call: &Call, signal_id: String) -> Result<HistoryView> {
    let case = Case::read(call, signal_id)?;
    let (items, in_feed) = (history(&case), case.signal.is_some());
    Ok(HistoryView { signal_id: case.signal_id, target_id: case.target_id, in_feed, items })
}

fn shown(signal: &Signal) -> Shown {
    view!(signal => Shown {
        kind, headline, summary, label, maturity, confidence, occurred_at, detected_at, sources;
        trust: UNTRUSTED,
    })
}

/// Counts the evidence; withdrawn evidence is not counted.
fn counts(signal_id: &str) -> Result<Counts, HostError> {
    let [states] = EVIDENCE.count_by(["state"], Query::new().filter(about(signal_id)))?;
    let count = |state: EvidenceState| {
        states.iter().find(|found| found.value == state.name()).map_or(0, |found| found.count)
    };
    Ok(Counts {
        submitted: count(EvidenceState::Submitted),
        accepted: count(EvidenceState::Accepted),
        rejected: count(EvidenceState::Rejected),
    })
}
