//! Splits a text into words, numbers and amounts of money.

use crate::compare::NO_CURRENCY;
use people_kit::words;

/// Words for small numbers, from zero on, in each language.
const NUMBERS: [&str; 9] = [
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty",
    "null ein zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn funfzehn sechzehn siebzehn achtzehn neunzehn zwanzig",
    "_ eine",
    "_ einem",
    "cero un dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis diecisiete dieciocho diecinueve veinte",
    "_ una",
    "_ un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix_sept dix_huit dix_neuf vingt",
    "_ une",
    "_ a",
];
const CURRENCIES: [(&str, &str); 16] = [
    ("$", "USD"),
    ("€", "EUR"),
    ("£", "GBP"),
    ("¥", "JPY"),
    ("円", "JPY"),
    ("usd", "USD"),
    ("eur", "EUR"),
    ("euro", "EUR"),
    ("euros", "EUR"),
    ("gbp", "GBP"),
    ("jpy", "JPY"),
    ("yen", "JPY"),
    ("dollars", "USD"),
    ("dolares", "USD"),
    ("chf", "CHF"),
    ("franken", "CHF"),
];
/// Names of months, from January on, in each language.
const MONTHS: [&str; 5] = [
    "january february march april may june july august september october november december",
    "januar februar marz april mai juni juli august september oktober november dezember",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "jan feb mar apr _ jun jul aug sep oct nov dec",
];

/// A word, number or amount of a text.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Token {
    /// The word in lower case without accents; `.` at the end of a sentence.
    pub(crate) word: String,
    pub(crate) number: Option<f64>,
    pub(crate) currency: Option<&'static str>,
    /// The place of a month in the year, from 1.
    pub(crate) month: Option<usize>,
}

/// Splits a text into words, numbers and amounts.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let letters: Vec<char> = text.chars().collect();
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(letter) = letters.get(at).copied() {
        let end = match letter {
            _ if letter.is_ascii_digit() => number_end(&letters, at),
            _ if letter.is_alphabetic() => run(&letters, at, char::is_alphabetic),
            _ => at + 1,
        };
        let written: String = letters.get(at..end).unwrap_or_default().iter().collect();
        match letter {
            _ if letter.is_ascii_digit() => tokens.push(number(&written)),
            _ if letter.is_alphabetic() => word(&written, &mut tokens),
            '.' | '!' | '?' | ';' | '。' => {
                tokens.push(Token { word: ".".into(), ..Token::default() });
            }
            '$' | '€' | '£' | '¥' => word(&written, &mut tokens),
            _ => {}
        }
        at = end;
    }
    amounts(tokens)
}

fn run(letters: &[char], from: usize, inside: impl Fn(char) -> bool) -> usize {
    let rest = letters.get(from..).unwrap_or_default();
    from + rest.iter().position(|letter| !inside(*letter)).unwrap_or(rest.len())
}

/// Returns the end of a number: digits with points, commas or spaces between groups of three.
fn number_end(letters: &[char], from: usize) -> usize {
    let digits = |from: usize| run(letters, from, |letter| letter.is_ascii_digit());
    let mut end = digits(from);
    while let Some(separator) = letters.get(end) {
        let next = digits(end + 1);
        let group = next - (end + 1);
        let is_space = [' ', '\u{a0}', '\u{202f}', '\u{2009}'].contains(separator);
        let continues = match separator {
            '.' | ',' => group == 3 || group == 1 || group == 2,
            _ => is_space && group == 3 && end - from <= 3,
        };
        if !continues {
            break;
        }
        end = next;
    }
    end
}

fn number(written: &str) -> Token {
    let mut plain = String::new();
    let parts: Vec<&str> = written.split(|letter: char| !letter.is_ascii_digit()).collect();
    for (index, part) in parts.iter().enumerate() {
        if index > 0 && part.len() != 3 {
            plain.push('.');
        }
        plain.push_str(part);
    }
    Token { word: written.to_owned(), number: plain.parse().ok(), ..Token::default() }
}

fn word(written: &str, tokens: &mut Vec<Token>) {
    let word = words::folded(written).replace('ß', "ss");
    let place = NUMBERS.iter().find_map(|line| line.split(' ').position(|known| known == word));
    let currency = CURRENCIES.iter().find(|(known, _)| *known == word).map(|(_, code)| *code);
    let number = place.map(|place| place as f64);
    let month = MONTHS.iter().find_map(|line| line.split(' ').position(|known| known == word));
    let month = month.map(|place| place + 1);
    tokens.push(Token { word, number, currency: currency.filter(|_| number.is_none()), month });
}

/// Joins numbers with the currency before or after them, and with `k` or `M`.
fn amounts(tokens: Vec<Token>) -> Vec<Token> {
    let mut joined: Vec<Token> = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_figure =
            token.number.is_some() && token.word.starts_with(|c: char| c.is_ascii_digit());
        if !is_figure {
            joined.push(token);
            continue;
        }
        let mut amount = token;
        let scale = tokens.peek().and_then(|next| match next.word.as_str() {
            "k" => Some(1e3),
            "m" | "million" | "millionen" | "millones" | "millions" => Some(1e6),
            _ => None,
        });
        let is_sign = |token: &Token| token.currency.is_some() && token.number.is_none();
        let before = joined.last().filter(|token| is_sign(token)).and_then(|token| token.currency);
        if let Some(scale) = scale {
            tokens.next();
            amount.number = amount.number.map(|number| number * scale);
        }
        let after = tokens.peek().filter(|token| is_sign(token)).and_then(|token| token.currency);
        amount.currency = match (before, after) {
            (Some(currency), _) => {
                joined.pop();
                Some(currency)
            }
            (None, Some(currency)) => {
                tokens.next();
                Some(currency)
            }
            // Thousands are mostly money.
            (None, None) => scale.map(|_| NO_CURRENCY),
        };
        joined.push(amount);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_they_are_written() {
        for (text, number, currency) in [
            ("$1,500", 1500.0, "USD"),
            ("1.500 €", 1500.0, "EUR"),
            ("2 300 €", 2300.0, "EUR"),
            ("$85k", 85_000.0, "USD"),
            ("€ 12,50", 12.5, "EUR"),
            ("$1.5M", 1_500_000.0, "USD"),
        ] {
            let tokens = tokens(text);
            assert_eq!(tokens.len(), 1, "{text}: {tokens:?}");
            let found = tokens.first().unwrap();
            assert_eq!((found.number, found.currency), (Some(number), Some(currency)), "{text}");
        }
    }
}
