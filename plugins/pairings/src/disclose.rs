//! Disclosure of contact data. Data of a kind is exchanged only when both sides have disclosed that
//! kind.

use crate::{
    access, documents::*, guards, notices, propose, refusals::*, states::*, transitions, types::*,
    views::*,
};
use people_kit::relations::{Tuple, relate};
use people_kit::text::{Fault, Faults, Lines, plain};
use people_kit::{UNTRUSTED, hex, people, threads};
use portolan_sdk::{prelude::*, secrets};
use std::collections::{BTreeMap, BTreeSet};

/// Discloses exactly these kinds from now on. Kinds that were exchanged stay disclosed, unless the contact
/// data was that of a member for whom the caller stands in: then the exchange begins anew, because the other
/// side has disclosed theirs to that member.
pub(crate) fn disclose(call: &Call, input: Disclose) -> Result<Answer<Disclosure>> {
    let (mut pairing, role) = transitions::load_with_role(call, &input.pairing_id)?;
    let state = pairing.value.state;
    if state != State::Connected {
        let allowed_actions = access::allowed(&pairing.value, role, call.require_owner()?);
        let pairing_id = pairing.id;
        return Err(PairingError::DisclosureNotAllowed { pairing_id, state, allowed_actions });
    }
    transitions::ensure_allowed(call, &pairing, role, "disclose", input.expected_version)?;
    guards::ensure_not_blocked(&pairing.value, role)?;
    let value = &mut pairing.value;
    let begins_anew = value.side(role).replaces_discloser(call.require_owner()?);
    if begins_anew {
        value.take_back_disclosed();
    }
    let before = value.side(role).disclosed.clone();
    let fields: BTreeSet<Kind> = input.fields.iter().chain(&value.exchanged).copied().collect();
    let details = check_details(input.details, &fields)?;
    let disclosed = disclosed(call, &input.pairing_id, &fields, &before, &details)?;
    let theirs = &value.side(role.other()).disclosed;
    let both: BTreeSet<Kind> =
        disclosed.keys().filter(|kind| theirs.contains_key(kind)).copied().collect();
    let news: Vec<Kind> = both.difference(&value.exchanged).copied().collect();
    let changed = disclosed != before || !news.is_empty();
    let side = value.side_mut(role);
    side.disclosed_by = call.owner_id().map(str::to_owned);
    side.disclosed = disclosed;
    value.exchanged = both;
    transitions::record_agent(call, &mut pairing, role)?;
    if changed {
        transitions::touch(call, &mut pairing)?;
    }
    if begins_anew {
        notices::BEGINNING_ANEW.notify(call, &pairing, &[role.other()], Facts::default())?;
    }
    if !news.is_empty() {
        exchange(call, &pairing, &news)?;
    }
    let value = &pairing.value;
    let all = value.side(role).disclosed.keys().all(|kind| value.exchanged.contains(kind));
    let is_exchanged = all && !value.exchanged.is_empty();
    let disclosure = if is_exchanged { Stage::Exchanged } else { Stage::Pending };
    let view = propose::view(call, &pairing)?;
    Ok(Answer::new(Disclosure { disclosure, pairing: view }).next(get(&pairing.id)))
}

/// Writes into `social_permissions` that each of the two may see the other's contact data, allows it in
/// their conversation, and publishes the newly exchanged kinds to both.
fn exchange(call: &Call, pairing: &Stored<Pairing>, news: &[Kind]) -> Result<()> {
    let (from, to) = (pairing.value.from.discloser(), pairing.value.to.discloser());
    let viewer = |one: &str, other: &str| {
        Tuple::new(format!("owner:{one}"), "contact_viewer", format!("owner:{other}"))
    };
    relate(vec![viewer(from, to), viewer(to, from)], Vec::new())?;
    if let Some(thread_id) = &pairing.value.thread_id {
        threads::allow_contact_data(thread_id)
            .map_err(|error| PairingError::of_thread(error, &pairing.id))?;
    }
    let facts = Facts { fields: news.to_vec(), ..Facts::default() };
    notices::EXCHANGE.notify(call, pairing, notices::BOTH, facts)
}

fn check_details(details: Details, fields: &BTreeSet<Kind>) -> Result<BTreeMap<Kind, String>> {
    let mut faults = Faults::default();
    let mut given = BTreeMap::new();
    for (kind, text) in [
        (Kind::Email, details.email),
        (Kind::FullName, details.full_name),
        (Kind::ExactAddress, details.exact_address),
    ] {
        let Some(text) = text else { continue };
        let pointer = &missing(kind).pointer;
        if !fields.contains(&kind) {
            faults.add(pointer, "disclosed", "a detail that is among the fields");
        }
        let lines = if kind == Kind::ExactAddress { Lines::Many } else { Lines::One };
        given.insert(kind, plain(pointer, &text, lines, &mut faults));
    }
    faults.check()?;
    Ok(given)
}

