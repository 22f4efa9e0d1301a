//! How long, and until when, texts say that something lasts, and whether a stay fits.

use crate::{
    compare::days,
    extraction::first_day,
    lines::{Line, value_of},
    tokens::Token,
};
use people_kit::listings::Profile;
use serde_json::{Map, Value};

/// The name of the last day that a text names; it is no attribute.
pub(crate) const UNTIL: &str = "until";
/// The maximum distance, in words, between a time and a word that gives its meaning.
const REACH: usize = 6;
const DAYS_OF_MONTH: f64 = 30.4;
/// How many months a stay may be too short.
const SLACK_MONTHS: f64 = 1.2;
/// How many days one side may end before the other.
const SLACK_DAYS: i64 = 14;
const WEIGHT: f64 = 4.0;

const MONTH: [&str; 9] =
    ["month", "months", "monat", "monate", "monaten", "mes", "meses", "mois", "monats"];
const YEAR: [&str; 12] =
    ["year", "years", "yr", "yrs", "jahr", "jahre", "jahren", "ano", "anos", "an", "ans", "annees"];
/// Words near a duration that is not that of a stay.
const OTHER: &[&str] = &[
    "notice",
    "deposit",
    "kaution",
    "kundigungsfrist",
    "fianza",
    "caution",
    "preavis",
    "preaviso",
    "kaltmieten",
    "ago",
    "vor",
    "hace",
    "ya",
    "il",
    "seit",
    "old",
    "alt",
    "experience",
    "erfahrung",
    "experiencia",
    "deposito",
];
const LEAST: &[&[&str]] = &[
    &["at", "least"],
    &["very", "least"],
    &["minimum"],
    &["min"],
    &["or", "longer"],
    &["or", "more"],
    &["and", "up"],
    &["upwards"],
    &["lease"],
    &["contract"],
    &["mindestens"],
    &["mind"],
    &["wenigstens"],
    &["langer"],
    &["mindestmietdauer"],
    &["mindestlaufzeit"],
    &["minimo"],
    &["al", "menos"],
    &["por", "lo", "menos"],
    &["para", "arriba"],
    &["o", "mas"],
    &["en", "adelante"],
    &["au", "moins"],
    &["ou", "plus"],
    &["fermes"],
    &["minimale"],
    &["bail"],
];
const MOST: &[&[&str]] = &[
    &["at", "most"],
    &["max"],
    &["maximum"],
    &["only"],
    &["no", "longer", "than"],
    &["up", "to"],
    &["just"],
    &["strictly"],
    &["hochstens"],
    &["maximal"],
    &["nur"],
    &["bis", "zu"],
    &["befristet"],
    &["solo"],
    &["maximo"],
    &["como", "mucho"],
    &["no", "mas"],
    &["seulement"],
    &["au", "plus"],
    &["pas", "plus"],
    &["uniquement"],
    &["temporal"],
];
const STAY: &[&[&str]] = &[&["stay"], &["bleiben"], &["rester"], &["quedarme"]];
const ENDS: &[&str] = &[
    "until", "till", "til", "through", "bis", "hasta", "jusqu", "ends", "end", "endet", "termina",
    "finit", "leave", "leaving", "fly", "jusque",
];
const BEGINS: &[&str] = &[
    "from",
    "starting",
    "start",
    "starts",
    "begin",
    "begins",
    "available",
    "free",
    "earliest",
    "before",
    "ab",
    "frei",
    "verfugbar",
    "beginn",
    "fruhestens",
    "erst",
    "desde",
    "partir",
    "disponible",
    "libre",
    "incorporacion",
    "antes",
    "des",
    "dispo",
    "avant",
    "arrive",
    "starten",
];
/// The attribute for the day from which a listing of a kind is or has time.
const FROM: [(&str, &str); 6] = [
    ("candidate", "available_from"),
    ("service", "available_from"),
    ("cofounder", "available_from"),
    ("service_client", "needed_from"),
    ("job", "start_date"),
    ("room_to_let", "available_from"),
];

/// Adds the durations and dates that a text states.
pub(crate) fn add(values: &mut Map<String, Value>, kind: &str, tokens: &[Token], today: &str) {
    for at in 0..tokens.len() {
        let found = duration(kind, tokens, at).or_else(|| date(kind, tokens, at, today));
        if let Some((name, value)) = found {
            values.entry(name).or_insert(value);
        }
    }
}

