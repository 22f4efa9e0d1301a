//! A search that is ready to run: its conditions, and the comparisons that the taxonomy makes of
//! them.

use crate::cards::{RANKS, is_home, level_of, scaled};
use crate::conditions::{Conditions, Near};
use crate::refusals::{Result, SearchError, validation};
use people_kit::listings::Compensation;
use people_kit::taxonomy::{self, Comparison, NarrowInput, Narrowed};
use portolan_sdk::documents::{Circle, NoWords, Rectangle, ensure_words};
use portolan_sdk::prelude::*;
use std::collections::BTreeMap;

/// The maximum number of attributes compared by `gte` or `lte`, because each comparison reads all
/// fields for ranks.
const MOST_RANGES: usize = 3;
/// The maximum number of values that one comparison of a filter has.
const MOST_VALUES: usize = 200;
/// The maximum number of comparisons of attributes: a filter has 100 comparisons, of which other conditions take up to
/// 24.
const MOST_COMPARISONS: usize = 76;
const KM_PER_DEGREE: f64 = 111.2;

/// Conditions that were checked, with the taxonomy's comparisons for them.
#[document]
pub struct Prepared {
    pub conditions: Conditions,
    pub narrowed: Narrowed,
    /// The end of `posted_since`, in milliseconds since the Unix epoch.
    since: Option<u64>,
}

impl Prepared {
    /// Checks conditions and asks the taxonomy for its comparisons for the category, the filters
    /// and the radius, and for words that mean the same as `q`. Without any of these, the taxonomy
    /// is not called.
    pub fn new(conditions: Conditions) -> Result<Self> {
        ensure_words(conditions.q.as_deref()).map_err(|NoWords| SearchError::QueryEmpty)?;
        let narrowed = narrowed(&conditions)?;
        let Narrowed { facts, ranks, .. } = &narrowed;
        if facts.len() + ranks.len() * RANKS.len() * 2 > MOST_COMPARISONS {
            let expected = "fewer comparisons; gte and lte of one attribute count as 20";
            return Err(validation("/filters", "maxProperties", expected).into());
        }
        let pay = conditions.compensation.as_ref().map(|pay| pay.range());
        if pay.is_some_and(|(low, high)| low > high) {
            return Err(validation("/compensation", "range", "min not above max").into());
        }
        let since = conditions.posted_since.as_deref().map(|since| {
            time::parse(since)
                .ok_or_else(|| validation("/posted_since", "format", "an RFC 3339 instant"))
        });
        Ok(Self { since: since.transpose()?, narrowed, conditions })
    }

    /// The minimum age of the category; 0 for everybody.
    pub fn min_age(&self) -> u8 {
        self.narrowed.min_age.unwrap_or(0)
    }

    /// Whether the searcher's age matters for the results.
    pub fn depends_on_age(&self) -> bool {
        self.conditions.category.is_none() || self.narrowed.min_age.is_some()
    }

    /// Returns the filter for somebody who has reached this age for certain; `None` if the age is
    /// unknown or does not matter.
    pub fn filter(&self, age: Option<u8>) -> Filter {
        let Self { conditions, narrowed, since } = self;
        let mut all = vec![field("min_age").lte(age.unwrap_or(0))];
        all.extend(conditions.category.as_ref().map(|code| field(level_of(code)).eq(code)));
        all.extend(conditions.side.map(|side| field("side").eq(side)));
        all.extend(conditions.remote.map(|remote| field("remote").eq(remote)));
        all.extend(conditions.owner_id.as_ref().map(|owner| field("owner_id").eq(owner)));
        all.extend(conditions.org_id.as_ref().map(|org| field("org_id").eq(org)));
        let without = &conditions.without;
        let mut levels: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for code in &without.categories {
            levels.entry(level_of(code)).or_default().push(code);
        }
        all.extend(levels.into_iter().map(|(level, codes)| not(field(&level).one_of(codes))));
        if !without.owner_ids.is_empty() {
            all.push(not(field("owner_id").one_of(&without.owner_ids)));
        }
        all.extend(conditions.compensation.as_ref().map(|pay| self.pays(pay)));
        all.extend(since.map(|since| field("published_at").gte(since)));
        all.extend(narrowed.facts.iter().map(|facts| field("facts[]").one_of(facts)));
        let without = narrowed.not_facts.chunks(MOST_VALUES);
        all.extend(without.map(|facts| not(field("facts[]").one_of(facts))));
        all.extend(narrowed.ranks.iter().map(|(low, high)| {
            any_of(RANKS.map(|path| field(path).gte(low).and(field(path).lte(high))))
        }));
        all_of(all)
    }

    /// Returns the condition that the pay, rent or price overlaps a range, whatever its period.
    /// Without a category, amounts may be for calendar time or for working time.
    fn pays(&self, pay: &Compensation) -> Filter {
        let kinds: Vec<bool> = match &self.conditions.category {
            Some(code) => vec![is_home(code)],
            None => vec![true, false],
        };
        let (low, high) = pay.range();
        any_of(kinds.into_iter().map(|is_home| {
            let (kind, factor) = pay.yearly(is_home);
            all_of([
                field("indexed.pay").eq(kind),
                field("indexed.pay_low").lte(scaled(high, factor)),
                field("indexed.pay_high").gte(scaled(low, factor)),
            ])
        }))
    }

    /// Returns the query with this filter, without an order.
    pub fn query(&self, filter: Filter) -> Query {
        let Conditions { near, bbox, .. } = &self.conditions;
        Query::new()
            .filter(filter)
            .text(self.narrowed.q.clone())
            .near(near.map(circle))
            .within(*bbox)
    }
}

fn narrowed(conditions: &Conditions) -> Result<Narrowed> {
    let is_range = |filter: &&Comparison| filter.gte.is_some() || filter.lte.is_some();
    if conditions.filters.values().filter(is_range).count() > MOST_RANGES {
        return Err(validation("/filters", "maxProperties", "at most 3 with gte or lte").into());
    }
    let radius_km = conditions.near.map(|near| near.radius_km).into_iter();
    let radius_km = radius_km.chain(conditions.bbox.map(inner_radius_km)).reduce(f64::min);
    let Conditions { category: code, filters, q, without, .. } = conditions.clone();
    let input = NarrowInput { code, filters, radius_km, q, without: without.categories };
    if input == NarrowInput::default() {
        return Ok(Narrowed::default());
    }
    taxonomy::narrow(&input).map_err(SearchError::Taxonomy)
}

/// Returns the radius of the largest circle in a rectangle.
fn inner_radius_km(bbox: Rectangle) -> f64 {
    let height = (bbox.north - bbox.south) * KM_PER_DEGREE;
    let turn = if bbox.west > bbox.east { 360.0 } else { 0.0 };
    let middle = f64::midpoint(bbox.north, bbox.south).to_radians();
    let width = (bbox.east - bbox.west + turn) * KM_PER_DEGREE * middle.cos();
    height.min(width) / 2.0
}

fn circle(near: Near) -> Circle {
    Circle { latitude: near.lat, longitude: near.lng, radius_m: near.radius_km * 1000.0 }
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