/// Returns for each of these kinds the sealed value that was given now or before, or `None` if the
/// value is stored elsewhere. Refuses if a kind has no value.
fn disclosed(
    call: &Call,
    pairing_id: &str,
    fields: &BTreeSet<Kind>,
    before: &BTreeMap<Kind, Option<String>>,
    details: &BTreeMap<Kind, String>,
) -> Result<BTreeMap<Kind, Option<String>>> {
    let me = call.require_owner()?;
    let mut disclosed = BTreeMap::new();
    let mut lacking = Vec::new();
    for kind in fields {
        let known = match (details.get(kind), before.get(kind)) {
            (Some(text), _) => Some(Some(hex::encode(&secrets::seal(text.as_bytes())?))),
            (None, Some(kept)) => Some(kept.clone()),
            (None, None) => is_known(me, *kind)?.then_some(None),
        };
        match known {
            Some(value) => _ = disclosed.insert(*kind, value),
            None => lacking.push(*kind),
        }
    }
    let Some(first) = lacking.first() else { return Ok(disclosed) };
    let next = ask(pairing_id, fields, *first);
    Err(PairingError::undisclosable(lacking.into_iter().map(missing).collect(), next))
}

/// Returns whether a value of this kind is stored elsewhere: the phone number of the claim, or the
/// links of the profile.
fn is_known(owner_id: &str, kind: Kind) -> Result<bool> {
    match kind {
        Kind::Phone => Ok(people::phone(owner_id)?.is_some()),
        Kind::Links => Ok(!people::links(owner_id)?.is_empty()),
        Kind::Email | Kind::FullName | Kind::ExactAddress => Ok(false),
    }
}

/// Returns the fault of a kind without a value.
fn missing(kind: Kind) -> Fault {
    let (pointer, expected) = match kind {
        Kind::Phone => ("/fields", "fields without phone: no number of the person is known"),
        Kind::Links => ("/fields", "fields without links: the person's profile has none"),
        Kind::Email => ("/details/email", "an e-mail address"),
        Kind::FullName => ("/details/full_name", "the person's full name"),
        Kind::ExactAddress => ("/details/exact_address", "an address"),
    };
    Fault { pointer: pointer.into(), rule: "required", expected }
}

/// Returns the next step that asks the person for the missing value.
fn ask(pairing_id: &str, fields: &BTreeSet<Kind>, lacking: Kind) -> Next {
    let question = match lacking {
        Kind::Phone => return Next::claim(),
        Kind::Links => {
            let question = "Which pages of yours may I disclose?";
            return Next::action("owners", "update_profile").ask("links", question);
        }
        Kind::Email => "Which e-mail address may I disclose?",
        Kind::FullName => "Which full name may I disclose?",
        Kind::ExactAddress => "Which address may I disclose?",
    };
    let next = Next::action(CAPABILITY, "disclose").field("pairing_id", pairing_id);
    next.field("fields", portolan_sdk::to_value(fields)).ask("details", question)
}

/// Returns the other side's contact data, of the kinds that were exchanged; `None` if none was.
pub(crate) fn contact(pairing: &Pairing, role: Role) -> Result<Option<Contact>> {
    if pairing.exchanged.is_empty() {
        return Ok(None);
    }
    let other = pairing.side(role.other());
    let is_exchanged = |kind: Kind| pairing.exchanged.contains(&kind);
    let owner_id = other.discloser().to_owned();
    let person = people::person(&owner_id)?;
    Ok(Some(Contact {
        owner_id: Some(owner_id),
        display_name: person.and_then(|person| person.display_name),
        phone: if is_exchanged(Kind::Phone) { people::phone(other.discloser())? } else { None },
        email: open_detail(pairing, other, Kind::Email)?,
        full_name: open_detail(pairing, other, Kind::FullName)?,
        exact_address: open_detail(pairing, other, Kind::ExactAddress)?,
        links: match is_exchanged(Kind::Links) {
            true => Some(people::links(other.discloser())?),
            false => None,
        },
        trust: UNTRUSTED,
    }))
}

/// Returns the value that this side gave for this kind; `None` if it gave none or the kind was not
/// exchanged.
fn open_detail(pairing: &Pairing, side: &Side, kind: Kind) -> Result<Option<String>> {
    let sealed = side.disclosed.get(&kind).filter(|_| pairing.exchanged.contains(&kind));
    let Some(Some(sealed)) = sealed else { return Ok(None) };
    let opened = secrets::open(&hex::decode(sealed))?;
    Ok(opened.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}