/// Returns the words of the sentence that are at most `REACH` before and after a place.
fn around(tokens: &[Token], at: usize, length: usize) -> (Vec<&str>, Vec<&str>) {
    let within = |token: &&Token| token.word != ".";
    let before = tokens.get(..at).unwrap_or_default().iter().rev().take(REACH).take_while(within);
    let mut before: Vec<&str> = before.map(|token| token.word.as_str()).collect();
    before.reverse();
    let after = tokens.iter().skip(at + length).take(REACH).take_while(within);
    (before, after.map(|token| token.word.as_str()).collect())
}

fn has(words: &[&str], phrases: &[&[&str]]) -> bool {
    phrases.iter().any(|phrase| words.windows(phrase.len()).any(|window| window == *phrase))
}

/// Returns the shortest or longest stay that a number of months or years at a place states.
fn duration(kind: &str, tokens: &[Token], at: usize) -> Option<(&'static str, Value)> {
    let number = tokens.get(at)?.number.filter(|number| (1.0..=120.0).contains(number))?;
    let unit = tokens.get(at + 1)?.word.as_str();
    let months = match unit {
        // A rent is for one month.
        unit if MONTH.contains(&unit) && number > 1.0 => number,
        unit if YEAR.contains(&unit) => number * 12.0,
        _ => return None,
    };
    let (before, after) = around(tokens, at, 2);
    if before.iter().rev().take(2).chain(after.iter().take(2)).any(|word| OTHER.contains(word)) {
        return None;
    }
    let is = |phrases| has(&before, phrases) || has(&after, phrases);
    let name = match kind {
        "dwelling_to_let" | "room_to_let" | "workspace_to_let" | "parking_to_let" if is(LEAST) => {
            "min_term_months"
        }
        "dwelling_to_let" | "room_to_let" if is(MOST) => "max_term_months",
        "dwelling_wanted" | "room_wanted" | "workspace_wanted" | "parking_wanted"
            if is(LEAST) || is(MOST) || has(&before, STAY) =>
        {
            "term_months"
        }
        _ => return None,
    };
    Some((name, (months as i64).into()))
}

/// Returns the first or last day that a date at a place states.
fn date(kind: &str, tokens: &[Token], at: usize, today: &str) -> Option<(&'static str, Value)> {
    let token = tokens.get(at)?;
    let month = token.month?;
    let is_day = |token: &&Token| {
        token.currency.is_none() && token.number.is_some_and(|day| (1.0..=31.0).contains(&day))
    };
    let is_small = |word: &str| matches!(word, "de" | "of" | "du" | "le" | "el" | "the");
    let day_before = [1, 2].iter().find_map(|back| {
        let place = at.checked_sub(*back)?;
        let between = tokens.get(place + 1..at)?;
        let is_near = between.iter().all(|token| is_small(&token.word));
        tokens.get(place).filter(is_day).filter(|_| is_near).map(|token| (place, token))
    });
    let start = day_before.map_or(at, |(place, _)| place);
    let day_after = tokens.get(at + 1).filter(is_day);
    let (before, _) = around(tokens, start, 1);
    let is_late = before.iter().rev().take(2).any(|word| {
        matches!(*word, "end" | "ende" | "late" | "finales" | "fin" | "fines" | "final")
    });
    let day = day_before.map(|(_, token)| token).or(day_after).and_then(|token| token.number);
    let first = first_day(month, today)?;
    let last_day = before.iter().any(|word| ENDS.contains(word)) && day.is_none();
    let day = match day {
        Some(day) => day as u64,
        None if is_late || last_day => 28,
        None if before.iter().rev().take(1).any(|word| word.starts_with("mi")) => 15,
        None => 1,
    };
    let date = Value::from(format!("{}-{day:02}", first.get(..7)?));
    let nearest = before.iter().rev().find_map(|word| {
        if ENDS.contains(word) && !matches!(*word, "end") {
            Some(true)
        } else if BEGINS.contains(word) || *word == "desde" && kind == "job" {
            Some(false)
        } else {
            None
        }
    });
    match nearest? {
        true => Some((UNTIL, date)),
        false => {
            let (_, name) = FROM.iter().find(|(known, _)| *known == kind)?;
            Some((name, date))
        }
    }
}

fn day_of(profile: &Profile, name: &str) -> Option<(i64, bool)> {
    let (value, in_text) = value_of(profile, name)?;
    Some((days(value.as_str()?)?, in_text))
}

