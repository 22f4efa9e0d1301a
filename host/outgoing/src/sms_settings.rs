//! The operator's settings of text messages: to which numbers they go, what they cost, and what may be spent.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The prefixes of no country: freephone and shared cost of all countries, ships, satellites, personal numbers,
/// international networks, disaster relief, premium rate (ITU-T E.164). A message to one costs many times as much,
/// so none is ever sent.
pub const NEVER_PREFIXES: [&str; 9] =
    ["+800", "+808", "+870", "+878", "+881", "+882", "+883", "+888", "+979"];
/// The prefix of every number.
const EVERYWHERE: &str = "+";
const MOST_DIGITS: usize = 15;
/// The units in which costs are counted, of one unit of the operator's currency.
const MICROS: f64 = 1e6;
const LARGEST: f64 = 1e9;

/// The operator's settings of text messages. Prices and the budget are in one currency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TextMessageSettings {
    /// The first digits of the numbers that get messages. Of both lists, the longer matching prefix decides.
    pub allowed_prefixes: Vec<String>,
    pub refused_prefixes: Vec<String>,
    /// The price of a message by the first digits of its number.
    pub prices: BTreeMap<String, f64>,
    pub default_price: f64,
    pub daily_budget: f64,
    /// The part of the budget that is kept for people who have an account, in per cent.
    pub reserved_percent: u64,
}

impl Default for TextMessageSettings {
    fn default() -> Self {
        Self {
            allowed_prefixes: vec![EVERYWHERE.to_owned()],
            refused_prefixes: Vec::new(),
            prices: BTreeMap::new(),
            default_price: 0.1,
            daily_budget: 50.0,
            reserved_percent: 30,
        }
    }
}

impl TextMessageSettings {
    /// Returns every fault of the settings, each with its fix.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let lists = [
            ("allowed_prefixes", self.allowed_prefixes.iter().collect::<Vec<_>>()),
            ("refused_prefixes", self.refused_prefixes.iter().collect()),
            ("prices", self.prices.keys().collect()),
        ];
        for (name, prefixes) in lists {
            for prefix in prefixes.into_iter().filter(|prefix| !is_prefix(prefix)) {
                faults.push(format!(
                    "text_messages.{name} has {prefix:?}: write the first digits of numbers, such as \"+44\" or \"+1201\""
                ));
            }
        }
        let named =
            self.prices.iter().map(|(prefix, price)| (format!("prices.{prefix:?}"), *price));
        let amounts = [("default_price", self.default_price), ("daily_budget", self.daily_budget)];
        let amounts = amounts.map(|(name, amount)| (name.to_owned(), amount));
        for (name, amount) in named.chain(amounts) {
            if !(0.0..=LARGEST).contains(&amount) {
                faults.push(format!("text_messages.{name} is {amount}: it must be 0 to {LARGEST}"));
            }
        }
        if self.reserved_percent > 100 {
            faults.push(format!(
                "text_messages.reserved_percent is {}: it must be 0 to 100",
                self.reserved_percent
            ));
        }
        faults
    }

    /// Returns the price of a message to this number, in millionths; `None` if it gets none.
    pub fn price(&self, number: &str) -> Option<u64> {
        let longest = |prefixes: &[String]| {
            let lengths = prefixes.iter().filter(|prefix| number.starts_with(prefix.as_str()));
            lengths.map(String::len).max()
        };
        let allowed = longest(&self.allowed_prefixes)?;
        let is_refused = longest(&self.refused_prefixes).is_some_and(|length| length >= allowed);
        if is_refused || NEVER_PREFIXES.iter().any(|prefix| number.starts_with(prefix)) {
            return None;
        }
        let priced = self.prices.iter().filter(|(prefix, _)| number.starts_with(prefix.as_str()));
        let price = priced.max_by_key(|(prefix, _)| prefix.len()).map(|(_, price)| *price);
        Some(micros(price.unwrap_or(self.default_price)))
    }

    /// Returns the price of a message to a number without a price of its own, in millionths.
    pub fn default_price(&self) -> u64 {
        micros(self.default_price)
    }

    /// Returns what may be spent in a day, in millionths: for everybody, and for people without an account.
    pub fn budgets(&self) -> (u64, u64) {
        let whole = micros(self.daily_budget);
        let reserved = u128::from(whole) * u128::from(self.reserved_percent.min(100)) / 100;
        (whole, whole - u64::try_from(reserved).unwrap_or(whole))
    }
}

fn micros(amount: f64) -> u64 {
    (amount * MICROS).round() as u64
}

fn is_prefix(text: &str) -> bool {
    text.strip_prefix('+').is_some_and(|digits| {
        digits.len() <= MOST_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn the_longest_prefix_decides_and_some_never_get_a_message() {
        let settings = TextMessageSettings {
            allowed_prefixes: texts(&["+1", "+44", "+881"]),
            refused_prefixes: texts(&["+1876", "+44"]),
            prices: [("+1".to_owned(), 0.01), ("+1201".to_owned(), 0.02)].into(),
            ..TextMessageSettings::default()
        };
        for (number, price) in [
            ("+12125550123", Some(10_000)),
            ("+12015550123", Some(20_000)),
            ("+18765550123", None),
            ("+447400123456", None),
            ("+33612345678", None),
            ("+881612345678", None),
        ] {
            assert_eq!(settings.price(number), price, "{number}");
        }
        let default = TextMessageSettings::default();
        assert_eq!(default.price("+33612345678"), Some(100_000));
        for prefix in NEVER_PREFIXES {
            assert_eq!(default.price(&format!("{prefix}12345678")), None, "{prefix}");
        }
        assert_eq!(default.budgets(), (50_000_000, 35_000_000));
    }

    #[test]
    fn every_fault_is_named() {
        assert_eq!(TextMessageSettings::default().faults(), Vec::<String>::new());
        let faults = TextMessageSettings {
            allowed_prefixes: texts(&["44", "all"]),
            refused_prefixes: texts(&["+1 201"]),
            prices: [("+44".to_owned(), -1.0)].into(),
            default_price: f64::NAN,
            daily_budget: f64::INFINITY,
            reserved_percent: 101,
        }
        .faults();
        assert_eq!(faults.len(), 7, "{faults:#?}");
    }
}
