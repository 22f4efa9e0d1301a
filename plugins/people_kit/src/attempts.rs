//! Measures a filter on the texts of `tests/corpora/attempts`.

use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Corpus {
    train: BTreeMap<String, Texts>,
    /// Texts that nobody reads who writes rules.
    held_out: BTreeMap<String, Texts>,
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

fn share(texts: &[&Text], is_found: &impl Fn(&Text) -> bool) -> f64 {
    let found = texts.iter().filter(|text| is_found(text)).count();
    100.0 * found as f64 / texts.len() as f64
}

fn all(texts: &BTreeMap<String, Texts>, of: fn(&Texts) -> &Vec<Text>) -> Vec<&Text> {
    texts.values().flat_map(of).collect()
}

/// Measures a filter, prints the shares of each language, and asserts that each language is within
/// the limits on the texts for which the rules were written. Returns the shares of the others.
pub(crate) fn measure(file: &str, limits: Shares, is_found: impl Fn(&Text) -> bool) -> Shares {
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
        let of = |texts: &Texts| Shares {
            recall: share(&texts.attempts.iter().collect::<Vec<_>>(), &is_found),
            false_alarms: share(&texts.innocent.iter().collect::<Vec<_>>(), &is_found),
        };
        let (train, held_out) = (of(texts), of(&corpus.held_out[language]));
        println!(
            "{language}: recall {:.0} % (held out {:.0} %), false alarms {:.0} % ({:.0} %)",
            train.recall, held_out.recall, train.false_alarms, held_out.false_alarms
        );
    }
    for (language, texts) in &corpus.train {
        let recall = share(&texts.attempts.iter().collect::<Vec<_>>(), &is_found);
        let false_alarms = share(&texts.innocent.iter().collect::<Vec<_>>(), &is_found);
        assert!(recall >= limits.recall, "{language}: recall {recall}");
        assert!(false_alarms <= limits.false_alarms, "{language}: false alarms {false_alarms}");
    }
    let held_out = Shares {
        recall: share(&all(&corpus.held_out, |texts| &texts.attempts), &is_found),
        false_alarms: share(&all(&corpus.held_out, |texts| &texts.innocent), &is_found),
    };
    println!("held out: {held_out:?}");
    held_out
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
