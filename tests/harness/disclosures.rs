//! The model of who has disclosed which contact data to whom.

use std::collections::BTreeSet;

/// The kinds of contact data; each person has their own values.
pub const KINDS: [&str; 5] = ["phone", "email", "full_name", "exact_address", "links"];

/// The model of who has disclosed what to whom: a kind is readable once both have disclosed it.
#[derive(Default)]
pub struct Disclosures {
    disclosed: BTreeSet<(usize, String, usize)>,
    exchanged: BTreeSet<(String, usize)>,
    readable: BTreeSet<(usize, usize, usize)>,
}

impl Disclosures {
    /// Records that one of the two discloses these kinds, and no others, in a pairing. Exchanged
    /// kinds stay disclosed.
    pub fn record(&mut self, by: usize, other: usize, pairing: &str, kinds: &[usize]) {
        for kind in 0..KINDS.len() {
            let mine = (by, pairing.to_owned(), kind);
            match kinds.contains(&kind) || self.exchanged.contains(&(pairing.to_owned(), kind)) {
                true => _ = self.disclosed.insert(mine.clone()),
                false => _ = self.disclosed.remove(&mine),
            }
            if self.disclosed.contains(&mine)
                && self.disclosed.contains(&(other, mine.1.clone(), kind))
            {
                self.exchanged.insert((pairing.to_owned(), kind));
                self.readable.extend([(by, other, kind), (other, by, kind)]);
            }
        }
    }

    /// Returns whether a person may read the values of this kind of another one.
    pub fn are_readable(&self, by: usize, owner: usize, kind: usize) -> bool {
        self.readable.contains(&(by, owner, kind))
    }

    /// Returns the number of kinds that were exchanged, over all pairings.
    pub fn exchanged_count(&self) -> usize {
        self.exchanged.len()
    }
}
