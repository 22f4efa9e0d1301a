//! The words of each language, as data: `tables/*.toml` name phrases for each class. A phrase is a list of
//! words; `*` at the end of a word stands for any ending, `..` for a few other words.

use super::token::{Token, tokens};
use serde::Deserialize;
use std::{
    collections::{BTreeMap, HashMap},
    sync::LazyLock,
};

/// How many words `..` stands for at most.
const LARGEST_GAP: usize = 16;
/// Signs over which `..` does not reach.
const ENDS: [&str; 5] = [".", ";", ":", "。", "?"];

/// What a phrase tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Class {
    /// A verb that says by itself that money is raised.
    Raise,
    /// A verb that says so together with a round or with investors.
    Take,
    /// Joins a sum to the one who gets it, without a verb.
    With,
    /// A verb of an investor.
    Invest,
    /// Tells by itself that somebody has become a shareholder.
    Stake,
    /// A round.
    Round,
    /// Capital and those who give it.
    Fund,
    /// A sum without a number.
    Sum,
    /// Before the one who gets: "for", "into".
    Goes,
    /// Says that posts are open, or that people are sought.
    Hire,
    /// Nouns for open posts.
    Open,
    /// Applications.
    Apply,
    /// Says that nobody is sought.
    Freeze,
    Layoff,
    /// Hiring as a topic, and what only looks like it.
    HireOther,
    Rumour,
    /// A form of a verb that leaves it open whether something happened.
    Hearsay,
    /// The word of unnamed sources.
    Report,
    Plan,
    Deny,
    /// The item takes back or corrects, is a joke or under embargo.
    Void,
    /// Advice, lists, opinions and explanations.
    Advice,
    Condition,
    Past,
    Question,
    /// What is raised or received and is no round.
    Block,
    /// A sum beside the round: a valuation, revenue, a total.
    Beside,
    /// A phrase that hides the words in it.
    Idiom,
    /// Someone else who belongs to a company: "rival", "customer".
    Relation,
    /// Says that somebody has nothing to do with a company.
    Disclaim,
    /// Before the name of an investor or of someone with whom something is done.
    By,
    /// Stands for the company: "we", "the company".
    Self_,
    /// A noun that may precede a name: "startup".
    Descriptor,
    /// Verbs that may follow a name.
    Verb,
    /// Words of grammar.
    Function,
    Article,
    /// Before a name or a place: "in", "of".
    Preposition,
    /// After a name that is then an ordinary word: "up".
    Particle,
    Acquire,
    Acquired,
    Launch,
    Partner,
    Shut,
    Appoint,
    Public,
    Meetup,
    Announce,
    /// Lines that feeds add to each item.
    Boilerplate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Language {
    English,
    German,
    French,
    Spanish,
    Japanese,
}

impl Language {
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::French => "fr",
            Self::Spanish => "es",
            Self::Japanese => "ja",
        }
    }
}

/// A phrase that was found, from its first token to the one after its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cue {
    pub(super) class: Class,
    pub(super) start: usize,
    pub(super) end: usize,
    /// How many words the phrase has, with those after a gap.
    pub(super) words: usize,
}

#[derive(Debug)]
struct Part {
    text: String,
    any_ending: bool,
    after_gap: bool,
}

#[derive(Debug)]
struct Phrase {
    class: Class,
    parts: Vec<Part>,
}

#[derive(Debug, Default)]
pub(super) struct Lexicon {
    whole: HashMap<String, Vec<Phrase>>,
    beginnings: HashMap<String, Vec<Phrase>>,
    /// Units of numbers: "million" is 1,000,000.
    pub(super) scales: HashMap<String, f64>,
    pub(super) numbers: HashMap<String, f64>,
}

#[derive(Deserialize)]
struct Table {
    scales: BTreeMap<String, f64>,
    numbers: BTreeMap<String, f64>,
    phrases: BTreeMap<Class, Vec<String>>,
}

const TABLES: [(Language, &str); 5] = [
    (Language::English, include_str!("tables/en.toml")),
    (Language::German, include_str!("tables/de.toml")),
    (Language::French, include_str!("tables/fr.toml")),
    (Language::Spanish, include_str!("tables/es.toml")),
    (Language::Japanese, include_str!("tables/ja.toml")),
];

static LEXICONS: LazyLock<Vec<(Language, Lexicon)>> = LazyLock::new(|| {
    TABLES
        .iter()
        .map(|(language, text)| (*language, Lexicon::parse(text).unwrap_or_default()))
        .collect()
});

/// Returns the words of a language.
pub(super) fn of(language: Language) -> &'static Lexicon {
    static NOTHING: LazyLock<Lexicon> = LazyLock::new(Lexicon::default);
    let found = LEXICONS.iter().find(|(known, _)| *known == language);
    found.map_or(&NOTHING, |(_, lexicon)| lexicon)
}

pub(super) fn all() -> &'static [(Language, Lexicon)] {
    &LEXICONS
}

