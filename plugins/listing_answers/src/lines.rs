//! Compares what one listing asks for with what the other one offers: one line for each rule.

use crate::{
    compare::{Outcome, Values, distance_km, texts},
    stays,
    tables::{self, Comparison, Excludes, Remote, Rule, Stance},
    topics::{self, TopicComparison},
    weekdays,
};
use people_kit::listings::Profile;
use serde_json::{Value, json};

/// The factor for the weight of a rule if one of the values was only found in a text.
const TEXT_FACTOR: f64 = 0.5;
/// The factor for the weight of a contradiction that is known from a text only, and that would
/// exclude the other listing if attributes stated it.
const CONTRADICTION_FACTOR: f64 = 4.0;
/// The weight of a topic towards which a text takes a stance.
const TOPIC_WEIGHT: f64 = 1.0;
/// The share from which a line counts as met.
const MET: f64 = 0.999;
/// The score if the attribute contradicts the asked value and the text meets it.
const EXCEPTION_SHARE: f64 = 0.5;
/// The upper bounds by which distances are shown, in kilometres.
const BANDS_KM: [f64; 10] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0];

/// One value that a listing asks for, and how well the other listing meets it.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The asker's attribute, or `compensation` or `place`.
    pub field: &'static str,
    /// The attribute of the other listing that `field` is compared with.
    pub answered_by: &'static str,
    pub weight: f64,
    /// How far the other listing meets the value, from 0 to 1; `None` if that is unknown.
    pub share: Option<f64>,
    pub asked: Value,
    pub found: Value,
    /// Whether one of the values was only found in a text.
    pub from_text: bool,
}

impl Line {
    pub fn is_met(&self) -> bool {
        self.share.is_some_and(|share| share >= MET)
    }
}

/// The result of comparing what one listing asks for with what the other one offers.
#[derive(Debug, Default)]
pub struct Lines {
    pub lines: Vec<Line>,
    /// Whether the listings contradict each other, so that neither is a candidate for the other.
    pub excluded: bool,
    /// The fields in which the other listing contradicts the asker, and that exclude it only if the
    /// asker contradicts the other listing in the same field too.
    pub contradicted: Vec<&'static str>,
}

/// Compares what one listing asks for with what the other one offers.
pub fn lines(asker: &Profile, other: &Profile) -> Lines {
    let kind = |profile: &Profile| tables::category(&profile.category).map(|known| known.kind);
    let (Some(from), Some(of)) = (kind(asker), kind(other)) else { return Lines::default() };
    let mut lines = Lines::default();
    for rule in tables::rules(from, of) {
        let (line, outcome) = match rule.by {
            Comparison::WithinKm => match distance(rule, asker, other) {
                Some(found) => found,
                None => continue,
            },
            _ => match line(rule, asker, other) {
                Some(found) => found,
                None => continue,
            },
        };
        let fails = outcome.is_some_and(|outcome| outcome.fails)
            && (!line.from_text || is_certain(rule.by, &line));
        match rule.excludes {
            Excludes::One if fails => lines.excluded = true,
            Excludes::Both if fails => lines.contradicted.push(rule.ask),
            _ => {}
        }
        lines.lines.push(line);
    }
    for compared in topics::compare(asker, other) {
        lines.add(compared);
    }
    lines.lines.extend(weekdays::line(asker, other));
    lines.lines.extend(stays::line(asker, other));
    lines
}

/// Whether a contradiction with a value from a text excludes. In lists and scales it does not,
/// because the text may name only some of several values.
fn is_certain(by: Comparison, line: &Line) -> bool {
    let is_of_lists = line.asked.is_array() || line.found.is_array();
    match by {
        Comparison::OrderedLevel | Comparison::ContainsAll => false,
        Comparison::Overlaps => !is_of_lists,
        _ => true,
    }
}

impl Lines {
    /// Adds the line for a topic that the asker needs or refuses, with the stance of the other
    /// listing.
    fn add(&mut self, compared: TopicComparison) {
        let TopicComparison { topic, asked, found, from_text, is_clear } = compared;
        let fails = found.is_some_and(|found| asked.contradicts(found, topic));
        let share = match (asked, found) {
            _ if fails => Some(0.0),
            (Stance::Needs, Some(Stance::Has)) => Some(1.0),
            (Stance::Refuses, Some(Stance::Lacks | Stance::Refuses)) => Some(1.0),
            _ => None,
        };
        self.excluded |= fails && is_clear;
        self.lines.push(Line {
            field: topic.name,
            answered_by: topic.name,
            weight: TOPIC_WEIGHT * if fails { CONTRADICTION_FACTOR } else { 1.0 },
            share,
            asked: asked.name().into(),
            found: found.map(|found| found.name().into()).unwrap_or_default(),
            from_text,
        });
    }
}

