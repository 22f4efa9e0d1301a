//! The sentences of a text that ask for something or exclude it and of which no rule reads a value or
//! a topic. The agents of both sides get them to check, because no rule can compare them.

use crate::{
    extraction::values_in,
    stances::Text,
    tables::{Pattern, Strength, WISH_CUES},
};
use people_kit::words;
use serde_json::{Map, Value};
use std::cmp::Reverse;

/// The name under which the sentences are among the values of a text.
pub const TO_CHECK: &str = "to_check";
/// The maximum number of sentences that are kept of a text. It is more than are shown, because not
/// every reader may read the whole text.
const MOST_KEPT: usize = 6;
/// The maximum number of sentences in which cues are looked for.
const MOST_SEARCHED: usize = 200;
/// The maximum number of sentences with a cue that are read, those with the strongest cue first.
const MOST_READ: usize = 24;
/// The maximum number of characters of a sentence; a longer one ends with `…`.
const LONGEST: usize = 200;
/// The characters of markup before a sentence.
const MARKUP: [char; 8] = ['-', '*', '#', '>', '•', '·', '・', '_'];

/// Adds the unread wishes of a text of a listing to its values, those with the strongest cue first.
pub fn add_wishes(values: &mut Map<String, Value>, code: &str, text: &str, today: &str) {
    let language = words::language(text);
    let whole = Text::new(text, language);
    let cues: Vec<&(Strength, Pattern)> =
        WISH_CUES.iter().filter(|(_, pattern)| whole.can_contain(pattern)).collect();
    let mut wishes: Vec<(Strength, String)> = sentences(text)
        .into_iter()
        .take(MOST_SEARCHED)
        .filter_map(|sentence| Some((strength(&Text::new(&sentence, language), &cues)?, sentence)))
        .collect();
    // The sort keeps the order of the text among equals.
    wishes.sort_by_key(|(strength, _)| Reverse(*strength));
    let is_unread = |sentence: &String| values_in(code, sentence, language, today).is_empty();
    let unread = wishes.into_iter().take(MOST_READ).map(|(_, sentence)| sentence);
    let unread: Vec<String> =
        unread.filter(is_unread).take(MOST_KEPT).map(|sentence| shortened(&sentence)).collect();
    if !unread.is_empty() {
        values.insert(TO_CHECK.into(), unread.into());
    }
}

/// Returns the strength of the strongest cue in a sentence.
fn strength(sentence: &Text, cues: &[&(Strength, Pattern)]) -> Option<Strength> {
    let found = cues.iter().filter(|(_, pattern)| sentence.contains(pattern));
    found.map(|(strength, _)| *strength).max()
}

/// Splits a text into its sentences, without their markup.
fn sentences(text: &str) -> Vec<String> {
    let (mut sentences, mut open) = (Vec::new(), String::new());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let ends = match letter {
            // A point within a number or an abbreviation ends no sentence.
            '.' => letters.peek().is_none_or(|next| next.is_whitespace()),
            _ => matches!(letter, '!' | '?' | ';' | '。' | '！' | '？' | '；' | '\n'),
        };
        open.push(letter);
        if ends {
            sentences.push(std::mem::take(&mut open));
        }
    }
    sentences.push(open);
    let is_markup = |letter: char| letter.is_whitespace() || MARKUP.contains(&letter);
    let plain = sentences.into_iter().map(|sentence| {
        let sentence = sentence.replace("**", "");
        sentence.trim_start_matches(is_markup).trim_end().to_owned()
    });
    plain.filter(|sentence| !sentence.is_empty()).collect()
}

/// Returns a sentence of at most `LONGEST` characters.
fn shortened(sentence: &str) -> String {
    if sentence.chars().count() <= LONGEST {
        return sentence.to_owned();
    }
    sentence.chars().take(LONGEST - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to_check(code: &str, text: &str) -> Vec<String> {
        let mut values = Map::new();
        add_wishes(&mut values, code, text, "2026-11-24");
        let found = values.remove(TO_CHECK).unwrap_or_default();
        serde_json::from_value::<Option<Vec<String>>>(found).unwrap().unwrap_or_default()
    }

    #[test]
    fn wishes_that_no_rule_reads_are_listed_in_five_languages() {
        for (code, before, wish) in [
            (
                "pro.lawyer.employment",
                "We are in Boston.",
                "We represent firefighters, nobody else.",
            ),
            (
                "venture.raise.pre_seed",
                "Wir sind drei aus Ulm.",
                "Die Gesellschaft muss in Estland bleiben.",
            ),
            (
                "work.job.hospitality",
                "Hotel en el centro de Sevilla.",
                "Imprescindible saber cantar.",
            ),
            ("pro.service.care", "Je suis une dame de Nantes.", "Je garde uniquement des jumeaux."),
            ("home.let.apartment", "高円寺の部屋です。", "入居は鉄道ファンの方のみです。"),
        ] {
            assert_eq!(to_check(code, &format!("{before} {wish}")), [wish], "{wish}");
        }
    }

    #[test]
    fn what_a_rule_reads_and_what_asks_for_nothing_is_not_listed() {
        for text in [
            "Sorry, no pets.",
            "Fünfter Stock ohne Aufzug.",
            "Bright flat near the river.",
            "A quiet house with a view.",
            "",
        ] {
            assert!(to_check("home.let.apartment", text).is_empty(), "{text}");
        }
    }

    #[test]
    fn the_strongest_come_first_and_their_number_and_length_are_limited() {
        let weak = "We never hurry here. ".repeat(10);
        let long = format!("- **Only** people who {} sing", "really ".repeat(40));
        let found = to_check("lead.general", &format!("{weak}\n{long}"));
        assert_eq!(found.len(), MOST_KEPT);
        assert!(found[0].starts_with("Only people who really"), "{found:?}");
        assert!(found[0].chars().count() == LONGEST && found[0].ends_with('…'), "{found:?}");
    }

    #[test]
    fn points_in_numbers_end_no_sentence() {
        let found = to_check("lead.general", "You must like 1.5 metre poles. We do too.");
        assert_eq!(found, ["You must like 1.5 metre poles."]);
    }
}
