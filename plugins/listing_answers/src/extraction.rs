//! Values that a text states, found with the phrases of `said.toml`.

use crate::{
    levels::levels,
    numbers, prices,
    stances::{STANCES, stances},
    stays,
    tables::{SAID, Said, category},
    tokens::{Token, tokens},
    weekdays,
};
use people_kit::words::{self, Language};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The maximum number of words for which `*` stands.
const GAP: usize = 3;
/// The number of words before a phrase in which a negation may be, after which the phrase does not
/// count.
const NEGATED_WITHIN: usize = 2;
const NEGATIONS: [&str; 18] = [
    "no", "not", "never", "without", "t", "kein", "keine", "keinen", "nicht", "ohne", "sin", "ni",
    "pas", "sans", "ne", "nunca", "jamais", "nie",
];
/// Words after an amount that say for which period it is.
const PERIODS: [(&str, &str); 34] = [
    ("pcm", "MONTH"),
    ("mensuales", "MONTH"),
    ("mensual", "MONTH"),
    ("pw", "WEEK"),
    ("weekly", "WEEK"),
    ("visita", "ONCE"),
    ("visit", "ONCE"),
    ("hourly", "HOUR"),
    ("annually", "YEAR"),
    ("annuel", "YEAR"),
    ("hour", "HOUR"),
    ("hr", "HOUR"),
    ("h", "HOUR"),
    ("stunde", "HOUR"),
    ("hora", "HOUR"),
    ("heure", "HOUR"),
    ("day", "DAY"),
    ("night", "DAY"),
    ("tag", "DAY"),
    ("week", "WEEK"),
    ("woche", "WEEK"),
    ("semana", "WEEK"),
    ("semaine", "WEEK"),
    ("month", "MONTH"),
    ("monthly", "MONTH"),
    ("monat", "MONTH"),
    ("monatlich", "MONTH"),
    ("mes", "MONTH"),
    ("mois", "MONTH"),
    ("year", "YEAR"),
    ("annual", "YEAR"),
    ("jahr", "YEAR"),
    ("ano", "YEAR"),
    ("yearly", "YEAR"),
];
/// The kinds of listings that have levels of languages.
const WITH_LEVELS: [&str; 2] = ["job", "candidate"];

/// Returns the period that a word names.
fn period(word: &str) -> Option<&'static str> {
    PERIODS.iter().find(|(known, _)| *known == word).map(|(_, unit)| *unit)
}

/// Returns the lowest amount in a currency that counts as a salary for a year.
fn yearly(currency: Option<&str>) -> f64 {
    if currency == Some("JPY") { 1_500_000.0 } else { 15_000.0 }
}

/// Returns the values that a text says about a listing of this category. The name of a month that
/// is over this year means that month of the next year; `today` is an RFC 3339 date.
pub fn extract_values(code: &str, text: &str, today: &str) -> Map<String, Value> {
    values_in(code, text, words::language(text), today)
}

/// Returns the values that a text, or a part of it, says; `language` is that of the whole text.
pub(crate) fn values_in(
    code: &str,
    text: &str,
    language: Language,
    today: &str,
) -> Map<String, Value> {
    let mut values = Map::new();
    let Some(category) = category(code) else { return values };
    let split = Text::new(text, language);
    let price = prices::price(category.kind, &split.tokens, period, yearly);
    if let Some(price) = &price {
        // A price with its extra costs, which has `min` and `max`, replaces what a phrase says of
        // one of the costs.
        if price.get("min").is_some() && price.get("max").is_some() {
            values.insert("compensation".into(), price.clone());
        }
    }
    for entry in SAID.iter().filter(|entry| entry.kinds.contains(&category.kind)) {
        let is_list = entry.value.is_some_and(|value| value.starts_with('['));
        if !is_list && values.contains_key(entry.attribute) {
            continue;
        }
        let Some(value) = find_value(entry, &split, today) else { continue };
        match (values.get_mut(entry.attribute), value) {
            (Some(Value::Array(before)), Value::Array(more)) => {
                let new: Vec<Value> =
                    more.into_iter().filter(|value| !before.contains(value)).collect();
                before.extend(new);
            }
            (_, value) => drop(values.insert(entry.attribute.to_owned(), value)),
        }
    }
    if let Some(Value::Array(spoken)) = values.get_mut("languages") {
        // A person who writes in a language speaks it too.
        let written = Value::from(language.tag());
        if !spoken.contains(&written) {
            spoken.push(written);
        }
    }
    if let (Some(price), false) = (price, values.contains_key("compensation")) {
        values.insert("compensation".into(), price);
    }
    if WITH_LEVELS.contains(&category.kind) {
        let levels = levels(text);
        if !levels.is_empty() {
            values.insert("language_levels".into(), levels.into());
        }
    }
    stays::add(&mut values, category.kind, &split.tokens, today);
    weekdays::add(&mut values, category.kind, &split.tokens);
    let stances = stances(category.kind, text, language);
    if !stances.is_empty() {
        values.insert(STANCES.into(), stances.into());
    }
    values
}

