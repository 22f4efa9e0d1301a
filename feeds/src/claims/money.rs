//! Finds amounts of money: "C$82M", "€4,2 Mio.", "2,5 millions d'euros", "1億5000万円", "₹42 crore".

use super::{
    lexicon::{Language, Lexicon},
    token::{Kind, Token},
};
use std::ops::Range;

/// An amount in whole units of its currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amount {
    pub value: u64,
    /// The ISO 4217 code; `None` if none is stated.
    pub currency: Option<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) amount: Amount,
    pub(super) at: Range<usize>,
}

/// Names of currencies, the longer first where one begins with another.
const CURRENCIES: &[(&str, &str)] = &[
    ("us $", "USD"),
    ("usd $", "USD"),
    ("c $", "CAD"),
    ("ca $", "CAD"),
    ("cad $", "CAD"),
    ("a $", "AUD"),
    ("au $", "AUD"),
    ("aud $", "AUD"),
    ("nz $", "NZD"),
    ("s $", "SGD"),
    ("sg $", "SGD"),
    ("hk $", "HKD"),
    ("nt $", "TWD"),
    ("r $", "BRL"),
    ("mx $", "MXN"),
    ("$ us", "USD"),
    ("$ ca", "CAD"),
    ("$ au", "AUD"),
    ("$ can", "CAD"),
    ("us - dollar", "USD"),
    ("us dollar", "USD"),
    ("u . s . dollars", "USD"),
    ("dollars américains", "USD"),
    ("dollars canadiens", "CAD"),
    ("dollars australiens", "AUD"),
    ("dollars de singapour", "SGD"),
    ("dollars de hong kong", "HKD"),
    ("canadian dollars", "CAD"),
    ("australian dollars", "AUD"),
    ("singapore dollars", "SGD"),
    ("hong kong dollars", "HKD"),
    ("new zealand dollars", "NZD"),
    ("dólares canadienses", "CAD"),
    ("dólares australianos", "AUD"),
    ("dólares estadounidenses", "USD"),
    ("kanadische dollar", "CAD"),
    ("kanadischen dollar", "CAD"),
    ("australische dollar", "AUD"),
    ("francs suisses", "CHF"),
    ("swiss francs", "CHF"),
    ("schweizer franken", "CHF"),
    ("francos suizos", "CHF"),
    ("pounds sterling", "GBP"),
    ("livres sterling", "GBP"),
    ("libras esterlinas", "GBP"),
    ("pesos mexicanos", "MXN"),
    ("pesos colombianos", "COP"),
    ("pesos argentinos", "ARS"),
    ("pesos chilenos", "CLP"),
    ("danish kroner", "DKK"),
    ("norwegian kroner", "NOK"),
    ("swedish kronor", "SEK"),
    ("schwedische kronen", "SEK"),
    ("couronnes suédoises", "SEK"),
    ("カ ナ ダ ド ル", "CAD"),
    ("豪 ド ル", "AUD"),
    ("香 港 ド ル", "HKD"),
    ("シ ン ガ ポ ー ル ド ル", "SGD"),
    ("米 ド ル", "USD"),
    ("ド ル", "USD"),
    ("ユ ー ロ", "EUR"),
    ("ポ ン ド", "GBP"),
    ("ス イ ス フ ラ ン", "CHF"),
    ("人 民 元", "CNY"),
    ("ウ ォ ン", "KRW"),
    ("円", "JPY"),
    ("$", "USD"),
    ("€", "EUR"),
    ("£", "GBP"),
    ("¥", "JPY"),
    ("￥", "JPY"),
    ("₹", "INR"),
    ("₩", "KRW"),
    ("usd", "USD"),
    ("eur", "EUR"),
    ("gbp", "GBP"),
    ("chf", "CHF"),
    ("cad", "CAD"),
    ("aud", "AUD"),
    ("sgd", "SGD"),
    ("hkd", "HKD"),
    ("jpy", "JPY"),
    ("inr", "INR"),
    ("rs", "INR"),
    ("brl", "BRL"),
    ("mxn", "MXN"),
    ("sek", "SEK"),
    ("nok", "NOK"),
    ("dkk", "DKK"),
    ("cny", "CNY"),
    ("rmb", "CNY"),
    ("kr", "SEK"),
    ("sfr", "CHF"),
    ("fr", "CHF"),
    ("dollar", "USD"),
    ("dollars", "USD"),
    ("dólares", "USD"),
    ("euro", "EUR"),
    ("euros", "EUR"),
    ("pound", "GBP"),
    ("pounds", "GBP"),
    ("pfund", "GBP"),
    ("livres", "GBP"),
    ("libras", "GBP"),
    ("franken", "CHF"),
    ("francs", "CHF"),
    ("francos", "CHF"),
    ("yen", "JPY"),
    ("yens", "JPY"),
    ("yuan", "CNY"),
    ("rupees", "INR"),
    ("rupien", "INR"),
    ("roupies", "INR"),
    ("rupias", "INR"),
    ("reais", "BRL"),
    ("reales", "BRL"),
    ("réals", "BRL"),
    ("pesos", "MXN"),
    ("peso", "MXN"),
    ("kronor", "SEK"),
    ("kronen", "SEK"),
    ("couronnes", "SEK"),
    ("coronas", "SEK"),
    ("kroner", "NOK"),
    ("zloty", "PLN"),
];

