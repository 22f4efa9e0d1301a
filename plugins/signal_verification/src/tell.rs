//! The events of this capability, and their recipients.

use crate::{
    kept::{APPOINTMENTS, Dispute, EVIDENCE, Evidence},
    life::EvidenceState,
    limits::MOST_TOLD,
    refusals::{get, list_mine},
    types::{
        Announce, Changed, DISPUTE_DECIDED, DISPUTED, Decided, EVIDENCE_DECIDED, MATURITY_CHANGED,
        Move, Objection,
    },
};
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

fn subject(signal_id: &str) -> String {
    format!("signals/{signal_id}")
}

pub(crate) fn evidence_decided(
    call: &Call,
    evidence: &Stored<Evidence>,
    summary: &'static str,
) -> Result<(), HostError> {
    let value = &evidence.value;
    let more = Decided { signal_id: value.signal_id.clone(), kind: value.kind };
    let data = Data::new(call, evidence.resource(), summary, more).next(list_mine());
    let audience = Audience::Owner(value.owner_id.clone());
    EVIDENCE_DECIDED.publish(audience, subject(&value.signal_id), &data)
}

pub(crate) fn disputed(call: &Call, dispute: &Stored<Dispute>) -> Result<(), HostError> {
    let others = |owner_id: &&String| Some(owner_id.as_str()) != call.owner_id();
    let people = concerned(&dispute.value.signal_id, &dispute.value.target_id)?;
    let summary = "A signal is disputed.";
    for owner_id in people.iter().filter(others) {
        of_dispute(DISPUTED, dispute, summary, owner_id)?;
    }
    Ok(())
}

pub(crate) fn dispute_decided(dispute: &Stored<Dispute>) -> Result<(), HostError> {
    let mut people = concerned(&dispute.value.signal_id, &dispute.value.target_id)?;
    // People who no longer speak for the company are included.
    people.insert(dispute.value.owner_id.clone());
    for owner_id in &people {
        of_dispute(DISPUTE_DECIDED, dispute, "A dispute of a signal is decided.", owner_id)?;
    }
    Ok(())
}

/// Publishes an event about a dispute to a person, without naming who opened it.
fn of_dispute(
    event: Event<Data<Objection>>,
    dispute: &Stored<Dispute>,
    summary: &'static str,
    owner_id: &str,
) -> Result<(), HostError> {
    let value = &dispute.value;
    let more = view!(value => Objection { signal_id, target_id, cause; });
    let data = Data::by_system(dispute.resource(), summary, more).next(get(&value.signal_id));
    event.publish(Audience::Owner(owner_id.to_owned()), subject(&value.signal_id), &data)
}

/// Notifies the people involved of signals whose maturity has changed.
pub(crate) fn announce(input: &Announce) -> Result<(), HostError> {
    for step in &input.moves {
        let target_id = target_of(&step.signal_id)?;
        for owner_id in concerned(&step.signal_id, target_id.as_deref().unwrap_or_default())? {
            changed(step, owner_id)?;
        }
    }
    Ok(())
}

fn changed(step: &Move, owner_id: String) -> Result<(), HostError> {
    let accepted = field("signal_id").eq(&step.signal_id);
    let accepted = accepted.and(field("state").eq(EvidenceState::Accepted));
    // The feeds have no versions of signals.
    let resource =
        Resource { kind: "signal", id: step.signal_id.clone(), state: step.to.name(), version: 0 };
    let more = Changed {
        signal_id: step.signal_id.clone(),
        from: step.from,
        to: step.to,
        evidence_count: EVIDENCE.count(accepted)?,
    };
    let summary = "A signal that you have had a part in is surer than it was, or less sure.";
    let data = Data::by_system(resource, summary, more).next(get(&step.signal_id));
    MATURITY_CHANGED.publish(Audience::Owner(owner_id), subject(&step.signal_id), &data)
}

fn target_of(signal_id: &str) -> Result<Option<String>, HostError> {
    let signal = crate::feed::SIGNALS.get(signal_id)?;
    Ok(signal.map(|signal| signal.value.target_id))
}

/// Returns the people who speak for the company, and those whose evidence waits or was accepted.
fn concerned(signal_id: &str, target_id: &str) -> Result<BTreeSet<String>, HostError> {
    let most = u32::try_from(MOST_TOLD).unwrap_or(u32::MAX);
    let of_it = Query::new().filter(field("target_id").eq(target_id)).limit(most);
    let counts = [EvidenceState::Submitted, EvidenceState::Accepted];
    let about = field("signal_id").eq(signal_id).and(field("state").one_of(counts));
    let speakers =
        APPOINTMENTS.find(of_it)?.hits.into_iter().map(|hit| hit.document.value.owner_id);
    let submitted = EVIDENCE.find(Query::new().filter(about).limit(most))?.hits;
    let submitters = submitted.into_iter().map(|hit| hit.document.value.owner_id);
    let mut people = BTreeSet::new();
    for owner_id in speakers.chain(submitters) {
        // One place is left for the person who is added.
        if people.len() + 1 < MOST_TOLD {
            people.insert(owner_id);
        }
    }
    Ok(people)
}
