//! The comparisons of two values.

use crate::{
    tables::{Comparison, REGIONS, Rule},
    tags,
};
use people_kit::listings::{Compensation, NO_CURRENCY, Profile};
use people_kit::taxonomy::Side;
use serde_json::Value;

const EARTH_RADIUS_KM: f64 = 6371.0;
/// The score of a value that is close to the asked one.
const NEARLY: f64 = 0.5;
/// The highest score of a value that does not meet the asked one.
const MISSED: f64 = 0.6;
/// The share of the certificates asked for below which the other listing is excluded.
const BARELY_HELD: f64 = 0.2;
/// How much an amount in a text may be missed, as a share.
const FIRM: f64 = 0.05;
const LEVELS: [&str; 6] = ["A1", "A2", "B1", "B2", "C1", "C2"];

/// The result of comparing a value with the asked one; `share` is from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) share: f64,
    /// Whether the difference is larger than the rule allows.
    pub(crate) fails: bool,
}

impl Outcome {
    fn partial(share: f64) -> Self {
        Self { share, fails: false }
    }

    fn failed() -> Self {
        Self { share: 0.0, fails: true }
    }

    fn when(holds: bool) -> Self {
        if holds { Self::partial(1.0) } else { Self::failed() }
    }

    /// Returns how well a number meets the asked one if `missing` is the difference and `slack` the
    /// allowed difference.
    fn by_difference(missing: f64, slack: f64) -> Self {
        if missing <= 0.0 {
            Self::partial(1.0)
        } else if missing <= slack {
            Self::partial(MISSED * (1.0 - missing / (slack + slack.max(1.0) * 0.1)))
        } else {
            Self::failed()
        }
    }
}

/// Two values that a rule compares.
pub(crate) struct Values<'a> {
    pub(crate) rule: &'static Rule,
    pub(crate) asker: &'a Profile,
    pub(crate) other: &'a Profile,
    pub(crate) asked: &'a Value,
    pub(crate) upto: Option<&'a Value>,
    pub(crate) offered: &'a Value,
    /// Whether one of the values was only found in a text.
    pub(crate) in_text: bool,
}

