//! Corrections of misspelt queries.

use crate::{
    analysis::{self, Word},
    entry::{self, Spelling, VOCABULARY},
};

/// Returns the query with each unknown word replaced by the most similar word of the entries;
/// `None` if there is nothing to correct.
pub(crate) fn did_you_mean(query: &str, words: &[Word]) -> Option<String> {
    let mut corrected = String::with_capacity(query.len());
    let (mut copied, mut changed) = (0, false);
    for word in words {
        let Some(better) = correction(&word.form) else { continue };
        corrected.push_str(query.get(copied..word.range.start)?);
        corrected.push_str(better);
        copied = word.range.end;
        changed = true;
    }
    corrected.push_str(query.get(copied..)?);
    changed.then(|| corrected.trim().to_owned())
}

/// Returns the word of the entries that is most similar to an unknown one; `None` if the word is known, or
/// nothing is similar enough.
fn correction(form: &str) -> Option<&'static str> {
    let known = analysis::is_stop_word(form) || entry::term(&analysis::stem(form)).is_some();
    if known || form.contains(|character: char| !character.is_alphabetic()) {
        return None;
    }
    let (length, set) = (form.chars().count(), analysis::letters(form));
    let most = most_mistakes(length)?;
    VOCABULARY
        .iter()
        .filter(|spelling| alike(spelling, length, set, most))
        .map(|spelling| (strsim::osa_distance(form, spelling.form), spelling))
        .filter(|(distance, _)| *distance <= most)
        // The first letter is seldom wrong; of equally similar words, the one in more entries is
        // likelier.
        .min_by_key(|(distance, spelling)| {
            let other_start = form.chars().next() != spelling.form.chars().next();
            (*distance, other_start, std::cmp::Reverse(spelling.entries))
        })
        .map(|(_, spelling)| spelling.form)
}

/// Returns how many letters may be wrong, missing, added or swapped; `None` for a very short word,
/// because it is similar to too many others.
fn most_mistakes(length: usize) -> Option<usize> {
    match length {
        0..=3 => None,
        4..=5 => Some(1),
        _ => Some(2),
    }
}

/// Whether two words can be similar, without comparing them: one mistake changes the length by at
/// most one, and adds or removes at most one letter.
fn alike(spelling: &Spelling, length: usize, set: u64, most: usize) -> bool {
    let (brought, taken) = (set & !spelling.letters, spelling.letters & !set);
    spelling.form.len().abs_diff(length) <= most
        && brought.count_ones() as usize <= most
        && taken.count_ones() as usize <= most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggest(query: &str) -> Option<String> {
        did_you_mean(query, &analysis::words(query))
    }

    #[test]
    fn misspelt_words_are_replaced_and_the_rest_is_kept() {
        assert_eq!(
            suggest("how do I get my credts back?").as_deref(),
            Some("how do I get my credits back?")
        );
        assert_eq!(suggest("shedule a meetign").as_deref(), Some("schedule a meeting"));
        assert_eq!(suggest(" webhok ").as_deref(), Some("webhook"));
    }

    #[test]
    fn known_far_short_and_numbered_words_are_left_alone() {
        for query in ["webhooks", "claiming an agent", "xylophone", "zq", "E164x", "the", ""] {
            assert_eq!(suggest(query), None, "{query}");
        }
    }

    #[test]
    fn the_bound_never_rules_out_a_near_word() {
        for spelling in &VOCABULARY {
            for form in ["webhok", "listigs", "meetign", "calender", "adress"] {
                let distance = strsim::osa_distance(form, spelling.form);
                let letters = analysis::letters(form);
                let alike = alike(spelling, form.len(), letters, 2);
                assert!(alike || distance > 2, "{form} {spelling:?}");
            }
        }
    }
}
