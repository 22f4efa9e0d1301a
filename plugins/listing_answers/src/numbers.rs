//! Numbers that are written as words, alone or of several words: `two hundred and forty`,
//! `zwölfhundert`, `deux mille huit cents`, `nueve mil ochocientos`.

use people_kit::words::Language;

/// The words for small numbers by language: the position of a word in its line is its value, and
/// `_` skips a value. `LARGE` has further words with their values.
const SMALL: [(&str, &str); 8] = [
    (
        "en",
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
    ),
    ("en", "_ a"),
    (
        "de",
        "null ein zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn funfzehn sechzehn siebzehn achtzehn neunzehn",
    ),
    ("de", "_ eine"),
    ("de", "_ einem"),
    (
        "es",
        "cero un dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis diecisiete dieciocho diecinueve",
    ),
    ("es", "_ una"),
    (
        "fr",
        "_ un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize",
    ),
];
const LARGE: [(&str, &str, f64); 74] = [
    ("fr", "une", 1.0),
    ("en", "twenty", 20.0),
    ("en", "thirty", 30.0),
    ("en", "forty", 40.0),
    ("en", "fifty", 50.0),
    ("en", "sixty", 60.0),
    ("en", "seventy", 70.0),
    ("en", "eighty", 80.0),
    ("en", "ninety", 90.0),
    ("en", "hundred", HUNDRED),
    ("en", "thousand", THOUSAND),
    ("en", "grand", THOUSAND),
    ("de", "zwanzig", 20.0),
    ("de", "dreissig", 30.0),
    ("de", "vierzig", 40.0),
    ("de", "funfzig", 50.0),
    ("de", "sechzig", 60.0),
    ("de", "siebzig", 70.0),
    ("de", "achtzig", 80.0),
    ("de", "neunzig", 90.0),
    ("de", "hundert", HUNDRED),
    ("de", "tausend", THOUSAND),
    ("de", "tsd", THOUSAND),
    ("es", "veinte", 20.0),
    ("es", "veintiun", 21.0),
    ("es", "veintiuno", 21.0),
    ("es", "veintidos", 22.0),
    ("es", "veintitres", 23.0),
    ("es", "veinticuatro", 24.0),
    ("es", "veinticinco", 25.0),
    ("es", "veintiseis", 26.0),
    ("es", "veintisiete", 27.0),
    ("es", "veintiocho", 28.0),
    ("es", "veintinueve", 29.0),
    ("es", "treinta", 30.0),
    ("es", "cuarenta", 40.0),
    ("es", "cincuenta", 50.0),
    ("es", "sesenta", 60.0),
    ("es", "setenta", 70.0),
    ("es", "ochenta", 80.0),
    ("es", "noventa", 90.0),
    ("es", "cien", HUNDRED),
    ("es", "ciento", HUNDRED),
    ("es", "doscientos", 200.0),
    ("es", "trescientos", 300.0),
    ("es", "cuatrocientos", 400.0),
    ("es", "quinientos", 500.0),
    ("es", "seiscientos", 600.0),
    ("es", "setecientos", 700.0),
    ("es", "ochocientos", 800.0),
    ("es", "novecientos", 900.0),
    ("es", "doscientas", 200.0),
    ("es", "trescientas", 300.0),
    ("es", "cuatrocientas", 400.0),
    ("es", "quinientas", 500.0),
    ("es", "seiscientas", 600.0),
    ("es", "setecientas", 700.0),
    ("es", "ochocientas", 800.0),
    ("es", "novecientas", 900.0),
    ("es", "mil", THOUSAND),
    ("fr", "vingt", 20.0),
    ("fr", "vingts", 20.0),
    ("fr", "trente", 30.0),
    ("fr", "quarante", 40.0),
    ("fr", "cinquante", 50.0),
    ("fr", "soixante", 60.0),
    ("fr", "septante", 70.0),
    ("fr", "huitante", 80.0),
    ("fr", "nonante", 90.0),
    ("fr", "cent", HUNDRED),
    ("fr", "cents", HUNDRED),
    ("fr", "mille", THOUSAND),
    ("de", "einen", 1.0),
    ("en", "dozen", 12.0),
];
const HUNDRED: f64 = 100.0;
const THOUSAND: f64 = 1000.0;
/// Articles that are numbers only as the first word of a number.
const ARTICLES: [&str; 6] = ["a", "eine", "einem", "einen", "una", "une"];
/// Words between the words of one number.
const BETWEEN: [&str; 3] = ["and", "y", "et"];

/// Returns the number that a word means in a language or, if it is no number there, in English;
/// `None` if it means none. The word is in lower case without accents.
pub(crate) fn number(word: &str, language: Language) -> Option<f64> {
    [language.tag(), "en"].into_iter().find_map(|tag| {
        let small = SMALL.iter().filter(|(of, _)| *of == tag).find_map(|(_, line)| {
            line.split(' ').position(|known| known == word).map(|place| place as f64)
        });
        let large = || LARGE.iter().find(|(of, known, _)| *of == tag && *known == word);
        small.or_else(|| large().map(|(_, _, number)| *number)).or_else(|| match tag {
            "de" => german(word),
            _ => None,
        })
    })
}

