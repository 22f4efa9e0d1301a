//! Checks of names that people read, by the host and by capabilities: a name must not be
//! invisible, must not imitate another one with look-alike letters, and must not claim an authority
//! that it does not have.
//!
//! - `visible`: characters that cannot be seen, and the places where a text needs them.
//! - `words`: the words of a text, and the scripts of a word.
//! - `privileged`: words that only the operator may use, however they are spelled.
//! - `table`: the rows of the data files `privileged_words.txt` and `verification_marks.txt`.

mod privileged;
mod table;
mod visible;
mod words;

pub use visible::{find_invisible, is_invisible};

const VERIFICATION_MARKS: &str = include_str!("verification_marks.txt");

/// The reason why a name is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameFault {
    #[error("it has the character U+{:04X}, which cannot be seen. Leave it out.", u32::from(*.0))]
    Invisible(char),
    #[error("it has no letter and no digit. Write at least one.")]
    Unreadable,
    #[error("a word has letters of several scripts. Write each word in one script.")]
    MixedScripts,
    #[error("it has the word {0:?}, which only the operator may use. Choose other words.")]
    PrivilegedWord(&'static str),
    #[error("it ends in a mark that looks like a verification. Leave the mark out.")]
    VerificationMark,
}

impl NameFault {
    /// Returns the name of the rule that is broken, for a program.
    pub fn rule(self) -> &'static str {
        match self {
            Self::Invisible(_) => "no_invisible_characters",
            Self::Unreadable => "letters",
            Self::MixedScripts => "one_script_per_word",
            Self::PrivilegedWord(_) => "no_privileged_words",
            Self::VerificationMark => "no_verification_mark",
        }
    }

    /// Returns what the rule expects instead.
    pub fn expected(self) -> &'static str {
        match self {
            Self::Invisible(_) => "a text without invisible characters",
            Self::Unreadable => "a text with letters or digits",
            Self::MixedScripts => "a name with each word in one script",
            Self::PrivilegedWord(_) => "a name without words that only the operator may use",
            Self::VerificationMark => "a name that does not end in a verification mark",
        }
    }
}

/// Checks a name of an agent, a client, an organisation or a person.
pub fn check(name: &str) -> Result<(), NameFault> {
    check_visible(name)?;
    if words::words(name).any(|word| !words::is_in_one_script(word)) {
        return Err(NameFault::MixedScripts);
    }
    if let Some(word) = privileged::find(name) {
        return Err(NameFault::PrivilegedWord(word));
    }
    match ends_in_verification_mark(name) {
        true => Err(NameFault::VerificationMark),
        false => Ok(()),
    }
}

/// Checks a title: it must be visible and have a letter or a digit.
pub fn check_visible(title: &str) -> Result<(), NameFault> {
    if let Some(letter) = find_invisible(title) {
        return Err(NameFault::Invisible(letter));
    }
    match title.chars().any(words::is_letter_or_digit) {
        true => Ok(()),
        false => Err(NameFault::Unreadable),
    }
}