/// A text, split into words so that phrases can be looked up in it.
struct Text {
    tokens: Vec<Token>,
    /// The distinct words of the text. They exclude most phrases quickly, because most phrases have
    /// a word that the text lacks.
    words: BTreeSet<String>,
    /// The text without spaces, for Japanese.
    whole: String,
}

impl Text {
    fn new(text: &str, language: Language) -> Self {
        let tokens = tokens(text, language);
        Self {
            words: tokens.iter().map(|token| token.word.clone()).collect(),
            whole: words::folded(text).split_whitespace().collect(),
            tokens,
        }
    }

    fn has_words(&self, phrase: &[&str]) -> bool {
        phrase.iter().all(|word| word.starts_with(['{', '*']) || self.words.contains(*word))
    }
}

/// Returns the value of the first phrase that the text contains.
fn find_value(entry: &Said, text: &Text, today: &str) -> Option<Value> {
    entry.phrases.iter().find_map(|phrase| {
        let hit = match phrase {
            [piece] if is_piece(piece) => find_in_japanese(piece, &text.whole)?,
            _ if !text.has_words(phrase) => return None,
            _ => find_in_words(phrase, &text.tokens, entry.negated)?,
        };
        value(entry, &hit, today)
    })
}

/// A match of a phrase: the number or amount in it, and the words that follow.
#[derive(Default)]
struct Hit {
    number: Option<f64>,
    currency: Option<&'static str>,
    month: Option<usize>,
    after: Vec<String>,
}

/// Returns the first day of a month of this year or, if the month is over, of the next year.
pub(crate) fn first_day(month: usize, today: &str) -> Option<String> {
    let year: usize = today.get(..4)?.parse().ok()?;
    let current_month: usize = today.get(5..7)?.parse().ok()?;
    let year = if month < current_month { year + 1 } else { year };
    Some(format!("{year}-{month:02}-01"))
}

fn value(entry: &Said, hit: &Hit, today: &str) -> Option<Value> {
    if let Some(month) = hit.month {
        return first_day(month, today).map(Value::from);
    }
    if let Some(part) = entry.part {
        let amount = hit.number?;
        let following = hit.after.iter().take(4);
        let unit = following.filter_map(|word| period(word)).next();
        let unit = unit.or(match entry.unit {
            // A salary that is too small for a year is one for a month.
            Some("YEAR") if amount < yearly(hit.currency) => Some("MONTH"),
            other => other,
        })?;
        let about = [("currency", hit.currency?.into()), ("unit", unit.into())];
        let names = ["min", "max"].into_iter().filter(|name| part == *name || part == "both");
        let amounts = names.map(|name| (name, amount.into()));
        let pay = about.into_iter().chain(amounts);
        return Some(pay.map(|(name, value): (&str, Value)| (name.to_owned(), value)).collect());
    }
    if entry.number {
        let number = hit.number? * entry.times + entry.plus;
        // `plus` turns rooms into bedrooms, for example; half a bedroom counts as a whole one.
        let number = if entry.plus == 0.0 { number } else { number.round() };
        if !(entry.least..=entry.most).contains(&number) {
            return None;
        }
        return Some(match number.fract() == 0.0 {
            true => (number as i64).into(),
            false => number.into(),
        });
    }
    serde_json::from_str(entry.value?).ok()
}

fn is_piece(phrase: &str) -> bool {
    phrase.chars().any(words::is_cjk) || phrase.contains("ldk") || phrase.contains("}dk")
}

/// Finds a phrase among the words of a text; one after a negation only if `negated`.
fn find_in_words(phrase: &[&str], tokens: &[Token], negated: bool) -> Option<Hit> {
    (0..tokens.len()).find_map(|start| {
        let mut hit = Hit::default();
        let end = match_at(phrase, tokens, start, &mut hit)?;
        let before = tokens.get(start.saturating_sub(NEGATED_WITHIN)..start)?;
        let sentence = before.iter().rev().take_while(|token| token.word != ".");
        let is_negated = sentence.into_iter().any(|token| NEGATIONS.contains(&token.word.as_str()));
        if is_negated && !negated {
            return None;
        }
        hit.after = tokens.iter().skip(end).map(|token| token.word.clone()).take(4).collect();
        Some(hit)
    })
}

