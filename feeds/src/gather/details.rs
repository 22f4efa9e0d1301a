//! Decides of which postings of a board the details are read: of those that are new or have changed, and of a
//! share of the others, so that a large board costs no more than a small one.

use crate::{board::Posting, fetch::Limits, identifier::sha256, state::Held};
use std::collections::{BTreeMap, BTreeSet};

/// The postings of a board that were read before, and how many details may be read.
pub(super) struct Details<'k> {
    known: BTreeMap<&'k str, &'k Posting>,
    /// The postings whose details were read the longest time ago.
    due: BTreeSet<&'k str>,
    left: usize,
    /// How many postings wait for the next build.
    pub(super) waiting: usize,
}

/// Where the details of a posting are from.
pub(super) enum Taken<'k> {
    /// They are as they were read before.
    Before(&'k Posting),
    /// They have to be read.
    Board,
    /// They are read in a later build; until then, the posting stays as it was read before.
    Later(Option<&'k Posting>),
}

/// Returns the digest of a posting as it stands in the list.
pub(super) fn listed(posting: &Posting) -> String {
    sha256(serde_json::to_string(posting).unwrap_or_default().as_bytes())
}

impl<'k> Details<'k> {
    pub(super) fn new(known: &'k [Held], limits: &Limits) -> Self {
        let postings = || known.iter().map(|held| &held.posting);
        let mut read: Vec<_> = postings()
            .filter_map(|posting| Some((posting.detailed.as_ref()?.at, &*posting.external_id)))
            .collect();
        read.sort_unstable();
        let share = read.len().div_ceil(limits.details_again.max(1)).min(limits.details);
        Self {
            known: postings().map(|posting| (&*posting.external_id, posting)).collect(),
            due: read.iter().take(share).map(|(_, id)| *id).collect(),
            left: limits.details,
            waiting: 0,
        }
    }

    pub(super) fn known(&self, id: &str) -> Option<&'k Posting> {
        self.known.get(id).copied()
    }

    /// Returns from where this posting's details are to be taken. `is_short`: the board has little time left.
    pub(super) fn of(&mut self, posting: &Posting, listed: &str, is_short: bool) -> Taken<'k> {
        let known = self.known(&posting.external_id);
        let same = known.filter(|known| {
            known.detailed.as_ref().is_some_and(|detailed| detailed.listed == listed)
        });
        match same {
            Some(known) if is_short || !self.due.contains(&*known.external_id) => {
                Taken::Before(known)
            }
            Some(_) => Taken::Board,
            None if is_short || self.left == 0 => {
                self.waiting += 1;
                Taken::Later(known.filter(|known| known.detailed.is_some()))
            }
            None => {
                self.left -= 1;
                Taken::Board
            }
        }
    }
}
