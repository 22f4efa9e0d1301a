//! Reads a funding round from a headline: its amount, its name and its investors.

use regex::Regex;
use std::sync::LazyLock;

const RAISES: &str =
    r"(?i)\b(?:raises?|raised|secures?|secured|closes?|closed|lands?|landed|bags?|led)\b";
const AMOUNT: &str =
    r"(?i)(US\$|[$€£])\s?(\d[\d,]*(?:\.\d+)?)\s?(k|thousand|million|mn|m|billion|bn|b)?\b";
const ROUND: &str = r"(?i)\b(pre-?seed|seed|series\s[a-h]|growth|bridge)\b";
const LEAD: &str = r"\b[Ll]ed by ([^.;:]+?)(?:,? with\b|,? alongside\b|[.;:]|$)";
const OTHERS: &str = r"\b(?:participation (?:from|by)|alongside|joined by) ([^.;:]+?)(?:[.;:]|$)";

struct Patterns {
    raises: Regex,
    amount: Regex,
    round: Regex,
    lead: Regex,
    others: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    Some(Patterns {
        raises: Regex::new(RAISES).ok()?,
        amount: Regex::new(AMOUNT).ok()?,
        round: Regex::new(ROUND).ok()?,
        lead: Regex::new(LEAD).ok()?,
        others: Regex::new(OTHERS).ok()?,
    })
});

/// A funding round. Each investor has a name, and whether it leads the round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Money {
    pub(super) currency: Option<&'static str>,
    pub(super) amount: Option<u64>,
    pub(super) round: Option<String>,
    pub(super) investors: Vec<(String, bool)>,
}

/// Returns the round in a text, if there is one. A filing needs no verb such as "raises".
pub(super) fn read(title: &str, text: &str, filing: bool) -> Option<Money> {
    let patterns = PATTERNS.as_ref()?;
    let whole = format!("{title}. {text}");
    let amount = patterns.amount.captures(title).or_else(|| patterns.amount.captures(&whole));
    let round = patterns.round.captures(title).or_else(|| patterns.round.captures(&whole));
    let speaks = patterns.raises.is_match(title) && (amount.is_some() || round.is_some());
    if !filing && !speaks {
        return None;
    }
    let (currency, amount) = match amount {
        Some(found) => {
            let part = |at| found.get(at).map_or("", |matched: regex::Match<'_>| matched.as_str());
            (currency(part(1)), units(part(2), part(3)))
        }
        None => (None, None),
    };
    let names = |pattern: &Regex, lead| {
        let found = pattern
            .captures(&whole)
            .and_then(|captures| Some(captures.get(1)?.as_str().to_owned()));
        found.map(|names| split(&names, lead)).unwrap_or_default()
    };
    let mut investors = names(&patterns.lead, true);
    for (name, lead) in names(&patterns.others, false) {
        if !investors.iter().any(|(known, _)| *known == name) {
            investors.push((name, lead));
        }
    }
    let round = round.and_then(|captures| Some(round_name(captures.get(1)?.as_str())));
    Some(Money { currency: currency.filter(|_| amount.is_some()), amount, round, investors })
}

fn currency(sign: &str) -> Option<&'static str> {
    match sign {
        "€" => Some("EUR"),
        "£" => Some("GBP"),
        "" => None,
        _ => Some("USD"),
    }
}

fn units(number: &str, scale: &str) -> Option<u64> {
    let number: f64 = number.replace(',', "").parse().ok()?;
    let scale = match scale.to_lowercase().chars().next() {
        Some('k' | 't') => 1e3,
        Some('m') => 1e6,
        Some('b') => 1e9,
        _ => 1.0,
    };
    // The conversion goes through text, as there is no `TryFrom<f64>` for integers.
    let units = (number * scale).round();
    (units <= 1e13).then(|| format!("{units:.0}").parse().ok()).flatten()
}

/// Returns the name of a round: "series a" → "series_a", "Pre-Seed" → "pre_seed".
fn round_name(text: &str) -> String {
    let lower = text.to_lowercase().replace([' ', '-'], "_");
    if lower == "preseed" { "pre_seed".to_owned() } else { lower }
}

fn split(names: &str, lead: bool) -> Vec<(String, bool)> {
    let names = names.replace(" and ", ", ");
    let names = names.split(',').map(|name| crate::text::line(name, 120));
    names.filter(|name| name.starts_with(char::is_uppercase)).map(|name| (name, lead)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_read_from_headlines() {
        assert!(PATTERNS.is_some());
        let text = "The round was led by Harbour Light Ventures, with participation from Tidewater Capital and Gull Fund.";
        let money = read("Copperleaf Robotics raises $12.5 million Series A", text, false).unwrap();
        assert_eq!((money.currency, money.amount), (Some("USD"), Some(12_500_000)));
        assert_eq!(money.round.as_deref(), Some("series_a"));
        let investors: Vec<_> =
            money.investors.iter().map(|(name, lead)| (name.as_str(), *lead)).collect();
        assert_eq!(
            investors,
            [("Harbour Light Ventures", true), ("Tidewater Capital", false), ("Gull Fund", false)]
        );
        let filing = read(
            "Notice of exempt offering: Copperleaf",
            "Total offering amount $12,500,000",
            true,
        );
        assert_eq!(filing.unwrap().amount, Some(12_500_000));
        let euros = read("Copperleaf closes €900k pre-seed", "", false).unwrap();
        assert_eq!((euros.currency, euros.amount), (Some("EUR"), Some(900_000)));
        assert_eq!(euros.round.as_deref(), Some("pre_seed"));
    }

    #[test]
    fn other_headlines_have_no_round() {
        for title in [
            "Copperleaf raises the bar",
            "Copperleaf closes its doors",
            "A $5 sandwich",
            "Seed library opens",
        ] {
            assert_eq!(read(title, "", false), None, "{title}");
        }
    }
}
