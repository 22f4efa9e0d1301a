//! Reads one piece of a text: which places its name can mean, and what its words say about them.

use super::{
    gazetteer::{Gazetteer, Sense, gazetteer},
    key::{key, saint},
    pieces::{Piece, Separator},
    words::{Area, Word, Words, words},
};

/// Longer names are not looked for.
const LONGEST_NAME: usize = 80;
/// The weight of a large city.
const LARGE: i32 = 190;
/// How many words of a piece are read.
const MOST_WORDS: usize = 16;
/// How many words a country or region at the end of a piece has.
const LONGEST_OUTER: usize = 3;
/// The words between two places.
const BETWEEN: [&str; 14] =
    ["or", "and", "&", "+", "oder", "und", "ou", "et", "o", "y", "e", "of", "lub", "eller"];

/// What a piece means.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    /// The name as it is written.
    pub(super) name: String,
    /// The places that the name can mean.
    pub(super) senses: Vec<Sense>,
    pub(super) area: Option<Area>,
    pub(super) is_remote: bool,
    /// Whether the name is a code such as "CA".
    pub(super) is_code: bool,
    /// Whether it is a place of its own, written from the largest to the smallest: "US-Texas".
    pub(super) is_whole: bool,
    /// Whether it is neither a place nor a known word.
    pub(super) is_unknown: bool,
}

impl Reading {
    pub(super) fn is_noise(&self) -> bool {
        !self.is_unknown && self.senses.is_empty() && self.area.is_none() && !self.is_remote
    }

    /// Returns whether it is a country or region rather than a city.
    pub(super) fn is_outer(&self) -> bool {
        let has = |is: fn(&Sense) -> bool| self.senses.iter().any(is);
        let is_city = |sense: &Sense| matches!(sense, Sense::City(_));
        let is_country = |sense: &Sense| matches!(sense, Sense::Country(_));
        has(is_country) || (!self.senses.is_empty() && !has(is_city))
    }
}

pub(super) struct Reader {
    pub(super) gazetteer: &'static Gazetteer,
    pub(super) words: &'static Words,
}

impl Reader {
    pub(super) fn new() -> Self {
        Self { gazetteer: gazetteer(), words: words() }
    }

    /// Reads a piece, which can name several places: "UK or Ireland", "US-Texas".
    pub(super) fn read(&self, piece: &Piece) -> Vec<(Separator, Reading)> {
        let (before, text) = match piece.text.split_once(char::is_whitespace) {
            // "London (HQ) or remote"
            Some((word, rest)) if is_between(word) => (piece.before.max(Separator::Word), rest),
            _ => (piece.before, piece.text.as_str()),
        };
        let unknown = || Reading { name: text.to_owned(), is_unknown: true, ..Reading::default() };
        let found = self
            .phrase(text)
            .or_else(|| self.alternatives(text))
            .or_else(|| self.dashed(text))
            .or_else(|| self.remote(text))
            .unwrap_or_else(|| vec![(Separator::Tight, unknown())]);
        let first = std::iter::once(before);
        let before = first.chain(found.iter().skip(1).map(|(before, _)| *before));
        before.zip(found.iter().map(|(_, reading)| reading.clone())).collect()
    }

    /// Reads names with words between them, if one of them is known.
    fn alternatives(&self, text: &str) -> Option<Vec<(Separator, Reading)>> {
        let words: Vec<&str> = text.split_whitespace().take(2 * MOST_WORDS).collect();
        let names: Vec<String> = words
            .split(|word| is_between(word))
            .map(|name| name.join(" "))
            .filter(|name| !name.is_empty())
            .collect();
        (names.len() > 1).then_some(())?;
        let read = |name: &String| self.phrase(name).or_else(|| self.dashed(name));
        let found: Vec<_> = names.iter().filter_map(read).collect();
        let mut all = Vec::new();
        for readings in found {
            let rest = readings.into_iter().enumerate();
            all.extend(rest.map(|(position, (before, reading))| match position {
                0 => (Separator::Word, reading),
                _ => (before, reading),
            }));
        }
        (!all.is_empty()).then_some(all)
    }

