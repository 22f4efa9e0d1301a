//! Encounters: they are opened when a meeting or another contact is over, and closed when both have written or
//! the time is over.

use crate::{documents::*, notices, refusals::*, states::*, types::*};
use people_kit::acquaintances::have_met;
use people_kit::visible;
use portolan_sdk::prelude::*;

/// Opens an encounter for each two of these people, but for those who had one shortly before.
pub(crate) fn open(
    call: &Call,
    kind: Kind,
    subject_id: &str,
    mut people: Vec<String>,
) -> Result<()> {
    people.sort();
    people.dedup();
    if people.len() > MOST_PEOPLE {
        return Ok(());
    }
    for (place, first) in people.iter().enumerate() {
        for second in people.iter().skip(place + 1) {
            open_pair(call, kind, subject_id, [first, second])?;
        }
    }
    Ok(())
}

fn open_pair(call: &Call, kind: Kind, subject_id: &str, people: [&str; 2]) -> Result<()> {
    let [first, second] = people;
    let now = call.now();
    if was_counted(subject_id, people)? || !have_both_confirmed(kind, people)? {
        return Ok(());
    }
    let mut pair = PAIRS.get_or_default(&both(first, second))?;
    if pair.revision > 0 && pair.value.opened_at + COOLDOWN > now {
        return Ok(());
    }
    pair.value.opened_at = now;
    PAIRS.save(&mut pair)?;
    let value = Encounter {
        people: people.map(str::to_owned).into(),
        kind,
        subject_id: subject_id.to_owned(),
        state: EncounterState::Open,
        opened_at: now,
        closes_at: now + OPEN_FOR,
    };
    let encounter = ENCOUNTERS.add(call.new_id("enc"), value, now)?;
    let id = encounter.id.as_str();
    let closes_at = encounter.value.closes_at;
    timers::set(&format!("close/{id}"), closes_at, "close", &EncounterId::of(id))?;
    notices::invite(&encounter)
}

/// Returns whether the two have had an encounter because of the same thing. An event about it that comes again, from
/// whatever capability, opens no other one.
fn was_counted(subject_id: &str, [first, second]: [&str; 2]) -> Result<bool> {
    let both = [first, second].map(|person| field("people[]").eq(person));
    Ok(ENCOUNTERS.count(field("subject_id").eq(subject_id).and(all_of(both)))? > 0)
}

/// Returns whether both have a part in it that the thing counts. A meeting was confirmed and an offer accepted by
/// both sides; but one side alone closes a pairing and states its outcome, so the two must have met as well.
fn have_both_confirmed(kind: Kind, [first, second]: [&str; 2]) -> Result<bool> {
    match kind {
        Kind::Meeting | Kind::Application => Ok(true),
        Kind::Pairing => Ok(have_met(first, second)?),
    }
}

/// Returns an encounter of the caller and the other person. Refuses every other one as not found, and one with a
/// person whom the caller does not see.
pub(crate) fn load(me: &str, encounter_id: &str) -> Result<(Stored<Encounter>, String)> {
    let encounter = Encounter::load(encounter_id)?;
    let other = encounter.value.other(me).ok_or(ReferenceError::EncounterNotFound)?.to_owned();
    match visible::people(me, [other.as_str()])?.contains_key(&other) {
        true => Ok((encounter, other)),
        false => Err(ReferenceError::EncounterNotFound),
    }
}

/// Returns the draft of a person in an encounter.
pub(crate) fn draft(encounter_id: &str, author_id: &str) -> Result<Option<Stored<Draft>>> {
    Ok(DRAFTS.get(&both(encounter_id, author_id))?)
}

/// Shows both references of an encounter, if both were written and neither was changed lately. It is a call of its
/// own, after a time, so that the second author too can change what they wrote, and so that neither the answer to
/// `write` nor its dry run depends on what the other person has written.
pub(crate) fn settle(call: &Call, encounter_id: &str) -> Result<()> {
    let Some(encounter) = find_open(encounter_id)? else { return Ok(()) };
    let drafts = drafts(&encounter)?;
    let last = drafts.iter().map(|draft| draft.value.written_at).max().unwrap_or_default();
    match drafts.len() == encounter.value.people.len() && last + SETTLED_AFTER <= call.now() {
        true => show(call, encounter, drafts, "settle"),
        false => Ok(()),
    }
}

/// Shows the references of an encounter whose time is over.
pub(crate) fn close(call: &Call, encounter_id: &str) -> Result<()> {
    let is_over = |encounter: &Stored<Encounter>| encounter.value.closes_at <= call.now();
    match find_open(encounter_id)?.filter(is_over) {
        Some(encounter) => {
            let drafts = drafts(&encounter)?;
            show(call, encounter, drafts, "close")
        }
        None => Ok(()),
    }
}

fn find_open(encounter_id: &str) -> Result<Option<Stored<Encounter>>> {
    let is_open = |encounter: &Stored<Encounter>| encounter.value.state == EncounterState::Open;
    Ok(ENCOUNTERS.get(encounter_id)?.filter(is_open))
}

/// Returns the drafts of an encounter. A draft is looked up by its id, so that one that is written at the same time
/// is a conflict.
fn drafts(encounter: &Stored<Encounter>) -> Result<Vec<Stored<Draft>>> {
    let mut drafts = Vec::new();
    for author_id in &encounter.value.people {
        drafts.extend(draft(&encounter.id, author_id)?);
    }
    Ok(drafts)
}

/// Turns drafts into references, and ends the encounter.
fn show(
    call: &Call,
    mut encounter: Stored<Encounter>,
    drafts: Vec<Stored<Draft>>,
    action: &str,
) -> Result<()> {
    encounter.step(&ENCOUNTER, action)?;
    encounter.save()?;
    for timer in ["settle", "close"] {
        timers::cancel(&format!("{timer}/{}", encounter.id))?;
    }
    for draft in drafts {
        let Stored { id, revision, value, .. } = draft;
        let state = REFERENCE.step(&id, value.state, action)?;
        DRAFTS.delete(&id, Expect::Revision(revision))?;
        let reference = Reference {
            encounter_id: value.encounter_id,
            author_id: value.author_id,
            about_id: value.about_id,
            state,
            claims: value.claims,
            text: value.text,
            shown_at: call.now(),
            reply: None,
        };
        let reference = REFERENCES.add(call.new_id("ref"), reference, call.now())?;
        notices::show(&reference)?;
    }
    Ok(())
}
