//! Finds the price, rent, wage or budget that a text states, with its extra costs.

use crate::{
    tables::{COSTS, EXTRA_COSTS, NO_PRICES, PRICE_WORDS, PRICES, Price},
    tokens::Token,
};
use people_kit::{listings::NO_CURRENCY, words};
use serde_json::Value;

/// How many words away from an amount one of `PRICE_WORDS` may be, which says that the amount is a
/// price.
const REACH: usize = 4;
/// How many words away from an amount one of `NO_PRICES` may be, which says that the amount is no
/// price.
const OTHER_WITHIN: usize = 2;
/// How many words before an amount one of `EXTRA_COSTS` may be, which says that the amount is an
/// extra cost.
const EXTRA_WITHIN: usize = 6;
/// Words that join extra costs.
const AND: [&str; 4] = ["und", "and", "y", "et"];
/// How many words after an amount its period may be.
const PERIOD_WITHIN: usize = 3;
/// Numbers that count as years unless they have a currency.
const YEARS: std::ops::Range<f64> = 1900.0..2101.0;

/// The largest number that does not count as another amount.
const SMALL_NUMBER: f64 = 20.0;
/// A wage below this number is one for an hour.
const SMALL_WAGE: f64 = 150.0;

/// An amount of a text.
struct Amount {
    at: usize,
    number: f64,
    currency: Option<&'static str>,
    unit: Option<&'static str>,
    is_extra: bool,
}

/// Returns the price or budget that a text of a listing of this kind states, as `compensation`.
/// `period` returns the period that a word names, and `yearly` the lowest salary for a year in a
/// currency.
pub(crate) fn price(
    kind: &str,
    tokens: &[Token],
    period: impl Fn(&str) -> Option<&'static str>,
    yearly: impl Fn(Option<&str>) -> f64,
) -> Option<Value> {
    let price = PRICES.iter().find(|price| price.kinds.contains(&kind))?;
    let mut amounts: Vec<Amount> = Vec::new();
    for at in 0..tokens.len() {
        let Some(mut found) = amount(price, tokens, at, &period) else { continue };
        let joins = at.checked_sub(1).and_then(|before| tokens.get(before));
        let joins = joins.is_some_and(|word| AND.contains(&word.word.as_str()));
        found.is_extra |= joins && amounts.last().is_some_and(|last| last.is_extra);
        amounts.push(found);
    }
    let main: Vec<&Amount> = amounts.iter().filter(|amount| !amount.is_extra).collect();
    let first = match price.part {
        "max" => main.iter().max_by(|one, other| one.number.total_cmp(&other.number)).copied(),
        _ => main.first().copied(),
    }?;
    let extras = amounts.iter().filter(|amount| amount.is_extra && amount.at > first.at);
    let total: f64 = match price.part {
        "both" => first.number + extras.map(|extra| extra.number).sum::<f64>(),
        _ => first.number,
    };
    let unit = match first.unit.unwrap_or(price.unit) {
        "YEAR" if first.unit.is_none() && total < SMALL_WAGE => "HOUR",
        // A salary that is too small for a year is one for a month.
        "YEAR" if first.unit.is_none() && total < yearly(first.currency) => "MONTH",
        unit => unit,
    };
    let names = ["min", "max"].into_iter().filter(|name| [*name, "both"].contains(&price.part));
    let currency = first.currency.unwrap_or(NO_CURRENCY).into();
    let unit = (!unit.is_empty()).then(|| ("unit", unit.into()));
    let about = [("currency", currency)].into_iter().chain(unit);
    let pay = about.chain(names.map(|name| (name, total.into())));
    Some(pay.map(|(name, value): (&str, Value)| (name.to_owned(), value)).collect())
}

/// Returns the amount at a place, if it is a price or an extra cost.
fn amount(
    price: &Price,
    tokens: &[Token],
    at: usize,
    period: impl Fn(&str) -> Option<&'static str>,
) -> Option<Amount> {
    let token = tokens.get(at)?;
    let number = token.number?;
    let following = tokens.iter().skip(at + 1).take(PERIOD_WITHIN);
    let following = following.take_while(|token| is_within(token));
    let unit = following.filter_map(|token| period(&token.word)).next();
    let is_extra = is_before(tokens, at, EXTRA_COSTS) || follows(tokens, at, COSTS);
    let is_money = token.currency.is_some()
        || number >= price.least
            && !YEARS.contains(&number)
            && (is_extra || is_near(tokens, at, REACH, PRICE_WORDS));
    let is_other = is_near(tokens, at, OTHER_WITHIN, NO_PRICES);
    let fits = number >= if is_extra { 1.0 } else { price.least.min(price.least_with_currency) };
    (is_money && fits && !is_other && token.month.is_none()).then_some(Amount {
        at,
        number,
        currency: token.currency,
        unit,
        is_extra,
    })
}

