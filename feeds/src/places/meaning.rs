//! Decides what a name means that several places have: the rest of the text decides, then the board, then
//! the organisation, then how well known the places are. If nothing decides, it is not known.

use super::{
    gazetteer::{Gazetteer, Sense},
    key::{key, saint},
    words::{Area, Words},
};

/// A place is chosen if it is three times as well known as the next one.
const MARGIN: i32 = 12;
/// The same, if only a code names it.
const CODE_MARGIN: i32 = 24;
/// How much it adds that the board, the rest of the text, or the organisation names the country.
const BOARD: i32 = 100;
const TEXT: i32 = 30;
const ORGANISATION: i32 = 40;
/// How much it adds that the usual name is written exactly so, and takes away that another name is.
const EXACT: i32 = 8;
const OTHER_NAME: i32 = -40;
/// The same, if it is the beginning of the usual one: "Frankfurt" am Main.
const SHORT_NAME: i32 = -8;
const OTHER_OUTER_NAME: i32 = -16;
/// How much it takes away that the name is as well that of another place.
const AMBIGUOUS: i32 = -15;
/// How much it takes away that only a code names a region.
const REGION_CODE: i32 = -16;
/// How much it adds for a state that a city is written before it that the gazetteer does not have.
const AFTER_UNLISTED: i32 = 46;
/// A city about which the text says nothing else is at least as well known as this; more, if it usually
/// has another name and this one is a single word.
const LEAST: i32 = 100;
const LEAST_OTHER_NAME: i32 = 170;
/// Nearer cities count as one place.
const SAME_DEGREES: f64 = 0.3;

/// The countries that are known from elsewhere.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known {
    /// The country in the board's own fields.
    pub(super) board: Option<Sense>,
    /// The country of the organisation.
    pub(super) organisation: Option<Sense>,
}

/// A place of which pieces are being read.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// The first name.
    pub(super) name: String,
    pub(super) senses: Vec<Sense>,
    pub(super) area: Option<Area>,
    pub(super) is_remote: bool,
    /// Whether the word "remote" came before the place.
    pub(super) is_led_by_remote: bool,
    pub(super) is_code: bool,
    /// Whether another piece says in which region or country it is.
    pub(super) is_located: bool,
    /// Whether a code says in which region it is: "Xville, CA".
    pub(super) has_region_code: bool,
    /// A name that the gazetteer does not have.
    pub(super) unknown: Option<String>,
}

impl Draft {
    pub(super) fn is_empty(&self) -> bool {
        self.senses.is_empty() && self.area.is_none() && !self.is_remote
    }

    pub(super) fn is_only_remote(&self) -> bool {
        self.is_remote && self.senses.is_empty() && self.area.is_none()
    }
}

/// Decides between the meanings of names.
pub(super) struct Meaning {
    pub(super) gazetteer: &'static Gazetteer,
    pub(super) words: &'static Words,
    pub(super) known: Known,
    /// The countries that the text names.
    pub(super) stated: Vec<Sense>,
}

impl Meaning {
    /// Returns what a draft means; `None` if that cannot be told.
    pub(super) fn of(&self, draft: &Draft) -> Option<Sense> {
        let name_key = key(&draft.name);
        if !draft.is_located && self.words.not_alone.contains(&name_key) {
            return None;
        }
        let mut scored: Vec<(i32, Sense)> = (self.likely(draft).into_iter())
            .filter(|sense| self.is_enough(draft, *sense, &name_key))
            .map(|sense| (self.score(draft, sense, &name_key), sense))
            .collect();
        scored.sort_unstable_by(|one, other| other.cmp(one));
        let &(best, sense) = scored.first()?;
        let margin = if draft.is_code { CODE_MARGIN } else { MARGIN };
        let mut others = scored.iter().skip(1).filter(|(_, other)| !self.is_same(sense, *other));
        match others.next() {
            Some((second, _)) if best - second < margin => self.common(draft),
            _ => Some(sense),
        }
    }

    /// Returns the country or region that all of these have in common, if the text names it.
    fn common(&self, draft: &Draft) -> Option<Sense> {
        let gazetteer = self.gazetteer;
        let first = draft.senses.first().filter(|_| draft.is_located)?;
        let outers = [gazetteer.region_of(*first), gazetteer.country_of(*first)];
        let holds =
            |outer: &Sense| draft.senses.iter().all(|sense| gazetteer.is_within(*sense, *outer));
        outers.into_iter().flatten().find(holds)
    }

