//! Finds active listings that are visible to the caller.

use crate::{age, documents::*, refusals::*, transitions, types::*, views::*};
use people_kit::listings::is_withheld;
use people_kit::people::{self, Person};
use people_kit::relations;
use people_kit::taxonomy::{self, Comparison, NarrowInput, Narrowed};
use portolan_sdk::documents::{Circle, Counted, Rectangle};
use portolan_sdk::prelude::*;
use std::collections::BTreeMap;

/// The maximum number of attributes compared by `gte` or `lte`, because each comparison reads all
/// fields for ranks.
const MOST_RANGES: usize = 4;
/// The minimum number of cards that are read at once for a person, because some of them may not be
/// visible to the person.
const CHUNK: u32 = 50;
const MOST_CHUNKS: usize = 3;
/// The maximum number of permission checks for listings with the visibility `network` in one
/// search.
const MOST_CHECKS: usize = 60;
const KM_PER_DEGREE: f64 = 111.2;

pub(crate) fn search(call: &Call, input: Search) -> Result<Found> {
    let narrowed = narrowed(&input)?;
    let age = age(call, &input, &narrowed)?;
    let filter = filter(&input, narrowed, age)?;
    let facets = input.facets.then(|| facets(&input, filter.clone())).transpose()?;
    let filter = if call.owner_id().is_none() { public(filter) } else { filter };
    let mut viewer = Viewer { owner_id: call.owner_id(), checks: 0, people: BTreeMap::new() };
    let query = query(&input, filter);
    let (hits, next_cursor) = viewer.page(&query, &input)?;
    let shown = |hit: Hit<Card>| {
        let person = viewer.people.get(&hit.document.value.owner_id);
        CardView::new(hit, person)
    };
    Ok(Found { items: hits.into_iter().map(shown).collect(), next_cursor, facets })
}

/// Returns the taxonomy's comparisons for the category, the filters and the radius. Without any of
/// these, the taxonomy is not called.
fn narrowed(input: &Search) -> Result<Narrowed> {
    let is_range = |filter: &&Comparison| filter.gte.is_some() || filter.lte.is_some();
    if input.filters.values().filter(is_range).count() > MOST_RANGES {
        return Err(validation("/filters", "maxProperties", "at most 4 with gte or lte").into());
    }
    let radius_km = input.near.map(|near| near.radius_km).into_iter();
    let radius_km = radius_km.chain(input.bbox.map(inner_radius_km)).reduce(f64::min);
    if input.category.is_none() && input.filters.is_empty() && radius_km.is_none() {
        return Ok(Narrowed::default());
    }
    let (code, filters) = (input.category.clone(), input.filters.clone());
    taxonomy::narrow(&NarrowInput { code, filters, radius_km }).map_err(ListingsError::Taxonomy)
}

/// Returns the radius of the largest circle in a rectangle.
fn inner_radius_km(bbox: Rectangle) -> f64 {
    let height = (bbox.north - bbox.south) * KM_PER_DEGREE;
    let turn = if bbox.west > bbox.east { 360.0 } else { 0.0 };
    let middle = f64::midpoint(bbox.north, bbox.south).to_radians();
    let width = (bbox.east - bbox.west + turn) * KM_PER_DEGREE * middle.cos();
    height.min(width) / 2.0
}

/// Returns the age that the caller has reached for certain; 0 if it is unknown, or does not matter
/// for the category. Refuses a caller who may be too young for the category.
fn age(call: &Call, input: &Search, narrowed: &Narrowed) -> Result<u8> {
    let matters = input.category.is_none() || narrowed.min_age.is_some();
    let age = match call.owner_id().filter(|_| matters) {
        Some(viewer) => people::person(viewer)?.and_then(|person| person.age_at_least),
        None => None,
    };
    age::ensure_old_enough(narrowed.min_age.unwrap_or(0), age, call.owner_id().is_some())?;
    Ok(age.unwrap_or(0))
}

fn validation(pointer: &str, rule: &str, expected: &str) -> Refusal {
    let next = Next::action(crate::types::CAPABILITY, "search");
    Refusal::validation(pointer, rule, expected).next(next)
}

/// Limits a filter to public listings.
fn public(filter: Filter) -> Filter {
    filter.and(field("visibility").eq(Visibility::Public))
}

/// Counts the matches by category, side and remote. It counts only public listings, so that nobody
/// learns how many others there are.
fn facets(input: &Search, filter: Filter) -> Result<Facets> {
    let query = query(input, public(filter));
    let counts = CARDS.count_by(["category", "side", "remote"], query)?;
    let count = |counted: Counted| Count { value: counted.value, count: counted.count };
    let [category, side, remote] = counts.map(|counts| counts.into_iter().map(count).collect());
    Ok(Facets { category, side, remote })
}