/// Returns the place after the phrase, if it begins at a token.
fn match_at(phrase: &[&str], tokens: &[Token], at: usize, hit: &mut Hit) -> Option<usize> {
    let Some((first, rest)) = phrase.split_first() else { return Some(at) };
    if *first == "*" {
        return (0..=GAP).find_map(|skipped| {
            let gap = tokens.get(at..at + skipped)?;
            let within = gap.iter().all(|token| token.word != ".");
            within.then(|| match_at(rest, tokens, at + skipped, hit)).flatten()
        });
    }
    let token = tokens.get(at)?;
    match *first {
        "{n}" if token.currency.is_none() => hit.number = Some(token.number?),
        "{month}" => hit.month = Some(token.month?),
        "{money}" => (hit.number, hit.currency) = (Some(token.number?), Some(token.currency?)),
        word if token.word == word => {}
        _ => return None,
    }
    match_at(rest, tokens, at + 1, hit)
}

/// Finds a phrase of Japanese, which may have a number in it, anywhere in a text without spaces.
fn find_in_japanese(phrase: &str, whole: &str) -> Option<Hit> {
    let names = ["{money}", "{month}", "{n}"];
    let name = names.into_iter().find(|name| phrase.contains(name)).unwrap_or("{n}");
    let Some((before, after)) = phrase.split_once(name) else {
        return whole.contains(phrase).then(Hit::default);
    };
    let starts = whole.char_indices().map(|(at, _)| at);
    starts.into_iter().find_map(|at| {
        let rest = whole.get(at..)?.strip_prefix(before)?;
        let length = rest.find(|letter| !numbers::is_japanese(letter));
        let (digits, rest) = rest.split_at(length.unwrap_or(rest.len()));
        let number = numbers::japanese(digits).filter(|_| !digits.is_empty())?;
        let (currency, rest) = match (name, rest.strip_prefix('円')) {
            ("{money}", Some(rest)) => (Some("JPY"), rest),
            ("{money}", None) => return None,
            _ => (None, rest),
        };
        let rest = rest.strip_prefix(after)?;
        let after = rest.chars().take(4).map(String::from).collect();
        let is_month = name == "{month}";
        let month = is_month.then_some(number as usize).filter(|month| (1..=12).contains(month));
        if is_month && month.is_none() {
            return None;
        }
        Some(Hit { number: Some(number), currency, month, after })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_say_values_in_five_languages() {
        for (code, text, name, expected) in [
            ("home.let.apartment", "Sorry, no pets. Two bedrooms.", "pets", json!("not_allowed")),
            ("home.let.apartment", "Sorry, no pets. Two bedrooms.", "bedrooms", json!(2)),
            ("home.let.apartment", "3-Zimmer-Wohnung in Wedding", "bedrooms", json!(2)),
            ("home.let.apartment", "世田谷の1LDK、ペット不可", "bedrooms", json!(1)),
            ("home.let.apartment", "世田谷の1LDK、ペット不可", "pets", json!("not_allowed")),
            ("home.let.apartment", "Tierhaltung ist nicht gestattet", "pets", json!("not_allowed")),
            ("home.let.apartment", "Se aceptan gatos", "pets", json!("allowed")),
            ("home.rent.apartment", "Renter with a dog", "has_pets", json!(true)),
            (
                "home.rent.apartment",
                "Our budget is $1,500/month",
                "compensation",
                json!({ "currency": "USD", "unit": "MONTH", "max": 1500.0 }),
            ),
            (
                "home.rent.apartment",
                "家賃は15万5千円まで",
                "compensation",
                json!({ "currency": "JPY", "unit": "MONTH", "max": 155_000.0 }),
            ),
            (
                "work.job.software",
                "Part-time, remote within Europe",
                "employment_type",
                json!("PART_TIME"),
            ),
            ("work.job.software", "At least seven years of work", "years_experience", json!(7)),
            ("work.candidate.software", "Senior engineer", "seniority", json!("senior")),
            ("work.job.healthcare", "Poste de nuit", "shifts", json!(["night"])),
            (
                "pro.client.service.tutoring",
                "Up to $60 an hour",
                "compensation",
                json!({ "currency": "USD", "unit": "HOUR", "max": 60.0 }),
            ),
            ("work.job.software", "fifteen hours a week", "hours_per_week", json!(15)),
            ("pro.service.repair", "Booked until March", "available_from", json!("2027-03-01")),
            ("pro.service.repair", "Frei ab Dezember", "available_from", json!("2026-12-01")),
            ("work.candidate.software", "Fluent German", "languages", json!(["de", "en"])),
            ("social.date", "I don't smoke", "smoker", json!(false)),
            ("social.date", "Ich rauche auf dem Balkon", "smoker", json!(true)),
        ] {
            assert_eq!(
                extract_values(code, text, "2026-11-24").get(name),
                Some(&expected),
                "{text}"
            );
        }
    }

    #[test]
    fn a_negation_does_not_say_the_phrase() {
        assert_eq!(
            extract_values("social.date", "I never had my dog with me", "2026-11-24").get("pets"),
            None
        );
        assert_eq!(
            extract_values("work.candidate.software", "not senior", "2026-11-24").get("seniority"),
            None
        );
    }
}
