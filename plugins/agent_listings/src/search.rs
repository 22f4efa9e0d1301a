//! Finds active listings that are visible to the caller.

use crate::{acting, documents::*, refusals::*, types::*, views::*};
use listing_search::{Prepared, SearchError, can_view, ensure_old_enough, is_withheld};
use people_kit::people::{self, Person};
use people_kit::taxonomy::{self, HighlightInput};
use portolan_sdk::documents::Counted;
use portolan_sdk::prelude::*;
use std::collections::BTreeMap;

/// The minimum number of cards that are read at once for a person, because some of them may not be
/// visible to the person.
const CHUNK: u32 = 50;
const MOST_CHUNKS: usize = 3;
/// The maximum number of permission checks for listings with the visibility `network` in one
/// search.
const MOST_CHECKS: usize = 60;

pub(crate) fn search(call: &Call, input: Search) -> Result<Found> {
    let Search { conditions, sort, highlight: has_highlights, facets: has_facets, page } = input;
    let prepared = Prepared::new(conditions)?;
    let filter = prepared.filter(age(call, &prepared)?);
    let query = |filter| sorted(prepared.query(filter).unchecked(), &prepared.conditions, sort);
    if has_facets && prepared.conditions.owner_id.is_some() {
        // Counts include listings that the caller may not see.
        let next = Next::action(CAPABILITY, "search");
        let refusal = Refusal::validation("/facets", "const", "false together with owner_id");
        return Err(refusal.next(next).into());
    }
    let facets = has_facets.then(|| facets(query(counted(filter.clone()))?)).transpose()?;
    let filter = if call.owner_id().is_none() { public(filter) } else { filter };
    let mut viewer = Viewer { owner_id: call.owner_id(), checks: 0, people: BTreeMap::new() };
    let (hits, next_cursor) = viewer.page(&query(filter)?, page)?;
    let shown = |hit: Hit<Card>| {
        let person = viewer.people.get(&hit.document.value.owner_id);
        CardView::new(hit, person)
    };
    let mut items: Vec<CardView> = hits.into_iter().map(shown).collect();
    if let Some(q) = prepared.conditions.q.filter(|_| has_highlights) {
        highlight(&mut items, q)?;
    }
    Ok(Found { items, next_cursor, facets })
}

/// Returns the age that the caller has reached for certain, if it matters. Refuses a caller who may
/// be too young for the category.
fn age(call: &Call, prepared: &Prepared) -> Result<Option<u8>> {
    let age = match call.owner_id().filter(|_| prepared.depends_on_age()) {
        Some(viewer) => people::person(viewer)?.and_then(|person| person.age_at_least),
        None => None,
    };
    ensure_old_enough(prepared.min_age(), age, call.owner_id().is_some())?;
    Ok(age)
}

/// Limits a filter to public listings.
fn public(filter: Filter) -> Filter {
    filter.and(field("visibility").eq(Visibility::Public))
}

/// Limits a filter to the listings that facets count: public ones for people of any age, so that
/// nobody learns of others, of owners who take contact.
fn counted(filter: Filter) -> Filter {
    public(filter).and(field("min_age").eq(0)).and(not(field("paused").eq(true)))
}

/// Counts the hits of a query by category, side and remote.
fn facets(query: Query) -> Result<Facets> {
    let counts = CARDS.count_by(["category", "side", "remote"], query)?;
    let count = |counted: Counted| Count { value: counted.value, count: counted.count };
    let [category, side, remote] = counts.map(|counts| counts.into_iter().map(count).collect());
    Ok(Facets { category, side, remote })
}

/// Returns the query in its order. Refuses an order for which a condition is missing.
fn sorted(query: Query, conditions: &Conditions, sort: Option<Sort>) -> Result<Query> {
    let by_default = match (&conditions.q, &conditions.near) {
        (Some(_), _) => Sort::Relevance,
        (None, Some(_)) => Sort::Distance,
        (None, None) => Sort::Newest,
    };
    let has_pay = conditions.compensation.is_some();
    let (needed, is_given, query) = match sort.unwrap_or(by_default) {
        Sort::Newest => return Ok(query.last("published_at")),
        Sort::Relevance => ("/q", conditions.q.is_some(), query.last("relevance")),
        Sort::Distance => ("/near", conditions.near.is_some(), query.first("distance")),
        Sort::Cheapest => ("/compensation", has_pay, query.first("indexed.pay_from")),
        Sort::Dearest => ("/compensation", has_pay, query.last("indexed.pay_to")),
    };
    if is_given {
        return Ok(query);
    }
    let next = Next::action(CAPABILITY, "search");
    Err(Refusal::validation(needed, "required", "given for this sort").next(next).into())
}

