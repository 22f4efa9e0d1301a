//! Previews of the listings that would fit, without their owners. Nothing is stored.

use crate::{compare::distance_km, pool::CandidateSearch, session, types::*, views::*, wishes};
use people_kit::listings::{self, Profile, Visibility};
use people_kit::taxonomy::{self, CheckInput};
use people_kit::{people, relations};
use portolan_sdk::prelude::*;

pub(crate) fn preview(call: &Call, input: Preview) -> Result<Answer<PreviewList>> {
    let (viewer_id, now) = (call.owner_id(), call.now());
    let mine = match (input.listing_draft, input.listing_id) {
        (Some(draft), None) => draft_profile(call, draft)?,
        (None, Some(id)) => known_listing(viewer_id, &id)?,
        _ => {
            let expected = "exactly one of listing_draft and listing_id";
            return Err(Refusal::validation("/listing_draft", "required", expected).into());
        }
    };
    ensure_old_enough(viewer_id, mine.min_age)?;
    let search =
        CandidateSearch { mine: &mine, criteria: &mine.criteria, viewer_id, now, exact: false };
    let mut fits: Vec<_> = search.initial()?.fits.into_values().collect();
    fits.sort_by(|(one, fit), (other, better)| {
        better.score.total_cmp(&fit.score).then_with(|| one.listing_id.cmp(&other.listing_id))
    });
    fits.truncate(input.limit as usize);
    let items = fits.into_iter().map(|(other, fit)| {
        let distance = distance_km(&mine, &other);
        PreviewItem::new(other, fit, distance)
    });
    let is_own = !mine.listing_id.is_empty() && viewer_id == Some(&mine.owner_id);
    let next = match is_own {
        false => Next::action("agent_listings", "list_mine"),
        true => Next::action(CAPABILITY, "create").field("listing_id", mine.listing_id.as_str()),
    };
    let list = PreviewList { items: items.collect(), to_check: wishes::of_mine(&mine) };
    Ok(Answer::new(list).next(next))
}

/// Refuses somebody who has not reached a minimum age for certain.
fn ensure_old_enough(viewer_id: Option<&str>, min_age: u8) -> Result<()> {
    if min_age == 0 {
        return Ok(());
    }
    let person = viewer_id.map(people::person).transpose()?.flatten();
    let age = person.and_then(|person| person.age_at_least);
    match age.is_some_and(|age| age >= min_age) {
        true => Ok(()),
        false => Err(MatchingError::AgeRestricted { min_age, has_owner: viewer_id.is_some() }),
    }
}

/// Returns the person's own listing, one that they may change, or a public one.
fn known_listing(viewer: Option<&str>, id: &str) -> Result<Profile> {
    if let Some(listing) = listings::profiles_for_matching([id])?.pop().filter(Profile::is_active) {
        let is_public = listing.visibility == Visibility::Public && listing.min_age == 0;
        let is_editor = |viewer| relations::has_relation(format!("listing:{id}"), "editor", viewer);
        if is_public || viewer.map_or(Ok(false), is_editor)? {
            return Ok(listing);
        }
    }
    session::own_listing(viewer.ok_or(MatchingError::ListingNotFound)?, id)
}

fn draft_profile(call: &Call, draft: Draft) -> Result<Profile> {
    let input = CheckInput {
        code: draft.category.clone(),
        side: draft.side,
        attributes: draft.attributes,
        criteria: draft.criteria.clone(),
        text: format!("{}. {}", draft.title, draft.description),
    };
    let (attributes, criteria) = ("/listing_draft/attributes", "/listing_draft/criteria");
    let checked = taxonomy::check(&input)
        .map_err(|error| MatchingError::Taxonomy(error.at(attributes, criteria)))?;
    Ok(Profile {
        listing_id: String::new(),
        owner_id: call.owner_id().unwrap_or_default().to_owned(),
        org_id: None,
        category: draft.category,
        label: checked.category.label,
        side: draft.side,
        counterpart: checked.category.counterpart,
        counterpart_side: checked.category.counterpart_side,
        state: "active".into(),
        visibility: Visibility::Public,
        min_age: checked.policy.min_age.unwrap_or(0),
        title: draft.title,
        excerpt: String::new(),
        attributes: checked.attributes,
        said: checked.said,
        gist: checked.gist,
        age_at_least: None,
        unreachable: false,
        ended_at: None,
        facts: checked.keys.facts,
        criteria: draft.criteria,
        place: draft.place.as_ref().map(people_kit::listings::Place::public),
        remote: draft.remote,
        compensation: draft.compensation,
        published_at: call.now(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MatchingSessions;
    use portolan_sdk::test::{self, World};

    const VIEWER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";

    /// Returns the refusal of a preview of a draft for dates.
    fn refusal(world: World) -> Option<Refusal> {
        let checked = json!({
            "attributes": {},
            "category": {
                "label": "Dates", "synonyms": [], "schema_org_type": "Person",
                "counterpart": "social.date", "counterpart_side": "demand",
            },
            "policy": {
                "min_age": 18, "prohibited_criteria": [], "default_ttl_days": 30,
                "proposal_cost": 2, "min_radius_km": null, "default_visibility": "network",
            },
            "keys": { "facts": [], "ranks": [] },
        });
        let mut world = world
            .answer(taxonomy::CHECK, checked)
            .answer(listings::FITTING, json!({ "profiles": [] }))
            .answer(relations::HIDDEN, json!({ "owner_ids": [] }));
        let draft = json!({
            "category": "social.date", "side": "demand", "title": "Coffee", "attributes": {},
        });
        world.call("preview", &json!({ "listing_draft": draft })).err()
    }

    #[test]
    fn a_preview_with_a_minimum_age_leads_an_anonymous_agent_to_the_claim() {
        let refusal = refusal(test::world().of::<MatchingSessions>().anonymous()).unwrap();
        assert_eq!(refusal.code, "age_restricted");
        let next = portolan_sdk::to_value(&refusal.next);
        assert_eq!(next["capability"], "svc.phone-binding", "{next}");
    }

    #[test]
    fn a_person_who_may_be_too_young_previews_nothing_with_a_minimum_age() {
        for age in [None, Some(17)] {
            let person = json!({
                "owner_id": VIEWER, "active": true, "contact_policy": "anyone_matching",
                "age_at_least": age,
            });
            let world = test::world().of::<MatchingSessions>().owner(VIEWER);
            let world = world.answer(people::PEOPLE, json!({ "people": [person] }));
            let code = refusal(world).map(|refusal| refusal.code);
            assert_eq!(code.as_deref(), Some("age_restricted"), "{age:?}");
        }
    }
}