    /// Reads names with dashes between them, if the first or last is a country, a region or a word.
    fn dashed(&self, text: &str) -> Option<Vec<(Separator, Reading)>> {
        let parts: Vec<&str> = text.split('-').take(MOST_WORDS).collect();
        (parts.len() > 1).then_some(())?;
        let read: Vec<Option<Vec<(Separator, Reading)>>> =
            parts.iter().map(|part| self.phrase(part.trim())).collect();
        let is_key = |readings: &Option<Vec<(Separator, Reading)>>| {
            let first = readings.as_ref().and_then(|readings| readings.first());
            first.is_some_and(|(_, reading)| reading.senses.is_empty() || has_outer(reading))
        };
        let leads = read.first().is_some_and(is_key);
        if !leads && !read.last().is_some_and(is_key) {
            return self.cities(&read);
        }
        let mut all: Vec<_> = read.into_iter().flatten().flatten().collect();
        if let Some((_, first)) = all.first_mut() {
            first.is_whole = leads && has_outer(first);
        }
        Some(all.into_iter().map(|(_, reading)| (Separator::Tight, reading)).collect())
    }

    /// Reads several cities, or a large city and its part: "Raleigh-Durham", "Berlin-Mitte".
    fn cities(
        &self,
        read: &[Option<Vec<(Separator, Reading)>>],
    ) -> Option<Vec<(Separator, Reading)>> {
        let of = |readings: &Option<Vec<(Separator, Reading)>>| match readings.as_deref() {
            Some([(_, reading)]) => Some((Separator::Word, reading.clone())),
            _ => None,
        };
        let all: Option<Vec<_>> = read.iter().map(of).collect();
        let first = || {
            let (_, first) = read.first().and_then(of)?;
            let mut weights = first.senses.iter().map(|sense| self.gazetteer.weight(*sense));
            weights.any(|weight| weight >= LARGE).then(|| vec![(Separator::Tight, first)])
        };
        all.or_else(first)
    }

    /// Reads a name with words about it: "Greater Boston Area", "Remote US", "San Francisco CA 94105".
    fn phrase(&self, text: &str) -> Option<Vec<(Separator, Reading)>> {
        let one = |reading| Some(vec![(Separator::Tight, reading)]);
        if let Some(reading) = self.name(text) {
            return one(reading);
        }
        let words = words_of(text);
        let mut rest = words.as_slice();
        let mut is_remote = false;
        loop {
            let name = rest.join(" ");
            if let Some(reading) = self.name(&name) {
                let is_remote = is_remote || reading.is_remote;
                return one(Reading { is_remote, ..reading });
            }
            let Some((shorter, word)) = self.without_word(rest) else { break };
            is_remote |= word == Word::Remote;
            rest = shorter;
            if rest.is_empty() {
                return one(Reading { is_remote, ..Reading::default() });
            }
        }
        let found = self.name_and_outer(rest).or_else(|| {
            let reading = self.beginning(rest.first()?)?;
            Some(vec![(Separator::Tight, reading)])
        });
        let mut readings = found?;
        if let Some((_, first)) = readings.first_mut() {
            first.is_remote |= is_remote;
        }
        Some(readings)
    }

    /// Reads that the work is remote, of a text whose other words are not known.
    fn remote(&self, text: &str) -> Option<Vec<(Separator, Reading)>> {
        let words = words_of(text);
        let mut rest = words.as_slice();
        while let Some((shorter, word)) = self.without_word(rest) {
            if word == Word::Remote {
                return Some(vec![(
                    Separator::Tight,
                    Reading { is_remote: true, ..Reading::default() },
                )]);
            }
            rest = shorter;
        }
        None
    }

