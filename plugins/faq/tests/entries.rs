//! Tests that every entry has to pass, beyond the checks of the build.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use faq::{Entry, by_slug, entries};

/// Returns the fenced code blocks of an answer: language and text.
fn code_blocks(entry: &Entry) -> Vec<(&'static str, &'static str)> {
    let fenced = entry.answer().markdown.split("```").skip(1).step_by(2);
    fenced.map(|block| block.split_once('\n').unwrap()).collect()
}

#[test]
fn there_are_40_to_56_entries_of_60_to_220_words() {
    assert!((40..=56).contains(&entries().len()));
    for entry in entries() {
        let words = entry.answer().markdown.split_whitespace().count();
        assert!((60..=220).contains(&words), "{}: {words} words", entry.slug);
    }
}

#[test]
fn ids_and_times_are_well_formed() {
    for entry in entries() {
        let ulid = entry.id.strip_prefix("faq_").unwrap();
        assert!(ulid.parse::<ulid::Ulid>().is_ok(), "{}", entry.slug);
        assert!(entry.updated_at.parse::<jiff::Timestamp>().is_ok(), "{}", entry.slug);
    }
}

#[test]
fn examples_marked_as_json_are_json() {
    let mut examples = 0;
    for entry in entries() {
        for (language, text) in code_blocks(entry) {
            if language == "json" {
                let parsed = serde_json::from_str::<serde_json::Value>(text);
                assert!(parsed.is_ok(), "{}: {parsed:?}", entry.slug);
                examples += 1;
            }
        }
    }
    assert!(examples >= 20, "only {examples} examples");
}

#[test]
fn html_has_the_markup_of_the_answer_and_nothing_else() {
    let known = ["p", "ul", "ol", "li", "strong", "em", "code", "pre"];
    for entry in entries() {
        assert!(entry.answer().html.starts_with("<p>"), "{}", entry.slug);
        for tag in entry.answer().html.split('<').skip(1) {
            let name: String =
                tag.trim_start_matches('/').chars().take_while(char::is_ascii_alphabetic).collect();
            assert!(known.contains(&name.as_str()), "{}: <{tag}", entry.slug);
        }
    }
}

#[test]
fn every_entry_is_reachable_and_leads_on() {
    for entry in entries() {
        assert!((2..=5).contains(&entry.related.len()), "{}", entry.slug);
        for related in entry.related {
            assert!(by_slug(related).is_some(), "{}: {related}", entry.slug);
        }
        let reached = entries().iter().any(|other| other.related.contains(&entry.slug));
        assert!(reached, "nothing leads to {}", entry.slug);
    }
}

#[test]
fn no_real_contact_data_stands_in_an_answer() {
    for entry in entries() {
        for word in entry.answer().markdown.split_whitespace() {
            let digits = word.chars().filter(char::is_ascii_digit).count();
            if word.contains('+') && digits >= 8 {
                assert!(word.contains("+141555501"), "{}: {word}", entry.slug);
            }
            if word.contains('@') {
                panic!("{}: {word}", entry.slug);
            }
        }
    }
}
