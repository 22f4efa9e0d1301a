//! What the second opinion looks at in an item: the words, the classes of phrases in the title and in the
//! text, which of them stand in one sentence and in which order, and what the rules have found.

use super::{
    Claims, Predicate, Reading,
    frame::Frame,
    lexicon::{Class, Cue, Language},
    token::{Kind, Token},
};
use std::{collections::BTreeSet, ops::Range};

/// Classes that tell nothing by themselves.
const SILENT: [Class; 6] = [
    Class::Function,
    Class::Article,
    Class::Preposition,
    Class::Goes,
    Class::Particle,
    Class::Verb,
];
/// Classes that tell nothing by their order.
const DULL: [Class; 4] = [Class::Descriptor, Class::With, Class::By, Class::Self_];
/// Classes that are paired with all others of their sentence.
const EVENTS: [&str; 10] =
    ["Raise", "Take", "Invest", "Stake", "Round", "Hire", "Open", "Freeze", "Amount", "Subject"];
/// The prefix of the features that repeat what the rules found.
pub const BY_RULES: &str = "rules ";
/// Features of single words and names, which no table of phrases is read for, begin with one of these prefixes.
pub const OF_WORDS: [&str; 11] =
    ["w ", "tw ", "bw ", "s ", "ts ", "bs ", "tn ", "bn ", "source", "sentences", "names"];

/// How many letters of a word are its beginning, which stands for all its forms.
const BEGINNING: usize = 4;
/// How many words stand near a name or a sum.
const NEAR: usize = 3;

/// Returns the features, sorted and each once.
pub(super) fn features(reading: &Reading<'_>, frame: &Frame<'_>, claims: &Claims) -> Vec<String> {
    let mut all = BTreeSet::new();
    all.insert(format!("source {:?} {}", reading.kind, frame.own.is_some()));
    all.insert(format!("names {}", claims.named.len().min(3)));
    all.insert(format!("about {}", claims.about.is_some()));
    let mut sentences = 0;
    for sentence in &frame.text.sentences {
        let place = if frame.is_title(sentence) { 't' } else { 'b' };
        let kinds = kinds(frame, sentence);
        for kind in &kinds {
            all.insert(format!("{place} {kind}"));
            if place == 'b' && sentences == 0 {
                all.insert(format!("first {kind}"));
            }
        }
        for event in kinds.iter().filter(|kind| EVENTS.contains(&kind.as_str())) {
            for other in kinds.iter().filter(|other| *other != event) {
                all.insert(format!("{place} {event} {other}"));
            }
        }
        sentences += usize::from(place == 'b');
        words(frame, sentence, place, &mut all);
        course(frame, sentence, place, &mut all);
    }
    all.insert(format!("sentences {}", sentences.min(4)));
    found(claims, &mut all);
    all.into_iter().collect()
}

/// Returns the classes of phrases in a sentence, the roles of the companies, and whether it names a sum.
fn kinds(frame: &Frame<'_>, sentence: &Range<usize>) -> BTreeSet<String> {
    let all = &frame.text.cues;
    let from = all.partition_point(|cue| cue.start < sentence.start);
    let to = all.partition_point(|cue| cue.start < sentence.end);
    let heard = |cue: &&Cue| !SILENT.contains(&cue.class);
    let cues = all.get(from..to).unwrap_or_default().iter().filter(heard);
    let mut kinds: BTreeSet<String> = cues.map(|cue| format!("{:?}", cue.class)).collect();
    for mention in frame.mentions_in(sentence) {
        let investor = if frame.companies.invests(mention.company) { "Investor" } else { "" };
        kinds.insert(format!("{investor}{:?}", frame.role(mention)));
    }
    if frame.amount_in(sentence) {
        kinds.insert("Amount".to_owned());
    }
    if frame.is_question(sentence) {
        kinds.insert("Asks".to_owned());
    }
    kinds
}

/// Adds the words and the pairs of words of a sentence, in Japanese also three characters in a row. Names,
/// sums and numbers all count as the same.
fn words(frame: &Frame<'_>, sentence: &Range<usize>, place: char, all: &mut BTreeSet<String>) {
    let mut words: Vec<&str> = Vec::new();
    let mut at = sentence.start;
    while let Some(token) = frame.text.tokens.get(at).filter(|_| at < sentence.end) {
        let (word, next) = word(frame, at, token);
        words.push(word);
        at = next.max(at + 1);
    }
    if frame.text.language != Language::Japanese {
        beginnings(&words, place, all);
    }
    let longest = if frame.text.language == Language::Japanese { 3 } else { 2 };
    for length in 1..=longest {
        for run in words.windows(length) {
            let run = run.join(" ");
            all.insert(format!("{place}w {run}"));
            all.insert(format!("w {run}"));
        }
    }
}

