//! Sentences of people find their categories.

use super::*;

fn top(text: &str, side: Option<Side>) -> Vec<&'static str> {
    rank(text, Scope::Listable(side), 3).iter().map(|hit| hit.node.code).collect()
}

/// A sentence of a person, the side if it is known, and the category that must be among the first
/// three.
struct Phrase {
    text: &'static str,
    side: Option<Side>,
    expected: &'static str,
}

fn phrases() -> Vec<Phrase> {
    let phrase = |line: &'static str| {
        let (expected, text) = line.split_once(": ").unwrap();
        let (expected, side) = expected.split_once(' ').map_or((expected, None), |(code, side)| {
            (code, Some(serde_json::from_value(side.into()).unwrap()))
        });
        Phrase { text, side, expected }
    };
    include_str!("phrases.txt").lines().map(phrase).collect()
}

#[test]
fn sentences_find_their_category_among_the_first_three_and_most_often_first() {
    let phrases = phrases();
    let mut first = 0;
    for Phrase { text, side, expected } in &phrases {
        let found = top(text, *side);
        assert!(found.contains(expected), "{text}: {found:?}");
        first += usize::from(found.first() == Some(expected));
    }
    assert!(first * 4 >= phrases.len() * 3, "{first} of {}", phrases.len());
}

#[test]
fn suggestions_keep_to_the_side_and_to_categories_that_hold_listings() {
    for side in [Side::Offer, Side::Demand] {
        for hit in rank("lawyer for my flat and my job", Scope::Listable(Some(side)), 100) {
            assert!(hit.node.sides.contains(&side), "{}", hit.node.code);
        }
    }
    let every = rank("clients", Scope::Every, 100);
    assert!(every.iter().any(|hit| hit.node.code == "pro.client"));
    let listable = rank("clients", Scope::Listable(None), 100);
    assert!(listable.iter().all(|hit| hit.node.code != "pro.client"));
}

#[test]
fn matched_terms_are_the_text_s_own_words() {
    let hits = rank("Two Bedrooms, no PETS, zebra", Scope::Listable(Some(Side::Offer)), 1);
    let matched: Vec<_> =
        hits.iter().flat_map(|hit| hit.matched.iter().map(String::as_str)).collect();
    assert_eq!(matched, ["two", "bedrooms", "pets"]);
}

#[test]
fn words_are_found_in_any_form_and_in_the_order_of_fit() {
    let codes: Vec<_> =
        rank("designers", Scope::Every, 2).iter().map(|hit| hit.node.code).collect();
    assert_eq!(codes, ["work.job.design", "work.candidate.design"]);
    let scores: Vec<_> = rank("work", Scope::Every, 100).iter().map(|hit| hit.score).collect();
    assert!(scores.is_sorted_by(|left, right| left >= right));
    assert_eq!(rank("work", Scope::Every, 3).len(), 3);
}

#[test]
fn stop_words_find_nothing() {
    assert!(rank("", Scope::Every, 10).is_empty());
    assert!(rank("and the of !?", Scope::Every, 10).is_empty());
    assert!(rank("xylophagous", Scope::Every, 10).is_empty());
}

#[test]
fn every_label_finds_its_own_category() {
    for node in &NODES {
        let found = rank(node.label, Scope::Every, 3);
        assert!(found.iter().any(|hit| hit.node.code == node.code), "{}", node.code);
    }
}

#[test]
fn terms_are_in_order() {
    assert!(TERMS.is_sorted_by_key(|(term, _)| term));
}

#[test]
fn what_people_say_decides_the_side_in_each_language() {
    for (text, expected) in [
        ("I want to rent a flat", "home.rent"),
        ("I want to rent out my flat", "home.let"),
        ("looking for a room", "home.rent"),
        ("I am looking for a tenant for my apartment", "home.let"),
        ("looking for a job as a designer", "work.candidate"),
        ("we are hiring a designer", "work.job"),
        ("I need a lawyer", "pro.client"),
        ("lawyer looking for clients", "pro.lawyer"),
        ("I need a plumber", "pro.client"),
        ("plumber, I offer repairs", "pro.service"),
        ("we are raising money for our startup", "venture.raise"),
        ("I want to invest in startups", "venture.invest"),
        ("Ich suche eine Wohnung", "home.rent"),
        ("Suche Wohnung", "home.rent"),
        ("Ich möchte meine Wohnung vermieten", "home.let"),
        ("Busco piso", "home.rent"),
        ("Alquilo mi piso", "home.let"),
        ("Je cherche un appartement", "home.rent"),
        ("Appartement à louer", "home.let"),
        ("アパートを借りたい", "home.rent"),
        ("アパートを貸します", "home.let"),
    ] {
        let found = top(text, None);
        let first = found.first().copied().unwrap_or_default();
        assert!(first.starts_with(expected), "{text}: {found:?}");
    }
}