fn filter(input: &Search, narrowed: Narrowed, age: u8) -> Result<Filter> {
    let mut all = vec![field("min_age").lte(age)];
    all.extend(input.category.as_ref().map(|code| field(level_of(code)).eq(code)));
    all.extend(input.side.map(|side| field("side").eq(side)));
    all.extend(input.remote.map(|remote| field("remote").eq(remote)));
    if let Some(pay) = &input.compensation {
        let (low, high) = pay.range();
        if low > high {
            return Err(validation("/compensation", "range", "min not above max").into());
        }
        all.extend([
            field("indexed.pay").eq(pay.kind()),
            field("indexed.pay_low").lte(high),
            field("indexed.pay_high").gte(low),
        ]);
    }
    if let Some(since) = &input.posted_since {
        let since = time::parse(since)
            .ok_or_else(|| validation("/posted_since", "format", "an RFC 3339 instant"))?;
        all.push(field("published_at").gte(since));
    }
    all.extend(narrowed.facts.into_iter().map(|facts| field("facts[]").one_of(facts)));
    all.extend(narrowed.ranks.iter().map(|(low, high)| {
        any_of(RANKS.map(|path| field(path).gte(low).and(field(path).lte(high))))
    }));
    Ok(all_of(all))
}

fn query(input: &Search, filter: Filter) -> Query {
    let by_default = match (&input.q, &input.near) {
        (Some(_), _) => Sort::Relevance,
        (None, Some(_)) => Sort::Distance,
        (None, None) => Sort::Newest,
    };
    let query = Query::new().filter(filter).text(input.q.clone());
    let query = query.near(input.near.map(circle)).within(input.bbox).unchecked();
    match input.sort.unwrap_or(by_default) {
        Sort::Relevance if input.q.is_some() => query.last("relevance"),
        Sort::Distance if input.near.is_some() => query.first("distance"),
        _ => query.last("published_at"),
    }
}

fn circle(near: Near) -> Circle {
    Circle { latitude: near.lat, longitude: near.lng, radius_m: near.radius_km * 1000.0 }
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
    fn page(&mut self, query: &Query, input: &Search) -> Result<(Vec<Hit<Card>>, Option<String>)> {
        let limit = input.page.limit as usize;
        let chunk = input.page.limit.max(if self.owner_id.is_some() { CHUNK } else { 0 });
        let mut cursor = input.page.cursor.clone();
        let mut shown: Vec<Hit<Card>> = Vec::new();
        for _ in 0..MOST_CHUNKS {
            let part = query.clone().limit(chunk).cursor(cursor.clone());
            let found = CARDS.find(part)?;
            let visible = self.visible(&found.hits)?;
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

    /// Returns for each match whether it is visible to the caller.
    fn visible(&mut self, hits: &[Hit<Card>]) -> Result<Vec<bool>> {
        let hidden = relations::hidden(self.owner_id, owners(hits))?;
        let new = owners(hits).into_iter().filter(|owner| !self.people.contains_key(*owner));
        self.people.extend(people::people(new)?);
        hits.iter()
            .map(|hit| {
                let card = &hit.document.value;
                let owner = &card.owner_id;
                let is_withheld = age::is_too_young(card.min_age, self.people.get(owner))
                    || is_withheld(&card.category, card.visibility);
                let is_inactive = self.people.get(owner).is_some_and(|person| !person.active);
                Ok(match self.owner_id {
                    Some(viewer) if viewer == owner => true,
                    _ if is_withheld || is_inactive || hidden.contains(owner) => false,
                    Some(viewer) if card.visibility == Visibility::Network => {
                        self.checks += 1;
                        self.checks <= MOST_CHECKS
                            && transitions::has_relation(&hit.document.id, "can_view", viewer)?
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

    #[test]
    fn a_rectangle_is_as_wide_as_it_is_on_the_earth() {
        let bbox =
            |south, west, north, east| inner_radius_km(Rectangle { south, west, north, east });
        assert!((bbox(0.0, 0.0, 0.1, 1.0) - 5.56).abs() < 0.01);
        assert!((bbox(59.9, 10.0, 60.1, 10.1) - 2.78).abs() < 0.01);
        assert!((bbox(-1.0, 179.95, 1.0, -179.95) - 5.56).abs() < 0.01);
    }
}
