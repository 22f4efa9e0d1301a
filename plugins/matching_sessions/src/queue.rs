//! The queue of a session: candidates found in advance, ordered by score, and checked again before
//! they are shown.

use crate::batch::{self, overexposed};
use crate::pool::{CandidateSearch, Found};
use crate::session::{self, criteria_of};
use crate::{documents::*, score::*, states::*, types::*};
use people_kit::listings::{self, Profile, Visibility};
use people_kit::{organisations, pairings};
use portolan_sdk::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of pages of the index that one call reads.
const MOST_PAGES: usize = 3;
/// How many candidates are considered for a batch, as a multiple of its size.
const CHOICE_FACTOR: usize = 3;
/// The maximum number of ids in one query.
const CHUNK: usize = 100;

/// A session that is searching for its next batch.
pub(crate) struct Search<'a> {
    call: &'a Call,
    session: &'a mut Stored<Session>,
    mine: &'a Profile,
    queue: Stored<Queue>,
    /// The queued candidates that this call has already checked.
    seen: BTreeMap<String, (Profile, Fit)>,
}

impl<'a> Search<'a> {
    pub(crate) fn open(
        call: &'a Call,
        session: &'a mut Stored<Session>,
        mine: &'a Profile,
    ) -> Result<Self> {
        let mut queue = match session.revision {
            0 => Stored::new(session.id.as_str(), Queue::default(), call.now()),
            _ => QUEUES.get_or_default(&session.id)?,
        };
        queue.value.for_owner.clone_from(&session.value.owner_id);
        let mut search = Self { call, session, mine, queue, seen: BTreeMap::new() };
        search.enqueue_arrivals()?;
        Ok(search)
    }

    /// Saves the queue, and returns whether all listings were searched.
    pub(crate) fn close(mut self) -> Result<bool> {
        QUEUES.save(&mut self.queue)?;
        Ok(self.queue.value.looked)
    }

    /// Takes the next batch from the queue. Overexposed listings come after the others.
    pub(crate) fn batch(&mut self) -> Result<Vec<(Profile, Fit)>> {
        let size = self.session.value.batch_size as usize;
        let mut best = self.best(size * CHOICE_FACTOR)?;
        for _ in 0..MOST_PAGES {
            if best.len() >= size || self.queue.value.looked {
                break;
            }
            self.search_page()?;
            best = self.best(size * CHOICE_FACTOR)?;
        }
        let overexposed = overexposed(self.call, &best)?;
        // The sort keeps the order of scores within each half.
        best.sort_by_key(|listing_id| overexposed.contains(listing_id));
        best.truncate(size);
        let taken = best.into_iter().filter_map(|listing_id| {
            self.queue.value.waiting.remove(&listing_id);
            self.seen.remove(&listing_id)
        });
        Ok(taken.collect())
    }

    /// Adds the listings that arrived while candidates were undecided to the queue. If they were so
    /// many that the session stopped watching, it searches the newest listings.
    fn enqueue_arrivals(&mut self) -> Result<()> {
        let arrived = std::mem::take(&mut self.session.value.come);
        let has_stopped_watching = self.session.value.watch.is_empty();
        self.queue.value.waiting.extend(arrived);
        if has_stopped_watching {
            (self.queue.value.cursor, self.queue.value.looked) = (None, false);
            let (new, top) = self.search_page()?;
            let news = &mut self.session.value.news;
            (news.new, news.top) = (news.new + new, news.top.max(top));
            self.session.value.watch = session::watch(self.call, &self.session.value, self.mine)?;
        }
        Ok(())
    }

    /// Searches one more page of listings; returns how many were added to the queue, and their
    /// highest score.
    fn search_page(&mut self) -> Result<(u32, f64)> {
        let criteria = criteria_of(&self.session.value, self.mine).clone();
        let viewer_id = Some(self.session.value.owner_id.as_str());
        let search = CandidateSearch {
            mine: self.mine,
            criteria: &criteria,
            viewer_id,
            now: self.call.now(),
            exact: true,
        };
        let Found { mut fits, cursor } = match self.queue.value.cursor.take() {
            None => search.initial()?,
            cursor => search.next_page(cursor)?,
        };
        (self.queue.value.looked, self.queue.value.cursor) = (cursor.is_none(), cursor);
        fits.retain(|listing_id, _| !self.queue.value.waiting.contains_key(listing_id));
        if self.session.revision != 0 {
            let ids: Vec<&str> = fits.keys().map(String::as_str).collect();
            let mut known = BTreeSet::new();
            for ids in ids.chunks(CHUNK) {
                let existing =
                    batch::of_listings(&self.session.id, ids.iter().copied())?.into_iter();
                // A candidate that was unavailable may be available again.
                let existing =
                    existing.filter(|(_, known)| known.value.state != Candidacy::Unavailable);
                known.extend(existing.map(|(listing_id, _)| listing_id));
            }
            fits.retain(|listing_id, _| !known.contains(listing_id));
        }
        self.retain_eligible(&mut fits)?;
        let (mut new, mut top) = (0, 0.0_f64);
        for (listing_id, (other, fit)) in fits {
            if self.session.value.found >= MOST_CANDIDATES {
                (self.queue.value.looked, self.queue.value.cursor) = (true, None);
                break;
            }
            (new, top) = (new + 1, top.max(fit.score));
            self.session.value.found += 1;
            self.queue.value.waiting.insert(listing_id.clone(), Queued::new(&other, &fit));
            self.seen.insert(listing_id, (other, fit));
        }
        Ok((new, top))
    }

