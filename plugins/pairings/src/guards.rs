//! The checks before two people are connected.

use crate::{documents::*, limits::*, refusals::*};
use people_kit::listings::{self, Profile, Visibility};
use people_kit::people::{self, Person};
use people_kit::{organisations, relations};
use portolan_sdk::prelude::*;

/// Returns two listings; `None` for one that does not exist.
pub(crate) fn profiles(from_id: &str, to_id: &str) -> Result<(Option<Profile>, Option<Profile>)> {
    // A listing that was deleted with its person has no id here.
    let ids = [from_id, to_id].into_iter().filter(|id| !id.is_empty());
    let found = listings::profiles(ids)?;
    let find = |id: &str| found.iter().find(|listing| listing.listing_id == id).cloned();
    Ok((find(from_id), find(to_id)))
}

/// Returns an active listing of the caller, and its counterpart: a listing of another person that
/// is visible to the caller. Refuses if the ids are not those of two such listings.
pub(crate) fn listings(me: &str, from_id: &str, to_id: &str) -> Result<(Profile, Profile)> {
    let (from, to) = profiles(from_id, to_id)?;
    let mut from = from.ok_or(PairingError::ListingNotFound)?;
    if !acts_for(me, &from)? {
        return Err(match can_view(me, &from)? {
            true => PairingError::not_your_listing(from_id),
            false => PairingError::ListingNotFound,
        });
    }
    // The person who proposes a listing of an organisation represents the organisation.
    me.clone_into(&mut from.owner_id);
    if !from.is_active() {
        return Err(PairingError::ListingNotActive { step: read_listing(from_id) });
    }
    let mut to = to.ok_or(PairingError::ListingNotFound)?;
    if acts_for(me, &to)? {
        return Err(PairingError::SelfPairing { like: counterpart(&from) });
    }
    let_another_stand(me, &mut to)?;
    if !can_view(me, &to)? || relations::are_blocked(me, &to.owner_id)? {
        return Err(PairingError::ListingNotFound);
    }
    if !from.is_counterpart_of(&to) {
        return Err(PairingError::CategoryMismatch { like: counterpart(&from) });
    }
    Ok((from, to))
}

/// Lets another member stand for a listing of an organisation if a block is between its member and a person.
/// A block with one member does not exclude the person from the organisation.
pub(crate) fn let_another_stand(person: &str, listing: &mut Profile) -> Result<()> {
    let Some(org_id) = &listing.org_id else { return Ok(()) };
    if relations::are_blocked(person, &listing.owner_id)?
        && let Some(heir) = organisations::successor(org_id, &listing.owner_id, [person])?
    {
        listing.owner_id = heir;
    }
    Ok(())
}

/// Returns whether a person may propose a listing and answer for it: as its owner or, for one of an
/// organisation, as a member who acts in its name.
fn acts_for(me: &str, listing: &Profile) -> Result<bool> {
    match &listing.org_id {
        Some(org_id) => Ok(relations::has_relation(format!("org:{org_id}"), "recruiter", me)?),
        None => Ok(listing.owner_id == me),
    }
}

pub(crate) fn counterpart(listing: &Profile) -> Like {
    Like { category: listing.counterpart.clone(), side: listing.counterpart_side }
}

/// Returns whether a listing is visible to a person, without regard to blocks.
fn can_view(me: &str, listing: &Profile) -> Result<bool> {
    match listing.is_active() && !listing.is_withheld() {
        false => Ok(false),
        true if listing.visibility != Visibility::Network => Ok(true),
        true => {
            Ok(relations::has_relation(format!("listing:{}", listing.listing_id), "can_view", me)?)
        }
    }
}

/// Refuses with `AgeRestricted` if the proposer is too young for the recipient's listing, and with
/// `RecipientNotAccepting` if the recipient's contact policy, declined categories or age exclude
/// the proposal. The latter does not say which of these it is. A proposal to an organisation reaches
/// several people, so the contact policy and the declined categories of one of them do not matter.
pub(crate) fn ensure_accepts(from: &Profile, to: &Profile) -> Result<()> {
    let people = people::people([from.owner_id.as_str(), to.owner_id.as_str()])?;
    let min_age = from.min_age.max(to.min_age);
    ensure_old_enough(people.get(&from.owner_id), min_age)?;
    let is_of_org = to.org_id.is_some();
    let can_message = match is_of_org {
        true => !relations::are_blocked(&from.owner_id, &to.owner_id)?,
        false => {
            let recipient = format!("owner:{}", to.owner_id);
            relations::has_relation(recipient, "can_message", &from.owner_id)?
        }
    };
    let declines = people.get(&to.owner_id).is_none_or(|recipient| {
        let declines = |listing: &Profile| recipient.declines(&listing.category);
        !recipient.active || !is_of_org && (declines(to) || declines(from))
    });
    if !can_message || declines || !is_old_enough(people.get(&to.owner_id), min_age) {
        let like = Like { category: to.category.clone(), side: to.side };
        return Err(PairingError::RecipientNotAccepting { step: search(like) });
    }
    Ok(())
}

fn is_old_enough(person: Option<&Person>, min_age: u8) -> bool {
    person.and_then(|person| person.age_at_least).unwrap_or(0) >= min_age
}

fn ensure_old_enough(person: Option<&Person>, min_age: u8) -> Result<()> {
    if is_old_enough(person, min_age) {
        return Ok(());
    }
    let is_known = person.is_some_and(|person| person.age_at_least.is_some());
    Err(PairingError::AgeRestricted { min_age, is_known })
}

