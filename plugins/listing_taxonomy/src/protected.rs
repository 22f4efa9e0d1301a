//! Words that name protected characteristics, in any spelling.
//!
//! Criteria are an allow-list (`criteria`), so a word that is missing here permits nothing. This
//! file distinguishes an attempt to select by a protected characteristic from a field that does not
//! exist, and checks the values of lists in which people write their own words.

/// The classes of `prohibited_criteria`, each with the names of fields for it, in lower case
/// without separators. Fair Housing Act, 42 U.S.C. 3604(c); Title VII of the Civil Rights Act, 42
/// U.S.C. 2000e-2; ADEA, 29 U.S.C. 623; ADA, 42 U.S.C. 12112.
const NAMES: &str = include_str!("protected/names.txt");

/// A name of at least this many letters is also found within a longer word.
const SAYS_ENOUGH: usize = 6;

/// The classes, each with values that mean it, in lower case without separators.
const VALUES: &str = include_str!("protected/values.txt");

/// The plain letters, each with the letters and digits that look like it.
const LETTERS: &str = include_str!("protected/letters.txt");

/// Returns the class that the name of a field means.
pub(crate) fn by_name(name: &str) -> Option<&'static str> {
    let words = words(name);
    let whole = words.concat();
    let found = |term: &str| {
        whole == term
            || words.iter().any(|word| word == term)
            || term.len() >= SAYS_ENOUGH && whole.contains(term)
    };
    class(NAMES, found)
}

/// Returns the class that a value means.
pub(crate) fn by_value(value: &str) -> Option<&'static str> {
    let whole = words(value).concat();
    class(VALUES, |term| term == whole)
}

/// Returns the class of the first term that is found.
fn class(classes: &'static str, is_found: impl Fn(&str) -> bool) -> Option<&'static str> {
    let mut classes = classes.lines().filter_map(|line| line.split_once(": "));
    let (class, _) = classes.find(|(_, terms)| terms.split(' ').any(&is_found))?;
    Some(class)
}

/// Returns words of lower-case Latin letters and digits, split at everything else, and where a
/// lower-case letter is followed by an upper-case one.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for letter in text.chars().filter(|letter| !is_mark(*letter)) {
        let begins = after_small && letter.is_uppercase();
        after_small = letter.is_lowercase();
        let plain = plain(letter);
        if begins || plain.is_none() {
            words.push(String::new());
        }
        if let (Some(plain), Some(word)) = (plain, words.last_mut()) {
            word.push(plain);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether the character is an accent or has no width.
fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}')
}

/// Returns the plain letter or digit that the character looks like; `None` if it separates words.
fn plain(letter: char) -> Option<char> {
    let letter = match letter {
        // Fullwidth forms.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(letter) - 0xfee0)?,
        // Mathematical alphabets of 52 letters each.
        '\u{1d400}'..='\u{1d6a3}' => {
            let place = (u32::from(letter) - 0x1d400) % 26;
            char::from_u32(u32::from('a') + place)?
        }
        other => other,
    };
    let letter = letter.to_lowercase().next()?;
    match letter {
        'a'..='z' | '2' | '6'..='9' => Some(letter),
        _ => {
            let mut letters = LETTERS.lines().filter_map(|line| line.split_once(": "));
            letters.find(|(_, similar)| similar.contains(letter))?.0.chars().next()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protected_classes_are_found_in_any_spelling() {
        for (class, names) in [
            ("race", "race,Race,r_a_c_e,r.a.c.e,rаce,r4ce,ｒａｃｅ,𝐫𝐚𝐜𝐞,ra\u{200b}ce,râce"),
            ("race", "candidate.race,candidateRace"),
            ("colour", "skin-colour"),
            ("religion", "preferred_religion,Faith"),
            ("sex", "g3nder,$ex"),
            ("orientation", "sexualOrientation"),
            ("disability", "has_disability"),
            ("familial_status", "number of children,maritalstatus"),
            ("national_origin", "country-of-origin"),
            ("age", "AGE,min_age,dateOfBirth"),
            ("zip_only", "zip,ZIP_Code,postal code"),
        ] {
            for name in names.split(',') {
                assert_eq!(by_name(name), Some(class), "{name}");
            }
        }
    }

    #[test]
    fn other_names_mean_no_class() {
        let names = "bedrooms garage stage manager pages trace language unisex_size storage";
        for name in names.split(' ') {
            assert_eq!(by_name(name), None, "{name}");
        }
    }

    #[test]
    fn values_are_judged_as_a_whole() {
        assert_eq!(by_value("Christian"), Some("religion"));
        assert_eq!(by_value("no kids"), Some("familial_status"));
        assert_eq!(by_value("MEN only"), Some("sex"));
        assert_eq!(by_value("white walls"), None);
        assert_eq!(by_value("womenswear"), None);
        assert_eq!(by_value("Rust"), None);
    }
}