impl Part {
    fn fits(&self, token: &Token) -> bool {
        match self.any_ending {
            true => token.text.starts_with(&self.text),
            false => token.text == self.text,
        }
    }
}

impl Lexicon {
    fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let table: Table = toml::from_str(text)?;
        let mut lexicon = Self {
            scales: table.scales.into_iter().collect(),
            numbers: table.numbers.into_iter().collect(),
            ..Self::default()
        };
        for (class, phrases) in table.phrases {
            for phrase in phrases {
                lexicon.add(class, &phrase);
            }
        }
        Ok(lexicon)
    }

    fn add(&mut self, class: Class, phrase: &str) {
        let mut parts: Vec<Part> = Vec::new();
        let mut after_gap = false;
        for word in phrase.split_whitespace() {
            if word == ".." {
                after_gap = true;
                continue;
            }
            let (word, any_ending) =
                word.strip_suffix('*').map_or((word, false), |word| (word, true));
            let found = tokens(word);
            let count = found.len();
            for (position, token) in found.into_iter().enumerate() {
                let any_ending = any_ending && position + 1 == count;
                parts.push(Part { text: token.text, any_ending, after_gap });
                after_gap = false;
            }
        }
        let Some(first) = parts.first() else { return };
        let (key, index) = match first.any_ending {
            true => (first.text.clone(), &mut self.beginnings),
            false => (first.text.clone(), &mut self.whole),
        };
        index.entry(key).or_default().push(Phrase { class, parts });
    }

    /// Returns whether the token is a word of grammar.
    pub(super) fn is_function(&self, token: &Token) -> bool {
        let phrases = self.whole.get(&token.text).into_iter().flatten();
        phrases.into_iter().any(|phrase| phrase.class == Class::Function && phrase.parts.len() == 1)
    }

    /// Returns whether a phrase of one word is this token.
    pub(super) fn begins(&self, token: &Token) -> bool {
        let phrases = self.whole.get(&token.text).into_iter().flatten();
        phrases.into_iter().any(|phrase| phrase.parts.len() == 1)
    }

    /// Returns the phrases of a text, in the order in which they begin. A phrase whose words all belong to
    /// longer ones does not count.
    pub(super) fn cues(&self, tokens: &[Token]) -> Vec<Cue> {
        let mut found: Vec<(Cue, usize)> = Vec::new();
        // How many words the longest phrase has to which each token belongs.
        let mut longest = vec![0; tokens.len()];
        for (start, token) in tokens.iter().enumerate() {
            let whole = self.whole.get(&token.text).into_iter().flatten();
            let ends = token.text.char_indices().map(|(at, letter)| at + letter.len_utf8());
            let begun =
                ends.filter_map(|end| self.beginnings.get(token.text.get(..end)?)).flatten();
            for phrase in whole.chain(begun) {
                let Some(places) = places(phrase, tokens, start) else { continue };
                let length = places.len();
                let together =
                    places.iter().enumerate().take_while(|(step, at)| start + step == **at);
                let end = start + together.count();
                found.push((Cue { class: phrase.class, start, end, words: length }, length));
                for place in places {
                    if let Some(known) = longest.get_mut(place) {
                        *known = length.max(*known);
                    }
                }
            }
        }
        let counts = |(cue, length): &(Cue, usize)| {
            let own = longest.get(cue.start..cue.end).unwrap_or_default();
            own.iter().all(|other| other <= length)
        };
        found.retain(counts);
        found.into_iter().map(|(cue, _)| cue).collect()
    }
}

/// Returns the tokens of the phrase that begins here.
fn places(phrase: &Phrase, tokens: &[Token], start: usize) -> Option<Vec<usize>> {
    let mut position = start;
    let mut places = Vec::new();
    for part in &phrase.parts {
        if part.after_gap {
            let rest = tokens.get(position..)?.iter().take(LARGEST_GAP);
            let rest = rest.take_while(|token| !ENDS.contains(&token.text.as_str()));
            position += rest.enumerate().find(|(_, token)| part.fits(token))?.0;
        } else if !part.fits(tokens.get(position)?) {
            return None;
        }
        places.push(position);
        position += 1;
    }
    Some(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_valid() {
        for (language, text) in TABLES {
            assert!(Lexicon::parse(text).is_ok(), "{language:?}: {:?}", Lexicon::parse(text).err());
        }
    }

    #[test]
    fn a_longer_phrase_hides_the_words_in_it() {
        let mut lexicon = Lexicon::default();
        lexicon.add(Class::Hire, "is hiring");
        lexicon.add(Class::Freeze, "no one .. hiring");
        lexicon.add(Class::Raise, "rais*");
        let found = lexicon.cues(&tokens("It is hiring, no one there is hiring; she raised it"));
        let classes: Vec<Class> = found.iter().map(|cue| cue.class).collect();
        assert_eq!(classes, [Class::Hire, Class::Freeze, Class::Raise]);
    }
}
