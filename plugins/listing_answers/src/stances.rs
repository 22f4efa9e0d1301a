//! The stances of a text's author towards topics such as dogs, smoke or night work: has them, lacks
//! them, needs them, refuses or accepts them.
//!
//! A mention of a topic is read by the nearest cue in its sentence, so that phrasings need no list:
//! any word for the topic with any word for the stance will do.

use crate::{
    clauses::{self, Word},
    tables::{CUES, Cue, Pattern, Says, Stance, TOPICS, Topic},
};
use people_kit::words::{self, Language};
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashSet};

impl Stance {
    const NAMES: [(Self, &str); 5] = [
        (Self::Has, "has"),
        (Self::Lacks, "lacks"),
        (Self::Needs, "needs"),
        (Self::Refuses, "refuses"),
        (Self::Accepts, "accepts"),
    ];

    pub(crate) fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(stance, _)| *stance == self).map_or("", |(_, name)| name)
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, known)| *known == name).map(|(stance, _)| *stance)
    }

    /// Whether two people with these stances towards a topic cannot come together.
    pub(crate) fn contradicts(self, other: Self, topic: &Topic) -> bool {
        let between = |one: Self, two: Self| match (one, two) {
            (Self::Needs, Self::Lacks) => topic.is_given,
            (Self::Refuses, Self::Has | Self::Needs) => !topic.is_given,
            _ => false,
        };
        between(self, other) || between(other, self)
    }
}

/// A stance of a text, and whether the text says it clearly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) stance: Stance,
    pub(crate) is_clear: bool,
}

impl Found {
    /// Returns the stance as it is stored: one that is not clear as `maybe has`, for example.
    fn written(self) -> String {
        let maybe = if self.is_clear { "" } else { MAYBE };
        format!("{maybe}{}", self.stance.name())
    }

    pub(crate) fn read(written: &str) -> Option<Self> {
        let name = written.strip_prefix(MAYBE);
        let stance = Stance::from_name(name.unwrap_or(written))?;
        Some(Self { stance, is_clear: name.is_none() })
    }
}

const MAYBE: &str = "maybe ";
/// The name under which the stances are among the values of a text.
pub(crate) const STANCES: &str = "stances";
/// How far a cue may be from what it is about: in words, and in letters of Japanese.
const REACH: usize = 10;
const REACH_OF_LETTERS: usize = 16;
/// The number of words as which each clause between a cue and a topic counts.
const CLAUSE: usize = 3;
/// How far before a topic a negation may stand, and how far after it in the same clause.
const NEGATES_BEFORE: usize = 4;
const NEGATES_AFTER: usize = 4;
/// In German, the negation may stand at the end of a long clause.
const NEGATES_AFTER_IN_GERMAN: usize = 8;
/// A negation reverses another cue if fewer than this many words are between the two.
const REVERSES_WITHIN: usize = 2;
/// How far after `ne` a `que` may be that makes it `only`.
const RESTRICTS_WITHIN: usize = 4;
/// A cue at most this far from a topic shows a clear stance.
const CLEAR: usize = 3;
const CLEAR_IN_LETTERS: usize = 8;

/// A cue of a text.
#[derive(Debug, Clone, Copy)]
struct CueMatch {
    cue: Cue,
    at: usize,
    length: usize,
}

/// Returns the stances that a text of a listing of this kind takes, by topic. The language decides
/// which words are looked for.
pub(crate) fn stances(kind: &str, text: &str, language: Language) -> Map<String, Value> {
    let text = Text::new(text, language).with_stems();
    let cues = apply_negations(text.cues(CUES), &text.words);
    let topics = TOPICS.iter().filter(|topic| topic.kinds.contains(&kind));
    topics
        .filter_map(|topic| {
            let found = stance(topic, kind, &text, &cues)?;
            Some((topic.name.to_owned(), found.written().into()))
        })
        .collect()
}

