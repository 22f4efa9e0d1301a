//! Finds accounts of messengers and networks: links to them, and their names with a handle.

use super::text::Text;
use crate::plain::Word;
use std::ops::Range;

const LINKS: &str = include_str!("links.txt");
const SERVICES: [&str; 2] = ["service", "service weak"];
/// How many bytes around the name of a service can have its handle.
const WINDOW: usize = 56;
/// How many words around the name of a service can say that a handle follows.
const CONTEXT: usize = 6;
/// How many words around the name of a service can say that a handle is named.
const NAMED: usize = 3;
const SHORTEST_HANDLE: usize = 5;
/// A handle without another sign of one has at least this many digits: `html5` has fewer.
const FEWEST_DIGITS: usize = 2;
/// Signs that end the sentence or the part of it in which a service is named.
const BREAKS: &[char] = &['.', '!', '?', ';', '\n', '。'];
/// Signs before a handle.
const JOINS: &[char] = &[':', '='];
/// The last letter of the Latin alphabets.
const LAST_LATIN: char = '\u{24f}';

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
    let context = sentence(text, at, next);
    let is_sought = text.has_term(context.clone(), &["find"]);
    let is_asked = is_sought || text.has_term(context.clone(), &["cue"]);
    let is_theirs = is_asked || text.has_term(context.clone(), &["mine"]);
    let is_announced = text.gap(next).contains(JOINS);
    if service.label == "service weak" && !is_theirs && !is_announced {
        return false;
    }
    let mut is_named = text.has_term(at.saturating_sub(NAMED)..at, &["name"]);
    let is_adjacent = (is_named || text.has_term(context.start..at, &["cue", "find"]))
        && is_foreign(text.plain, first.start)
        || is_theirs && is_foreign(text.plain, last.end());
    // Whether a word such as `as`, a colon, or a word such as `is` is before the handle.
    let (mut place, mut is_linked, mut has_colon, mut has_verb) =
        (next, false, is_announced, false);
    while let Some(word) = text.words.get(place).filter(|word| word.start < last.end() + WINDOW) {
        if text.gap(place).contains(BREAKS) {
            return false;
        }
        let handle = handle(text.plain, word.start);
        // `My Telegram is great` and `write me as you like` are no accounts.
        let expects_name = has_colon && (is_named || is_asked)
            || has_verb && (is_named || handle.contains('.'))
            || is_linked && (is_sought || is_theirs && handle.contains('.'))
            || is_named && place > next && is_foreign(text.plain, word.start)
            || is_adjacent && place == next;
        let is_common = text.terms.get(place).is_none_or(|terms| !terms.is_empty());
        if is_handle(handle)
            || expects_name && !is_common && is_name(text.plain, *word, handle)
            || (is_announced || is_theirs) && has_digits(handle)
        {
            return true;
        }
        // Only words such as `is` and `my` may be between the service and the handle.
        let labels = ["as", "id", "name", "cue", "find", "mine"];
        let Some(found) = text.term(place, &labels) else { return false };
        is_linked |= text.term(place, &["as"]).is_some();
        is_named |= text.term(place, &["name"]).is_some();
        has_verb |= is_theirs && text.term(place, &["id"]).is_some();
        place += found.length;
        has_colon |= text.gap(place).contains(JOINS);
    }
    false
}

/// Returns the words around a service that are in its sentence.
fn sentence(text: &Text<'_>, service: usize, next: usize) -> Range<usize> {
    let breaks = |at: &usize| text.gap(*at).contains(BREAKS);
    let first = (service.saturating_sub(CONTEXT)..=service).rev().find(breaks);
    let end = (next..next + CONTEXT).find(breaks);
    first.unwrap_or(service.saturating_sub(CONTEXT))..end.unwrap_or(next + CONTEXT)
}

/// Returns whether the line before a place is in a script in which a Latin word stands out.
fn is_foreign(plain: &str, end: usize) -> bool {
    let is_foreign = |letter: char| letter.is_alphabetic() && letter > LAST_LATIN;
    let before = before(plain, end);
    before.contains(is_foreign) && !before.contains(|letter: char| letter.is_ascii_alphabetic())
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

/// Returns whether a word has the form of a handle rather than of a common word or a measure, such
/// as `60sec`.
fn is_handle(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let has_digits =
        has_digits(word) && !word.contains('.') && (digits >= FEWEST_DIGITS || word.contains('#'));
    word.len() >= SHORTEST_HANDLE && (has_digits || word.contains('_'))
}

/// Returns whether a word has letters and, after them, digits.
fn has_digits(word: &str) -> bool {
    word.len() >= SHORTEST_HANDLE
        && word.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && word.contains(|letter: char| letter.is_ascii_digit())
        && !word.contains('-')
}

/// Returns whether a word, which begins a handle, can be one of letters only: a Latin one that no
/// other Latin word follows. It may have a point: `ada.rents`.
fn is_name(plain: &str, word: Word<'_>, handle: &str) -> bool {
    let has_point = handle.contains('.');
    let follows = plain.get(word.end()..).unwrap_or_default().trim_start_matches([' ', '-']);
    handle.len() >= SHORTEST_HANDLE
        && word.text.bytes().all(|byte| byte.is_ascii_lowercase())
        && (has_point || !follows.starts_with(|letter: char| letter.is_ascii_alphanumeric()))
}
