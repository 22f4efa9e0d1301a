//! Finds e-mail addresses and phone numbers in public texts.

mod phone;
mod runs;

use phone::has_phone;

const AT: &[char] = &['@', '\u{ff20}', '\u{fe6b}'];
/// The ways in which people disguise an address, with the characters that they mean.
const SPELLED: [(&str, &str); 6] =
    [("(at)", "@"), ("[at]", "@"), ("{at}", "@"), ("(dot)", "."), ("[dot]", "."), ("{dot}", ".")];

/// Returns whether the text contains an e-mail address or a phone number, plain or disguised.
pub fn has_contact_data(text: &str) -> bool {
    has_email(text) || has_phone(text)
}

fn has_email(text: &str) -> bool {
    let mut plain = text.to_lowercase().replace(AT, "@");
    for (spelled, meant) in SPELLED {
        plain = plain.replace(spelled, meant);
    }
    let plain = plain.replace(" . ", ".");
    let parts: Vec<&str> = plain.split('@').map(str::trim).collect();
    let mut pairs = parts.iter().zip(parts.iter().skip(1));
    pairs.any(|(before, after)| ends_a_name(before) && begins_a_host(after))
}

fn ends_a_name(text: &str) -> bool {
    text.ends_with(|last: char| last.is_alphanumeric() || ['_', '-', '+'].contains(&last))
}

fn begins_a_host(text: &str) -> bool {
    let in_host = |letter: char| letter.is_alphanumeric() || ['-', '.'].contains(&letter);
    let host = text.split(|letter| !in_host(letter)).next().unwrap_or_default();
    let labels: Vec<&str> = host.trim_end_matches('.').split('.').collect();
    labels.len() >= 2 && labels.iter().all(|label| !label.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines of a file, without its comments.
    fn texts(file: &'static str) -> impl Iterator<Item = &'static str> {
        file.lines().filter(|line| !line.starts_with('#'))
    }

    #[test]
    fn addresses_are_found() {
        for text in [
            "write to ada@example.com",
            "ada @ example . com, ada+x@example.co.uk",
            "Ada (at) example [dot] com",
            "ada\u{ff20}example.com",
        ] {
            assert!(has_email(text) && has_contact_data(text), "{text}");
        }
    }

    #[test]
    fn numbers_are_found_however_they_are_written() {
        for text in texts(include_str!("numbers.txt")) {
            assert!(has_phone(text) && has_contact_data(text), "{text}");
        }
    }

    #[test]
    fn other_texts_are_let_through() {
        for text in texts(include_str!("others.txt")) {
            assert!(!has_contact_data(text), "{text}");
        }
    }
}
