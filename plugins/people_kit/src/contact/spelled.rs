//! Finds phone numbers that are spelled in words, alone or mixed with digits.

use super::text::Text;
use crate::lexicon::Languages;

/// A spelled number has at least this many digits.
const FEWEST_DIGITS: usize = 7;
/// A spelled number has at least this many words. With fewer, digits are in shapes.
const FEWEST_WORDS: usize = 2;
/// The most characters between two parts.
const LONGEST_GAP: usize = 5;
/// Words of one digit, of two, of none, and those that multiply the next digit.
const NUMBERS: [&str; 5] = ["number 1", "number 2", "number 0", "double", "triple"];
/// The shortest word that can be several numbers in one.
const SHORTEST_COMPOUND: usize = 8;

/// The parts of a number that follow each other.
#[derive(Default)]
struct Run {
    digits: usize,
    words: usize,
    /// The languages that all its words have in common.
    languages: Languages,
}

impl Run {
    fn is_number(&self) -> bool {
        self.digits >= FEWEST_DIGITS && self.words >= FEWEST_WORDS
    }
}

pub(super) fn has_number(text: &Text<'_>) -> bool {
    let mut run = Run::default();
    let mut at = 0;
    while let Some(word) = text.words.get(at) {
        if !is_joined(text.gap(at)) {
            run = Run::default();
        }
        let digits = word.text.len();
        if word.text.bytes().all(|byte| byte.is_ascii_digit()) {
            run.digits += digits;
            at += 1;
        } else if let Some((count, languages, length)) = number(text, at) {
            let common = if run.words == 0 { languages } else { run.languages & languages };
            if common == 0 {
                run = Run::default();
            }
            run.languages = if common == 0 { languages } else { common };
            run.digits += count;
            run.words += 1;
            at += length;
        } else if let Some(join) = text.term(at, &["join"]).filter(|_| run.digits > 0) {
            at += join.length;
        } else {
            run = Run::default();
            at += 1;
        }
        if run.is_number() {
            return true;
        }
    }
    false
}

/// Returns whether the gap can be within a number: it has no letters and ends no line.
fn is_joined(gap: &str) -> bool {
    gap.chars().count() <= LONGEST_GAP && !gap.contains(['\n', '%', '$', '€', '£'])
}

/// Returns how many digits a word stands for, its languages, and how many words it takes.
fn number(text: &Text<'_>, at: usize) -> Option<(usize, Languages, usize)> {
    let terms = text.terms.get(at)?.iter().filter(|found| NUMBERS.contains(&found.label));
    let longest = terms.clone().map(|found| found.length).max();
    let Some(longest) = longest else {
        let word = text.words.get(at)?.text;
        return Some((compound(word)?, Languages::MAX, 1));
    };
    let terms = terms.filter(|found| found.length == longest);
    let languages = terms.clone().fold(0, |all, found| all | found.language);
    let digits = terms.map(|found| digits(found.label)).max()?;
    Some((digits, languages, longest))
}

fn digits(label: &str) -> usize {
    match label {
        "number 0" => 0,
        "number 2" | "triple" => 2,
        _ => 1,
    }
}

/// Returns how many digits a word stands for that is several numbers, such as the German
/// `dreiundzwanzig` or the Italian `cinquantacinque`.
fn compound(word: &str) -> Option<usize> {
    /// The words of German and Italian numbers that are parts of longer ones.
    const PARTS: &str = "dreißig dreissig vierzig funfzig sechzig siebzig achtzig neunzig zwanzig \
        hundert zwei zwo drei vier funf sechs sieben acht neun zehn elf zwolf eins ein und \
        cinquanta quaranta sessanta settanta ottanta novanta trenta venti cinquant quarant sessant \
        settant ottant novant trent vent cento cinque quattro sette nove otto uno due tre sei";
    if word.len() < SHORTEST_COMPOUND {
        return None;
    }
    let (mut rest, mut digits) = (word, 0);
    while !rest.is_empty() {
        let part = PARTS.split_whitespace().find(|part| rest.starts_with(part))?;
        rest = rest.get(part.len()..)?;
        digits += usize::from(part != "und");
    }
    Some(digits)
}
