//! Sentences of people find their categories.

use super::*;

fn top(text: &str, side: Option<Side>) -> Vec<&'static str> {
    rank(text, Scope::Listable(side), 3).iter().map(|hit| hit.node.code).collect()
}

/// A sentence of a person, the side if it is known, and the category that must be among the first
/// three.
const PHRASES: [(&str, Option<Side>, &str); 44] = [
    ("two bedroom flat near the park, no pets", None, "home.let.apartment"),
    ("two bedroom flat near the park, no pets", None, "home.rent.apartment"),
    ("two bedroom flat near the park, no pets", Some(Side::Offer), "home.let.apartment"),
    ("I'm letting out my sunny studio from January", None, "home.let.apartment"),
    ("looking for a room in a shared flat with quiet people", None, "home.rent.room"),
    ("spare room for rent, two flatmates and a cat", None, "home.let.room"),
    ("family home with a garden to let", None, "home.let.house"),
    ("I need a place to stay for a few weeks this summer", None, "home.rent.short_stay"),
    ("desk in a coworking office", Some(Side::Offer), "home.let.workspace"),
    ("where can I park my car, garage wanted", None, "home.rent.parking"),
    ("We are hiring a senior Rust backend engineer", None, "work.job.software"),
    ("frontend developer open to work, five years of TypeScript", None, "work.candidate.software"),
    ("machine learning engineer position", None, "work.job.data"),
    ("product designer with Figma experience", Some(Side::Demand), "work.candidate.design"),
    ("join our team as account executive with quota", None, "work.job.sales"),
    ("registered nurse for night shifts at the hospital", None, "work.job.healthcare"),
    ("I am a barista looking for a job in a coffee shop", None, "work.candidate.hospitality"),
    ("line cook wanted for our restaurant kitchen", Some(Side::Offer), "work.job.hospitality"),
    ("truck driver vacancy", None, "work.job.logistics"),
    ("bookkeeper, part time, looking for work", None, "work.candidate.finance"),
    ("kindergarten teacher position", None, "work.job.education"),
    ("recruiter for our people operations team", Some(Side::Offer), "work.job.people"),
    ("someone to go hiking and camping with", None, "social.friend.outdoors"),
    ("climbing partner for weekday evenings", None, "social.friend.sport"),
    ("board game nights with new friends", None, "social.friend.games"),
    ("Spanish tandem, I can help with English", None, "social.friend.language_exchange"),
    ("just moved here and would love to meet new people", None, "social.friend.newcomers"),
    ("single, 34, hoping for a long term relationship", None, "social.date"),
    ("technical cofounder for a climate startup", None, "venture.cofounder"),
    ("we are raising a seed round of two million", None, "venture.raise.seed"),
    ("angel investor writing first checks into pre-seed startups", None, "venture.invest.pre_seed"),
    ("I was fired and need a lawyer about my severance", None, "pro.client.lawyer.employment"),
    ("attorney for H-1B and green card cases", Some(Side::Offer), "pro.lawyer.immigration"),
    ("my landlord served an eviction notice", Some(Side::Demand), "pro.client.lawyer.housing"),
    ("help with a patent for my invention", Some(Side::Demand), "pro.client.lawyer.ip"),
    ("divorce and custody lawyer", None, "pro.lawyer.family"),
    ("need someone to file my taxes", None, "pro.client.service.accounting"),
    ("math tutor for my daughter", Some(Side::Demand), "pro.client.service.tutoring"),
    ("plumber to fix a leaking tap", Some(Side::Demand), "pro.client.service.repair"),
    ("I offer house cleaning, weekly", None, "pro.service.cleaning"),
    ("dog walker available for hire", None, "pro.service.pets"),
    ("wedding photographer", Some(Side::Offer), "pro.service.photography"),
    ("can anyone recommend movers for a small flat", None, "pro.client.service.moving"),
    ("volunteers and speakers for a neighbourhood festival", None, "lead.general"),
];

#[test]
fn sentences_find_their_category_among_the_first_three() {
    let missed: Vec<_> = PHRASES
        .iter()
        .filter(|(text, side, expected)| !top(text, *side).contains(expected))
        .map(|(text, side, expected)| (text, expected, top(text, *side)))
        .collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn most_sentences_find_it_first() {
    let first = |(text, side, expected): &&(&str, Option<Side>, &str)| {
        top(text, *side).first() == Some(expected)
    };
    let count = PHRASES.iter().filter(first).count();
    assert!(count * 4 >= PHRASES.len() * 3, "{count} of {}", PHRASES.len());
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
