//! The search for candidates: a few pages of matches from the index of listings, for the most
//! selective criteria. Each match is then compared exactly.

use crate::{score::*, types::*};
use listing_answers::{is_rounded, required_facts, round_values};
use people_kit::{
    listings::{FittingPage, FittingQuery, Profile, fitting},
    taxonomy::{self, Criteria, Criterion, DISTANCE, Filters, NarrowInput, Narrowed, Operator},
};
use portolan_sdk::documents::Circle;
use std::collections::BTreeMap;

/// The size of a page of the newest listings. Each listing is read, compared and stored.
const PAGE: u32 = 50;
/// The size of a page of the nearest listings, or of those that meet a wish.
const SMALL_PAGE: u32 = 25;
/// If fewer of the newest listings fit, the newest ones with the required facts are searched too.
const FEW_FITS: usize = 10;
/// The maximum number of lists of facts in one search.
const MOST_FACTS: usize = 20;
/// The maximum number of wishes that are searched with an index of their own.
const MOST_WISHES: usize = 2;
/// The maximum number of ranges that the index compares. The others are still compared exactly.
const MOST_RANGES: usize = 2;
/// The radius within which the nearest listings are searched if the criteria have no distance.
const DEFAULT_RADIUS_KM: f64 = 50.0;
/// The input of a search for candidates.
pub(crate) struct CandidateSearch<'a> {
    pub(crate) mine: &'a Profile,
    /// The criteria: the listing's own, or the session's.
    pub(crate) criteria: &'a Criteria,
    pub(crate) viewer_id: Option<&'a str>,
    pub(crate) now: u64,
    /// Whether numbers and dates are compared exactly. For a preview they are rounded, and the index
    /// compares none of them, because an agent can try many drafts, and must not learn a hidden value
    /// more exactly than that. The candidates of a session are shown with their exact values.
    pub(crate) exact: bool,
}

/// The result of a search.
#[derive(Default)]
pub(crate) struct Found {
    /// The matches with their scores, keyed by the listing's id.
    pub(crate) fits: BTreeMap<String, (Profile, Fit)>,
    /// The cursor of the next page of the newest listings.
    pub(crate) cursor: Option<String>,
}

impl CandidateSearch<'_> {
    /// Returns the matches among the newest listings that meet the required criteria. If there are
    /// more pages of these, the nearest listings and those that meet the most important wishes are
    /// searched too and, if only a few fit, those with the required facts.
    pub(crate) fn initial(&self) -> Result<Found> {
        let query = self.query(self.narrowed(&self.criteria.must)?);
        let mut found = self.page(&query)?;
        if found.cursor.is_none() {
            return Ok(found);
        }
        let mut others = Vec::new();
        if found.fits.len() < FEW_FITS {
            let mut facts = query.facts.clone();
            facts.extend(required_facts(self.mine, &self.mine.counterpart));
            facts.truncate(MOST_FACTS);
            others.push(FittingQuery { facts, ..query.clone() });
        }
        if let Some(near) = self.near() {
            others.push(FittingQuery { near: Some(near), limit: SMALL_PAGE, ..query.clone() });
        }
        for wish in self.wishes() {
            let narrowed = self.narrowed(std::slice::from_ref(wish))?;
            let mut facts = query.facts.clone();
            facts.extend(narrowed.facts);
            others.push(FittingQuery { facts, limit: SMALL_PAGE, ..query.clone() });
        }
        for other in others {
            found.fits.extend(self.page(&other)?.fits);
        }
        Ok(found)
    }

    /// Returns the matches in the page of the newest listings that begins at a cursor.
    pub(crate) fn next_page(&self, cursor: Option<String>) -> Result<Found> {
        let query = self.query(self.narrowed(&self.criteria.must)?);
        self.page(&FittingQuery { cursor, ..query })
    }

    fn page(&self, query: &FittingQuery) -> Result<Found> {
        let FittingPage { profiles, next_cursor } = fitting(query)?;
        let matches = profiles.into_iter().filter_map(|other| {
            let other = if self.exact { other } else { round_values(other) };
            let fit = fit(self.mine, self.criteria, &other, self.now)?;
            Some((other.listing_id.clone(), (other, fit)))
        });
        Ok(Found { fits: matches.collect(), cursor: next_cursor })
    }

    fn query(&self, narrowed: Narrowed) -> FittingQuery {
        let ranks = narrowed.ranks.into_iter().take(MOST_RANGES).collect();
        FittingQuery {
            viewer_id: self.viewer_id.map(str::to_owned),
            category: self.mine.counterpart.clone(),
            side: self.mine.counterpart_side,
            facts: narrowed.facts,
            ranks,
            near: None,
            limit: PAGE,
            cursor: None,
        }
    }

    /// Translates criteria into comparisons of the index: those about attributes, each field once.
    /// Criteria with values that a preview rounds are only compared afterwards.
    pub(crate) fn narrowed(&self, criteria: &[Criterion]) -> Result<Narrowed> {
        let mut filters = Filters::new();
        let is_indexed = |criterion: &&Criterion| {
            is_about_attribute(criterion) && (self.exact || !is_rounded(&criterion.value))
        };
        for criterion in criteria.iter().filter(is_indexed) {
            let comparison = filters.entry(criterion.field.clone()).or_default();
            let value = criterion.value.clone();
            match criterion.op {
                Operator::Eq => comparison.eq = Some(value),
                Operator::In => comparison.one_of = value.as_array().cloned(),
                Operator::Gte => comparison.gte = Some(value),
                Operator::Lte => comparison.lte = Some(value),
            }
        }
        if filters.is_empty() {
            return Ok(Narrowed::default());
        }
        let code = Some(self.mine.counterpart.clone());
        let input = NarrowInput { code, filters, ..NarrowInput::default() };
        Ok(taxonomy::narrow(&input)?)
    }

    /// Returns those wishes for equal values that have the highest weights.
    fn wishes(&self) -> Vec<&Criterion> {
        let is_equality =
            |criterion: &&Criterion| matches!(criterion.op, Operator::Eq | Operator::In);
        let wishes =
            self.criteria.want.iter().filter(|wish| is_about_attribute(wish)).filter(is_equality);
        let mut wishes: Vec<&Criterion> = wishes.collect();
        let weight = |criterion: &Criterion| criterion.weight.unwrap_or(1.0);
        wishes.sort_by(|one, other| weight(other).total_cmp(&weight(one)));
        wishes.truncate(MOST_WISHES);
        wishes
    }

    fn near(&self) -> Option<Circle> {
        let place = self.mine.place.as_ref().filter(|_| !self.mine.remote)?;
        let mut asked = self.criteria.must.iter().chain(&self.criteria.want);
        let asked = asked
            .find(|criterion| criterion.field == DISTANCE)
            .and_then(|criterion| criterion.value.as_f64());
        let radius_m = asked.unwrap_or(DEFAULT_RADIUS_KM) * 1000.0;
        Some(Circle { latitude: place.lat, longitude: place.lng, radius_m })
    }
}

