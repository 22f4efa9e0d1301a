//! Finds e-mail addresses, phone numbers and street addresses in text, also if they are written so that
//! programs should not find them. In doubt, a text counts as contact data.

use regex::{Captures, Match, Regex};
use std::sync::LazyLock;

/// The text that replaces contact data.
pub const REMOVED: &str = "[removed]";
/// How often contact data is removed before the whole text is.
const ROUNDS: usize = 4;

/// A kind of contact data, which must not be in a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contact {
    Email,
    Phone,
    Address,
}

/// `name@host.tld`, and "name (at) host (dot) tld".
const EMAIL: &str = r"(?xi)
    [\p{L}\p{N}._%+'-]+ \s* (?: [@＠] | [\[({<]\s*at\s*[\])}>] ) \s*
    [\p{L}\p{N}-]+ (?: (?: \. | \s*[\[({<]\s*dot\s*[\])}>]\s* ) [\p{L}\p{N}-]+ )*
    (?: \. | \s*[\[({<]\s*dot\s*[\])}>]\s* ) \p{L}{2,}
  | \b [\p{L}\p{N}._%+-]+ \s+ at \s+ [\p{L}\p{N}-]+ \s+ dot \s+ \p{L}{2,} \b";

/// Seven or more digits after a plus sign, three or more groups of digits, ten or more digits in a
/// row, or a number such as `(415) 555-0142` or `555-0142`. `is_phone` then excludes dates and
/// amounts.
const PHONE: &str = r"(?x)
    [+＋] \s* \(? \d (?: [\s().\-–/]* \d ){6,16}
  | \(? \b \d{2,4} \)? (?: [\s.\-–/]{1,2} \(? \d{2,4} \)? ){2,6} \b
  | \(\d{3}\) \s* \d{3} [\s.\-–]? \d{4}
  | \b \d{10,15} \b
  | \b \d{3} [.\-–] \d{4} \b";

/// A house number, capitalised words, and a word such as "Street".
const ADDRESS: &str = r"(?x)
    \b \d{1,5} [A-Za-z]? \s+ (?: (?:[NSEW]\.?|North|South|East|West) \s+ )? (?: [\p{Lu}\d][\p{L}\d'.-]* \s+ ){1,3}
    (?: Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl|Terrace|Ter|Way|Alley|Square|Sq|Highway|Hwy ) \b \.?
    (?: ,? \s* (?: Apt|Apartment|Unit|Suite|Ste|Floor|Fl|\#) \.? \s* [\p{L}\d-]+ )?";

static PATTERNS: LazyLock<Vec<(Contact, Regex)>> = LazyLock::new(|| {
    let sources = [(Contact::Email, EMAIL), (Contact::Address, ADDRESS), (Contact::Phone, PHONE)];
    sources
        .into_iter()
        .filter_map(|(kind, source)| Some((kind, Regex::new(source).ok()?)))
        .collect()
});

static DATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}|(?:19|20)\d{2}\s?[-–/]\s?(?:19|20)\d{2})").ok()
});

/// Returns whether a match is a phone number, and not a date, a range of years or an amount.
fn is_phone(text: &str) -> bool {
    let digits = text.chars().filter(|character| character.is_numeric()).count();
    if text.starts_with(['+', '＋']) {
        return digits >= 7;
    }
    if DATE.as_ref().is_some_and(|date| date.is_match(text)) {
        return false;
    }
    let grouped = text.chars().any(|character| !character.is_numeric());
    digits >= 9 || (digits == 7 && grouped && text.chars().count() == 8)
}

/// Words that end an address and are ordinary words, too.
const ORDINARY: [&str; 8] =
    ["Place", "Way", "Drive", "Court", "Square", "Alley", "Terrace", "Highway"];

/// Returns whether a match is an address, and not a phrase such as "2024 Best Place to Work".
/// `after` is the text behind the match.
fn is_address(text: &str, after: &str) -> bool {
    let is_ordinary = ORDINARY.iter().any(|word| text.ends_with(word));
    let goes_on = after.strip_prefix(' ').is_some_and(|rest| rest.starts_with(char::is_lowercase));
    !(is_ordinary && goes_on)
}

fn counts(kind: Contact, matched: &Match<'_>, text: &str) -> bool {
    match kind {
        Contact::Email => true,
        Contact::Phone => is_phone(matched.as_str()),
        Contact::Address => {
            is_address(matched.as_str(), text.get(matched.end()..).unwrap_or_default())
        }
    }
}

/// Returns the first contact data that is found: its kind and its text.
pub fn find(text: &str) -> Option<(Contact, &str)> {
    PATTERNS.iter().find_map(|(kind, pattern)| {
        let found = pattern.find_iter(text).find(|matched| counts(*kind, matched, text))?;
        Some((*kind, found.as_str()))
    })
}

/// Returns whether there is an e-mail address in a text.
pub fn is_email_in(text: &str) -> bool {
    let mut patterns = PATTERNS.iter().filter(|(kind, _)| *kind == Contact::Email);
    patterns.any(|(_, pattern)| pattern.is_match(text))
}

/// Replaces all contact data with `[removed]`, so that `find` finds nothing in the result.
pub fn remove(text: &str) -> String {
    let mut text = text.to_owned();
    // What is left after a removal can be contact data again.
    for _ in 0..ROUNDS {
        if find(&text).is_none() {
            return text;
        }
        text = removed_once(&text);
    }
    match find(&text) {
        Some(_) => REMOVED.to_owned(),
        None => text,
    }
}

fn removed_once(text: &str) -> String {
    PATTERNS.iter().fold(text.to_owned(), |text, (kind, pattern)| {
        let replaced = pattern.replace_all(&text, |found: &Captures<'_>| {
            let Some(whole) = found.get(0) else { return String::new() };
            match counts(*kind, &whole, &text) {
                true => REMOVED.to_owned(),
                false => whole.as_str().to_owned(),
            }
        });
        replaced.into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert_eq!(PATTERNS.len(), 3);
        assert!(DATE.is_some());
    }

    #[test]
    fn contact_data_is_found_however_it_is_written() {
        for (text, kind) in [
            ("Write to jo.doe+jobs@copperleaf.example today", Contact::Email),
            ("jo ＠ copperleaf.example", Contact::Email),
            ("jo (at) copperleaf (dot) example", Contact::Email),
            ("jo [at] copperleaf.example", Contact::Email),
            ("jo at copperleaf dot example", Contact::Email),
            ("Call +1 415 555 0142.", Contact::Phone),
            ("Call (415) 555-0142", Contact::Phone),
            ("415.555.0142", Contact::Phone),
            ("4155550142", Contact::Phone),
            ("+44 20 7946 0000", Contact::Phone),
            ("０４１５ ５５５ ０１４２", Contact::Phone),
            ("030 12 34 56 78", Contact::Phone),
            ("555-0142", Contact::Phone),
            ("At 1450 Valencia Street, Apt 4", Contact::Address),
            ("at 12 N. Old Mill Rd.", Contact::Address),
        ] {
            assert_eq!(find(text).map(|(kind, _)| kind), Some(kind), "{text}");
            let cleaned = remove(text);
            assert_eq!(find(&cleaned), None, "{text} → {cleaned}");
            assert!(cleaned.contains(REMOVED));
        }
    }

    #[test]
    fn dates_years_money_and_versions_stay() {
        for text in [
            "2026-11-22",
            "2026-11-22T18:30:00.000Z",
            "22.11.2026",
            "2019 - 2026",
            "2019-2026",
            "$120,000 - $150,000 a year",
            "120000 - 150000",
            "1,250,000,000 dollars",
            "ISO 27001, SOC 2 and RFC 9110",
            "24/7 on call, 10.5% equity",
            "We are 40 people at two sites dot com era veterans",
            "Team of 12 in San Francisco",
            "raised $12 million in 2026",
            "2024 Best Place to Work",
            "one of the 100 Best Place to Work companies",
        ] {
            assert_eq!(find(text), None, "{text}");
            assert_eq!(remove(text), text);
        }
    }
}
