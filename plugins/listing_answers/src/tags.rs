//! Comparisons of short free texts: skills, interests, subjects, certificates.

use crate::concepts::concepts;
use people_kit::words::{self, Language};
use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

type Words = Rc<BTreeSet<String>>;

thread_local! {
    /// A cache of the words of tags, because one listing is compared with many, and many have the
    /// same tags.
    static KNOWN: RefCell<BTreeMap<String, Words>> = const { RefCell::new(BTreeMap::new()) };
}

thread_local! {
    /// A cache of the languages of texts, by the text, because one listing is compared with many.
    static LANGUAGES: RefCell<BTreeMap<String, Language>> = const { RefCell::new(BTreeMap::new()) };
}

/// Returns the language of a listing.
pub(crate) fn language(title: &str, excerpt: &str) -> Language {
    let text = format!("{title} {excerpt}");
    LANGUAGES.with_borrow_mut(|known| match known.get(&text) {
        Some(language) => *language,
        None => {
            let language = words::language(&text);
            known.insert(text, language);
            language
        }
    })
}

fn words_of(tag: &str) -> Words {
    KNOWN.with_borrow_mut(|known| match known.get(tag) {
        Some(words) => words.clone(),
        None => {
            let words = Rc::new(split(tag));
            known.insert(tag.to_owned(), words.clone());
            words
        }
    })
}

fn split(tag: &str) -> BTreeSet<String> {
    let mut words = concepts(&tag.replace('_', " "), words::language(tag));
    // `#@` is followed by the category of a subject, which says less than the word itself.
    words.retain(|word| !word.starts_with("#@"));
    if words.is_empty() {
        words.insert(words::folded(tag));
    }
    words
}

/// Returns the share of the words that two tags have in common (the Dice coefficient).
fn dice(one: &Words, other: &Words) -> f64 {
    let common = one.intersection(other).count() as f64;
    2.0 * common / (one.len() + other.len()) as f64
}

/// The score of a tag whose words are only in the text.
const IN_TEXT: f64 = 0.8;

/// Returns for each tag in `asked` how similar the most similar tag in `had` is, or `IN_TEXT` if
/// all words of the tag are in `gist`.
fn nearest(asked: &[String], offered: &[String], gist: &[String]) -> Vec<f64> {
    let offered: Vec<Words> = offered.iter().map(|tag| words_of(tag)).collect();
    let nearest = |tag: &String| {
        let words = words_of(tag);
        let is_in_text = words.iter().all(|word| gist.contains(word));
        let in_text = if is_in_text { IN_TEXT } else { 0.0 };
        let similar = |offered: &Words| match words.is_subset(offered) {
            true => dice(&words, offered).max(IN_TEXT),
            false => dice(&words, offered),
        };
        offered.iter().map(similar).fold(in_text, f64::max)
    };
    asked.iter().map(nearest).collect()
}

/// Returns how far those two tags in `asked` that are met best, or the only one, are met.
pub(crate) fn shares(asked: &[String], offered: &[String], gist: &[String]) -> f64 {
    let enough = asked.len().clamp(1, 2) as f64;
    let mut found = nearest(asked, offered, gist);
    found.sort_by(|one, other| other.total_cmp(one));
    let best = found.first().copied().unwrap_or_default();
    let sum: f64 = found.iter().take(2).sum();
    // One common tag makes up most of the score.
    (0.7 * best + 0.3 * (sum / enough)).min(1.0)
}

/// Returns the share of the tags in `asked` that are met.
pub(crate) fn covers(asked: &[String], offered: &[String], gist: &[String]) -> f64 {
    let found = nearest(asked, offered, gist);
    found.iter().sum::<f64>() / found.len().max(1) as f64
}

/// Words between certificates of which one is enough.
const OR: [&str; 5] = [" o ", " or ", " oder ", " ou ", "/"];

/// Returns the share of the certificates that are held. A certificate may be written with more or
/// with fewer words.
pub(crate) fn holds(asked: &[String], names: &[String]) -> f64 {
    let offered: Vec<Words> = names.iter().map(|tag| words_of(tag)).collect();
    let forms = |tag: &str| -> BTreeSet<String> {
        words::forms(tag).into_iter().map(|(_, form)| words::folded(&form)).collect()
    };
    let is_held = |tag: &str| {
        let words = words_of(tag);
        let forms_asked = forms(tag);
        let is_same =
            offered.iter().any(|offered| words.is_subset(offered) || offered.is_subset(&words))
                || names.iter().any(|name| forms_asked.is_subset(&forms(name)));
        f64::from(is_same)
    };
    // One of several certificates may be enough.
    let any_of = |tag: &String| {
        let parts = OR.iter().fold(vec![tag.as_str()], |parts, or| {
            parts.into_iter().flat_map(|part| part.split(or)).collect()
        });
        parts.into_iter().map(is_held).fold(0.0, f64::max)
    };
    asked.iter().map(any_of).sum::<f64>() / asked.len().max(1) as f64
}

/// Whether two lists of tags are written in one language, so that a missing tag is not merely the
/// same tag in another language.
pub(crate) fn in_one_language(one: &[String], other: &[String]) -> bool {
    words::language(&one.join(" ")) == words::language(&other.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(tags: &[&str]) -> Vec<String> {
        tags.iter().map(|tag| (*tag).to_owned()).collect()
    }

    #[test]
    fn tags_meet_by_their_words() {
        assert_eq!(shares(&list(&["Rust"]), &list(&["rust", "SQL"]), &[]), 1.0);
        assert_eq!(shares(&list(&["maths"]), &list(&["algebra"]), &[]), 1.0);
        assert_eq!(shares(&list(&["tennis"]), &list(&["hiking"]), &[]), 0.0);
        assert!(shares(&list(&["tennis"]), &list(&["hiking"]), &list(&["#tennis"])) > 0.5);
        assert_eq!(covers(&list(&["React", "TypeScript"]), &list(&["react"]), &[]), 0.5);
    }

    #[test]
    fn certificates_are_held_by_name() {
        let electrician = list(&["Texas journeyman electrician"]);
        assert_eq!(holds(&list(&["journeyman"]), &electrician), 1.0);
        assert_eq!(holds(&list(&["RN licence"]), &list(&["RN"])), 1.0);
        assert_eq!(holds(&list(&["看護師"]), &list(&["介護福祉士"])), 0.0);
        let nurse = list(&["Diplôme d'État d'infirmier"]);
        assert_eq!(holds(&list(&["Diplôme d'État de puéricultrice"]), &nurse), 0.0);
    }
}