/// Adds the beginnings of words and of pairs, and which stand before and after names and sums.
fn beginnings(words: &[&str], place: char, all: &mut BTreeSet<String>) {
    let begun: Vec<&str> = words.iter().map(|word| beginning(word)).collect();
    for (_, begun) in words.iter().zip(&begun).filter(|(word, begun)| word != begun) {
        all.insert(format!("{place}s {begun}"));
        all.insert(format!("s {begun}"));
    }
    let pairs = begun.windows(2).zip(words.windows(2));
    for (pair, _) in pairs.filter(|(pair, full)| pair != full) {
        all.insert(format!("s {}", pair.join(" ")));
    }
    for (at, word) in words.iter().enumerate().filter(|(_, word)| is_mark(word)) {
        let before = begun.get(at.saturating_sub(NEAR)..at).unwrap_or_default();
        let after = begun.iter().skip(at + 1).take(NEAR);
        all.extend(before.iter().map(|other| format!("{place}n {other} < {word}")));
        all.extend(after.map(|other| format!("{place}n {word} > {other}")));
    }
}

fn is_mark(word: &str) -> bool {
    matches!(word, "COMPANY" | "INVESTOR" | "SUM")
}

fn beginning(word: &str) -> &str {
    let end = word.char_indices().nth(BEGINNING).map_or(word.len(), |(end, _)| end);
    if is_mark(word) { word } else { word.get(..end).unwrap_or(word) }
}

/// Adds which names, sums and classes of phrases follow each other, whatever stands between.
fn course(frame: &Frame<'_>, sentence: &Range<usize>, place: char, all: &mut BTreeSet<String>) {
    let mut marks: Vec<(usize, String)> = Vec::new();
    for mention in frame.mentions_in(sentence) {
        let investor = frame.companies.invests(mention.company);
        marks.push((mention.start, if investor { "INVESTOR" } else { "COMPANY" }.to_owned()));
    }
    let sums = &frame.text.amounts;
    let from = sums.partition_point(|found| found.at.start < sentence.start);
    let within = sums.iter().skip(from).take_while(|found| found.at.start < sentence.end);
    marks.extend(within.map(|found| (found.at.start, "SUM".to_owned())));
    let cues = &frame.text.cues;
    let from = cues.partition_point(|cue| cue.start < sentence.start);
    let within = cues.iter().skip(from).take_while(|cue| cue.start < sentence.end);
    let heard = within.filter(|cue| !SILENT.contains(&cue.class) && !DULL.contains(&cue.class));
    marks.extend(heard.map(|cue| (cue.start, format!("{:?}", cue.class))));
    marks.sort();
    marks.dedup();
    let names: Vec<&str> = marks.iter().map(|(_, name)| name.as_str()).collect();
    for length in 2..=3 {
        for run in names.windows(length) {
            all.insert(format!("{place}c {}", run.join(" ")));
        }
    }
}

/// Returns the word that begins here as the opinion sees it, and where the next one begins.
fn word<'a>(frame: &'a Frame<'_>, at: usize, token: &'a Token) -> (&'a str, usize) {
    if let Some(mention) = frame.mentions_in(&(at..at + 1)).first() {
        let investor = frame.companies.invests(mention.company);
        return (if investor { "INVESTOR" } else { "COMPANY" }, mention.end);
    }
    let sums = &frame.text.amounts;
    let sum = sums.get(sums.partition_point(|found| found.at.start < at));
    match sum.filter(|found| found.at.start == at) {
        Some(found) => ("SUM", found.at.end),
        None if token.kind == Kind::Number => ("#", at + 1),
        None => (token.text.as_str(), at + 1),
    }
}

fn found(claims: &Claims, all: &mut BTreeSet<String>) {
    let signal = claims.signal().map(|claim| (claim.predicate, claim.modality));
    all.insert(format!("{BY_RULES}signal {signal:?}"));
    for claim in claims.all.iter().take(6) {
        let known = claim.company.is_some();
        all.insert(format!("{BY_RULES}{:?} {:?}", claim.predicate, claim.modality));
        if matches!(claim.predicate, Predicate::RaisedFunding | Predicate::IsHiring) {
            all.insert(format!("{BY_RULES}{:?} {:?} {known}", claim.predicate, claim.modality));
        }
    }
}