/// Returns the currency that is named from here on, and how many tokens name it.
fn currency_at(tokens: &[Token], at: usize) -> Option<(&'static str, usize)> {
    let named = |name: &str| {
        let mut count = 0;
        for part in name.split(' ') {
            // "C$5" and "5 $ CA", but not "a $5 fee".
            let token = tokens.get(at + count);
            let torn = count > 0 && part == "$" && token.is_some_and(|token| token.apart);
            if torn || token.is_none_or(|token| token.text != part) {
                return None;
            }
            count += 1;
        }
        Some(count)
    };
    CURRENCIES.iter().find_map(|(name, code)| Some((*code, named(name)?)))
}

fn scale(tokens: &[Token], at: usize, lexicon: &Lexicon) -> Option<f64> {
    lexicon.scales.get(&tokens.get(at)?.text).copied()
}

/// Reads digits with their separators.
fn digits(text: &str, language: Language) -> Option<f64> {
    let text: String = text
        .chars()
        .filter(|letter| !matches!(letter, ' ' | '\u{a0}' | '\u{202f}' | '\''))
        .collect();
    let points = text.matches('.').count();
    let commas = text.matches(',').count();
    let last = text.rfind(['.', ',']);
    let after = last.map_or(0, |at| text.len() - at - 1);
    let comma_is_decimal = !matches!(language, Language::English | Language::Japanese);
    let decimal = match (points, commas, last) {
        (_, _, None) => None,
        (1.., 1.., Some(at)) => Some(at),
        (1, 0, Some(at)) => (after != 3 || !comma_is_decimal).then_some(at),
        (0, 1, Some(at)) => (after != 3 || comma_is_decimal).then_some(at),
        _ => None,
    };
    let plain: String = text
        .char_indices()
        .filter_map(|(at, letter)| match letter {
            '.' | ',' => (Some(at) == decimal).then_some('.'),
            _ => Some(letter),
        })
        .collect();
    plain.parse().ok()
}

/// Returns the number that begins here, with its scale: "4,2 Mio.", "三億", "1億5000万". The last part of the
/// result says whether a scale was named.
fn number(
    tokens: &[Token],
    start: usize,
    lexicon: &Lexicon,
    language: Language,
) -> Option<(f64, usize, bool)> {
    let (mut total, mut at, mut scaled) = (0.0, start, false);
    loop {
        let token = tokens.get(at);
        let part = match token.map(|token| token.kind) {
            Some(Kind::Number) => digits(&token?.text, language),
            Some(Kind::Word | Kind::Han | Kind::Katakana) => {
                lexicon.numbers.get(&token?.text).copied()
            }
            _ => None,
        };
        let Some(mut part) = part else { break };
        at += 1;
        // "half a million", "medio millón", "eine halbe Million"
        while let Some(next) = tokens.get(at).filter(|_| language != Language::Japanese) {
            match lexicon.numbers.get(&next.text) {
                Some(factor) => part *= factor,
                None => break,
            }
            at += 1;
        }
        // A hyphen as in "$40-million", and the Spanish "mil millones".
        if tokens.get(at).is_some_and(|token| token.is("-"))
            && scale(tokens, at + 1, lexicon).is_some()
        {
            at += 1;
        }
        let unscaled = part;
        while let Some(factor) = scale(tokens, at, lexicon) {
            part *= factor;
            at += 1;
            scaled = true;
            if tokens.get(at).is_some_and(|token| token.is(".") && !token.apart)
                && tokens.get(at - 1).is_some_and(|token| token.text.len() <= 4)
            {
                at += 1;
            }
        }
        total += part;
        if language != Language::Japanese || part <= unscaled {
            break;
        }
    }
    (at > start).then_some((total, at, scaled))
}

/// Returns the amounts in a text, in their order.
pub(super) fn amounts(tokens: &[Token], lexicon: &Lexicon, language: Language) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match amount_at(tokens, at, lexicon, language) {
            Some(found) => {
                at = found.at.end.max(at + 1);
                all.push(found);
            }
            None => at += 1,
        }
    }
    all
}