/// Returns lists of facts for listings of the category `code`: a listing that has none of the facts
/// of one list is excluded, because it contradicts `mine`. Facts are texts as `listing_taxonomy`
/// makes them.
pub fn required_facts(mine: &Profile, code: &str) -> Vec<Vec<String>> {
    let kind = |code: &str| tables::category(code).map(|known| known.kind);
    let (Some(own), Some(other)) = (kind(&mine.category), kind(code)) else { return Vec::new() };
    let is_exclusive = |rule: &&Rule| {
        rule.by == Comparison::Overlaps && rule.near.is_empty() && rule.excludes == Excludes::One
    };
    let facts = |name: &str, of: &str| -> Option<Vec<String>> {
        let values = texts(mine.attributes.get(name)?);
        Some(values.iter().map(|value| format!("{of}={}", value.to_lowercase())).collect())
    };
    let asked =
        tables::rules(own, other).iter().filter(is_exclusive).filter(|rule| rule.have_indexed);
    let asking =
        tables::rules(other, own).iter().filter(is_exclusive).filter(|rule| rule.ask_indexed);
    asked
        .filter_map(|rule| facts(rule.ask, rule.have))
        .chain(asking.filter_map(|rule| facts(rule.have, rule.ask)))
        .collect()
}

/// Returns a value of a listing, and whether only its text says it.
pub fn value_of(profile: &Profile, name: &str) -> Option<(Value, bool)> {
    let stated = match name {
        "compensation" => profile.compensation.as_ref().map(portolan_sdk::to_value),
        "title" => Some(profile.title.as_str().into()),
        "age" => profile.attributes.get(name).map(|age| known_age(profile, age)),
        _ => profile.attributes.get(name).cloned(),
    };
    let said = || profile.said.get(name).cloned().map(|value| (value, true));
    stated.map(|value| (value, false)).or_else(said)
}

/// Returns the age that a person states or, if it contradicts their year of birth, the age that
/// they have reached for certain.
fn known_age(profile: &Profile, stated: &Value) -> Value {
    match (profile.age_at_least.map(u64::from), stated.as_u64()) {
        // Only the year of birth is known: the person may be one year older than `known`.
        (Some(known), Some(stated)) if stated < known || stated > known + 1 => known.into(),
        _ => stated.clone(),
    }
}

fn line(rule: &'static Rule, asker: &Profile, other: &Profile) -> Option<(Line, Option<Outcome>)> {
    if rule.unless.is_some_and(|unless| value_of(asker, unless).is_some()) {
        return None;
    }
    let upto = rule.upto.and_then(|upto| value_of(asker, upto));
    let (asked, is_from_text) = match (value_of(asker, rule.ask), &upto) {
        (Some(asked), _) => asked,
        (None, Some((_, is_from_text))) => (Value::Null, *is_from_text),
        (None, None) => return None,
    };
    let applies = |value: &String| rule.when.contains(&value.as_str());
    if !rule.when.is_empty() && !texts(&asked).iter().any(applies) {
        return None;
    }
    let upto = upto.map(|(upto, _)| upto);
    let asked = with_more_values(rule, asker, asked);
    let compare = |offered: &Value, in_text: bool| {
        let upto = upto.as_ref();
        Values { rule, asker, other, asked: &asked, upto, offered, in_text }.compare()
    };
    let found = value_of(other, rule.have);
    let found =
        found.map(|(offered, is_from_text)| (with_more_values(rule, other, offered), is_from_text));
    let mut from_text =
        is_from_text || found.as_ref().is_some_and(|(_, is_from_text)| *is_from_text);
    let mut outcome = found.as_ref().and_then(|(offered, _)| compare(offered, from_text));
    if outcome.is_some_and(|outcome| outcome.fails) && !from_text {
        // The text can state an exception from the attribute.
        let exception = other.said.get(rule.have).and_then(|said| compare(said, true));
        if exception.is_some_and(|exception| exception.share >= MET) {
            outcome = Some(Outcome { share: EXCEPTION_SHARE, fails: false });
            from_text = true;
        }
    }
    if rule.by == Comparison::OrderedLevel && found.is_some() && outcome.is_none() {
        // One of the two values is not on the rule's scale.
        return None;
    }
    let asked = match &upto {
        Some(upto) => json!({ "min": asked, "max": upto }),
        None => asked.clone(),
    };
    let contradicts =
        outcome.is_some_and(|outcome| outcome.fails) && rule.excludes == Excludes::One;
    // The age by the year of birth is only compared; the stated age is shown.
    let stated = match rule.have {
        "age" => other.attributes.get("age").cloned(),
        _ => found.map(|(offered, _)| offered),
    };
    let line = Line {
        field: rule.ask,
        answered_by: rule.have,
        weight: rule.weight
            * if from_text { TEXT_FACTOR } else { 1.0 }
            * if contradicts { CONTRADICTION_FACTOR } else { 1.0 },
        share: outcome.map(|outcome| outcome.share),
        asked,
        found: stated.unwrap_or_default(),
        from_text,
    };
    Some((line, outcome))
}

