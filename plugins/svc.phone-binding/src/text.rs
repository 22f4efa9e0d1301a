//! The text of a message: at most two parts of what a phone network carries, whatever an agent is called.

use crate::types::Purpose;
use people_kit::contact::has_contact_data;
use unicode_normalization::UnicodeNormalization as _;

/// The alphabet of GSM 03.38, of which a message has 160 letters, or 153 in each of several parts. A
/// message with any other letter has 70, or 67 in each part.
const GSM_LETTERS: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
/// The letters that count twice.
const GSM_EXTENSION: &str = "\u{c}^{}\\[~]|€";
const MOST_SEGMENTS: usize = 2;
/// The longest name that a message quotes.
const NAME_LETTERS: usize = 30;
/// The most digits in a name that a message quotes: fewer than a code or a number to call has.
const MOST_DIGITS: usize = 4;

/// Returns the text of a message. At least one of `code` and `link` is given.
pub(crate) fn compose(
    purpose: Purpose,
    code: Option<&str>,
    link: Option<&str>,
    name: Option<&str>,
) -> String {
    let whole = with_name(purpose, code, link, name);
    match segments(&whole) {
        0..=MOST_SEGMENTS => whole,
        _ => with_name(purpose, code, link, None),
    }
}

fn with_name(
    purpose: Purpose,
    code: Option<&str>,
    link: Option<&str>,
    name: Option<&str>,
) -> String {
    let agent = |article: &str| match name {
        Some(name) => format!("{article}he agent \"{name}\""),
        None if article == "T" => "An agent".to_owned(),
        None => "an agent".to_owned(),
    };
    let about = match (purpose, code) {
        (Purpose::Claim, Some(_)) => format!("It lets {} act for you.", agent("t")),
        (Purpose::Claim, None) => format!("{} wants to act for you on Portolan.", agent("T")),
        (Purpose::Change, _) => format!("{} wants to make this your number.", agent("T")),
    };
    let parts = [
        code.map(|code| format!("Your Portolan code is {code}.")),
        Some(about),
        Some("Do not share it with anyone who calls you.".to_owned()).filter(|_| code.is_some()),
        link.map(|link| match code {
            Some(_) => format!("Or open {link} on this phone."),
            None => format!("If you asked for it, open {link} on this phone."),
        }),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Returns the parts in which a phone network carries a text.
fn segments(text: &str) -> usize {
    let septets: Option<usize> = text.chars().map(septets).sum();
    let (units, alone, joined) = match septets {
        Some(septets) => (septets, 160, 153),
        None => (text.encode_utf16().count(), 70, 67),
    };
    if units <= alone { 1 } else { units.div_ceil(joined) }
}

fn septets(letter: char) -> Option<usize> {
    match letter {
        letter if GSM_LETTERS.contains(letter) => Some(1),
        letter if GSM_EXTENSION.contains(letter) => Some(2),
        _ => None,
    }
}

/// Shortens a name that somebody else chose, writes it in the letters of a short message, and removes what
/// a phone would show as a link. A name with a number to call, or one that could be a code, is not quoted. Returns `None` if what is left could deceive the person, or is not the
/// name any more.
pub(crate) fn display_name(name: &str) -> Option<String> {
    let plain = |letter: &char| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter);
    let mut written = String::new();
    for letter in name.chars().filter(plain).take(NAME_LETTERS) {
        let is_written = |letter: &char| GSM_LETTERS.contains(*letter);
        if is_written(&letter) {
            written.push(letter);
        } else {
            // A letter with an accent is written without it; for other letters there is none.
            written.push(letter.nfd().next().filter(is_written)?);
        }
    }
    let written = written.trim();
    let is_honest = |text: &str| {
        let digits = text.chars().filter(|letter| letter.is_numeric()).count();
        portolan_names::check(text).is_ok() && !has_contact_data(text) && digits <= MOST_DIGITS
    };
    (is_honest(name) && is_honest(written)).then(|| written.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_that_deceives_nobody_is_quoted() {
        for (name, quoted) in [
            ("Harbour", Some("Harbour")),
            ("Zoë's Café", Some("Zoes Café")),
            ("Łódź", None),
            ("Kraków", Some("Krakow")),
            ("go to evil.example/x", Some("go to evilexamplex")),
            ("Portolan Support", None),
            ("Pórtolan Support", None),
            ("p0rtolan", None),
            ("Portolan Support ✓", None),
            ("\u{397}arbour", None),
            ("Гавань", None),
            ("港口", None),
            ("\u{3164}", None),
            ("\u{202e}ruobraH", None),
            ("://", None),
            ("Call 0900 123456 at once", None),
            ("zero nine zero zero one two three four five six", None),
            ("code 294287", None),
            ("write to me at example dot com", None),
            ("Claude 4 (2026)", None),
            ("Assistant 2026", Some("Assistant 2026")),
            ("", None),
        ] {
            assert_eq!(display_name(name).as_deref(), quoted, "{name}");
        }
    }

    #[test]
    fn a_message_has_at_most_two_parts_whatever_the_agent_is_called() {
        let link = format!("https://{}/m/{}", "h".repeat(60), "A".repeat(22));
        let names =
            ["Harbour", "港口", "Гавань", "🦊🦊🦊", &"€".repeat(40), &"W".repeat(200), "ẞẞẞẞ"];
        for name in names {
            for purpose in [Purpose::Claim, Purpose::Change] {
                for (code, link) in
                    [(Some("123456"), Some(&*link)), (Some("123456"), None), (None, Some(&*link))]
                {
                    let name = display_name(name);
                    let text = compose(purpose, code, link, name.as_deref());
                    assert!(segments(&text) <= 2, "{} {text}", segments(&text));
                    assert!(text.chars().all(|letter| septets(letter).is_some()), "{text}");
                }
            }
        }
    }

    #[test]
    fn parts_are_counted_as_a_network_counts_them() {
        let text = |letter: &str, count| letter.repeat(count);
        for (text, count) in [
            (text("a", 160), 1),
            (text("a", 161), 2),
            (text("€", 80), 1),
            (text("€", 81), 2),
            (text("ł", 70), 1),
            (text("ł", 134), 2),
            (text("ł", 135), 3),
            (text("🦊", 36), 2),
        ] {
            assert_eq!(segments(&text), count, "{text}");
        }
    }
}