impl Values<'_> {
    /// Returns how well `had` meets `asked`; `None` if the two values cannot be compared.
    pub(crate) fn compare(&self) -> Option<Outcome> {
        let (rule, asked, offered) = (self.rule, texts(self.asked), texts(self.offered));
        let outcome = match rule.by {
            Comparison::AtLeast => self.number(|asked, offered| asked - offered)?,
            Comparison::AtMost => self.number(|asked, offered| offered - asked)?,
            Comparison::WithinRange => {
                let offered = number(self.offered)?;
                let above = number(self.asked).is_none_or(|least| offered >= least);
                Outcome::when(
                    above && self.upto.and_then(number).is_none_or(|most| offered <= most),
                )
            }
            Comparison::Overlaps => self.overlap(&asked, &offered),
            Comparison::ContainsAll => {
                let met = asked.iter().filter(|asked| contains(&offered, asked)).count();
                Outcome { share: f64::from(met == asked.len()), fails: met == 0 }
            }
            Comparison::SharesTags => {
                self.tags(tags::shares(&asked, &offered, &self.other.gist))?
            }
            Comparison::CoversTags => {
                self.tags(tags::covers(&asked, &offered, &self.other.gist))?
            }
            Comparison::Holds => {
                let share = tags::holds(&asked, &offered);
                Outcome {
                    share,
                    fails: share < BARELY_HELD && tags::in_one_language(&asked, &offered),
                }
            }
            Comparison::Implies
                if offered.iter().any(|offered| rule.partly.contains(&offered.as_str())) =>
            {
                Outcome::partial(1.0 - 0.5 * NEARLY)
            }
            Comparison::Implies => {
                Outcome::when(offered.iter().any(|offered| rule.needs.contains(&offered.as_str())))
            }
            Comparison::Avoids => {
                Outcome::when(!asked.iter().any(|asked| contains(&offered, asked)))
            }
            Comparison::OrderedLevel => self.level(&asked, &offered)?,
            Comparison::LanguageLevel => language_level(&asked, &offered)?,
            Comparison::WithinRegion => Outcome::when(is_within_region(&asked, &offered)),
            Comparison::WithinBudget => self.budget(true)?,
            Comparison::PaysEnough => self.budget(false)?,
            Comparison::PaysEither => self.budget(self.asker.side == Side::Demand)?,
            // A listing's place is not among the compared values; `lines` compares the distance.
            Comparison::WithinKm => return None,
        };
        Some(outcome)
    }

    /// Returns how well tags meet the asked ones; `None` if they have nothing in common and the
    /// listings are in different languages, because the tags may be translations of each other.
    fn tags(&self, share: f64) -> Option<Outcome> {
        let language = |profile: &Profile| tags::language(&profile.title, &profile.excerpt);
        (share > 0.0 || language(self.asker) == language(self.other))
            .then_some(Outcome::partial(share))
    }

    /// Compares numbers or dates; `missing` returns how much is missing. Returns `None` for amounts
    /// in different currencies, and if a value is neither a number nor a date.
    fn number(&self, missing: impl Fn(f64, f64) -> f64) -> Option<Outcome> {
        let currency = |profile: &Profile| profile.attributes.get("currency").cloned();
        if self.rule.in_currency && currency(self.asker) != currency(self.other) {
            return None;
        }
        let (asked, offered) = (number(self.asked)? + self.rule.plus, number(self.offered)?);
        let slack = self.rule.slack * if self.rule.relative { asked.abs() } else { 1.0 };
        Some(Outcome::by_difference(missing(asked, offered), slack))
    }

    fn overlap(&self, asked: &[String], offered: &[String]) -> Outcome {
        if asked.iter().any(|asked| contains(offered, asked)) {
            return Outcome::partial(1.0);
        }
        let near = |one: &str, other: &str| {
            asked.iter().any(|asked| asked == one) && offered.iter().any(|offered| offered == other)
        };
        let is_near =
            self.rule.near.iter().any(|(one, other)| near(one, other) || near(other, one));
        if is_near { Outcome::partial(NEARLY) } else { Outcome::failed() }
    }

    fn level(&self, asked: &[String], offered: &[String]) -> Option<Outcome> {
        let place = |level: &String| self.rule.scale.iter().position(|known| known == level);
        let offered: Vec<usize> = offered.iter().filter_map(place).collect();
        let distances = asked
            .iter()
            .filter_map(place)
            .flat_map(|asked| offered.iter().map(move |offered| asked.abs_diff(*offered)));
        let nearest = distances.min()? as f64;
        Some(match nearest <= self.rule.slack {
            true => Outcome::partial(1.0 - NEARLY * nearest),
            false => Outcome::failed(),
        })
    }

    /// Compares what one side pays with what the other side asks; returns `None` if currencies or
    /// periods differ and cannot be converted.
    fn budget(&self, asker_pays: bool) -> Option<Outcome> {
        let (asked, offered) = (pay(self.asked, self.offered)?, pay(self.offered, self.asked)?);
        let (payer, payee) = if asker_pays { (&asked, &offered) } else { (&offered, &asked) };
        let is_named = |pay: &Compensation| pay.currency != NO_CURRENCY;
        if payer.currency != payee.currency && is_named(payer) && is_named(payee) {
            return None;
        }
        let is_home = self.asker.category.starts_with("home.");
        let factor = match (payee.unit.per_year(is_home), payer.unit.per_year(is_home)) {
            (Some(payee), Some(payer)) => payee / payer,
            (None, None) => 1.0,
            _ => return None,
        };
        let price = payee.min.or(payee.max)? * factor;
        // An amount in a text is mostly there because it is a limit.
        let slack = if self.in_text { self.rule.slack.min(FIRM) } else { self.rule.slack };
        match (payer.max, payer.min) {
            (Some(most), _) => Some(Outcome::by_difference(
                price - most,
                slack * most.abs().max(f64::MIN_POSITIVE),
            )),
            // Only a minimum of the pay is known.
            (None, Some(least)) if price <= least => Some(Outcome::partial(1.0)),
            _ => None,
        }
    }
}

/// Parses an amount; without a unit, it has the unit of the other amount.
fn pay(value: &Value, other: &Value) -> Option<Compensation> {
    let mut members = value.as_object()?.clone();
    if let (false, Some(unit)) = (members.contains_key("unit"), other.get("unit")) {
        members.insert("unit".into(), unit.clone());
    }
    serde_json::from_value(Value::Object(members)).ok()
}

fn language_level(asked: &[String], offered: &[String]) -> Option<Outcome> {
    let level = |text: &str| {
        let (language, level) = text.split_once(':')?;
        Some((language.to_owned(), LEVELS.iter().position(|known| *known == level)?))
    };
    let offered: Vec<(String, usize)> = offered.iter().filter_map(|text| level(text)).collect();
    let missing = asked.iter().filter_map(|text| {
        let (language, asked) = level(text)?;
        let (_, offered) = offered.iter().find(|(known, _)| *known == language)?;
        Some(asked.saturating_sub(*offered))
    });
    let worst = missing.max()? as f64;
    Some(Outcome::by_difference(worst, 0.0))
}