/// A text, split into words so that patterns can be looked up in it.
pub(crate) struct Text {
    words: Vec<Word>,
    /// The distinct words and stems, which exclude most patterns quickly.
    distinct: HashSet<String>,
    stems: HashSet<String>,
    language: Language,
}

impl Text {
    pub(crate) fn new(text: &str, language: Language) -> Self {
        let words = clauses::words_of(text);
        let distinct = words.iter().map(|word| word.text.clone()).collect();
        Self { words, distinct, stems: HashSet::new(), language }
    }

    /// Returns the text with the stems of its words.
    fn with_stems(mut self) -> Self {
        for word in &mut self.words {
            if word.text.chars().all(char::is_alphabetic) && !word.text.chars().any(words::is_cjk) {
                word.stem = self.language.stem(&word.text);
            }
        }
        self.stems = self.words.iter().map(|word| word.stem.clone()).collect();
        self
    }

    /// Returns the number of words of a pattern at a place, where another form of a single word
    /// counts too.
    fn length_at(&self, pattern: &Pattern, at: usize) -> Option<usize> {
        let has_stem = || {
            let word = self.words.get(at)?;
            let is_form = !pattern.stem.is_empty() && word.stem == pattern.stem;
            (is_form && pattern.language == self.language.tag()).then_some(1)
        };
        clauses::matches(pattern.words, &self.words, at).or_else(has_stem)
    }

    /// Whether a pattern, or another form of its word, can be in the text.
    fn can_mention(&self, pattern: &Pattern) -> bool {
        self.can_contain(pattern)
            || pattern.language == self.language.tag() && self.stems.contains(pattern.stem)
    }

    /// Whether a pattern can be in the text.
    pub(crate) fn can_contain(&self, pattern: &Pattern) -> bool {
        let occurs = |word: &str| word.contains('*') || self.distinct.contains(word);
        applies(pattern.language, self.language) && pattern.words.iter().all(|word| occurs(word))
    }

    /// Whether a pattern is in the text.
    pub(crate) fn contains(&self, pattern: &Pattern) -> bool {
        let is_at = |at: usize| clauses::matches(pattern.words, &self.words, at).is_some();
        self.can_contain(pattern) && (0..self.words.len()).any(is_at)
    }

    /// Returns the cues of the text; of those that begin at the same word, the longest.
    fn cues(&self, patterns: &[(Cue, Pattern)]) -> Vec<CueMatch> {
        let patterns: Vec<&(Cue, Pattern)> =
            patterns.iter().filter(|(_, pattern)| self.can_contain(pattern)).collect();
        let mut found = Vec::new();
        let mut at = 0;
        while at < self.words.len() {
            let matching = patterns.iter().filter_map(|(cue, pattern)| {
                let length = clauses::matches(pattern.words, &self.words, at)?;
                Some(CueMatch { cue: *cue, at, length })
            });
            match matching.max_by_key(|found| found.length) {
                Some(cue) => {
                    at += cue.length;
                    found.push(cue);
                }
                None => at += 1,
            }
        }
        found
    }
}

impl Says {
    fn is_for(&self, kind: &str) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}

/// Whether words with a language tag are looked for in a text of a language. English words, and those
/// without a tag, are looked for in every text. A text with Japanese letters is Japanese.
fn applies(tag: &str, language: Language) -> bool {
    tag == language.tag() || matches!(tag, "" | "en")
}

/// Reverses the cues that are negated: "not allowed" means refused.
fn apply_negations(cues: Vec<CueMatch>, words: &[Word]) -> Vec<CueMatch> {
    let negations: Vec<CueMatch> = cues
        .iter()
        .filter(|found| found.cue == Cue::Not && !is_restriction(found, words))
        .copied()
        .collect();
    let is_reversed = |found: &CueMatch| {
        negations.iter().any(|not| {
            let end = not.at + not.length;
            clause(words, not.at) == clause(words, found.at)
                && (end <= found.at && found.at - end < REVERSES_WITHIN
                    || matches!(found.cue, Cue::Accepts | Cue::Needs)
                        && not.at == found.at + found.length)
        })
    };
    let is_only = |found: &CueMatch| is_restriction(found, words);
    let reverse = |found: CueMatch| {
        let cue = match found.cue {
            Cue::Not if is_only(&found) => Cue::Needs,
            Cue::Accepts if is_reversed(&found) => Cue::Refuses,
            Cue::Needs if is_reversed(&found) => Cue::Accepts,
            Cue::Refuses if is_reversed(&found) => Cue::Accepts,
            other => other,
        };
        CueMatch { cue, ..found }
    };
    cues.iter().copied().map(reverse).collect()
}

