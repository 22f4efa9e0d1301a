//! Splits a text into words, numbers and amounts of money.

use crate::numbers;
use people_kit::listings::NO_CURRENCY;
use people_kit::words::{self, Language};

const CURRENCIES: [(&str, &str); 23] = [
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
    // These are names of several currencies.
    ("dollars", NO_CURRENCY),
    ("bucks", NO_CURRENCY),
    ("dolares", NO_CURRENCY),
    ("pesos", NO_CURRENCY),
    ("dollar", NO_CURRENCY),
    ("pounds", "GBP"),
    ("quid", "GBP"),
    ("livres", "GBP"),
    ("mxn", "MXN"),
    ("chf", "CHF"),
    ("franken", "CHF"),
];
/// Names of the months from January on: a line for each language, and one for abbreviations, in
/// which `_` skips a month.
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
    /// The number of the month that the word names, from 1.
    pub(crate) month: Option<usize>,
}

impl Token {
    fn is_figure(&self) -> bool {
        self.word.starts_with(|letter: char| letter.is_ascii_digit())
    }
}

/// The maximum number of words of one number.
const LONGEST_NUMBER: usize = 7;

/// Splits a text into words, numbers and amounts.
pub(crate) fn tokens(text: &str, language: Language) -> Vec<Token> {
    let letters: Vec<char> = with_figures(text).chars().collect();
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
            _ if letter.is_alphabetic() => word(&written, language, &mut tokens),
            '.' | '!' | '?' | ';' | '。' => {
                tokens.push(Token { word: ".".into(), ..Token::default() });
            }
            '$' | '€' | '£' | '¥' => word(&written, language, &mut tokens),
            _ => {}
        }
        at = end;
    }
    amounts(figures(tokens, language))
}

/// Returns the text with Japanese amounts of money written in digits.
fn with_figures(text: &str) -> String {
    let mut rest: String = text.to_owned();
    let mut written = String::new();
    while let Some(at) = rest.find('円') {
        let (before, after) = rest.split_at(at);
        let start =
            before.char_indices().rev().take_while(|(_, letter)| numbers::is_japanese(*letter));
        let start = start.last().map_or(before.len(), |(at, _)| at);
        let (before, digits) = before.split_at(start);
        written.push_str(before);
        match numbers::japanese(digits) {
            Some(number) => written.push_str(&format!(" {number} 円 ")),
            None => written.push('円'),
        }
        rest = after.trim_start_matches('円').to_owned();
    }
    written + &rest
}

/// Replaces each number that is written in several words, or is above 20, by one token with its
/// digits.
fn figures(tokens: Vec<Token>, language: Language) -> Vec<Token> {
    let mut joined: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        // A word such as `thousand` after digits belongs to them; `amounts` joins the two.
        let is_scale = joined.last().is_some_and(Token::is_figure) && token.number >= Some(1000.0);
        let is_word = token.number.is_some() && !token.is_figure() && !is_scale;
        let words = || -> Vec<&str> {
            let rest = tokens.iter().skip(at).take(LONGEST_NUMBER);
            rest.map(|token| token.word.as_str()).collect()
        };
        match is_word.then(|| numbers::longest(&words(), language)).flatten() {
            Some((number, length)) if length > 1 || number > 20.0 => {
                let word = number.to_string();
                joined.push(Token { word, number: Some(number), ..Token::default() });
                at += length;
            }
            _ => {
                joined.push(token.clone());
                at += 1;
            }
        }
    }
    joined
}

fn run(letters: &[char], from: usize, inside: impl Fn(char) -> bool) -> usize {
    let rest = letters.get(from..).unwrap_or_default();
    from + rest.iter().position(|letter| !inside(*letter)).unwrap_or(rest.len())
}

/// Returns the end of a number: digits, followed by points or commas with one to three digits each,
/// or of at most three digits, followed by groups of a space with three digits.
fn number_end(letters: &[char], from: usize) -> usize {
    let digits = |from: usize| run(letters, from, |letter| letter.is_ascii_digit());
    let mut end = digits(from);
    let mut is_grouped_by_spaces = end - from <= 3;
    while let Some(separator) = letters.get(end) {
        let next = digits(end + 1);
        let group = next - (end + 1);
        let is_space = [' ', '\u{a0}', '\u{202f}', '\u{2009}'].contains(separator);
        let continues = match separator {
            '.' | ',' => group == 3 || group == 1 || group == 2,
            _ => is_space && group == 3 && is_grouped_by_spaces,
        };
        is_grouped_by_spaces &= is_space;
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

fn word(written: &str, language: Language, tokens: &mut Vec<Token>) {
    let word = words::folded(written).replace('ß', "ss");
    let currency = CURRENCIES.iter().find(|(known, _)| *known == word).map(|(_, code)| *code);
    let number = numbers::number(&word, language);
    let month = MONTHS.iter().find_map(|line| line.split(' ').position(|known| known == word));
    let month = month.map(|place| place + 1);
    tokens.push(Token { word, number, currency: currency.filter(|_| number.is_none()), month });
}

/// Joins numbers with the currency before or after them, and with `k` or `M`.
fn amounts(tokens: Vec<Token>) -> Vec<Token> {
    let mut joined: Vec<Token> = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if token.number.is_none() || !token.is_figure() {
            joined.push(token);
            continue;
        }
        let mut amount = token;
        let is_sign = |token: &Token| token.currency.is_some() && token.number.is_none();
        let before = joined.last().filter(|token| is_sign(token)).and_then(|token| token.currency);
        let scale = tokens.peek().and_then(|next| match next.word.as_str() {
            "k" | "mil" | "tsd" | "tausend" | "thousand" | "grand" | "t" => Some(1e3),
            // Without a currency, `m` stands for metres.
            "m" if before.is_some() => Some(1e6),
            "million" | "millionen" | "millones" | "millions" => Some(1e6),
            _ => None,
        });
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
            // A number with such a factor is mostly an amount of money.
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
            ("1 200 000 €", 1_200_000.0, "EUR"),
            ("$85k", 85_000.0, "USD"),
            ("€ 12,50", 12.5, "EUR"),
            ("$1.5M", 1_500_000.0, "USD"),
        ] {
            let tokens = tokens(text, words::language(text));
            assert_eq!(tokens.len(), 1, "{text}: {tokens:?}");
            let found = tokens.first().unwrap();
            assert_eq!((found.number, found.currency), (Some(number), Some(currency)), "{text}");
        }
    }
}