fn is_within_region(asked: &[String], offered: &[String]) -> bool {
    let is_part = |part: &str, whole: &str| {
        let rest = part.strip_prefix(whole);
        let country = part.split('-').next().unwrap_or_default();
        let countries = REGIONS.iter().find(|(region, _)| *region == whole);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            || countries.is_some_and(|(_, countries)| countries.contains(&country))
    };
    asked.iter().any(|one| offered.iter().any(|other| is_part(one, other) || is_part(other, one)))
}

/// Returns the values of a list, or the one value, as texts.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    };
    match value {
        Value::Array(values) => values.iter().map(text).collect(),
        Value::Null => Vec::new(),
        other => vec![text(other)],
    }
}

/// Whether a text is in the list. Only the parts before a hyphen are compared, because a language
/// may be stated with or without its region.
fn contains(list: &[String], text: &str) -> bool {
    let language = |text: &str| text.split('-').next().unwrap_or_default().to_lowercase();
    list.iter().any(|listed| language(listed) == language(text))
}

/// Whether two values are equal as in the taxonomy: numbers by their size, texts without regard to
/// case.
pub fn are_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) => {
            one.trim().to_lowercase() == other.trim().to_lowercase()
        }
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}

/// Returns a number, or a date as the number of days since 1970-01-01.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| days(value.as_str()?).map(|days| days as f64))
}

/// Returns the number of days from 1970-01-01 to a date of the form `YYYY-MM-DD`; `None` if it has
/// no numbers at these positions.
pub fn days(date: &str) -> Option<i64> {
    let part = |range: std::ops::Range<usize>| date.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (part(0..4)?, part(5..7)?, part(8..10)?);
    // Years begin in March here, so that the leap day is the last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// Returns the distance in kilometres between the places of two listings on a sphere; `None` if one
/// has no place.
pub fn distance_km(one: &Profile, other: &Profile) -> Option<f64> {
    let (one, other) = (one.place.as_ref()?, other.place.as_ref()?);
    let (lat, other_lat) = (one.lat.to_radians(), other.lat.to_radians());
    let half = |from: f64, to: f64| ((to - from) / 2.0).sin().powi(2);
    let between = half(lat, other_lat)
        + lat.cos() * other_lat.cos() * half(one.lng.to_radians(), other.lng.to_radians());
    Some(2.0 * EARTH_RADIUS_KM * between.sqrt().min(1.0).asin())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn dates_are_days() {
        assert_eq!(days("1970-01-01"), Some(0));
        assert_eq!(days("2000-03-01"), Some(11_017));
        assert_eq!(days("2027-01-01").unwrap() - days("2026-12-01").unwrap(), 31);
        assert_eq!(days("soon"), None);
    }

    #[test]
    fn a_part_of_a_country_is_within_it() {
        let within = |one: &str, other: &str| is_within_region(&[one.into()], &[other.into()]);
        assert!(within("US", "US-CA") && within("US-CA", "US") && within("DE", "EU"));
        assert!(!within("US-CA", "US-NY") && !within("AT", "DE") && !within("US", "EU"));
    }

    #[test]
    fn what_is_missing_counts_less_and_less() {
        assert_eq!(Outcome::by_difference(0.0, 0.0).share, 1.0);
        assert!(Outcome::by_difference(1.0, 2.0).share > Outcome::by_difference(2.0, 2.0).share);
        assert!(Outcome::by_difference(1.0, 0.0).fails && !Outcome::by_difference(1.0, 1.0).fails);
    }

    #[test]
    fn levels_of_languages_are_ordered() {
        let outcome =
            |asked: &str, offered: &str| language_level(&[asked.into()], &[offered.into()]);
        assert_eq!(outcome("de:B2", "de:C1").unwrap().share, 1.0);
        assert!(outcome("de:C1", "de:A2").unwrap().fails);
        assert_eq!(outcome("de:C1", "fr:C2"), None);
    }

    #[test]
    fn values_are_equal_as_in_the_taxonomy() {
        assert!(are_equal(&json!("Rust "), &json!("rust")) && are_equal(&json!(2), &json!(2.0)));
        assert!(!are_equal(&json!("2"), &json!(2)));
    }
}