/// Whether a French negation only limits, as in `je ne prends que des adultes`.
fn is_restriction(found: &CueMatch, words: &[Word]) -> bool {
    let is_ne = words.get(found.at).is_some_and(|word| matches!(word.text.as_str(), "ne" | "n"));
    let mut near = words.iter().skip(found.at + found.length).take(RESTRICTS_WITHIN);
    is_ne
        && found.length == 1
        && near.any(|word| {
            matches!(word.text.as_str(), "que" | "qu")
                && Some(word.clause) == clause(words, found.at)
        })
}

fn clause(words: &[Word], at: usize) -> Option<usize> {
    words.get(at).map(|word| word.clause)
}

/// Returns the stance of a text towards a topic.
fn stance(topic: &Topic, kind: &str, text: &Text, cues: &[CueMatch]) -> Option<Found> {
    let words = &text.words;
    let mentions: Vec<&Pattern> =
        topic.words.iter().filter(|pattern| text.can_mention(pattern)).collect();
    let says: Vec<&(Says, Pattern)> = topic
        .says
        .iter()
        .filter(|(says, pattern)| says.is_for(kind) && text.can_contain(pattern))
        .collect();
    if mentions.is_empty() && says.is_empty() {
        return None;
    }
    let (mut stances, mut taken) = (Vec::new(), BTreeSet::new());
    for (says, pattern) in says {
        for at in 0..words.len() {
            let Some(length) = clauses::matches(pattern.words, words, at) else { continue };
            if !says.is_negatable || !is_negated(at, length, words, cues) {
                stances.push(Found { stance: says.stance, is_clear: true });
                taken.extend(at..at + length);
            }
        }
    }
    let own = text.cues(topic.cues);
    let all: Vec<CueMatch> = cues.iter().chain(&own).copied().collect();
    let mut at = 0;
    while at < words.len() {
        let lengths = mentions.iter().filter_map(|pattern| text.length_at(pattern, at));
        let length = lengths.max().filter(|length| taken.range(at..at + length).next().is_none());
        if let Some(length) = length {
            stances.extend(stance_of_mention(topic, kind, (at, length), words, &all));
        }
        at += length.unwrap_or(1);
    }
    strongest(&stances)
}

