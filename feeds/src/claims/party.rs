//! The round of a claim, and its investors.

use super::{
    frame::Frame,
    lexicon::Class,
    text::Text,
    token::{Kind, Token},
};
use std::ops::Range;

/// How many investors of one item are kept.
const MOST_INVESTORS: usize = 12;
/// Words before the names of those who lead a round, and of those who take part, in all languages.
const LEAD: &[&str] = &[
    "led by",
    "co - led by",
    "angeführt von",
    "geführt von",
    "unter führung von",
    "mené par",
    "menée par",
    "emmené par",
    "emmenée par",
    "conduit par",
    "conduite par",
    "liderada por",
    "liderado por",
    "encabezada por",
    "encabezado por",
];
const OTHERS: &[&str] = &[
    "participation from",
    "participation by",
    "participation of",
    "alongside",
    "joined by",
    "aux côtés de",
    "junto a",
    "con la participación de",
    "beteiligten sich",
    "neben",
];

/// Returns the name of the round: "series_a", "pre_seed", "seed", "growth", "debt".
pub(super) fn round(frame: &Frame<'_>, sentence: &Range<usize>) -> Option<String> {
    let named = |range: &Range<usize>| {
        frame
            .cues_in(range, Class::Round)
            .find_map(|cue| name(frame.text.tokens.get(cue.start..cue.end + 2)?))
    };
    let others = || frame.text.sentences.iter().filter(|other| !frame.has(other, Class::Past));
    named(sentence).or_else(|| others().find_map(named))
}

fn name(tokens: &[Token]) -> Option<String> {
    let text: String = tokens.iter().map(|token| token.text.as_str()).collect();
    let series = ["series-", "serie-", "series", "serie", "série", "シリーズ"]
        .iter()
        .find_map(|word| text.strip_prefix(word));
    if let Some(letter) =
        series.and_then(|rest| rest.chars().next()).filter(|letter| ('a'..='h').contains(letter))
    {
        return Some(format!("series_{letter}"));
    }
    let is = |words: &[&str]| words.iter().any(|word| text.starts_with(word));
    let known = [
        (
            "pre_seed",
            &[
                "pre-seed",
                "preseed",
                "pré-seed",
                "pré-amorçage",
                "presemilla",
                "pre-semilla",
                "プレシード",
            ][..],
        ),
        (
            "seed",
            &[
                "seed",
                "amorçage",
                "tourd'amorçage",
                "tourdeseed",
                "semilla",
                "rondasemilla",
                "capitalsemilla",
                "シード",
            ][..],
        ),
        ("growth", &["growth", "wachstums"][..]),
        ("bridge", &["bridge", "brücken", "puente", "rondapuente", "ブリッジ"][..]),
    ];
    known.iter().find(|(_, words)| is(words)).map(|(name, _)| (*name).to_owned())
}

/// Returns the names of investors, and whether each leads the round.
pub(super) fn investors(text: &Text) -> Vec<(String, bool)> {
    let mut all: Vec<(String, bool)> = Vec::new();
    for (phrases, lead) in [(LEAD, true), (OTHERS, false)] {
        for phrase in phrases {
            let words: Vec<&str> = phrase.split(' ').collect();
            let positions = (0..text.tokens.len()).filter(|at| {
                words.iter().enumerate().all(|(step, word)| text.word(at + step) == *word)
            });
            let starts: Vec<usize> = positions.take(4).map(|at| at + words.len()).collect();
            for start in starts {
                for name in names(text, start) {
                    if all.len() < MOST_INVESTORS && !all.iter().any(|(known, _)| *known == name) {
                        all.push((name, lead));
                    }
                }
            }
        }
    }
    all
}

/// Returns the names that begin here, up to a word that belongs to none.
fn names(text: &Text, start: usize) -> Vec<String> {
    const AND: [&str; 5] = ["and", "und", "et", "y", "e"];
    let (mut all, mut from, mut at) = (Vec::new(), start, start);
    let push = |range: Range<usize>, all: &mut Vec<String>| {
        let name = crate::text::line(text.span(range), 120);
        if name.starts_with(char::is_uppercase) {
            all.push(name);
        }
    };
    while let Some(token) = text.tokens.get(at).filter(|_| at < start + 40) {
        let part = token.is_name_part()
            || token.kind == Kind::Number
            || matches!(token.text.as_str(), "&" | "'" | "-" | "of" | "de" | "the") && at > from
            || (token.kind == Kind::Sign && !token.apart && matches!(token.text.as_str(), "!"));
        if token.new_line {
            break;
        }
        if token.is(",") || AND.contains(&token.text.as_str()) {
            push(from..at, &mut all);
            from = at + 1;
        } else if !part {
            break;
        }
        at += 1;
    }
    push(from..at, &mut all);
    all
}