    /// Leaves out what a name hardly means beside its other meanings.
    fn likely(&self, draft: &Draft) -> Vec<Sense> {
        let gazetteer = self.gazetteer;
        let senses = &draft.senses;
        let has_inner = |outer: &Sense, inner: fn(&Sense) -> bool| {
            let mut others = senses.iter().filter(|one| *one != outer && inner(one));
            others.any(|one| gazetteer.is_within(*one, *outer))
        };
        let is_city = |sense: &Sense| matches!(sense, Sense::City(_));
        let is_country = |sense: &Sense| matches!(sense, Sense::Country(_));
        let states = &self.words.city_states;
        let is_likely = |sense: &&Sense| match sense {
            _ if draft.is_located => !has_inner(sense, |_| true),
            // A country of one city is that city; any other country is not its city of the same name.
            Sense::Country(_) => !states.contains(sense) || !has_inner(sense, is_city),
            // "New York" is the city.
            Sense::Region(_) => {
                let country = gazetteer.country_of(**sense);
                let is_country_too = country.is_some_and(|country| senses.contains(&country));
                !has_inner(sense, is_city) && !is_country_too
            }
            Sense::City(_) => {
                let country = gazetteer.country_of(**sense);
                let same = country.filter(|country| senses.contains(country));
                same.is_none_or(|country| states.contains(&country))
                    || !senses.iter().any(is_country)
            }
        };
        senses.iter().filter(is_likely).copied().collect()
    }

    /// Returns whether a text that says nothing else supports this meaning.
    fn is_enough(&self, draft: &Draft, sense: Sense, name_key: &str) -> bool {
        let gazetteer = self.gazetteer;
        match sense {
            _ if draft.is_located => true,
            Sense::Country(_) => true,
            Sense::Region(_) => {
                let country = gazetteer.country_of(sense);
                let with_codes = &self.words.regions_by_code;
                !draft.is_code || country.is_some_and(|country| with_codes.contains(&country))
            }
            Sense::City(_) => {
                let is_usual = key(gazetteer.name(sense)) == name_key || name_key.contains(' ');
                let least = if is_usual { LEAST } else { LEAST_OTHER_NAME };
                gazetteer.weight(sense) >= least
            }
        }
    }

    fn score(&self, draft: &Draft, sense: Sense, name_key: &str) -> i32 {
        let gazetteer = self.gazetteer;
        let country = gazetteer.country_of(sense);
        let is = |known: Option<Sense>| known.is_some() && known == country;
        let is_stated = !draft.is_located && country.is_some_and(|one| self.stated.contains(&one));
        let name = gazetteer.name(sense);
        let is_city = matches!(sense, Sense::City(_));
        let is_after_unlisted = draft.is_code && draft.unknown.is_some();
        let is_ambiguous = !draft.is_located && self.words.ambiguous.contains(name_key);
        [
            (true, gazetteer.weight(sense)),
            (is(self.known.board), BOARD),
            (is_stated && is_city, TEXT),
            (is(self.known.organisation), ORGANISATION),
            (is_city && name == draft.name, EXACT),
            (!draft.is_code, naming(&key(name), name_key, sense)),
            (is_ambiguous && matches!(sense, Sense::Country(_)), AMBIGUOUS),
            (draft.is_code && matches!(sense, Sense::Region(_)), REGION_CODE),
            (is_after_unlisted && matches!(sense, Sense::Region(_)), AFTER_UNLISTED),
        ]
        .into_iter()
        .filter(|(applies, _)| *applies)
        .map(|(_, points)| points)
        .sum()
    }

    /// Returns whether two meanings are about the same place.
    fn is_same(&self, one: Sense, other: Sense) -> bool {
        let gazetteer = self.gazetteer;
        let near = |(lat, lng): (f64, f64), (other_lat, other_lng): (f64, f64)| {
            (lat - other_lat).abs() < SAME_DEGREES && (lng - other_lng).abs() < SAME_DEGREES
        };
        let positions = gazetteer.position(one).zip(gazetteer.position(other));
        positions.is_some_and(|(here, there)| near(here, there))
    }
}

/// Returns what a name takes away that is not the usual one. Countries and regions have names in many
/// languages.
fn naming(usual: &str, name_key: &str, sense: Sense) -> i32 {
    let is_short = usual.strip_prefix(name_key).is_some_and(|rest| rest.starts_with(' '));
    match sense {
        _ if usual == name_key || usual == saint(name_key) => 0,
        _ if is_short => SHORT_NAME,
        Sense::City(_) => OTHER_NAME,
        Sense::Region(_) | Sense::Country(_) => OTHER_OUTER_NAME,
    }
}
