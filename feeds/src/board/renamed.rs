//! Finds postings that a board lists under another identifier than before.

use super::Posting;
use std::collections::{BTreeMap, BTreeSet};

/// New postings that may be former ones. Each is at most one former posting.
#[derive(Debug)]
pub struct Renamed {
    /// The positions of new postings by what they are known by.
    positions: BTreeMap<[String; 2], Vec<usize>>,
    taken: BTreeSet<usize>,
}

impl Renamed {
    pub fn of<'a>(
        new: impl Iterator<Item = &'a Posting>,
        former: impl Iterator<Item = &'a Posting>,
    ) -> Self {
        let before: BTreeSet<&str> = former.map(|posting| posting.external_id.as_str()).collect();
        let mut positions = BTreeMap::<_, Vec<_>>::new();
        for (at, posting) in new.enumerate() {
            if !before.contains(posting.external_id.as_str()) {
                for key in known_by(posting) {
                    positions.entry(key).or_default().push(at);
                }
            }
        }
        // The first is taken first.
        positions.values_mut().for_each(|positions| positions.reverse());
        Self { positions, taken: BTreeSet::new() }
    }

    /// Takes the new posting that is this former one: with the same title and places, and on the same page
    /// or in the same department. Returns whether there is one.
    pub fn take(&mut self, former: &Posting) -> bool {
        for key in known_by(former) {
            let Some(positions) = self.positions.get_mut(&key) else { continue };
            while let Some(at) = positions.pop() {
                if self.taken.insert(at) {
                    return true;
                }
            }
        }
        false
    }
}

/// Returns what a posting is known by under any identifier.
fn known_by(posting: &Posting) -> [[String; 2]; 2] {
    let places: Vec<&str> = posting.locations.iter().map(|place| place.label.as_str()).collect();
    let name = format!("{}\n{}", posting.title, places.join("\n"));
    let department = posting.department.as_deref().unwrap_or_default();
    [[name.clone(), posting.source_url.clone()], [name, format!("in {department}")]]
}
