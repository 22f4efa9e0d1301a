//! The events of this capability, and their recipients.

use crate::{feed, kept::*, life::*, limits::MOST_TOLD, refusals::*, types::*};
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
    for owner_id in people.iter().filter(others) {
        of_dispute(DISPUTED, dispute, "A signal is disputed.", owner_id)?;
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
pub(crate) fn announce(input: Announce) -> Result<(), HostError> {
    for Move { signal_id, from, to } in input.moves {
        let signal = feed::SIGNALS.get(&signal_id)?;
        let target_id = signal.map(|signal| signal.value.target_id).unwrap_or_default();
        for owner_id in concerned(&signal_id, &target_id)? {
            let accepted = evidence_about(&signal_id, EvidenceState::Accepted);
            let evidence_count = EVIDENCE.count(accepted)?;
            // The feeds have no versions of signals.
            let id = String::from(&*signal_id);
            let resource = Resource { kind: "signal", id, state: to.name(), version: 0 };
            let more = Changed { signal_id: signal_id.to_string(), from, to, evidence_count };
            let summary =
                "A signal that you have had a part in is surer than it was, or less sure.";
            let data = Data::by_system(resource, summary, more).next(get(&signal_id));
            MATURITY_CHANGED.publish(Audience::Owner(owner_id), subject(&signal_id), &data)?;
        }
    }
    Ok(())
}

/// Returns the people who speak for the company, and those whose evidence waits or was accepted.
fn concerned(signal_id: &str, target_id: &str) -> Result<BTreeSet<String>, HostError> {
    let of_it = Query::new().filter(field("target_id").eq(target_id)).limit(MOST_TOLD);
    let counts = field("state").one_of([EvidenceState::Submitted, EvidenceState::Accepted]);
    let submitted = Query::new().filter(about(signal_id).and(counts)).limit(MOST_TOLD);
    let speakers = APPOINTMENTS.find(of_it)?.into_documents().map(|speaker| speaker.value.owner_id);
    let submitters = EVIDENCE.find(submitted)?.into_documents().map(|known| known.value.owner_id);
    let mut people = BTreeSet::new();
    for owner_id in speakers.chain(submitters) {
        // One place is left for the person who is added.
        if people.len() + 1 < MOST_TOLD as usize {
            people.insert(owner_id);
        }
    }
    Ok(people)
}
