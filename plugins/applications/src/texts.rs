//! The checks of texts that either side writes: those of listings, without a review.

use crate::{refusals::*, types::*};
use people_kit::fairness;
use people_kit::text::{Fault, Faults, Lines, public};

const FAIR: &str = "a text that excludes and prefers nobody by a protected characteristic, and asks \
                    for no money in advance";

/// The texts of one call, in a category, with all faults that were found.
pub(crate) struct Texts<'c> {
    category: &'c str,
    faults: Faults,
    unfair: Vec<Fault>,
}

impl<'c> Texts<'c> {
    pub(crate) fn new(category: &'c str) -> Self {
        Self { category, faults: Faults::default(), unfair: Vec::new() }
    }

    /// Returns a text without space around it.
    pub(crate) fn read(&mut self, pointer: &str, text: &str, lines: Lines) -> String {
        if !fairness::flags(self.category, text).is_empty() {
            self.unfair.push(Fault { pointer: pointer.into(), rule: "fair", expected: FAIR });
        }
        public(pointer, text, lines, &mut self.faults)
    }

    pub(crate) fn read_lines(&mut self, pointer: &str, text: Option<&str>) -> Option<String> {
        text.map(|text| self.read(pointer, text, Lines::Many))
    }

    /// Returns a profile with its texts without space around them.
    pub(crate) fn read_profile(&mut self, mut profile: Profile) -> Profile {
        profile.headline = self.read("/profile/headline", &profile.headline, Lines::One);
        profile.summary = self.read_lines("/profile/summary", profile.summary.as_deref());
        for (place, texts) in
            [("skills", &mut profile.skills), ("languages", &mut profile.languages)]
        {
            for (number, text) in texts.iter_mut().enumerate() {
                *text = self.read(&format!("/profile/{place}/{number}"), text, Lines::One);
            }
        }
        let location = profile.location.as_deref();
        profile.location = location.map(|text| self.read("/profile/location", text, Lines::One));
        profile
    }

    /// Refuses if a text has contact data or characters that are not accepted, or is unfair.
    pub(crate) fn check(self) -> Result<()> {
        self.faults.check()?;
        match self.unfair.is_empty() {
            true => Ok(()),
            false => Err(ApplicationError::UnfairText { errors: self.unfair }),
        }
    }
}