/// Whether one of the wanted words is at most `EXTRA_WITHIN` words before a place, in the same
/// sentence and after any other amount.
fn is_before(tokens: &[Token], at: usize, wanted: &[&str]) -> bool {
    let before = tokens.get(..at).unwrap_or_default().iter().rev().take(EXTRA_WITHIN);
    let mut before = before.take_while(|token| is_within(token));
    before.any(|token| wanted.iter().any(|wanted| fits(&token.word, wanted)))
}

/// Whether the next word is one of the wanted ones.
fn follows(tokens: &[Token], at: usize, wanted: &[&str]) -> bool {
    let next = tokens.get(at + 1).filter(|next| !next.word.chars().any(words::is_cjk));
    next.is_some_and(|next| wanted.iter().any(|wanted| fits(&next.word, wanted)))
}

/// Whether a token is neither the end of a sentence nor another amount.
fn is_within(token: &Token) -> bool {
    token.word != "." && token.number.is_none_or(|number| number <= SMALL_NUMBER)
}

fn fits(word: &str, wanted: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(start) => word.starts_with(start),
        None if wanted.chars().any(words::is_cjk) => word.contains(wanted),
        None => word == wanted,
    }
}

/// Whether one of the wanted words is at most `reach` words away from a place, in the same sentence
/// and not beyond another amount.
fn is_near(tokens: &[Token], at: usize, reach: usize, wanted: &[&str]) -> bool {
    let before = tokens.get(..at).unwrap_or_default().iter().rev().take(reach);
    let after = tokens.iter().skip(at + 1).take(reach);
    let before = before.take_while(|token| is_within(token));
    let after = after.take_while(|token| is_within(token));
    let mut near = before.chain(after);
    near.any(|token| wanted.iter().any(|wanted| fits(&token.word, wanted)))
}

#[cfg(test)]
mod tests {
    use people_kit::listings::NO_CURRENCY;
    use serde_json::json;

    #[test]
    fn prices_are_read_with_their_extra_costs() {
        for (code, text, expected) in [
            (
                "home.let.apartment",
                "Kaltmiete 900 €, dazu 150 € Nebenkosten und 60 € für die Heizung. 60 m²",
                json!({ "currency": "EUR", "unit": "MONTH", "min": 1110.0, "max": 1110.0 }),
            ),
            (
                "home.let.apartment",
                "家賃は11万8千円、ほかに管理費1万3千円です",
                json!({ "currency": "JPY", "unit": "MONTH", "min": 131_000.0, "max": 131_000.0 }),
            ),
            (
                "home.let.room",
                "It is two hundred and forty a week, deposit 500",
                json!({ "currency": NO_CURRENCY, "unit": "WEEK", "min": 240.0, "max": 240.0 }),
            ),
            (
                "home.rent.apartment",
                "Schmerzgrenze sind zwölfhundert im Monat",
                json!({ "currency": NO_CURRENCY, "unit": "MONTH", "max": 1200.0 }),
            ),
            (
                "work.candidate.hospitality",
                "En dessous de deux mille huit cents net je ne bouge pas",
                json!({ "currency": NO_CURRENCY, "unit": "MONTH", "min": 2800.0 }),
            ),
            (
                "pro.service.cleaning",
                "650 por visita, precio parejo",
                json!({ "currency": NO_CURRENCY, "unit": "ONCE", "min": 650.0, "max": 650.0 }),
            ),
        ] {
            let said = crate::extract_values(code, text, "2026-11-24");
            assert_eq!(said.get("compensation"), Some(&expected), "{text}");
        }
        let none =
            crate::extract_values("home.let.apartment", "Built in 1998, 3 rooms", "2026-11-24");
        assert_eq!(none.get("compensation"), None);
    }
}
