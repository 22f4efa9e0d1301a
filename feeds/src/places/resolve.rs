//! Joins the pieces of a text into places: which piece tells where the one before it is, which tells what
//! within it is meant, and which begins the next place.

use super::{
    Place,
    gazetteer::{Gazetteer, Sense},
    meaning::{Draft, Known, Meaning},
    pieces::{Separator, pieces},
    reading::{Reader, Reading},
    words::{Area, Words},
};
use crate::text::is_invisible;

/// How many characters of a text are read.
const MOST_TEXT: usize = 1_000;
/// How many places of a text are kept.
const MOST_PLACES: usize = 40;
/// How many words the name of a place has.
const MOST_WORDS: usize = 4;
/// A name by which a large city is much less likely meant than two cities of a list.
const UNLIKELY: i32 = 53;

struct Resolver {
    reader: Reader,
    known: Known,
    done: Vec<Draft>,
    draft: Draft,
}

/// Returns the places that a text names.
pub(super) fn resolve(text: &str, known: Known) -> Vec<Place> {
    let text: String = text.chars().take(MOST_TEXT).filter(|one| !is_invisible(*one)).collect();
    let mut resolver =
        Resolver { reader: Reader::new(), known, done: Vec::new(), draft: Draft::default() };
    let mut pending = Separator::Tight;
    for piece in pieces(&text) {
        for (before, reading) in resolver.reader.read(&piece) {
            pending = pending.max(before);
            if !reading.is_noise() {
                resolver.add(pending, reading);
                pending = Separator::Tight;
            }
        }
    }
    resolver.next();
    resolver.places()
}

/// Returns whether a text can be the name of a town, whether or not the gazetteer has it.
pub(super) fn is_town(text: &str) -> bool {
    let reader = Reader::new();
    let is_city = |sense: &Sense| matches!(sense, Sense::City(_));
    let is_town = |reading: &Reading| reading.is_unknown || reading.senses.iter().any(is_city);
    let mut readings = pieces(text).into_iter().flat_map(|piece| reader.read(&piece));
    is_name(text) && readings.all(|(_, reading)| is_town(&reading))
}

/// Returns whether a text looks like the name of a place.
fn is_name(text: &str) -> bool {
    text.chars().all(|one| one.is_alphabetic() || " -'’.".contains(one))
        && text.chars().next().is_some_and(char::is_uppercase)
        && text.split_whitespace().count() <= MOST_WORDS
}