fn amount_at(
    tokens: &[Token],
    start: usize,
    lexicon: &Lexicon,
    language: Language,
) -> Option<Found> {
    let before = currency_at(tokens, start);
    let from = start + before.map_or(0, |(_, count)| count);
    let (value, mut end, scaled) = number(tokens, from, lexicon, language)?;
    // "a $40M round": the article is no number.
    let in_digits = tokens.get(from).is_some_and(|token| token.kind == Kind::Number);
    if !in_digits && !scaled {
        return None;
    }
    // "5 M $ CA", "2,5 millions d'euros", "12 millones de dólares"
    let mut skip = 0;
    if scaled {
        let next = |step: usize| tokens.get(end + step).map(|token| token.text.as_str());
        skip = match (next(0), next(1)) {
            (Some("d"), Some("'")) => 2,
            (Some("de" | "in" | "of"), _) => 1,
            _ => 0,
        };
    }
    let after = match currency_at(tokens, end) {
        Some(found) => Some(found),
        None => currency_at(tokens, end + skip).map(|(code, count)| (code, count + skip)),
    };
    // A letter that is the beginning of a word is no currency.
    let after = after.filter(|_| tokens.get(end).is_some());
    if let Some((_, count)) = after {
        end += count;
        // "€4m" has its scale before the currency, "4 € Mio." is not written.
    }
    let named = before.or(after).map(|(code, _)| code);
    // "$5 CAD", "5 M$ CA"
    let named = match (before, after) {
        (Some(("USD", _)), Some((code, _))) => Some(code),
        _ => named,
    };
    let is_money =
        named.is_some() || (scaled && value >= 1e5 && !counts_things(tokens, end, lexicon));
    // The conversion goes through text, as there is no `TryFrom<f64>` for integers.
    let value = value.round();
    let value: u64 =
        (1.0..=1e15).contains(&value).then(|| format!("{value:.0}").parse().ok())??;
    is_money.then_some(Found { amount: Amount { value, currency: named }, at: start..end })
}

/// Returns whether a number without a currency counts something: "12 million users", "12 millones de usuarios".
fn counts_things(tokens: &[Token], end: usize, lexicon: &Lexicon) -> bool {
    let Some(next) = tokens.get(end) else { return false };
    let class = |token: &Token| lexicon.is_function(token);
    match next.kind {
        Kind::Word if matches!(next.text.as_str(), "de" | "d" | "of") => true,
        Kind::Word => {
            !class(next) && !next.capital && next.text.chars().count() > 3 && !lexicon.begins(next)
        }
        Kind::Sign => false,
        Kind::Number => true,
        _ => !matches!(next.text.as_str(), "の" | "を" | "、" | "で"),
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{lexicon, token},
        *,
    };

    fn first(language: Language, text: &str) -> Option<(u64, Option<&'static str>)> {
        let lexicon = lexicon::of(language);
        let found = amounts(&token::tokens(text), lexicon, language);
        found.first().map(|found| (found.amount.value, found.amount.currency))
    }

    #[test]
    fn amounts_are_read_in_the_way_of_each_language() {
        use Language::{English, French, German, Japanese, Spanish};
        for (language, text, value, currency) in [
            (English, "raises C$82M", 82_000_000, Some("CAD")),
            (English, "A$30 million", 30_000_000, Some("AUD")),
            (English, "US$1.5 billion", 1_500_000_000, Some("USD")),
            (English, "₹42 crore", 420_000_000, Some("INR")),
            (English, "half a million dollars", 500_000, Some("USD")),
            (English, "twelve million euros", 12_000_000, Some("EUR")),
            (English, "$40-million round", 40_000_000, Some("USD")),
            (English, "$5,000,000", 5_000_000, Some("USD")),
            (English, "SEK 25m", 25_000_000, Some("SEK")),
            (German, "$4,2 Mio.", 4_200_000, Some("USD")),
            (German, "12 Mrd. Yen", 12_000_000_000, Some("JPY")),
            (German, "30 Mio. CHF", 30_000_000, Some("CHF")),
            (German, "1.500.000 Euro", 1_500_000, Some("EUR")),
            (German, "vier Millionen Euro", 4_000_000, Some("EUR")),
            (French, "2,5 millions d'euros", 2_500_000, Some("EUR")),
            (French, "900 000 €", 900_000, Some("EUR")),
            (French, "5 M$ CA", 5_000_000, Some("CAD")),
            (French, "1,2 Md€", 1_200_000_000, Some("EUR")),
            (Spanish, "4.200.000 €", 4_200_000, Some("EUR")),
            (Spanish, "medio millón de euros", 500_000, Some("EUR")),
            (Spanish, "12 millones", 12_000_000, None),
            (Spanish, "2 mil millones de pesos", 2_000_000_000, Some("MXN")),
            (Japanese, "1億5000万円", 150_000_000, Some("JPY")),
            (Japanese, "三億円", 300_000_000, Some("JPY")),
            (Japanese, "500万ドル", 5_000_000, Some("USD")),
            (Japanese, "2,400万円", 24_000_000, Some("JPY")),
        ] {
            assert_eq!(first(language, text), Some((value, currency)), "{text}");
        }
        for (language, text) in [
            (English, "12 million parcels"),
            (Spanish, "12 millones de usuarios"),
            (English, "in 2026"),
            (German, "200 Kilo"),
        ] {
            assert_eq!(first(language, text), None, "{text}");
        }
    }
}
