//! Questions of people and agents, each with the entry that must be among the first three.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use faq::search;

/// Returns the slug of the entry and the question.
fn queries() -> Vec<(&'static str, &'static str)> {
    include_str!("queries.txt").lines().map(|line| line.split_once(": ").unwrap()).collect()
}

fn first_three(query: &str) -> Vec<&'static str> {
    search(query, &[], 3).hits.into_iter().map(|hit| hit.entry.slug).collect()
}

#[test]
fn the_right_entry_is_among_the_first_three() {
    let found = queries().into_iter().map(|(slug, query)| (query, slug, first_three(query)));
    let missed: Vec<_> = found.filter(|(_, slug, found)| !found.contains(slug)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn most_often_it_is_the_first() {
    let all = queries();
    let first = all.iter().filter(|(slug, query)| first_three(query).first() == Some(slug)).count();
    assert!(first * 100 >= all.len() * 85, "{first} of {}", all.len());
}

#[test]
fn every_entry_has_a_query_and_is_found_by_its_own_question() {
    for entry in faq::entries() {
        assert!(
            queries().iter().any(|(slug, _)| *slug == entry.slug),
            "no query for {}",
            entry.slug
        );
        assert_eq!(first_three(entry.question).first(), Some(&entry.slug));
    }
}
