//! The days of the week that texts name, and whether two listings have one in common.

use crate::{lines::Line, tables::WEEKDAYS, tokens::Token};
use people_kit::listings::Profile;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The names of the days that a text names as possible, and as not possible; they are no attributes.
const DAYS: &str = "days";
const NOT_DAYS: &str = "not_days";
/// How many words before a day may negate it.
const NEGATES: usize = 3;
const WEIGHT: f64 = 2.0;
const NEGATIONS: &[&str] = &[
    "no",
    "not",
    "never",
    "except",
    "without",
    "kein",
    "keine",
    "nicht",
    "nie",
    "ausser",
    "sin",
    "nunca",
    "salvo",
    "excepto",
    "pas",
    "jamais",
    "sauf",
    "ne",
    "closed",
    "geschlossen",
    "ni",
    "cannot",
];
/// The kinds of listings whose texts name days on which something takes place.
const KINDS: &[&str] = &["service", "service_client", "tutor", "student", "friend", "general"];

fn days_at(tokens: &[Token], at: usize) -> Option<BTreeSet<u64>> {
    let word = &tokens.get(at)?.word;
    let (_, days) = WEEKDAYS.iter().find(|(known, _)| known == word)?;
    Some(days.iter().copied().collect())
}

/// Returns the days from one to another if two days with a word such as `to` between them begin at a
/// place.
fn range(tokens: &[Token], at: usize) -> Option<Vec<u64>> {
    const TO: &[&str] = &["to", "bis", "a", "au", "through", "thru", "until"];
    tokens.get(at + 1).filter(|token| TO.contains(&token.word.as_str()))?;
    let single = |at: usize| days_at(tokens, at).filter(|days| days.len() == 1)?.pop_first();
    let (first, last) = (single(at)?, single(at + 2)?);
    let last = if last < first { last + 7 } else { last };
    Some((first..=last).map(|day| day % 7).collect())
}

/// Adds the days that a text names.
pub(crate) fn add(values: &mut Map<String, Value>, kind: &str, tokens: &[Token]) {
    if !KINDS.contains(&kind) {
        return;
    }
    let (mut named, mut excluded) = (BTreeSet::new(), BTreeSet::new());
    let mut at = 0;
    while at < tokens.len() {
        let Some(mut days) = days_at(tokens, at) else {
            at += 1;
            continue;
        };
        let mut end = at + 1;
        if let Some(range) = range(tokens, at) {
            days.extend(range);
            end = at + 3;
        }
        let before = tokens.get(at.saturating_sub(NEGATES)..at).unwrap_or_default();
        let mut sentence = before.iter().rev().take_while(|token| token.word != ".");
        let is_negated = sentence.any(|token| NEGATIONS.contains(&token.word.as_str()));
        if is_negated {
            excluded.extend(days)
        } else {
            named.extend(days)
        }
        at = end;
    }
    let listed = |days: BTreeSet<u64>| Value::from(days.into_iter().collect::<Vec<u64>>());
    if named.len() < 7 && !named.is_empty() {
        values.insert(DAYS.into(), listed(named));
    }
    if !excluded.is_empty() {
        values.insert(NOT_DAYS.into(), listed(excluded));
    }
}

fn days_of(profile: &Profile, name: &str) -> Option<BTreeSet<u64>> {
    let days = profile.said.get(name)?.as_array()?;
    Some(days.iter().filter_map(Value::as_u64).collect())
}

/// Returns the line about the days, if both listings name some.
pub(crate) fn line(asker: &Profile, other: &Profile) -> Option<Line> {
    let asked = days_of(asker, DAYS)?;
    let found = days_of(other, DAYS);
    let excluded = days_of(other, NOT_DAYS).unwrap_or_default();
    let share = match &found {
        _ if asked.is_subset(&excluded) => 0.0,
        Some(found) if asked.is_disjoint(found) => 0.0,
        Some(_) => 1.0,
        None => return None,
    };
    Some(Line {
        field: DAYS,
        answered_by: DAYS,
        weight: if share > 0.0 { 1.0 } else { WEIGHT },
        share: Some(share),
        asked: asked.into_iter().collect::<Vec<u64>>().into(),
        found: found.unwrap_or(excluded).into_iter().collect::<Vec<u64>>().into(),
        from_text: true,
    })
}

#[cfg(test)]
mod tests {
    use crate::extract_values;
    use serde_json::json;

    #[test]
    fn days_are_read_with_ranges_and_negations() {
        for (text, days, not_days) in [
            ("Monday to Thursday, never on Sundays", json!([1, 2, 3, 4]), json!([0])),
            ("Nur samstags", json!([6]), json!(null)),
            ("De lunes a viernes", json!([1, 2, 3, 4, 5]), json!(null)),
            ("Le mercredi et le samedi", json!([3, 6]), json!(null)),
        ] {
            let said = extract_values("pro.service.cleaning", text, "2026-11-24");
            let found = |name: &str| said.get(name).cloned().unwrap_or_default();
            assert_eq!((found("days"), found("not_days")), (days, not_days), "{text}");
        }
    }
}
