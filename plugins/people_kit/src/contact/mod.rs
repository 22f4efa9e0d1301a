//! Finds contact data in public texts: e-mail addresses, phone numbers, and accounts of messengers,
//! plain or disguised. The words of each language are in `terms.txt`.

mod address;
mod phone;
mod runs;
mod services;
mod spelled;
mod text;

use crate::plain::plain;
use portolan_names::is_invisible;
use text::Text;

/// The number of places with invisible characters between two digits from which a text counts as a disguised number.
const DISGUISED_FROM: usize = 4;

/// Returns whether the text contains an e-mail address, a phone number, or an account of a messenger.
pub fn has_contact_data(text: &str) -> bool {
    if has_hidden_number(text) {
        return true;
    }
    let plain = plain(text);
    let text = Text::new(&plain);
    address::has_email(&text)
        || phone::has_phone(&text)
        || spelled::has_number(&text)
        || services::has_account(&text)
}

/// Returns whether invisible characters separate many digits, as only a disguise does.
fn has_hidden_number(text: &str) -> bool {
    let (mut hidden, mut before, mut is_apart) = (0, ' ', false);
    for letter in text.chars() {
        if is_invisible(letter) && !letter.is_whitespace() {
            is_apart = true;
            continue;
        }
        hidden += usize::from(is_apart && before.is_numeric() && letter.is_numeric());
        (before, is_apart) = (letter, false);
    }
    hidden >= DISGUISED_FROM
}

#[cfg(test)]
mod tests {
    use super::text::TERMS;
    use super::*;
    use crate::attempts::{Shares, assert_lets_through, innocent_listings, measure};
    use crate::lexicon::tests::assert_terms_are_plain;

    /// Returns the lines of a file, without its comments.
    fn texts(file: &'static str) -> impl Iterator<Item = &'static str> {
        file.lines().filter(|line| !line.starts_with('#'))
    }

    #[test]
    fn the_terms_are_plain() {
        assert_terms_are_plain(TERMS);
    }

    #[test]
    fn addresses_are_found() {
        for text in [
            "write to ada@example.com",
            "ada @ example . com, ada+x@example.co.uk",
            "Ada (at) example [dot] com",
            "ada\u{ff20}example.com",
            "ada @ example.de",
            "ada (at) example.de",
            "ada ät example punkt de",
            "ada arroba ejemplo punto es",
            "ada chez example point com",
            "ada@yahoo",
        ] {
            assert!(has_contact_data(text), "{text}");
        }
    }

    #[test]
    fn accounts_are_found() {
        for text in [
            "My Telegram username is adarents",
            "My insta is ada.rents",
            "Telegram: ada_rents",
            "find me on TikTok as adarents",
            "Message me, Discord handle: adarents",
            "mein Nutzername bei Telegram ist adawohnt",
            "Mon pseudo Instagram : adaloue",
            "Пишите в телеграм adarents",
            "加我 Telegram adarents",
        ] {
            assert!(has_contact_data(text), "{text}");
        }
    }

    #[test]
    fn numbers_are_found_however_they_are_written() {
        for text in texts(include_str!("numbers.txt")) {
            assert!(has_contact_data(text), "{text}");
        }
    }

    #[test]
    fn other_texts_are_let_through() {
        for text in texts(include_str!("others.txt")) {
            assert!(!has_contact_data(text), "{text}");
        }
    }

    #[test]
    fn the_listings_of_the_matching_corpus_are_let_through() {
        for (_, text) in innocent_listings() {
            assert!(!has_contact_data(&text), "{text}");
        }
    }

    #[test]
    fn honest_texts_are_let_through() {
        assert_lets_through(|_, text| has_contact_data(text));
    }

    #[test]
    fn attempts_of_many_languages_are_found() {
        let corpus = include_str!("../../../../tests/corpora/attempts/contact.json");
        let limits = Shares { recall: 90.0, false_alarms: 5.0 };
        let [held_out, fresh] = measure(corpus, limits, |text| has_contact_data(&text.text));
        assert!(held_out.recall >= 90.0 && held_out.false_alarms <= 5.0, "{held_out}");
        assert!(fresh.recall >= 90.0 && fresh.false_alarms <= 5.0, "{fresh}");
    }
}
