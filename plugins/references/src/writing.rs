//! The actions of the two people: write, withdraw, reply.

use crate::refusals::*;
use crate::{claims, documents::*, encounters, notices, read::load, states::*, types::*, views};
use people_kit::fair_text;
use portolan_sdk::prelude::*;

/// Writes a reference, or replaces the one that is not shown yet. The draft of the other person is not read.
pub(crate) fn write(call: &Call, input: Write) -> Result<views::EncounterView> {
    let (me, now) = (call.require_owner()?, call.now());
    let (encounter, other) = encounters::load(me, &input.encounter_id)?;
    ENCOUNTER.step(&encounter.id, encounter.value.state_at(now), "write")?;
    if input.claims.is_empty() && input.text.is_none() {
        let expected = "claims, a text, or both";
        return Err(Refusal::validation("/claims", "required", expected).into());
    }
    if claims::contradict(&input.claims) {
        let expected = "at most one of two claims that contradict each other";
        return Err(Refusal::validation("/claims", "consistent", expected).into());
    }
    let text = input.text.map(|text| fair_text::read(CATEGORY, "/text", &text)).transpose()?;
    WRITTEN_A_DAY.count(call, DAYS, me, encounters())?;
    let written = Draft {
        encounter_id: encounter.id.clone(),
        author_id: me.to_owned(),
        about_id: other,
        state: State::Written,
        claims: input.claims,
        text,
        written_at: now,
    };
    let draft = encounters::draft(&encounter.id, me)?;
    let revision = draft.map_or(0, |draft| draft.revision);
    let mut draft = Stored { revision, ..Stored::new(both(&encounter.id, me), written, now) };
    let current = || views::encounter(call, me, &encounter).ok();
    draft.ensure_version(input.expected_version, current, read_encounter(&encounter.id))?;
    draft.save()?;
    let (name, input) = (format!("settle/{}", encounter.id), EncounterId::of(&encounter.id));
    timers::set(&name, now + SETTLED_AFTER, "settle", &input)?;
    views::encounter(call, me, &encounter)
}

/// Withdraws a reference before it is shown.
pub(crate) fn withdraw(call: &Call, input: &Withdraw) -> Result<views::EncounterView> {
    let (me, now) = (call.require_owner()?, call.now());
    let (encounter, _) = encounters::load(me, &input.encounter_id)?;
    ENCOUNTER.step(&encounter.id, encounter.value.state_at(now), "withdraw")?;
    let mut draft = encounters::draft(&encounter.id, me)?.ok_or(ReferenceError::DraftNotFound)?;
    let current = || views::encounter(call, me, &encounter).ok();
    draft.ensure_version(input.expected_version, current, read_encounter(&encounter.id))?;
    draft.step(&REFERENCE, "withdraw")?;
    DRAFTS.delete(&draft.id, Expect::Revision(draft.revision))?;
    views::encounter(call, me, &encounter)
}

/// Replies to a reference about the caller, once.
pub(crate) fn reply(call: &Call, input: &WriteReply) -> Result<views::ReferenceView> {
    let me = call.require_owner()?;
    let (mut reference, role) = load(me, &input.reference_id)?;
    let id = reference.id.clone();
    if role != Role::Received {
        return Err(ReferenceError::not_yours(&id));
    }
    if reference.value.reply.is_some() {
        return Err(ReferenceError::ReplyExists { reference_id: id });
    }
    let view = views::reference(me, &reference, role)?;
    reference.ensure_version(input.expected_version, || view, get(&id))?;
    reference.step(&REFERENCE, "reply")?;
    let text = fair_text::read(CATEGORY, "/reply", &input.reply)?;
    reference.value.reply = Some(Reply { text, at: call.now() });
    reference.save()?;
    notices::reply(call, &reference)?;
    views::reference(me, &reference, role)
}

/// Removes the content of a reference: a decision of the operator.
pub(crate) fn remove(reference_id: &str) -> Result<()> {
    let mut reference = Reference::load(reference_id)?;
    reference.step(&REFERENCE, "remove")?;
    let value = &mut reference.value;
    (value.text, value.reply) = (None, None);
    value.claims.clear();
    Ok(reference.save()?)
}