    /// Removes a word or phrase that is no place from the beginning or the end.
    fn without_word<'w, 't>(&self, words: &'w [&'t str]) -> Option<(&'w [&'t str], Word)> {
        for length in (1..=self.words.longest.min(words.len())).rev() {
            let (first, after) = words.split_at_checked(length)?;
            if let Some(word) = self.words.word(&key(&first.join(" "))) {
                return Some((after, word));
            }
            let (before, last) = words.split_at_checked(words.len() - length)?;
            if let Some(word) = self.words.word(&key(&last.join(" "))) {
                return Some((before, word));
            }
        }
        None
    }

    /// Reads a city with its region or country after or before it, without a comma between them.
    fn name_and_outer(&self, words: &[&str]) -> Option<Vec<(Separator, Reading)>> {
        let most = LONGEST_OUTER.min(words.len().saturating_sub(1));
        for length in 1..=most {
            let after = words.split_at_checked(words.len() - length);
            let before = words.split_at_checked(length).map(|(outer, inner)| (inner, outer));
            for (inner, outer) in [after, before].into_iter().flatten() {
                let (Some(inner), Some(outer)) =
                    (self.name(&inner.join(" ")), self.name(&outer.join(" ")))
                else {
                    continue;
                };
                let fits = |inner: &&Sense| {
                    let mut outers = outer.senses.iter();
                    outers
                        .any(|outer| is_outer(*outer) && self.gazetteer.is_within(**inner, *outer))
                };
                if has_outer(&outer) && inner.senses.iter().any(|inner| fits(&inner)) {
                    return Some(vec![(Separator::Tight, inner), (Separator::Tight, outer)]);
                }
            }
        }
        None
    }

    /// Reads the longest name with which a text in Chinese characters begins.
    fn beginning(&self, text: &str) -> Option<Reading> {
        let ends: Vec<usize> =
            text.char_indices().map(|(at, character)| at + character.len_utf8()).take(8).collect();
        text.chars().take(2).all(is_ideograph).then_some(())?;
        ends.iter().skip(1).rev().find_map(|end| self.name(text.get(..*end)?))
    }

    /// Reads a name, a code, or one word or phrase.
    fn name(&self, text: &str) -> Option<Reading> {
        let text = text.trim();
        let name_key = key(text);
        if name_key.is_empty() || name_key.len() > LONGEST_NAME || is_between(text) {
            return None;
        }
        let named = |senses| Reading { name: text.to_owned(), senses, ..Reading::default() };
        if let Some(sense) = self.words.name(&name_key) {
            // Cities can have the name of a country: "Holland, MI".
            let others = if is_outer(sense) { self.gazetteer.named(&name_key) } else { Vec::new() };
            let mut senses = vec![sense];
            senses.extend(others.into_iter().filter(|other| *other != sense));
            return Some(named(senses));
        }
        if let Some(area) = self.words.area(&name_key) {
            return Some(Reading { area: Some(area), ..Reading::default() });
        }
        if let Some(senses) = self.coded(text) {
            return Some(Reading { is_code: true, ..named(senses) });
        }
        if let Some(word) = self.words.word(&name_key) {
            return Some(Reading { is_remote: word == Word::Remote, ..Reading::default() });
        }
        let senses = [name_key.clone(), saint(&name_key)]
            .iter()
            .map(|name_key| self.gazetteer.named(name_key))
            .find(|senses| !senses.is_empty())?;
        Some(named(senses))
    }

    /// Returns the countries and regions with a code in capitals: "CA", "NSW", "USA".
    fn coded(&self, text: &str) -> Option<Vec<Sense>> {
        let code: String = text.chars().filter(|character| *character != '.').collect();
        let is_code =
            matches!(code.len(), 2 | 3) && code.bytes().all(|byte| byte.is_ascii_uppercase());
        is_code.then_some(())?;
        let country = match code.len() {
            2 => self.gazetteer.coded(&code),
            _ => self.gazetteer.coded_by_three(&code),
        };
        let senses: Vec<Sense> =
            country.into_iter().chain(self.gazetteer.regions_coded(&code)).collect();
        // A word in capitals that is also a code of a far region.
        let is_word = self.words.word(&key(&code)).is_some() && country.is_none();
        (!senses.is_empty() && !is_word).then_some(senses)
    }
}

/// Returns the words of a piece without numbers of houses and postal codes.
fn words_of(text: &str) -> Vec<&str> {
    let words = text.split_whitespace().take(MOST_WORDS);
    words.filter(|word| !word.bytes().any(|byte| byte.is_ascii_digit())).collect()
}

fn is_between(word: &str) -> bool {
    BETWEEN.contains(&word.to_lowercase().as_str())
}

fn is_outer(sense: Sense) -> bool {
    !matches!(sense, Sense::City(_))
}

fn has_outer(reading: &Reading) -> bool {
    reading.senses.iter().any(|sense| is_outer(*sense))
}

fn is_ideograph(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}
