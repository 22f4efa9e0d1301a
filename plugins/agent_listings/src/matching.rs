//! Listings for other capabilities, which match them.

use crate::{acting, documents::*, refusals::*, states::*, types::*};
use listing_search::{CardsQuery, FoundCards, RANKS, StoredCard, level_of};
use people_kit::listings::{
    FittingPage, FittingQuery, Profile, Profiles, ProfilesQuery, is_withheld,
};
use people_kit::people;
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

pub(crate) fn profiles(query: &ProfilesQuery) -> Result<Profiles> {
    let found = LISTINGS.get_many(query.listing_ids.iter().map(String::as_str))?;
    let mut profiles: Vec<Profile> = found.into_iter().flatten().map(profile_of_listing).collect();
    if query.with_people {
        add_people(&mut profiles)?;
    }
    Ok(Profiles { profiles })
}

pub(crate) fn cards(query: &CardsQuery) -> Result<FoundCards> {
    let found = CARDS.get_many(query.listing_ids.iter().map(String::as_str))?;
    let card = |card: Stored<Card>| StoredCard {
        listing_id: card.id,
        version: card.revision,
        card: card.value,
    };
    Ok(FoundCards { cards: found.into_iter().flatten().map(card).collect() })
}

/// Returns a page of active listings of other people that may be shown to the viewer. Listings with
/// a minimum age are included even if they are not public; the calling capability must not show
/// their owners. Listings whose owners nobody can reach are marked as `unreachable`.
pub(crate) fn fitting(call: &Call, input: FittingQuery) -> Result<FittingPage> {
    let viewer = input.viewer_id.as_deref();
    let age = match viewer {
        Some(viewer) => people::person(viewer)?.and_then(|person| person.age_at_least),
        None => None,
    };
    let query = Query::new().filter(filter(&input, age.unwrap_or(0))).near(input.near);
    let query = query.limit(input.limit).cursor(input.cursor).unchecked();
    let mut page = CARDS.find(match input.near {
        Some(_) => query.first("distance"),
        None => query.last("published_at"),
    })?;
    let hidden = acting::let_others_stand(viewer, &mut page.hits)?;
    let is_shown = |card: &Card| {
        let owner = card.owner_id.as_str();
        let is_age_restricted = card.min_age > 0 && viewer.is_some();
        viewer != Some(owner)
            && card.valid_through > call.now()
            && !is_withheld(&card.category, card.visibility)
            && (card.visibility == Visibility::Public || is_age_restricted)
            && !hidden.contains(owner)
    };
    let profiles = page.hits.into_iter().filter(|hit| is_shown(&hit.document.value));
    let mut profiles: Vec<Profile> = profiles.map(|hit| profile_of_card(hit.document)).collect();
    add_people(&mut profiles)?;
    profiles.retain(Profile::is_of_age);
    Ok(FittingPage { profiles, next_cursor: page.next })
}

/// Adds whether the owners are unreachable and, to listings with a minimum age, the age that they
/// have reached for certain.
fn add_people(profiles: &mut [Profile]) -> Result<()> {
    let owners: BTreeSet<_> = profiles.iter().map(|profile| profile.owner_id.as_str()).collect();
    let people = people::people(owners)?;
    for profile in profiles {
        let owner = people.get(&profile.owner_id);
        let adult = owner.filter(|_| profile.min_age > 0);
        profile.age_at_least = adult.and_then(|owner| owner.age_at_least);
        let org_id = profile.org_id.as_deref();
        profile.unreachable = owner.is_some_and(|owner| !owner.shows_listing(org_id));
    }
    Ok(())
}

fn filter(input: &FittingQuery, age: u8) -> Filter {
    let code = &input.category;
    let ends = code.match_indices('.');
    let above: Vec<_> = ends.filter_map(|(end, _)| code.get(..end)).collect();
    let category = match above.is_empty() {
        true => field(level_of(code)).eq(code),
        false => any_of([field(level_of(code)).eq(code), field("category").one_of(above)]),
    };
    let mut all = vec![category, field("side").eq(input.side), field("min_age").lte(age)];
    all.extend(input.facts.iter().map(|facts| field("facts[]").one_of(facts)));
    all.extend(input.ranks.iter().map(|(low, high)| {
        any_of(RANKS.map(|path| field(path).gte(low).and(field(path).lte(high))))
    }));
    all_of(all)
}

fn profile_of_card(card: Stored<Card>) -> Profile {
    let Stored { id, value, .. } = card;
    view!(move value => Profile {
        owner_id, org_id, category, label, side, counterpart, counterpart_side, visibility, min_age,
        title, excerpt, attributes, said, gist, facts, criteria, place, remote, compensation,
        published_at;
        listing_id: id,
        state: State::Active.name().to_owned(),
        age_at_least: None,
        unreachable: false,
        ended_at: None,
    })
}

fn profile_of_listing(listing: Stored<Listing>) -> Profile {
    let (state, ended_at) = (listing.value.state.name().to_owned(), listing.value.ended_at);
    let card = Stored::new(listing.id, listing.value.card(false), listing.updated_at);
    Profile { state, ended_at, ..profile_of_card(card) }
}