/// Returns whether a verification mark follows the last letter or digit.
fn ends_in_verification_mark(name: &str) -> bool {
    let is_mark = |letter: char| table::rows(VERIFICATION_MARKS).any(|row| row.starts_with(letter));
    name.chars().rev().take_while(|letter| !words::is_letter_or_digit(*letter)).any(is_mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_languages_are_accepted() {
        for name in [
            "Ada Lovelace",
            "O'Brien & Søn, A/S",
            "Café Москва",
            "日本語かな",
            "株式会社ABC",
            "Tシャツ屋",
            "KBS한국방송",
            "KBS\u{1107}\u{1161}\u{11bc}",
            "Nguyễn Thị Minh",
            "José",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "שלום עולם",
            "3M",
            "Anna 👩\u{200d}💻 🏳\u{fe0f}\u{200d}🌈 ❤\u{fe0f} 1\u{fe0f}\u{20e3}",
            "Müller-Łódź 2024",
            "Supporters United",
            "Checkmate ✓ Chess",
        ] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn invisible_characters_are_refused_in_names_and_titles() {
        for letter in [
            '\u{3164}',
            '\u{115f}',
            '\u{ffa0}',
            '\u{2800}',
            '\u{200b}',
            '\u{200c}',
            '\u{200d}',
            '\u{ad}',
            '\u{34f}',
            '\u{202e}',
            '\u{fe0f}',
            '\u{e0041}',
            '\u{7}',
            '\n',
            '\u{2028}',
            '\u{180e}',
        ] {
            for name in [format!("Ada{letter}Bo"), format!("Ada{letter}"), letter.to_string()] {
                assert_eq!(check(&name), Err(NameFault::Invisible(letter)), "{name:?}");
                assert_eq!(check_visible(&name), Err(NameFault::Invisible(letter)), "{name:?}");
            }
        }
    }

    #[test]
    fn a_name_needs_a_letter_or_a_digit() {
        for name in ["", " ", "\u{a0}\u{3000}", "...!", "🌸", "\u{301}"] {
            assert_eq!(check(name), Err(NameFault::Unreadable), "{name:?}");
        }
    }

    #[test]
    fn a_word_of_several_scripts_is_refused() {
        for name in [
            // A Greek capital Eta, a Cyrillic o, an Armenian letter, a Korean letter like a Latin o.
            "\u{397}arbour Fund",
            "Acme R\u{43e}botics",
            "Te\u{561}m",
            "Harb\u{3147}ur",
            "日本\u{3c1}",
        ] {
            assert_eq!(check(name), Err(NameFault::MixedScripts), "{name}");
            assert_eq!(check_visible(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn a_privileged_word_is_refused_however_it_is_spelled() {
        for (name, word) in [
            ("Portolan", "portolan"),
            ("The PORTOLAN team", "portolan"),
            ("p0rtolan", "portolan"),
            ("Pórtölan", "portolan"),
            ("Ｐｏｒｔｏｌａｎ", "portolan"),
            ("𝐏𝐨𝐫𝐭𝐨𝐥𝐚𝐧", "portolan"),
            ("🅟🅞🅡🅣🅞🅛🅐🅝", "portolan"),
            // Cyrillic letters, then Greek ones.
            ("\u{420}\u{43e}rtol\u{430}n", "portolan"),
            ("\u{3a1}\u{39f}R\u{3a4}\u{39f}L\u{391}\u{39d}", "portolan"),
            ("Customer 5upport", "support"),
            ("s u p p o r t", "support"),
            ("ADM1N", "admin"),
            ("Adm\u{456}n", "admin"),
            ("Administrator", "administrator"),
            ("Moderator 7", "moderator"),
            ("0fficial Ada", "official"),
            ("Help Desk", "helpdesk"),
            ("Help-Desk", "helpdesk"),
            ("Portolan's friend", "portolan"),
        ] {
            let found = check(name);
            let is_mixed = found == Err(NameFault::MixedScripts) && !name.is_ascii();
            assert!(is_mixed || found == Err(NameFault::PrivilegedWord(word)), "{name}: {found:?}");
            assert_eq!(privileged::find(name), Some(word), "{name}");
        }
    }

    #[test]
    fn a_name_does_not_end_in_a_verification_mark() {
        for mark in ["✓", "✔", "✔\u{fe0f}", "☑", "☑\u{fe0f}", "✅", "🗸", "🗹", "🮱", " ✓ !"]
        {
            let name = format!("Harbour Fund {mark}");
            assert_eq!(check(&name), Err(NameFault::VerificationMark), "{name}");
            assert_eq!(check_visible(&name), Ok(()), "{name}");
        }
    }

    #[test]
    fn a_fault_names_the_fix() {
        let fault = NameFault::Invisible('\u{200b}');
        assert_eq!(
            fault.to_string(),
            "it has the character U+200B, which cannot be seen. Leave it out."
        );
        let fault = NameFault::PrivilegedWord("support");
        assert_eq!(
            fault.to_string(),
            "it has the word \"support\", which only the operator may use. Choose other words."
        );
    }
}