/// Returns the stance that one mention of a topic shows.
fn stance_of_mention(
    topic: &Topic,
    kind: &str,
    (at, length): (usize, usize),
    words: &[Word],
    cues: &[CueMatch],
) -> Option<Found> {
    let nearest = cues
        .iter()
        .filter_map(|found| Some((distance(found, (at, length), words)?, found.cue)))
        .min_by_key(|(distance, _)| *distance);
    let is_over = || {
        let past = cues.iter().filter(|found| found.cue == Cue::Past);
        past.into_iter().any(|found| clause(words, found.at) == clause(words, at))
    };
    let is_refused = || {
        let refusals = cues.iter().filter(|found| found.cue == Cue::Refuses);
        let mut near = refusals.filter_map(|found| distance(found, (at, length), words));
        !topic.is_given && !is_over() && near.next().is_some()
    };
    let reach = if words.get(at).is_some_and(Word::is_japanese) { CLEAR_IN_LETTERS } else { CLEAR };
    let is_clear = nearest.is_none_or(|(distance, _)| distance <= reach);
    let stance = match nearest.map(|(_, cue)| cue) {
        Some(Cue::Refuses) if topic.is_given => Some(Stance::Lacks),
        // The kind has the thing, so the refusal is about something else.
        Some(Cue::Refuses) if topic.never_refused_in.contains(&kind) => {
            topic.had_in.contains(&kind).then_some(Stance::Has)
        }
        // The refusal itself may have ended.
        Some(Cue::Refuses) if is_over() => None,
        Some(Cue::Refuses) => Some(Stance::Refuses),
        Some(Cue::Accepts) => Some(Stance::Accepts),
        Some(Cue::Needs) if topic.had_in.contains(&kind) => Some(Stance::Has),
        Some(Cue::Needs) => Some(Stance::Needs),
        // A negated statement about the past says nothing about the present.
        Some(Cue::Past) if is_negated(at, length, words, cues) => None,
        Some(Cue::Past) => Some(Stance::Lacks),
        // A refusal in the same sentence is the reason for the negation.
        Some(Cue::Not) if is_refused() || topic.refused_in.contains(&kind) => Some(Stance::Refuses),
        Some(Cue::Not) => Some(Stance::Lacks),
        None if topic.had_in.contains(&kind) => Some(Stance::Has),
        None if topic.needed_in.contains(&kind) => Some(Stance::Needs),
        None => None,
    };
    Some(Found { stance: stance?, is_clear })
}

fn is_negated(at: usize, length: usize, words: &[Word], cues: &[CueMatch]) -> bool {
    let negations = cues.iter().filter(|found| found.cue == Cue::Not);
    negations.into_iter().any(|found| {
        let before = found.at + found.length <= at;
        before && distance(found, (at, length), words).is_some()
    })
}

/// Returns how far a cue is from a mention; `None` if the cue is not about the mention.
fn distance(found: &CueMatch, (at, length): (usize, usize), words: &[Word]) -> Option<usize> {
    let (topic, cue) = (words.get(at)?, words.get(found.at)?);
    if topic.sentence != cue.sentence {
        return None;
    }
    let end = found.at + found.length;
    let is_before = end <= at;
    let gap = if is_before { at - end } else { found.at.saturating_sub(at + length) };
    let clauses = topic.clause.abs_diff(cue.clause);
    let is_japanese = topic.is_japanese();
    let reach = if is_japanese { REACH_OF_LETTERS } else { REACH };
    let (reach, clause) = match found.cue {
        Cue::Not | Cue::Needs if clauses > 0 => return None,
        Cue::Not if is_before && !is_japanese => (NEGATES_BEFORE, 0),
        Cue::Not if is_japanese => (reach, 0),
        Cue::Not if cue.text == "nicht" => (NEGATES_AFTER_IN_GERMAN, 0),
        Cue::Not => (NEGATES_AFTER, 0),
        _ => (reach, CLAUSE),
    };
    let distance = gap + clauses * clause;
    (distance <= reach).then_some(distance)
}

/// Returns the stance of a whole text. A topic that is refused in one place and accepted in another
/// one counts as accepted, because the refusal is not certain. Without a refusal, that the author
/// has or needs it counts before that they accept it. If the text both has and lacks the topic's
/// thing, the stance is not known.
fn strongest(found: &[Found]) -> Option<Found> {
    let order = [Stance::Accepts, Stance::Refuses, Stance::Needs, Stance::Has, Stance::Lacks];
    let is_said = |stance: &Stance| found.iter().any(|found| found.stance == *stance);
    if is_said(&Stance::Has) && is_said(&Stance::Lacks) {
        return None;
    }
    let bare = !is_said(&Stance::Refuses) && (is_said(&Stance::Has) || is_said(&Stance::Needs));
    let stance = order
        .into_iter()
        .find(|stance| is_said(stance) && !(bare && *stance == Stance::Accepts))?;
    let is_clear = found.iter().any(|found| found.stance == stance && found.is_clear);
    Some(Found { stance, is_clear })
}

#[cfg(test)]
mod tests;