impl Resolver {
    fn gazetteer(&self) -> &'static Gazetteer {
        self.reader.gazetteer
    }

    fn words(&self) -> &'static Words {
        self.reader.words
    }

    /// Ends the place that is being read.
    fn next(&mut self) {
        let draft = std::mem::take(&mut self.draft);
        if !draft.is_empty() && self.done.len() < MOST_PLACES {
            self.done.push(draft);
        }
    }

    fn add(&mut self, before: Separator, reading: Reading) {
        if reading.is_unknown {
            self.add_unknown(before, reading);
        } else if reading.senses.is_empty() {
            self.add_word(before, &reading);
        } else {
            self.add_name(before, reading);
        }
    }

    fn add_unknown(&mut self, before: Separator, reading: Reading) {
        if before >= Separator::Slash {
            self.begin(before, &reading);
        }
        if self.draft.senses.is_empty() {
            self.draft.unknown = Some(reading.name);
        }
    }

    /// Adds a part of the world, or that the work is remote.
    fn add_word(&mut self, before: Separator, reading: &Reading) {
        let begins = match before {
            Separator::Tight => false,
            // "San Francisco, New York, Remote", unlike "Berlin, remote".
            Separator::Comma => {
                !self.draft.is_empty() && !self.done.is_empty() && reading.is_remote
            }
            Separator::Slash => !reading.is_remote && !self.draft.is_only_remote(),
            Separator::Word | Separator::List => true,
        };
        if begins {
            self.begin(before, reading);
        }
        if reading.is_remote {
            self.draft.is_led_by_remote |=
                self.draft.senses.is_empty() && self.draft.area.is_none();
            self.draft.is_remote = true;
        }
        let Some(area) = reading.area else { return };
        let within = self.within(area, &self.draft.senses);
        if self.draft.senses.is_empty() {
            self.draft.area = Some(area);
        } else if !within.is_empty() {
            self.draft.senses = within;
        }
    }

    fn within(&self, area: Area, senses: &[Sense]) -> Vec<Sense> {
        let is_in = |sense: &&Sense| self.words().is_in(area, **sense, self.gazetteer());
        senses.iter().filter(is_in).copied().collect()
    }

    fn add_name(&mut self, before: Separator, reading: Reading) {
        let may_locate = match before {
            Separator::Tight | Separator::Comma => true,
            // "Berlin / Germany", unlike "Remote (US) / Berlin".
            Separator::Slash => !self.draft.is_remote,
            Separator::Word | Separator::List => false,
        };
        if may_locate && !reading.is_whole && self.locate(&reading) {
            return;
        }
        let completes = match before {
            Separator::Tight | Separator::Comma => self.draft.senses.is_empty(),
            Separator::Slash => self.draft.is_only_remote(),
            Separator::Word | Separator::List => false,
        };
        if !completes || reading.is_whole {
            self.begin(before, &reading);
        }
        let within = self.draft.area.map(|area| self.within(area, &reading.senses));
        let senses = within.filter(|within| !within.is_empty());
        self.draft.senses = senses.unwrap_or(reading.senses);
        self.draft.name = reading.name;
        self.draft.is_code = reading.is_code;
        self.draft.has_region_code = reading.is_code;
        self.draft.is_led_by_remote |= reading.is_remote;
        self.draft.is_remote |= reading.is_remote;
    }

    /// Uses a piece to tell where the place before it is, or what within it is meant; returns whether
    /// that is possible.
    fn locate(&mut self, reading: &Reading) -> bool {
        let gazetteer = self.gazetteer();
        let senses = &self.draft.senses;
        let inner = |one: &Sense, others: &[Sense]| {
            others.iter().any(|outer| gazetteer.is_within(*one, *outer))
        };
        let strictly = |one: &Sense, others: &[Sense]| {
            others.iter().any(|outer| one != outer && gazetteer.is_within(*one, *outer))
        };
        let mut found: Vec<Sense> =
            senses.iter().filter(|sense| inner(sense, &reading.senses)).copied().collect();
        found.extend(reading.senses.iter().filter(|sense| strictly(sense, senses)));
        // "Richmond, CA" is in California, although Canada has a Richmond too.
        let in_state = |sense: &Sense| {
            let region = gazetteer.region_of(*sense).filter(|one| reading.senses.contains(one));
            let country = region.and_then(|region| gazetteer.country_of(region));
            country.is_some_and(|country| self.words().regions_by_code.contains(&country))
        };
        if reading.is_code && found.iter().any(in_state) {
            found.retain(in_state);
        }
        found.sort_unstable();
        found.dedup();
        if found.is_empty() {
            return false;
        }
        let most = |senses: &[Sense]| senses.iter().map(|one| gazetteer.weight(*one)).max();
        let cities: Vec<Sense> = (reading.senses.iter().copied())
            .filter(|sense| matches!(sense, Sense::City(_)) && !found.contains(sense))
            .collect();
        let is_unlikely = most(&found) < most(senses).map(|weight| weight - UNLIKELY)
            && most(&cities) > most(&found);
        if is_unlikely {
            return false;
        }
        if found.iter().all(|sense| reading.senses.contains(sense) && !senses.contains(sense)) {
            self.draft.name.clone_from(&reading.name);
        }
        self.draft.has_region_code |= reading.is_code && reading.is_outer();
        self.draft.senses = found;
        self.draft.is_located = true;
        self.draft.is_code = false;
        self.draft.is_remote |= reading.is_remote;
        true
    }

    /// Begins the next place. "Remote" before a place holds for the countries after it as well.
    fn begin(&mut self, before: Separator, reading: &Reading) {
        let led = self.draft.is_led_by_remote && !self.draft.is_only_remote();
        self.next();
        if led && (reading.is_outer() || before == Separator::Word) {
            self.draft.is_remote = true;
            self.draft.is_led_by_remote = true;
        }
    }

    fn places(self) -> Vec<Place> {
        let gazetteer = self.gazetteer();
        let stated: Vec<Sense> = (self.done.iter())
            .flat_map(|draft| &draft.senses)
            .filter(|sense| matches!(sense, Sense::Country(_)))
            .copied()
            .collect();
        let meaning = Meaning { gazetteer, words: self.words(), known: self.known, stated };
        let mut places: Vec<Place> = Vec::new();
        for draft in &self.done {
            let sense = meaning.of(draft);
            let mut place = sense.map(|sense| Place::of(sense, gazetteer)).unwrap_or_default();
            place.is_remote = draft.is_remote;
            place.area = draft.area.filter(|_| sense.is_none());
            if place.city.is_none() && place.region_code.is_some() {
                place.city = self.unlisted(draft);
            }
            let says_nothing = sense.is_none() && place.area.is_none() && !place.is_remote;
            if !says_nothing && !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }

    /// Returns the name of a place that the gazetteer does not have, if what follows shows that it is one:
    /// "Xville, CA" or "Xville, Bavaria, Germany".
    fn unlisted(&self, draft: &Draft) -> Option<String> {
        let name = draft.unknown.as_ref().filter(|_| draft.has_region_code || draft.is_located)?;
        is_name(name).then(|| name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::{gazetteer::gazetteer, key::key};
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Table {
        recorded: Vec<Case>,
        own: Vec<Case>,
    }

    #[derive(Debug, Deserialize)]
    struct Case {
        text: String,
        board: Option<String>,
        organisation: Option<String>,
        is: Vec<Expected>,
    }

    #[derive(Debug, Deserialize)]
    struct Expected {
        city: Option<String>,
        also: Option<String>,
        region: Option<String>,
        country: Option<String>,
        #[serde(default)]
        remote: bool,
    }

    /// Names of a city in the table that are other names of the gazetteer's.
    fn is_name_of(name: &str, place: &Place) -> bool {
        let named = gazetteer().named(&key(name));
        place.city.as_deref() == Some(name)
            || place.sense.is_some_and(|sense| named.contains(&sense))
    }

    fn is_right(place: &Place, expected: &Expected) -> bool {
        let names = [&expected.city, &expected.also];
        let city = match (&expected.city, &place.city) {
            (None, None) => true,
            (Some(_), Some(_)) => names.into_iter().flatten().any(|name| is_name_of(name, place)),
            _ => false,
        };
        let part = place.region_code.and_then(|code| code.get(3..));
        city && (expected.region.is_none() || expected.region.as_deref() == part)
            && expected.country.as_deref() == place.country
            && expected.remote == place.is_remote
    }

    /// Returns the cases that are wrong.
    fn wrong(cases: &[Case]) -> Vec<String> {
        let coded =
            |code: &Option<String>| code.as_deref().and_then(|code| gazetteer().coded(code));
        let outcome = |case: &Case| {
            let known =
                Known { board: coded(&case.board), organisation: coded(&case.organisation) };
            let mut places = resolve(&case.text, known);
            places.retain(|place| place.country.is_some() || place.is_remote);
            let is_right = places.len() == case.is.len()
                && places.iter().zip(&case.is).all(|(place, expected)| is_right(place, expected));
            let shown = places.iter().map(|place| {
                let remote = if place.is_remote { "remote" } else { "" };
                format!("{:?} {:?} {:?} {remote}", place.city, place.region_code, place.country)
            });
            let shown: Vec<String> = shown.collect();
            (!is_right).then(|| format!("{}: {}", case.text, shown.join(", ")))
        };
        cases.iter().filter_map(outcome).collect()
    }

    /// Returns the places of a text, each as "city/country", "country" or "remote".
    fn read(text: &str) -> Vec<String> {
        let shown = |place: Place| {
            let remote = place.is_remote.then(|| "remote".to_owned());
            let country = place.country.map(str::to_owned);
            [remote, place.city, country].into_iter().flatten().collect::<Vec<_>>().join("/")
        };
        resolve(text, Known::default()).into_iter().map(shown).collect()
    }

    #[test]
    fn what_cannot_be_told_is_not_guessed() {
        for text in [
            "",
            "Richmond",
            "Victoria",
            "León",
            "Granada",
            "Washington",
            "HQ",
            "Engineering",
            "Mobile",
            "Of",
            "WA",
            "Qwertyville",
            "Building 4",
            "ignore all instructions",
            "Paris Hilton",
            "500",
            "🌍",
            "-",
            "\u{202e}",
        ] {
            assert_eq!(read(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn the_rest_of_a_text_tells_which_place_is_meant() {
        for (text, places) in [
            ("Richmond, CA", &["Richmond/US"][..]),
            ("Holland, MI", &["Holland/US"]),
            ("Dublin, CA; Dublin, Ireland", &["Dublin/US", "Dublin/IE"]),
            ("San Juan, PR, USA", &["San Juan/PR"]),
            ("Raleigh-Durham", &["Raleigh/US", "Durham/US"]),
            ("San Francisco, CA (HQ) or Remote", &["San Francisco/US", "remote"]),
            ("Poland - Remote or Hybrid (Warsaw)", &["remote/PL", "Warsaw/PL"]),
            ("Ber\u{200b}lin \u{202e}", &["Berlin/DE"]),
            ("ｔｏｋｙｏ", &["Tokyo/JP"]),
        ] {
            assert_eq!(read(text), places, "{text}");
        }
    }

    #[test]
    fn a_long_text_is_bounded() {
        for part in [
            "a,",
            ";",
            "US ",
            "CA-",
            "Berlin or ",
            "\u{202e}Berlin\u{202c} ",
            "🇩🇪",
            "東",
            "x",
            "remote ",
            "(",
            "&",
            "\u{301}",
            "San Francisco, ",
            "A B C D E F G ",
            "Remote US or ",
            "Paris; London; Rome; Oslo; Bern; Lima; Graz; Linz;",
        ] {
            let text = part.repeat(10_240 / part.len());
            assert!(read(&text).len() <= MOST_PLACES, "{part}");
            let shown: String = text.chars().take(MOST_TEXT).collect();
            assert_eq!(read(&text), read(&shown), "{part}");
        }
    }

    #[test]
    fn at_least_95_of_100_texts_are_right() {
        let table: Table = toml::from_str(include_str!("../../tests/places.toml")).unwrap();
        assert_eq!(table.recorded.len(), 177);
        for cases in [&table.recorded, &table.own] {
            let wrong = wrong(cases);
            println!("{} of {} wrong:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
            assert!(wrong.len() * 20 <= cases.len(), "{}", wrong.join("\n"));
        }
    }
}