/// Refuses to continue if one of the two is too young for the listings, as after the operator has
/// corrected a year of birth.
pub(crate) fn ensure_of_age(pairing: &Pairing, role: Role) -> Result<()> {
    let (from, to) = profiles(&pairing.from.listing_id, &pairing.to.listing_id)?;
    let min_age = from.iter().chain(&to).map(|listing| listing.min_age).max().unwrap_or(0);
    if min_age == 0 {
        return Ok(());
    }
    let (me, other) = (pairing.side(role), pairing.side(role.other()));
    let people = people::people([me.owner_id.as_str(), other.owner_id.as_str()])?;
    ensure_old_enough(people.get(&me.owner_id), min_age)?;
    match is_old_enough(people.get(&other.owner_id), min_age) {
        true => Ok(()),
        false => Err(PairingError::RecipientNotAccepting { step: list() }),
    }
}

/// Refuses a second open pairing of two listings.
pub(crate) fn ensure_free(pair: &Pair) -> Result<()> {
    match load_open(pair)? {
        Some(open) => Err(PairingError::PairingExists {
            existing_state: open.value.state.name(),
            pairing_id: open.id,
        }),
        None => Ok(()),
    }
}

pub(crate) fn load_open(pair: &Pair) -> Result<Option<Stored<Pairing>>> {
    match &pair.open {
        Some(pairing_id) => Ok(PAIRINGS.get(pairing_id)?),
        None => Ok(None),
    }
}

pub(crate) fn ensure_no_cooldown(pair: &Pair, listing_id: &str, now: u64) -> Result<()> {
    match pair.cooldown(listing_id, now) {
        Some(declined) => Err(PairingError::CooldownActive {
            pairing_id: declined.pairing_id.clone(),
            wait: declined.at + COOLDOWN - now,
        }),
        None => Ok(()),
    }
}

/// Refuses to continue if one has blocked the other: the pairing is about to end.
pub(crate) fn ensure_not_blocked(pairing: &Pairing, role: Role) -> Result<()> {
    let (me, other) = (pairing.side(role), pairing.side(role.other()));
    if relations::are_blocked(&me.owner_id, &other.owner_id)? {
        return Err(PairingError::RecipientNotAccepting { step: list() });
    }
    Ok(())
}

/// Refuses to connect listings if one is no longer active: the proposal is about to end.
pub(crate) fn ensure_both_active(pairing_id: &str, pairing: &Pairing) -> Result<()> {
    let (from, to) = profiles(&pairing.from.listing_id, &pairing.to.listing_id)?;
    if !to.is_some_and(|listing| listing.is_active()) {
        return Err(PairingError::ListingNotActive { step: read_listing(&pairing.to.listing_id) });
    }
    if !from.is_some_and(|listing| listing.is_active()) {
        return Err(PairingError::ListingNotActive { step: get(pairing_id) });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_sdk::test;

    const PROPOSER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";
    const RECIPIENT: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X4";

    fn listing(owner_id: &str, org_id: Option<&str>) -> Profile {
        let profile = json!({
            "listing_id": "lst_1", "owner_id": owner_id, "org_id": org_id, "category": "work.job",
            "label": "Job", "side": "offer", "counterpart": "work.candidate",
            "counterpart_side": "demand", "state": "active", "visibility": "public", "min_age": 0,
            "title": "Engineer", "excerpt": "", "attributes": {}, "facts": [], "criteria": {},
            "remote": false, "published_at": 1,
        });
        serde_json::from_value(profile).unwrap()
    }

    #[test]
    fn what_one_member_prefers_does_not_keep_proposals_from_the_organisation() {
        for (org_id, active, hidden, is_accepted) in [
            (None, true, json!([]), false),
            (Some("org_1"), true, json!([]), true),
            (Some("org_1"), false, json!([]), false),
            (Some("org_1"), true, json!([RECIPIENT]), false),
        ] {
            let person = |owner_id: &str, declined: Value| {
                json!({
                    "owner_id": owner_id, "active": active, "contact_policy": "paused",
                    "declined_categories": declined,
                })
            };
            let people = [person(PROPOSER, json!([])), person(RECIPIENT, json!(["work"]))];
            let mut world = test::world()
                .owner(PROPOSER)
                .answer(people::PEOPLE, json!({ "people": people }))
                .answer(relations::HIDDEN, json!({ "owner_ids": hidden }))
                .answer(relations::ALLOWED, json!({ "allowed": false }));
            let accepts = world
                .run(|_call| ensure_accepts(&listing(PROPOSER, None), &listing(RECIPIENT, org_id)));
            assert_eq!(accepts.is_ok(), is_accepted, "{org_id:?} {active} {hidden}");
        }
    }

    #[test]
    fn a_block_with_one_member_leaves_the_listing_of_an_organisation_to_another() {
        const OTHER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X5";
        let active = |owner_id| json!({ "owner_id": owner_id, "active": true, "contact_policy": "anyone_matching" });
        for (org_id, members, expected) in [
            (Some("org_1"), &[RECIPIENT, OTHER][..], OTHER),
            (Some("org_1"), &[RECIPIENT], RECIPIENT),
            (None, &[RECIPIENT, OTHER], RECIPIENT),
        ] {
            let mut listing = listing(RECIPIENT, org_id);
            let mut world = test::world()
                .answer(organisations::ACTING_MEMBERS, json!({ "owner_ids": members }))
                .answer(people::PEOPLE, json!({ "people": [active(OTHER), active(RECIPIENT)] }))
                .answer(relations::HIDDEN, json!({ "owner_ids": [RECIPIENT] }));
            let stands = world.run(|_call| let_another_stand(PROPOSER, &mut listing));
            assert!(stands.is_ok());
            assert_eq!(listing.owner_id, expected, "{org_id:?} {members:?}");
        }
    }
}
