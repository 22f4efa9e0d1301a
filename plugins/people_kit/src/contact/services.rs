//! Finds accounts of messengers and networks: links to them, and their names with a handle.

use super::text::Text;
use crate::plain::Word;

const LINKS: &str = include_str!("links.txt");
const SERVICES: [&str; 2] = ["service", "service weak"];
/// How many bytes around the name of a service can have its handle.
const WINDOW: usize = 56;
/// How many words around the name of a service can say that a handle follows.
const CONTEXT: usize = 6;
/// How many words around the name of a service can say that a handle is named.
const NAMED: usize = 3;
const SHORTEST_HANDLE: usize = 5;

pub(super) fn has_account(text: &Text<'_>) -> bool {
    has_link(text.plain) || (0..text.words.len()).any(|at| has_handle(text, at))
}

fn has_link(plain: &str) -> bool {
    LINKS.lines().filter(|line| !line.starts_with('#')).any(|link| {
        plain.match_indices(link).any(|(at, _)| {
            let before = plain.get(..at).and_then(|before| before.chars().next_back());
            before.is_none_or(|before| !before.is_alphanumeric() && !['-', '_'].contains(&before))
        })
    })
}

/// Returns whether the name of a service begins at this word, and a handle is near it.
fn has_handle(text: &Text<'_>, at: usize) -> bool {
    let Some(service) = text.term(at, &SERVICES) else { return false };
    let next = at + service.length;
    let (Some(first), Some(last)) = (text.words.get(at), text.words.get(next - 1)) else {
        return false;
    };
    if has_at_handle(before(text.plain, first.start))
        || has_at_handle(after(text.plain, last.end()))
    {
        return true;
    }
    let is_asked = text.has_term(at.saturating_sub(CONTEXT)..next + CONTEXT, &["cue"]);
    let is_named = text.has_term(at.saturating_sub(NAMED)..next + NAMED, &["name"]);
    let is_announced = text.gap(next).contains([':', '=']);
    if service.label == "service weak" && !is_asked && !is_announced {
        return false;
    }
    let is_foreign =
        !before(text.plain, first.start).contains(|letter: char| letter.is_ascii_alphabetic());
    let (mut place, mut is_linked) = (next, is_announced);
    while let Some(word) = text.words.get(place).filter(|word| word.start < last.end() + WINDOW) {
        let is_adjacent = place == next && is_foreign;
        let expects_name = is_named || is_asked && (is_linked || is_adjacent);
        let is_name =
            || text.terms.get(place).is_some_and(Vec::is_empty) && is_name(text.plain, *word);
        if is_handle(handle(text.plain, word.start)) || expects_name && is_name() {
            return true;
        }
        // Only words such as `is` and `my` may be between the service and the handle.
        let Some(found) = text.term(place, &["as", "id", "name", "cue"]) else { return false };
        is_linked |= found.label == "as";
        place += found.length;
        is_linked |= text.gap(place).contains([':', '=']);
        if text.gap(place).contains(['!', '?', ';', '\n', '。']) {
            return false;
        }
    }
    false
}

/// Returns the part of the line before a place.
fn before(plain: &str, end: usize) -> &str {
    let before = plain.get(..end).unwrap_or_default();
    let start = before.char_indices().rev().nth(WINDOW / 2).map_or(0, |(at, _)| at);
    before.get(start..).unwrap_or_default().rsplit('\n').next().unwrap_or_default()
}

/// Returns the part of the line after a place.
fn after(plain: &str, from: usize) -> &str {
    let rest = plain.get(from..).unwrap_or_default();
    let end = rest.char_indices().nth(WINDOW).map_or(rest.len(), |(at, _)| at);
    let rest = rest.get(..end).unwrap_or_default();
    rest.split('\n').next().unwrap_or_default()
}

/// Returns whether the text has `@` and a name.
fn has_at_handle(text: &str) -> bool {
    text.match_indices('@').any(|(at, _)| {
        let name = handle(text, at + 1);
        name.len() >= 3 && name.contains(|letter: char| letter.is_ascii_alphabetic())
    })
}

/// Returns the letters, digits and signs of a handle from a place on.
fn handle(plain: &str, from: usize) -> &str {
    let rest = plain.get(from..).unwrap_or_default();
    let in_handle = |letter: char| letter.is_ascii_alphanumeric() || "_.#-".contains(letter);
    let end = rest.find(|letter| !in_handle(letter)).unwrap_or(rest.len());
    rest.get(..end).unwrap_or_default().trim_end_matches(['.', '-', '#'])
}

/// Returns whether a word has the form of a handle rather than of a common word.
fn is_handle(word: &str) -> bool {
    let has = |test: fn(char) -> bool| word.contains(test);
    let letters = has(|letter| letter.is_ascii_alphabetic());
    let digits = has(|letter| letter.is_ascii_digit());
    word.len() >= SHORTEST_HANDLE && letters && (digits || has(|letter| "_.".contains(letter)))
}

/// Returns whether a word can be a handle of letters only: a Latin one that no other Latin word follows.
fn is_name(plain: &str, word: Word<'_>) -> bool {
    let follows = plain.get(word.end()..).unwrap_or_default().trim_start_matches([' ', '-']);
    word.text.len() >= SHORTEST_HANDLE
        && word.text.bytes().all(|byte| byte.is_ascii_lowercase())
        && !follows.starts_with(|letter: char| letter.is_ascii_alphanumeric())
}