    /// Returns the best queued candidates, best first. This call has checked that each may still be
    /// shown.
    fn best(&mut self, most: usize) -> Result<Vec<String>> {
        loop {
            let session_id = self.session.id.as_str();
            let mut waiting: Vec<(&String, &Queued)> = self.queue.value.waiting.iter().collect();
            waiting.sort_by(|(one, queued), (other, better)| {
                let tie = |listing_id: &str| tie(session_id, listing_id);
                better.score.total_cmp(&queued.score).then_with(|| tie(one).cmp(&tie(other)))
            });
            waiting.truncate(most);
            let best: Vec<String> = waiting.into_iter().map(|(id, _)| id.clone()).collect();
            let unchecked: Vec<&str> =
                best.iter().filter(|id| !self.seen.contains_key(*id)).map(String::as_str).collect();
            if unchecked.is_empty() {
                return Ok(best);
            }
            let mut checked = self.recheck(&unchecked)?;
            for listing_id in unchecked {
                match checked.remove(listing_id) {
                    None => drop(self.queue.value.waiting.remove(listing_id)),
                    Some((other, fit)) => {
                        let queued = Queued::new(&other, &fit);
                        self.queue.value.waiting.insert(listing_id.to_owned(), queued);
                        self.seen.insert(listing_id.to_owned(), (other, fit));
                    }
                }
            }
        }
    }

    /// Returns those of the listings that still fit.
    fn recheck(&self, listing_ids: &[&str]) -> Result<BTreeMap<String, (Profile, Fit)>> {
        let profiles = listings::profiles_for_matching(listing_ids.iter().copied())?;
        let profiles = organisations::retain_visible(&self.session.value.owner_id, profiles)?;
        let criteria = criteria_of(&self.session.value, self.mine);
        let fits = profiles.into_iter().filter_map(|other| {
            let fit =
                is_shown(&other).then(|| fit(self.mine, criteria, &other, self.call.now()))??;
            Some((other.listing_id.clone(), (other, fit)))
        });
        let mut fits = fits.collect();
        self.retain_eligible(&mut fits)?;
        Ok(fits)
    }

    /// Removes listings with which there is an open pairing or was a recent decline, and those on
    /// which the person has recently passed.
    fn retain_eligible(&self, fits: &mut BTreeMap<String, (Profile, Fit)>) -> Result<()> {
        let mine = self.mine.listing_id.as_str();
        let cooling = cooling(mine, fits.keys().map(String::as_str))?;
        fits.retain(|listing_id, _| !cooling.contains(listing_id));
        let opinions = OPINIONS.get_many(fits.keys().map(|id| opinion(mine, id)))?;
        let mut opinions = opinions.iter();
        fits.retain(|_, _| !is_in_cooldown(self.call, opinions.next().and_then(Option::as_ref)));
        Ok(())
    }
}

/// Whether the listing may be shown to possible partners: it is active, its owner is old enough,
/// and it is public or, in a category with a minimum age, visible to connections.
pub(crate) fn is_shown(other: &Profile) -> bool {
    other.is_active()
        && other.is_of_age()
        && !other.is_withheld()
        && match other.visibility {
            Visibility::Public => true,
            Visibility::Network => other.min_age > 0,
            Visibility::Unlisted => false,
        }
}

/// Whether the person passed on the listing recently.
pub(crate) fn is_in_cooldown(call: &Call, opinion: Option<&Stored<Opinion>>) -> bool {
    let passed = opinion.filter(|opinion| !opinion.value.interested);
    passed.is_some_and(|opinion| opinion.value.at + PASSED_FOR > call.now())
}

/// Returns the ids of the listings with which there is an open pairing or was a recent decline.
pub(crate) fn cooling<'a>(
    listing_id: &str,
    others: impl Iterator<Item = &'a str>,
) -> Result<BTreeSet<String>> {
    let others: Vec<&str> = others.collect();
    let mut cooling = BTreeSet::new();
    for others in others.chunks(CHUNK) {
        cooling.extend(pairings::cooling(listing_id, others.iter().copied())?);
    }
    Ok(cooling)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::examples::profile;

    #[test]
    fn listings_for_adults_are_shown_if_their_owner_is_one() {
        for (min_age, age_at_least, shown) in
            [(0, None, true), (18, Some(18), true), (18, Some(17), false), (18, None, false)]
        {
            let visibility = Visibility::Network;
            let other = Profile { min_age, age_at_least, ..profile("a") };
            assert_eq!(is_shown(&other), shown, "{min_age} {age_at_least:?}");
            let in_network = Profile { visibility, ..other };
            assert_eq!(is_shown(&in_network), shown && min_age > 0);
        }
    }

    #[test]
    fn public_dates_are_not_shown() {
        let date = Profile {
            category: "social.date".into(),
            min_age: 18,
            age_at_least: Some(30),
            ..profile("a")
        };
        assert!(!is_shown(&date));
        assert!(is_shown(&Profile { visibility: Visibility::Network, ..date }));
    }
}