/// Names the words of titles and excerpts that match a query.
fn highlight(items: &mut [CardView], q: String) -> Result<()> {
    let texts = items.iter().flat_map(CardView::texts).map(str::to_owned).collect();
    let found = taxonomy::highlight(&HighlightInput { q, texts }).map_err(SearchError::Taxonomy)?;
    let mut found = found.texts.into_iter();
    for item in items {
        item.highlight(found.next().unwrap_or_default(), found.next().unwrap_or_default());
    }
    Ok(())
}

/// The caller, the number of permission checks made so far, and the owners of the cards that were
/// read.
struct Viewer<'a> {
    owner_id: Option<&'a str>,
    checks: usize,
    people: BTreeMap<String, Person>,
}

impl Viewer<'_> {
    /// Returns a page of the listings that are visible to the caller, and the cursor of the next
    /// one. Some matches may not be visible to a person, so the cards are read in larger chunks:
    /// the length of a page does not show how many were left out.
    fn page(&mut self, query: &Query, page: PageInput) -> Result<(Vec<Hit<Card>>, Option<String>)> {
        let limit = page.limit as usize;
        let chunk = page.limit.max(if self.owner_id.is_some() { CHUNK } else { 0 });
        let mut cursor = page.cursor;
        let mut shown: Vec<Hit<Card>> = Vec::new();
        for _ in 0..MOST_CHUNKS {
            let part = query.clone().limit(chunk).cursor(cursor.clone());
            let mut found = CARDS.find(part)?;
            let visible = self.visible(&mut found.hits)?;
            let wanted = limit - shown.len();
            let mut places = visible.iter().enumerate().filter(|(_, seen)| **seen);
            let last = places.nth(wanted.saturating_sub(1));
            let end = last.map(|(at, _)| at + 1).filter(|end| *end < found.hits.len());
            let mut seen = visible.into_iter().take(end.unwrap_or(usize::MAX));
            shown.extend(found.hits.into_iter().filter(|_| seen.next().unwrap_or(false)));
            if let Some(end) = end {
                // Reads the cursor of a page that ends where this one does.
                let part = query.clone().limit(end as u32).cursor(cursor);
                return Ok((shown, CARDS.find(part)?.next));
            }
            cursor = found.next;
            if shown.len() >= limit || cursor.is_none() {
                break;
            }
        }
        Ok((shown, cursor))
    }

    /// Returns for each match whether it is visible to the caller, and lets the members stand for the cards
    /// of organisations whom the caller may see.
    fn visible(&mut self, hits: &mut [Hit<Card>]) -> Result<Vec<bool>> {
        let hidden = acting::let_others_stand(self.owner_id, hits)?;
        let new = owners(hits).into_iter().filter(|owner| !self.people.contains_key(*owner));
        self.people.extend(people::people(new)?);
        hits.iter()
            .map(|hit| {
                let card = &hit.document.value;
                let owner = &card.owner_id;
                let is_withheld = is_withheld(card, self.people.get(owner));
                let person = self.people.get(owner);
                let is_away =
                    person.is_some_and(|person| !person.shows_listing(card.org_id.as_deref()));
                Ok(match self.owner_id {
                    Some(viewer) if viewer == owner => true,
                    _ if is_withheld || is_away || hidden.contains(owner) => false,
                    Some(viewer) if card.visibility == Visibility::Network => {
                        self.checks += 1;
                        self.checks <= MOST_CHECKS && can_view(&hit.document.id, viewer)?
                    }
                    _ => card.visibility == Visibility::Public,
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AgentListings;
    use listing_search::indexed;
    use people_kit::organisations::ACTING_MEMBERS;
    use people_kit::relations;
    use people_kit::taxonomy::Keys;
    use portolan_sdk::test::{self, World};

    const LISTER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X4";
    const LISTING: &str = "lst_01JZX8Q4M2N6P7R8S9T0V1W2X4";

    fn card() -> Card {
        let card = json!({
            "owner_id": LISTER, "category": "home.let.room", "label": "Room", "indexed": {},
            "side": "offer", "title": "Quiet room", "excerpt": "With a desk.", "terms": "room",
            "attributes": {}, "remote": false, "visibility": "public", "min_age": 0,
            "published_at": 1, "valid_through": 2, "facts": [], "criteria": {},
            "counterpart": "home.rent.room", "counterpart_side": "demand",
        });
        let mut card: Card = serde_json::from_value(card).unwrap();
        card.indexed = indexed(&card.category, &Keys::default(), None);
        card
    }

    #[test]
    fn listings_of_people_who_take_no_contact_are_not_counted() {
        let person = |policy: &str| json!({ "people": [{ "owner_id": LISTER, "active": true, "contact_policy": policy }] });
        let listed = json!({ "published": [LISTING], "kept": [] });
        let book: OwnerListings = serde_json::from_value(listed).unwrap();
        let mut world = test::world()
            .of::<AgentListings>()
            .anonymous()
            .answer(people::PEOPLE, person("anyone_matching"))
            .answer(people::PEOPLE, person("paused"))
            .answer(relations::HIDDEN, json!({ "owner_ids": [] }))
            .document(OWNER_LISTINGS, LISTER, &book)
            .document(CARDS, LISTING, &card());
        let counted = |world: &mut World| {
            let found = world.call("search", &json!({ "facets": true })).unwrap();
            found["facets"]["category"].as_array().map(Vec::len)
        };
        assert_eq!(counted(&mut world), Some(1));
        for (changed, expected) in [("profile", 1), ("preferences", 0)] {
            let event = json!({
                "id": "evt_1", "event_type": "owner.updated", "subject": format!("owners/{LISTER}"),
                "data": { "changed": [changed] },
            });
            let mut system = world.system();
            system.call("on_owner_updated", &event).unwrap();
            world = system.anonymous();
            assert_eq!(counted(&mut world), Some(expected), "{changed}");
        }
    }

    #[test]
    fn what_one_recruiter_prefers_does_not_hide_a_listing_of_the_organisation() {
        for (active, contact_policy, is_found) in
            [(true, "paused", true), (true, "network", true), (false, "anyone_matching", false)]
        {
            let person = json!({
                "owner_id": LISTER, "active": active, "contact_policy": contact_policy,
            });
            let listed = json!({ "published": [LISTING], "kept": [] });
            let book: OwnerListings = serde_json::from_value(listed).unwrap();
            let mut of_org = card();
            of_org.org_id = Some("org_1".to_owned());
            let event = json!({
                "id": "evt_1", "event_type": "owner.updated", "subject": format!("owners/{LISTER}"),
                "data": { "changed": ["preferences"] },
            });
            let mut world = test::world()
                .of::<AgentListings>()
                .system()
                .answer(people::PEOPLE, json!({ "people": [person] }))
                .answer(relations::HIDDEN, json!({ "owner_ids": [] }))
                .document(OWNER_LISTINGS, LISTER, &book)
                .document(CARDS, LISTING, &of_org);
            world.call("on_owner_updated", &event).unwrap();
            let found = world.anonymous().call("search", &json!({ "facets": true })).unwrap();
            let count = found["items"].as_array().map(Vec::len);
            assert_eq!(count, Some(usize::from(is_found)), "{active} {contact_policy}");
            assert_eq!(found["facets"]["category"].as_array().map(Vec::len), Some(1));
        }
    }

    #[test]
    fn a_block_with_one_member_leaves_a_listing_of_the_organisation_to_another() {
        const OTHER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X5";
        const VIEWER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X6";
        let active = |id: &str| json!({ "owner_id": id, "active": true, "contact_policy": "anyone_matching" });
        let mut of_org = card();
        of_org.org_id = Some("org_1".to_owned());
        for (card, members, expected) in [
            (&of_org, &[LISTER, OTHER][..], Some(OTHER)),
            (&of_org, &[LISTER], None),
            (&card(), &[LISTER, OTHER], None),
        ] {
            let mut world = test::world()
                .of::<AgentListings>()
                .owner(VIEWER)
                .answer(ACTING_MEMBERS, json!({ "owner_ids": members }))
                .answer(people::PEOPLE, json!({ "people": [active(LISTER), active(OTHER)] }))
                .answer(relations::HIDDEN, json!({ "owner_ids": [LISTER] }))
                .document(CARDS, LISTING, card);
            let found = world.call("search", &json!({})).unwrap();
            assert_eq!(found["items"][0]["owner"]["owner_id"].as_str(), expected, "{members:?}");
        }
    }

    #[test]
    fn listings_of_people_who_are_away_or_take_no_contact_are_not_found() {
        for (active, contact_policy, is_found) in [
            (true, "anyone_matching", true),
            (true, "network", true),
            (true, "paused", false),
            (false, "anyone_matching", false),
        ] {
            let person = json!({
                "owner_id": LISTER, "active": active, "contact_policy": contact_policy,
            });
            let mut world = test::world()
                .of::<AgentListings>()
                .anonymous()
                .answer(people::PEOPLE, json!({ "people": [person] }))
                .answer(relations::HIDDEN, json!({ "owner_ids": [] }))
                .document(CARDS, LISTING, &card());
            let found = world.call("search", &json!({})).unwrap();
            let count = found["items"].as_array().map(Vec::len);
            assert_eq!(count, Some(usize::from(is_found)), "{active} {contact_policy}");
        }
    }
}
