//! Splits a text into words, each with the numbers of its sentence and clause, and finds patterns
//! in them.

use people_kit::words;

/// A word of a text in lower case without accents, or one letter of Japanese.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// The stem in the language of the text, if stems are compared.
    pub(crate) stem: String,
    pub(crate) sentence: usize,
    pub(crate) clause: usize,
}

impl Word {
    pub(crate) fn is_japanese(&self) -> bool {
        self.text.chars().any(words::is_cjk)
    }
}

/// The quotation marks that open and close the words of somebody else.
const QUOTES: [(char, char); 5] = [('„', '“'), ('“', '”'), ('«', '»'), ('「', '」'), ('"', '"')];
/// The maximum number of letters in quotation marks that count as a name or a single word, and not
/// as a quotation.
const LONGEST_NAME: usize = 12;

/// Splits a text into words. Quotations are left out: they say what others think.
pub(crate) fn words_of(text: &str) -> Vec<Word> {
    let (mut found, mut sentence, mut clause) = (Vec::new(), 0, 0);
    let mut open = String::new();
    let close = |open: &mut String, found: &mut Vec<Word>, sentence, clause| {
        if !open.is_empty() {
            let text = words::folded(open).replace('ß', "ss");
            open.clear();
            found.push(Word { text, stem: String::new(), sentence, clause });
        }
    };
    let letters: Vec<char> = without_quotations(text).chars().collect();
    for (at, letter) in letters.iter().copied().enumerate() {
        let is_digit = |place: Option<usize>| {
            place.and_then(|place| letters.get(place)).is_some_and(char::is_ascii_digit)
        };
        if words::is_cjk(letter) {
            close(&mut open, &mut found, sentence, clause);
            let text = words::folded(&letter.to_string());
            found.push(Word { text, stem: String::new(), sentence, clause });
            continue;
        }
        // A point or comma between digits is part of a number.
        let inside = letter.is_alphanumeric()
            || matches!(letter, '.' | ',') && is_digit(at.checked_sub(1)) && is_digit(Some(at + 1));
        if inside {
            open.push(letter);
            continue;
        }
        close(&mut open, &mut found, sentence, clause);
        match letter {
            '.' | '!' | '?' | '。' | '\n' | '！' | '？' => {
                (sentence, clause) = (sentence + 1, clause + 1)
            }
            ',' | ';' | ':' | '(' | ')' | '、' | '–' | '—' | '；' => clause += 1,
            _ => {}
        }
    }
    close(&mut open, &mut found, sentence, clause);
    found
}

fn without_quotations(text: &str) -> String {
    QUOTES.into_iter().fold(text.to_owned(), |text, (opens, closes)| {
        let mut kept = String::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once(opens) {
            let Some((quoted, after)) = after.split_once(closes) else { break };
            kept.push_str(before);
            if quoted.chars().count() <= LONGEST_NAME {
                kept.push_str(quoted);
            }
            rest = after;
        }
        kept + rest
    })
}

/// Returns the number of words of a pattern if it matches at a place, within one sentence; `None`
/// if it does not. `*dackel` matches every word that ends in `dackel`, and `dackel*` every word
/// that begins with it.
pub(crate) fn matches(pattern: &[&str], words: &[Word], at: usize) -> Option<usize> {
    let found = words.get(at..at + pattern.len())?;
    let sentence = found.first()?.sentence;
    let fits = |(wanted, word): (&&str, &Word)| {
        let text = word.text.as_str();
        word.sentence == sentence
            && match (wanted.strip_prefix('*'), wanted.strip_suffix('*')) {
                (Some(end), _) => text.ends_with(end),
                (None, Some(start)) => text.starts_with(start),
                (None, None) => text == *wanted,
            }
    };
    pattern.iter().zip(found).all(fits).then_some(pattern.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_know_their_clauses() {
        let words = words_of("Keine Hunde, Katzen gern. 1.500 € warm");
        let clauses: Vec<usize> = words.iter().map(|word| word.clause).collect();
        assert_eq!(clauses, [0, 0, 1, 1, 2, 2]);
        assert_eq!(words[4].text, "1.500");
    }

    #[test]
    fn words_of_others_are_left_out() {
        assert!(
            words_of("„Da fehlt noch ein Baby“, sagt sie").iter().all(|word| word.text != "baby")
        );
        assert!(words_of("the dog “Otto”").iter().any(|word| word.text == "otto"));
    }

    #[test]
    fn patterns_are_found_by_parts_of_words() {
        let words = words_of("ein Rauhaardackel und 猫アレルギー");
        assert_eq!(matches(&["*dackel"], &words, 1), Some(1));
        assert_eq!(matches(&["ア", "レ"], &words, 4), Some(2));
        assert_eq!(matches(&["dackel"], &words, 1), None);
    }
}
