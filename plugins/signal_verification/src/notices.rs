//! The events of this capability, and their recipients.

use crate::{documents::*, feed, limits::MOST_NOTIFIED, refusals::*, states::*, types::*};
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

/// Publishes an event about a signal to a person.
fn notify(
    event: Event<Data<Facts>>,
    signal_id: &str,
    owner_id: &str,
    data: &Data<Facts>,
) -> Result<(), HostError> {
    event.publish(Audience::Owner(owner_id.to_owned()), format!("signals/{signal_id}"), data)
}

pub(crate) fn evidence_decided(
    call: &Call,
    evidence: &Stored<Evidence>,
    summary: &'static str,
) -> Result<(), HostError> {
    let Evidence { signal_id, owner_id, kind, .. } = &evidence.value;
    let facts = Facts { signal_id: signal_id.clone(), kind: Some(*kind), ..Facts::default() };
    let data = Data::new(call, evidence.resource(), summary, facts).next(list_mine());
    notify(EVIDENCE_DECIDED, signal_id, owner_id, &data)
}

pub(crate) fn disputed(call: &Call, dispute: &Stored<Dispute>) -> Result<(), HostError> {
    let mut people = concerned(&dispute.value.signal_id, &dispute.value.target_id)?;
    people.retain(|owner_id| Some(owner_id.as_str()) != call.owner_id());
    of_dispute(DISPUTED, dispute, "A signal is disputed.", &people)
}

pub(crate) fn dispute_decided(dispute: &Stored<Dispute>) -> Result<(), HostError> {
    let mut people = concerned(&dispute.value.signal_id, &dispute.value.target_id)?;
    // People who no longer speak for the company are included.
    people.insert(dispute.value.owner_id.clone());
    of_dispute(DISPUTE_DECIDED, dispute, "A dispute of a signal is decided.", &people)
}

/// Publishes an event about a dispute, without naming who opened it.
fn of_dispute(
    event: Event<Data<Facts>>,
    dispute: &Stored<Dispute>,
    summary: &'static str,
    people: &BTreeSet<String>,
) -> Result<(), HostError> {
    let Dispute { signal_id, target_id, cause, .. } = &dispute.value;
    let (target_id, cause) = (Some(target_id.clone()), Some(*cause));
    let facts = Facts { signal_id: signal_id.clone(), target_id, cause, ..Facts::default() };
    let data = Data::by_system(dispute.resource(), summary, facts).next(get(signal_id));
    people.iter().try_for_each(|owner_id| notify(event, signal_id, owner_id, &data))
}

/// Notifies the people involved of signals whose maturity has changed.
pub(crate) fn announce(input: Announce) -> Result<(), HostError> {
    for MaturityChange { signal_id, from, to } in input.moves {
        let signal_id = String::from(signal_id);
        let signal = feed::SIGNALS.get(&signal_id)?;
        let target_id = signal.map(|signal| signal.value.target_id).unwrap_or_default();
        let people = concerned(&signal_id, &target_id)?;
        // The feeds have no versions of signals.
        let (kind, id, state, version) = ("signal", signal_id.clone(), to.name(), 0);
        let facts = Facts {
            signal_id: signal_id.clone(),
            from,
            to: Some(to),
            evidence_count: Some(
                EVIDENCE.count(evidence_about(&signal_id, EvidenceState::Accepted))?,
            ),
            ..Facts::default()
        };
        let summary = "The maturity of a signal to which you contributed has changed.";
        let resource = Resource { kind, id, state, version };
        let data = Data::by_system(resource, summary, facts).next(get(&signal_id));
        people
            .iter()
            .try_for_each(|owner_id| notify(MATURITY_CHANGED, &signal_id, owner_id, &data))?;
    }
    Ok(())
}

/// Returns the people who speak for the company, and those whose evidence waits or was accepted:
/// fewer than [`MOST_TOLD`].
fn concerned(signal_id: &str, target_id: &str) -> Result<BTreeSet<String>, HostError> {
    let by_target = Query::new().filter(field("target_id").eq(target_id)).limit(MOST_NOTIFIED);
    let counts = field("state").one_of([EvidenceState::Submitted, EvidenceState::Accepted]);
    let submitted = Query::new().filter(about(signal_id).and(counts)).limit(MOST_NOTIFIED);
    let speakers =
        APPOINTMENTS.find(by_target)?.into_documents().map(|speaker| speaker.value.owner_id);
    let submitters = EVIDENCE.find(submitted)?.into_documents().map(|known| known.value.owner_id);
    let mut people = BTreeSet::new();
    for owner_id in speakers.chain(submitters) {
        // `dispute_decided` may add one more person.
        if people.len() + 1 < MOST_NOTIFIED as usize {
            people.insert(owner_id);
        }
    }
    Ok(people)
}
