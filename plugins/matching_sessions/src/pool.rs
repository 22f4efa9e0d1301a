//! Where candidates come from: a few pages of what the indexes of listings find, in the order of
//! the criteria that narrow most; each one is then compared exactly.

use crate::{score::*, types::*};
use people_kit::{
    listings::{Fits, Fitting, Profile, fitting},
    taxonomy::{self, Criteria, Criterion, DISTANCE, Filters, NarrowInput, Narrowed, Operator},
};
use portolan_sdk::documents::Circle;
use std::collections::BTreeMap;

/// Listings that one page of the newest has, and one of the nearest or of those that have what is wished
/// for: each one is read, compared and kept.
const PAGE: u32 = 50;
const SOME: u32 = 25;
/// Wishes that are looked for by an index of their own.
const MOST_WISHES: usize = 2;
/// Ranges that an index compares; the others are compared exactly all the same.
const MOST_RANGES: usize = 2;
/// Around a listing that says no distance, the nearest are looked for so far.
const AROUND_KM: f64 = 50.0;
/// Who looks for whom.
pub(crate) struct Look<'a> {
    pub(crate) mine: &'a Profile,
    /// What is asked for: the listing's own criteria, or the session's.
    pub(crate) asks: &'a Criteria,
    pub(crate) viewer_id: Option<&'a str>,
    pub(crate) now: u64,
}

/// What was found.
#[derive(Default)]
pub(crate) struct Found {
    /// With how well each fits, by the listing's id.
    pub(crate) fits: BTreeMap<String, (Profile, Fit)>,
    /// Where the newest go on.
    pub(crate) cursor: Option<String>,
}

impl Look<'_> {
    /// The newest that have what has to be; and at first also the nearest, and those that have what
    /// is wished for most.
    pub(crate) fn first(&self) -> Result<Found> {
        let what = self.what(self.narrowed(&self.asks.must)?);
        let mut found = self.page(&what)?;
        if found.cursor.is_none() {
            return Ok(found);
        }
        let mut others = Vec::new();
        if let Some(near) = self.near() {
            others.push(Fitting { near: Some(near), limit: SOME, ..what.clone() });
        }
        for wish in self.wishes() {
            let narrowed = self.narrowed(std::slice::from_ref(wish))?;
            let mut facts = what.facts.clone();
            facts.extend(narrowed.facts);
            others.push(Fitting { facts, limit: SOME, ..what.clone() });
        }
        for other in others {
            found.fits.extend(self.page(&other)?.fits);
        }
        Ok(found)
    }

    /// The newest from a cursor on.
    pub(crate) fn on(&self, cursor: Option<String>) -> Result<Found> {
        let what = self.what(self.narrowed(&self.asks.must)?);
        self.page(&Fitting { cursor, ..what })
    }

    fn page(&self, what: &Fitting) -> Result<Found> {
        let Fits { profiles, next_cursor } = fitting(what)?;
        let judged = profiles.into_iter().filter_map(|other| {
            let fit = fit(self.mine, self.asks, &other, self.now)?;
            Some((other.listing_id.clone(), (other, fit)))
        });
        Ok(Found { fits: judged.collect(), cursor: next_cursor })
    }

    fn what(&self, narrowed: Narrowed) -> Fitting {
        let ranks = narrowed.ranks.into_iter().take(MOST_RANGES).collect();
        Fitting {
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

    /// Criteria as the index compares them: those about attributes, each field once.
    pub(crate) fn narrowed(&self, criteria: &[Criterion]) -> Result<Narrowed> {
        let mut filters = Filters::new();
        for criterion in criteria.iter().filter(|criterion| of_attributes(criterion)) {
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
        let input = NarrowInput { code, filters, radius_km: None };
        Ok(taxonomy::narrow(&input)?)
    }

    /// The wishes for single values that count most.
    fn wishes(&self) -> Vec<&Criterion> {
        let equal = |criterion: &&Criterion| matches!(criterion.op, Operator::Eq | Operator::In);
        let wishes = self.asks.want.iter().filter(|wish| of_attributes(wish)).filter(equal);
        let mut wishes: Vec<&Criterion> = wishes.collect();
        let weight = |criterion: &Criterion| criterion.weight.unwrap_or(1.0);
        wishes.sort_by(|one, other| weight(other).total_cmp(&weight(one)));
        wishes.truncate(MOST_WISHES);
        wishes
    }

    fn near(&self) -> Option<Circle> {
        let place = self.mine.place.as_ref().filter(|_| !self.mine.remote)?;
        let mut asked = self.asks.must.iter().chain(&self.asks.want);
        let asked = asked
            .find(|criterion| criterion.field == DISTANCE)
            .and_then(|criterion| criterion.value.as_f64());
        let radius_m = asked.unwrap_or(AROUND_KM) * 1000.0;
        Some(Circle { latitude: place.lat, longitude: place.lng, radius_m })
    }
}

/// What is asked of the listing itself has no fact in the index.
fn of_attributes(criterion: &Criterion) -> bool {
    !["remote", "compensation", DISTANCE].contains(&criterion.field.as_str())
}

/// What a new listing has to have to be of interest: its side, and one of the facts of the criterion
/// that has the fewest of them; where there is no such criterion, its category.
pub(crate) fn watch(mine: &Profile, narrowed: &Narrowed) -> Vec<String> {
    let side = mine.counterpart_side;
    if let Some(facts) = narrowed.facts.iter().min_by_key(|facts| facts.len()) {
        return facts.iter().map(|fact| format!("{side:?}|{fact}")).collect();
    }
    let code = mine.counterpart.as_str();
    let above = code.match_indices('.').filter_map(|(end, _)| code.get(..end));
    let at = above.map(|code| format!("{side:?}|at:{code}"));
    at.chain([format!("{side:?}|in:{code}")]).collect()
}

/// The keys of all sessions that a listing may be of interest for.
pub(crate) fn watched(listing: &Profile) -> Vec<String> {
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
        let keys = watch(&mine, &narrowed);
        let finds = |category: &str, facts: &[&str]| {
            let mut other = profile("b");
            other.category = category.into();
            other.facts = facts.iter().map(|fact| (*fact).to_owned()).collect();
            watched(&other).iter().any(|key| keys.contains(key))
        };
        assert!(finds("work.job.software", &["pets=true"]));
        assert!(finds("work.job.software.backend", &["x=1", "pets=true"]));
        assert!(!finds("work.job.software", &["pets=false"]));
        let open = watch(&mine, &Narrowed::default());
        let mut other = profile("b");
        other.category = "work".into();
        assert!(watched(&other).iter().any(|key| open.contains(key)));
        other.category = "work.jobs".into();
        assert!(!watched(&other).iter().any(|key| open.contains(key)));
    }
}