/// Adds the values of the rule's attribute `with`, if both attributes are lists.
fn with_more_values(rule: &Rule, profile: &Profile, value: Value) -> Value {
    let more = rule.with.and_then(|name| value_of(profile, name));
    match (value, more) {
        (Value::Array(mut values), Some((Value::Array(more), _))) => {
            values.extend(more);
            Value::Array(values)
        }
        (value, _) => value,
    }
}

/// Returns the line about the distance; `None` if the distance does not matter or the asker has no
/// place.
fn distance(
    rule: &'static Rule,
    asker: &Profile,
    other: &Profile,
) -> Option<(Line, Option<Outcome>)> {
    let is_remote = |profile: &Profile| {
        let has_value = |name: &str, value: &str| {
            let value_of = value_of(profile, name).map(|(value, _)| texts(&value));
            value_of.is_some_and(|values| values.iter().any(|known| known == value))
        };
        profile.remote || has_value("workplace_type", "remote") || has_value("venues", "online")
    };
    let is_irrelevant = match rule.remote {
        Remote::Never => asker.remote || other.remote,
        Remote::Other => is_remote(other),
        Remote::Either => is_remote(asker) || is_remote(other),
    };
    if is_irrelevant || asker.place.is_none() {
        return None;
    }
    let distance = distance_km(asker, other);
    let moves = rule.moves.and_then(|moves| value_of(asker, moves));
    let moves = moves.is_some_and(|(moves, _)| moves == true);
    let outcome = distance.map(|distance| Outcome {
        share: (-distance / rule.near_km).exp(),
        fails: rule.slack > 0.0 && distance > rule.slack && !moves,
    });
    let found = distance.map(|distance| {
        let band = BANDS_KM.into_iter().find(|band| distance <= *band);
        band.map_or(json!({ "more_than_km": 1000 }), |band| json!({ "within_km": band }))
    });
    let line = Line {
        field: rule.ask,
        answered_by: rule.have,
        weight: rule.weight,
        share: outcome.map(|outcome| outcome.share),
        asked: Value::Null,
        found: found.unwrap_or_default(),
        from_text: false,
    };
    Some((line, outcome))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{CATEGORIES, category, rules};

    #[test]
    fn every_category_asks_its_counterpart() {
        for asker in CATEGORIES {
            let other = category(asker.counterpart).unwrap();
            assert!(!rules(asker.kind, other.kind).is_empty(), "{} {}", asker.code, other.code);
        }
    }

    #[test]
    fn facts_of_the_index_exclude_contradictions() {
        let profile = json!({
            "listing_id": "lst_1", "owner_id": "own_1", "org_id": null,
            "category": "social.date", "label": "", "side": "demand",
            "counterpart": "social.date", "counterpart_side": "demand", "state": "active",
            "visibility": "public", "min_age": 18, "title": "", "excerpt": "",
            "attributes": { "gender": "woman", "seeking": ["man", "non_binary"] },
            "facts": [], "criteria": {}, "place": null, "remote": false,
            "compensation": null, "published_at": 0,
        });
        let mine: Profile = serde_json::from_value(profile).unwrap();
        let facts = required_facts(&mine, "social.date");
        assert_eq!(facts, [vec!["gender=man", "gender=non_binary"], vec!["seeking=woman"]]);
    }

    #[test]
    fn a_year_of_birth_is_compared_and_not_shown() {
        let person = |age: u64, known: Option<u8>| -> Profile {
            let profile = json!({
                "listing_id": "lst_1", "owner_id": "own_1", "org_id": null,
                "category": "social.date", "label": "", "side": "demand",
                "counterpart": "social.date", "counterpart_side": "demand", "state": "active",
                "visibility": "public", "min_age": 18, "title": "", "excerpt": "",
                "attributes": { "age": age, "seeking_age_min": 40, "seeking_age_max": 60 },
                "facts": [], "criteria": {}, "place": null, "remote": false,
                "compensation": null, "published_at": 0, "age_at_least": known,
            });
            serde_json::from_value(profile).unwrap()
        };
        let age = |other: &Profile| {
            let lines = lines(&person(45, None), other).lines;
            lines.into_iter().find(|line| line.answered_by == "age").unwrap()
        };
        let found = age(&person(35, Some(50)));
        assert_eq!((found.share, found.found), (Some(1.0), json!(35)));
        assert_eq!(age(&person(35, Some(35))).share, Some(0.0));
    }
}
