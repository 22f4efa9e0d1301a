//! Measures a filter on the texts of `tests/corpora/attempts`.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};

#[derive(Deserialize)]
struct Corpus {
    train: BTreeMap<String, Texts>,
    /// Texts that the authors of rules do not read.
    held_out: BTreeMap<String, Texts>,
    /// Texts that were written after the rules, with other words on purpose.
    fresh: BTreeMap<String, Texts>,
}

#[derive(Deserialize)]
struct Texts {
    attempts: Vec<Text>,
    innocent: Vec<Text>,
}

#[derive(Deserialize)]
pub(crate) struct Text {
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) category: String,
    #[serde(default)]
    pub(crate) class: String,
}

/// The shares of attempts that are found and of innocent texts that are, in percent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shares {
    pub(crate) recall: f64,
    pub(crate) false_alarms: f64,
}

impl Shares {
    fn of<'a>(
        texts: impl IntoIterator<Item = &'a Texts>,
        is_found: &impl Fn(&Text) -> bool,
    ) -> Self {
        let (mut attempts, mut innocent) = (Vec::new(), Vec::new());
        for texts in texts {
            attempts.extend(&texts.attempts);
            innocent.extend(&texts.innocent);
        }
        let share = |texts: &[&Text]| {
            let found = texts.iter().filter(|text| is_found(text)).count();
            100.0 * found as f64 / texts.len() as f64
        };
        Self { recall: share(&attempts), false_alarms: share(&innocent) }
    }
}

impl Display for Shares {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.0} % found, {:.0} % false alarms", self.recall, self.false_alarms)
    }
}

/// Measures a filter, prints the shares of each language, and asserts that each language is within
/// the limits on the texts for which the rules were written. Returns the shares of the others: held out, and fresh.
pub(crate) fn measure(file: &str, limits: Shares, is_found: impl Fn(&Text) -> bool) -> [Shares; 2] {
    let corpus: Corpus = serde_json::from_str(file).unwrap();
    for (language, texts) in &corpus.train {
        for (kind, texts, expected) in
            [("missed", &texts.attempts, true), ("false alarm", &texts.innocent, false)]
        {
            for text in texts.iter().filter(|text| is_found(text) != expected) {
                println!("{language} {kind}: {} {}", text.class, text.text);
            }
        }
    }
    for (language, texts) in &corpus.train {
        let parts = [texts, &corpus.held_out[language], &corpus.fresh[language]];
        let [train, held_out, fresh] = parts.map(|texts| Shares::of([texts], &is_found));
        println!("{language}: train {train}; held out {held_out}; fresh {fresh}");
        assert!(train.recall >= limits.recall, "{language}: {train}");
        assert!(train.false_alarms <= limits.false_alarms, "{language}: {train}");
    }
    let unread = [corpus.held_out.values(), corpus.fresh.values()];
    let [held_out, fresh] = unread.map(|texts| Shares::of(texts, &is_found));
    println!("all: held out {held_out}; fresh {fresh}");
    [held_out, fresh]
}

/// Returns the categories and texts of the listings by which matching is measured.
pub(crate) fn innocent_listings() -> Vec<(String, String)> {
    let files = [
        include_str!("../../../tests/corpora/matching/main/listings.json"),
        include_str!("../../../tests/corpora/matching/second/listings.json"),
        include_str!("../../../tests/corpora/matching/held_out/listings.json"),
    ];
    let listings = files.map(|file| serde_json::from_str::<Vec<Listing>>(file).unwrap());
    let text = |listing: Listing| {
        let Input { category, title, description } = listing.input;
        (category, format!("{title} . {description}"))
    };
    listings.into_iter().flatten().map(text).collect()
}

/// Returns the categories of honest texts that a filter once took for attempts, or is likely to, and
/// the texts.
fn honest_texts() -> Vec<(String, String)> {
    let file = include_str!("../../../tests/corpora/attempts/honest.json");
    let texts = serde_json::from_str::<Vec<Text>>(file).unwrap();
    texts.into_iter().map(|text| (text.category, text.text)).collect()
}

/// Asserts that no honest text is found.
pub(crate) fn assert_lets_through(is_found: impl Fn(&str, &str) -> bool) {
    let mut texts = honest_texts();
    texts.retain(|(category, text)| is_found(category, text));
    assert!(texts.is_empty(), "{texts:#?}");
}

#[derive(Deserialize)]
struct Listing {
    input: Input,
}

#[derive(Deserialize)]
struct Input {
    category: String,
    title: String,
    description: String,
}
