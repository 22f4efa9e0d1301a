//! Finds e-mail addresses, phone numbers and street addresses in text, also if they are written so that
//! programs should not find them. In doubt, a text counts as contact data. Most texts have none, so each kind
//! is looked for only where the signs are that it cannot be without.

use super::phone;
use regex::{Match, Regex};
use std::{borrow::Cow, ops::Range, sync::LazyLock};

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

// The patterns have no word boundaries of Unicode: with these, a text that is not ASCII is searched ten times
// more slowly.

/// `name@host.tld`, and "name (at) host (dot) tld".
const EMAIL: &str = r"(?xi)
    [\p{L}\p{M}\p{N}._%+'-]+ \s* (?: [@＠﹫] | [\[({<]\s*at\s*[\])}>] ) [\s\p{M}]*
    [\p{L}\p{M}\p{N}-]+ (?: (?: \s+[.]\s+ | [.．。｡﹒․] | \s*[\[({<]\s*dot\s*[\])}>]\s* ) [\p{L}\p{M}\p{N}-]+ )*
    (?: \s+[.]\s+ | [.．。｡﹒․] | \s*[\[({<]\s*dot\s*[\])}>]\s* ) \p{L}{2,}
  | [\p{L}\p{N}._%+-]+ \s+ at \s+ [\p{L}\p{N}-]+ \s+ dot \s+ \p{L}{2,}";
/// A house number, capitalised words, and a word such as "Street". The boundary behind it is one of ASCII, as
/// these words are.
const ADDRESS: &str = r"(?x)
    (?: (?-u:\b)[0-9] | [\d--0-9] ) \d{0,4} [A-Za-z]? \s+ (?: (?:[NSEW]\.?|North|South|East|West) \s+ )?
    (?: [\p{Lu}\d][\p{L}\d'.-]* \s+ ){1,3}
    (?: Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl|Terrace|Ter|Way|Alley|Square|Sq|Highway|Hwy ) (?-u:\b) \.?
    (?: ,? \s* (?: Apt|Apartment|Unit|Suite|Ste|Floor|Fl|\#) \.? \s* [\p{L}\d-]+ )?";

static PATTERNS: LazyLock<[Option<Regex>; 2]> =
    LazyLock::new(|| [EMAIL, ADDRESS].map(|source| Regex::new(source).ok()));

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

/// Returns whether a text has one of the signs without which there is no e-mail address: the sign "at" in one of
/// its three forms, "at" behind a bracket, or "dot".
fn may_have_email(text: &str) -> bool {
    let bytes = text.as_bytes();
    let begins = |at: usize, word: &[u8]| {
        bytes.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word))
    };
    bytes.iter().enumerate().any(|(at, byte)| match byte {
        b'@' => true,
        b'd' | b'D' => begins(at, b"dot"),
        b'(' | b'[' | b'{' | b'<' => {
            let inner = bytes.get(at + 1..).unwrap_or_default().trim_ascii_start();
            // Other spaces than those of ASCII may stand there, too.
            let is_other = inner.first().is_some_and(|byte| !byte.is_ascii() || *byte == 0x0b);
            is_other || inner.get(..2).is_some_and(|word| word.eq_ignore_ascii_case(b"at"))
        }
        0xef => begins(at, "＠".as_bytes()) || begins(at, "﹫".as_bytes()),
        _ => false,
    })
}

/// Returns whether a digit, perhaps with one letter, stands before a space and a capital or a digit, as in each
/// address with a street.
fn may_have_address(text: &str) -> bool {
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if !character.is_numeric() {
            continue;
        }
        let mut rest = characters.clone();
        rest.next_if(char::is_ascii_alphabetic);
        let is_apart = rest.next().is_some_and(char::is_whitespace);
        let mut rest = rest.skip_while(|one| one.is_whitespace());
        if is_apart && rest.next().is_some_and(|one| one.is_uppercase() || one.is_numeric()) {
            return true;
        }
    }
    false
}

/// Returns the contact data in a text: e-mail addresses first, then addresses, then phone numbers.
fn all(text: &str) -> impl Iterator<Item = (Contact, Range<usize>)> {
    let [email, address] = &*PATTERNS;
    let email = email.iter().filter(|_| may_have_email(text));
    let address = address.iter().filter(|_| may_have_address(text));
    let is_address =
        |found: &Match<'_>| is_address(found.as_str(), text.get(found.end()..).unwrap_or_default());
    let emails = email.flat_map(|pattern| pattern.find_iter(text));
    let addresses = address.flat_map(|pattern| pattern.find_iter(text)).filter(is_address);
    let phones = std::iter::once_with(|| phone::all(text)).flatten();
    (emails.map(|found| (Contact::Email, found.range())))
        .chain(addresses.map(|found| (Contact::Address, found.range())))
        .chain(phones.map(|place| (Contact::Phone, place)))
}

/// Returns the first contact data that is found: its kind and its text.
pub fn find(text: &str) -> Option<(Contact, &str)> {
    let (kind, place) = all(text).next()?;
    Some((kind, text.get(place)?))
}

/// Returns whether there is an e-mail address in a text.
pub fn is_email_in(text: &str) -> bool {
    let [email, _] = &*PATTERNS;
    may_have_email(text) && email.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// Replaces all contact data with `[removed]`, so that `find` finds nothing in the result.
pub fn remove(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    // What is left after a removal can be contact data again.
    for _ in 0..ROUNDS {
        match removed_once(&text) {
            Some(less) => text = Cow::Owned(less),
            None => return text,
        }
    }
    match find(&text) {
        Some(_) => Cow::Borrowed(REMOVED),
        None => text,
    }
}

/// Returns the text without the contact data in it; `None` if there is none.
fn removed_once(text: &str) -> Option<String> {
    let mut places: Vec<Range<usize>> = all(text).map(|(_, place)| place).collect();
    if places.is_empty() {
        return None;
    }
    places.sort_by_key(|place| place.start);
    let (mut kept, mut at) = (String::with_capacity(text.len()), 0);
    for place in places {
        if place.start >= at {
            kept.push_str(text.get(at..place.start).unwrap_or_default());
            kept.push_str(REMOVED);
        }
        at = at.max(place.end);
    }
    kept.push_str(text.get(at..).unwrap_or_default());
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_pattern_compiles() {
        assert!(PATTERNS.iter().all(Option::is_some));
    }

    #[test]
    fn contact_data_is_found_however_it_is_written() {
        for (text, kind) in [
            ("Write to jo.doe+jobs@copperleaf.example today", Contact::Email),
            ("jo ＠ copperleaf.example", Contact::Email),
            ("jo (at) copperleaf (dot) example", Contact::Email),
            ("jo [at] copperleaf.example", Contact::Email),
            ("jo at copperleaf dot example", Contact::Email),
            ("jo@copperleaf\u{3002}com", Contact::Email),
            ("jo\u{fe6b}copperleaf.example", Contact::Email),
            ("jo @ copperleaf . com", Contact::Email),
            ("jo@\u{301}copperleaf.example", Contact::Email),
            ("Tel. 030 1234567", Contact::Phone),
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
            "Meet us @ Copperleaf. Join in.",
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

    /// The patterns that were used before, with word boundaries of Unicode.
    const PLAIN: [&str; 2] = [
        r"(?xi)
        [\p{L}\p{N}._%+'-]+ \s* (?: [@＠] | [\[({<]\s*at\s*[\])}>] ) \s*
        [\p{L}\p{N}-]+ (?: (?: \. | \s*[\[({<]\s*dot\s*[\])}>]\s* ) [\p{L}\p{N}-]+ )*
        (?: \. | \s*[\[({<]\s*dot\s*[\])}>]\s* ) \p{L}{2,}
      | \b [\p{L}\p{N}._%+-]+ \s+ at \s+ [\p{L}\p{N}-]+ \s+ dot \s+ \p{L}{2,} \b",
        r"(?x)
        \b \d{1,5} [A-Za-z]? \s+ (?: (?:[NSEW]\.?|North|South|East|West) \s+ )? (?: [\p{Lu}\d][\p{L}\d'.-]* \s+ ){1,3}
        (?: Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl|Terrace|Ter|Way|Alley|Square|Sq|Highway|Hwy ) \b \.?
        (?: ,? \s* (?: Apt|Apartment|Unit|Suite|Ste|Floor|Fl|\#) \.? \s* [\p{L}\d-]+ )?",
    ];
    static EARLIER: LazyLock<[Regex; 2]> =
        LazyLock::new(|| PLAIN.map(|source| Regex::new(source).unwrap()));

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// Neither the quick look beforehand nor the other boundaries miss anything.
        #[test]
        fn what_the_plain_patterns_find_is_found(parts in proptest::collection::vec(proptest::sample::select(&[
            "jo", "é", "@", "＠", "(", "[", "<", "at", "AT", ")", "]", "dot", "Dot", ".", " ", "\u{a0}", "\u{2003}", "copper", "com",
            "12", "１２", "7", "B", "ß", "Main", "Éire", "St", "Street", "Way", "to", "N.", "North", ",", "Apt", "#", "-", "_", "\n",
        ][..]), 0..14)) {
            let text = parts.concat();
            let [email, address] = &*EARLIER;
            let found: Vec<Contact> = all(&text).map(|(kind, _)| kind).collect();
            if email.is_match(&text) {
                prop_assert!(found.contains(&Contact::Email), "{:?}", text);
            }
            let is_there = |found: Match<'_>| is_address(found.as_str(), text.get(found.end()..).unwrap_or_default());
            if address.find_iter(&text).any(is_there) {
                prop_assert!(found.contains(&Contact::Address), "{:?}", text);
            }
        }
    }
}