/// Parses a German number that is one word, such as `zweihundertvierzig`.
fn german(word: &str) -> Option<f64> {
    let part = |word: &str| number(word, Language::German);
    let of = |whole: &str, unit: &str, size: f64| {
        let (before, after) = whole.split_once(unit)?;
        let times = if before.is_empty() { 1.0 } else { part(before)? };
        let rest = if after.is_empty() { 0.0 } else { part(after.trim_start_matches("und"))? };
        (times < size * 10.0 && rest < size).then_some(times * size + rest)
    };
    let tens = || {
        let (ones, tens) = word.split_once("und")?;
        let (ones, tens) = (part(ones)?, part(tens)?);
        (ones < 10.0 && (20.0..HUNDRED).contains(&tens)).then_some(tens + ones)
    };
    of(word, "tausend", THOUSAND).or_else(|| of(word, "hundert", HUNDRED)).or_else(tens)
}

/// Returns the number with which a list of words begins, and how many words it has; `None` if the
/// list does not begin with a number.
pub(crate) fn longest(words: &[&str], language: Language) -> Option<(f64, usize)> {
    let (mut sum, mut current, mut length) = (0.0, 0.0, 0);
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if length > 0 && BETWEEN.contains(word) && current >= 20.0 {
            at += 1;
            continue;
        }
        let Some(next) = number(word, language) else { break };
        if length > 0 && ARTICLES.contains(word) {
            break;
        }
        let last_ten = current % HUNDRED;
        let is_free = last_ten == 0.0
            || next < 10.0 && last_ten >= 20.0 && current % 10.0 == 0.0
            || next < 20.0 && [60.0, 80.0].contains(&last_ten);
        if next == THOUSAND && sum == 0.0 {
            sum = f64::max(current, 1.0) * THOUSAND;
            current = 0.0;
        } else if next == HUNDRED && current > 0.0 && current < HUNDRED {
            current *= HUNDRED;
        } else if next == 20.0 && last_ten == 4.0 && language == Language::French {
            current += 76.0;
        } else if length == 0 || is_free && (next < HUNDRED || current == 0.0) && next > 0.0 {
            current += next;
        } else {
            break;
        }
        at += 1;
        length = at;
    }
    (length > 0).then_some((sum + current, length))
}

/// Returns the value of a Japanese number such as `15万5千`, `148,000`, `二十二万` or `三`.
pub(crate) fn japanese(text: &str) -> Option<f64> {
    let (mut sum, mut below, mut digits) = (0.0, 0.0, String::new());
    for letter in text.chars() {
        let factor = match letter {
            '十' => Some(10.0),
            '百' => Some(HUNDRED),
            '千' => Some(THOUSAND),
            '万' => Some(10_000.0),
            _ => None,
        };
        match (factor, kanji_digit(letter)) {
            (Some(10_000.0), _) => {
                let ones = if digits.is_empty() { 0.0 } else { digits.parse().ok()? };
                sum += f64::max(below + ones, 1.0) * 10_000.0;
                below = 0.0;
                digits.clear();
            }
            (Some(factor), _) => {
                let times = if digits.is_empty() { 1.0 } else { digits.parse().ok()? };
                below += times * factor;
                digits.clear();
            }
            (None, Some(digit)) => digits.push_str(&digit.to_string()),
            (None, None) if letter == ',' => {}
            (None, None) => digits.push(letter),
        }
    }
    let rest: f64 = if digits.is_empty() { 0.0 } else { digits.parse().ok()? };
    (!text.is_empty()).then_some(sum + below + rest)
}

/// Whether a letter can be part of a Japanese number.
pub(crate) fn is_japanese(letter: char) -> bool {
    letter.is_ascii_digit() || ",.十百千万".contains(letter) || kanji_digit(letter).is_some()
}

fn kanji_digit(letter: char) -> Option<usize> {
    "〇一二三四五六七八九".chars().position(|digit| digit == letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_several_words_are_read() {
        for (text, language, expected) in [
            ("two hundred and forty", Language::English, 240.0),
            ("fifty five", Language::English, 55.0),
            ("a hundred and sixty", Language::English, 160.0),
            ("tres mil", Language::Spanish, 3000.0),
            ("eight hundred", Language::English, 800.0),
            ("zwolfhundert", Language::German, 1200.0),
            ("zweihundertfunfundvierzig", Language::German, 245.0),
            ("eintausendfunfhundert", Language::German, 1500.0),
            ("nueve mil ochocientos", Language::Spanish, 9800.0),
            ("treinta y cinco", Language::Spanish, 35.0),
            ("deux mille huit cents", Language::French, 2800.0),
            ("quatre vingt dix", Language::French, 90.0),
            ("soixante quinze", Language::French, 75.0),
            ("quinze", Language::French, 15.0),
        ] {
            let words: Vec<&str> = text.split(' ').collect();
            assert_eq!(longest(&words, language), Some((expected, words.len())), "{text}");
        }
    }

    #[test]
    fn two_numbers_are_not_one() {
        assert_eq!(longest(&["two", "three"], Language::English), Some((2.0, 1)));
        assert_eq!(longest(&["zwei", "oder"], Language::German), Some((2.0, 1)));
        assert_eq!(longest(&["forty", "a", "week"], Language::English), Some((40.0, 1)));
        assert_eq!(longest(&["once", "a"], Language::English), None);
    }

    #[test]
    fn japanese_numbers_are_read() {
        for (text, expected) in [
            ("15万5千", 155_000.0),
            ("148,000", 148_000.0),
            ("二十二万", 220_000.0),
            ("五千五百", 5500.0),
            ("三", 3.0),
            ("9万8千", 98_000.0),
        ] {
            assert_eq!(japanese(text), Some(expected), "{text}");
        }
    }
}