fn months_of(profile: &Profile, name: &str) -> Option<f64> {
    value_of(profile, name)?.0.as_f64()
}

/// Returns the line about the last day of one of two listings, if it does not fit what the other one
/// says.
pub(crate) fn line(asker: &Profile, other: &Profile) -> Option<Line> {
    let until = |profile: &Profile| day_of(profile, UNTIL).map(|(day, _)| day);
    let start = |profile: &Profile| {
        ["move_in_from", "needed_from", "available_from"]
            .into_iter()
            .find_map(|name| day_of(profile, name))
            .map(|(day, _)| day)
    };
    let begins = start(asker).max(start(other));
    let stay = |until: Option<i64>| Some((until? - begins?) as f64 / DAYS_OF_MONTH);
    let too_short = |has: Option<f64>, asked: Option<f64>| {
        has.zip(asked).is_some_and(|(has, asked)| has > 0.0 && has + SLACK_MONTHS < asked)
    };
    if asker.category.starts_with("work.") {
        return None;
    }
    let is_home = |profile: &Profile| profile.category.starts_with("home.");
    let fails = if is_home(asker) {
        too_short(stay(until(other)), months_of(asker, "term_months"))
            || too_short(stay(until(other)), months_of(asker, "min_term_months"))
    } else {
        until(asker).zip(until(other)).is_some_and(|(asked, found)| found + SLACK_DAYS < asked)
    };
    let found = other.said.get(UNTIL).cloned().unwrap_or_default();
    let term = ["term_months", "min_term_months"].iter().find_map(|name| value_of(asker, name));
    let asked = asker.said.get(UNTIL).cloned().or(term.map(|(term, _)| term)).unwrap_or_default();
    fails.then(|| Line {
        field: UNTIL,
        answered_by: UNTIL,
        weight: WEIGHT,
        share: Some(0.0),
        asked,
        found,
        from_text: true,
    })
}

#[cfg(test)]
mod tests {
    use crate::{extract_values, lines};
    use people_kit::listings::Profile;
    use serde_json::json;

    #[test]
    fn stays_and_last_days_are_read() {
        for (code, text, name, expected) in [
            ("home.let.room", "Estancia de diez meses para arriba", "min_term_months", json!(10)),
            (
                "home.let.apartment",
                "Wir vermieten mindestens zwölf Monate",
                "min_term_months",
                json!(12),
            ),
            ("home.rent.room", "I would stay for six months", "term_months", json!(6)),
            (
                "home.let.apartment",
                "Only free until the end of August",
                "until",
                json!("2027-08-28"),
            ),
            (
                "work.candidate.hospitality",
                "Disponible le 29 mars",
                "available_from",
                json!("2027-03-29"),
            ),
            ("pro.service.tutoring", "I leave on 3 May", "until", json!("2027-05-03")),
        ] {
            let said = extract_values(code, text, "2026-11-24");
            assert_eq!(said.get(name), Some(&expected), "{text}: {said:?}");
        }
    }

    #[test]
    fn a_stay_that_ends_too_soon_is_a_gap() {
        let profile = |category: &str, attributes: serde_json::Value, text: &str| -> Profile {
            let profile = json!({
                "listing_id": "lst_1", "owner_id": "own_1", "org_id": null,
                "category": category, "label": "", "side": "demand",
                "counterpart": "home.let.apartment", "counterpart_side": "offer", "state": "active",
                "visibility": "public", "min_age": 0, "title": "", "excerpt": "",
                "attributes": attributes, "facts": [], "criteria": {}, "place": null,
                "remote": false, "compensation": null, "published_at": 0,
                "said": extract_values(category, text, "2026-11-24"),
            });
            serde_json::from_value(profile).unwrap()
        };
        let wanted = json!({ "min_bedrooms": 1, "move_in_from": "2027-01-01", "term_months": 12 });
        let wanted = profile("home.rent.apartment", wanted, "");
        let flat = |text: &str| {
            let attributes = json!({ "bedrooms": 1, "available_from": "2027-01-01" });
            profile("home.let.apartment", attributes, text)
        };
        let is_too_short = |text: &str| {
            lines(&wanted, &flat(text)).lines.iter().any(|line| line.field == super::UNTIL)
        };
        assert!(is_too_short("You can have it until the end of April"));
        assert!(!is_too_short("You can have it as long as you like"));
    }
}