/// Whether the criterion is about an attribute. The index has no facts for the other fields of a
/// listing.
fn is_about_attribute(criterion: &Criterion) -> bool {
    !["remote", "compensation", DISTANCE].contains(&criterion.field.as_str())
}

/// Returns the keys by which new listings find the session, each with the side: the facts of the
/// required criterion that has the fewest or, if no criterion has facts, the category.
pub(crate) fn watch_keys(mine: &Profile, narrowed: &Narrowed) -> Vec<String> {
    let side = mine.counterpart_side;
    if let Some(facts) = narrowed.facts.iter().min_by_key(|facts| facts.len()) {
        return facts.iter().map(|fact| format!("{side:?}|{fact}")).collect();
    }
    let code = mine.counterpart.as_str();
    let above = code.match_indices('.').filter_map(|(end, _)| code.get(..end));
    let at = above.map(|code| format!("{side:?}|at:{code}"));
    at.chain([format!("{side:?}|in:{code}")]).collect()
}

/// Returns the keys of all sessions that may want a listing.
pub(crate) fn keys_of(listing: &Profile) -> Vec<String> {
    let (code, side) = (listing.category.as_str(), listing.side);
    let ends = code.match_indices('.').map(|(end, _)| end).chain([code.len()]);
    let within = ends.filter_map(|end| code.get(..end)).map(|code| format!("{side:?}|in:{code}"));
    let facts = listing.facts.iter().map(|fact| format!("{side:?}|{fact}"));
    within.chain([format!("{side:?}|at:{code}")]).chain(facts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::examples::profile;

    #[test]
    fn a_session_is_found_by_the_listings_it_may_want() {
        let mut mine = profile("a");
        mine.counterpart = "work.job.software".into();
        let narrowed = Narrowed {
            facts: vec![vec!["city=oslo".into(), "city=rome".into()], vec!["pets=true".into()]],
            ..Narrowed::default()
        };
        let keys = watch_keys(&mine, &narrowed);
        let finds = |category: &str, facts: &[&str]| {
            let mut other = profile("b");
            other.category = category.into();
            other.facts = facts.iter().map(|fact| (*fact).to_owned()).collect();
            keys_of(&other).iter().any(|key| keys.contains(key))
        };
        assert!(finds("work.job.software", &["pets=true"]));
        assert!(finds("work.job.software.backend", &["x=1", "pets=true"]));
        assert!(!finds("work.job.software", &["pets=false"]));
        let open = watch_keys(&mine, &Narrowed::default());
        let mut other = profile("b");
        other.category = "work".into();
        assert!(keys_of(&other).iter().any(|key| open.contains(key)));
        other.category = "work.jobs".into();
        assert!(!keys_of(&other).iter().any(|key| open.contains(key)));
    }
}
