//! Splits a text into tokens: words, numbers, signs, and single characters of Japanese.

/// How many bytes of a text are read.
pub(super) const MOST_TEXT: usize = 16_384;
/// A longer word is cut into several tokens.
const LONGEST_WORD: usize = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    Sign,
    Han,
    Katakana,
    Hiragana,
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    /// In lower case, with plain apostrophes and ASCII digits.
    pub(super) text: String,
    pub(super) kind: Kind,
    /// Whether the first letter is a capital.
    pub(super) capital: bool,
    /// Whether the token begins after a space or at the beginning of the text.
    pub(super) apart: bool,
    /// Whether the token begins a line.
    pub(super) new_line: bool,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Token {
    pub(super) fn is(&self, text: &str) -> bool {
        self.text == text
    }

    pub(super) fn is_name_part(&self) -> bool {
        self.kind == Kind::Word && self.capital
    }
}

/// Returns the character that the reader uses for this one.
fn plain(character: char) -> char {
    match character {
        '\u{2018}' | '\u{2019}' | '\u{02bc}' | '`' | '´' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '«' | '»' => '"',
        '\u{2010}' | '\u{2011}' => '-',
        '\u{2013}' | '\u{2014}' | '\u{2212}' | '―' => '–',
        '〜' | '~' => '〜',
        '\u{ff01}'..='\u{ff5e}' => {
            char::from_u32(u32::from(character) - 0xfee0).unwrap_or(character)
        }
        _ => character,
    }
}

fn kind(character: char) -> Kind {
    match character {
        '\u{3041}'..='\u{309f}' => Kind::Hiragana,
        '\u{30a1}'..='\u{30fa}' | 'ー' | '\u{30fd}'..='\u{30ff}' => Kind::Katakana,
        '\u{3400}'..='\u{9fff}' | '々' | '〇' => Kind::Han,
        _ if character.is_ascii_digit() => Kind::Number,
        _ if character.is_alphanumeric() || character == '_' => Kind::Word,
        _ => Kind::Sign,
    }
}

/// Returns the first `MOST_TEXT` bytes at most, cut between characters.
pub(super) fn beginning(text: &str) -> &str {
    let most = MOST_TEXT.min(text.len());
    let cut = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..cut).unwrap_or_default()
}

/// Returns the tokens of a text. Takes time linear in its length.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let characters: Vec<(usize, char)> =
        text.char_indices().map(|(at, character)| (at, plain(character))).collect();
    let at = |position: usize| characters.get(position).map(|(_, character)| *character);
    let byte = |position: usize| characters.get(position).map_or(text.len(), |(byte, _)| *byte);
    let (mut all, mut position) = (Vec::new(), 0);
    let (mut apart, mut new_line) = (true, true);
    while let Some(first) = at(position) {
        if first.is_whitespace() {
            apart = true;
            new_line |= first == '\n';
            position += 1;
            continue;
        }
        let kind = kind(first);
        let end = match kind {
            Kind::Word => word_end(&characters, position),
            Kind::Number => number_end(&characters, position),
            _ => position + 1,
        };
        let letters = characters.get(position..end).unwrap_or_default();
        all.push(Token {
            text: letters.iter().flat_map(|(_, letter)| letter.to_lowercase()).collect(),
            kind,
            capital: first.is_uppercase(),
            apart,
            new_line,
            start: byte(position),
            end: byte(end),
        });
        (apart, new_line) = (false, false);
        position = end;
    }
    all
}

fn word_end(characters: &[(usize, char)], start: usize) -> usize {
    let rest = characters.get(start..).unwrap_or_default().iter().take(LONGEST_WORD);
    let is_part = |character: char| {
        kind(character) == Kind::Word
            || character.is_ascii_digit()
            || matches!(character, '\u{300}'..='\u{36f}')
    };
    start + rest.take_while(|(_, character)| is_part(*character)).count().max(1)
}

/// A number goes on over separators that are followed by digits: "4.200.000", "900 000", "12,5".
fn number_end(characters: &[(usize, char)], start: usize) -> usize {
    let digit = |position: usize| {
        characters.get(position).is_some_and(|(_, character)| character.is_ascii_digit())
    };
    let mut end = start;
    while digit(end) && end - start < LONGEST_WORD {
        end += 1;
        let Some((_, sign)) = characters.get(end) else { break };
        let three = (1..=3).all(|step| digit(end + step)) && !digit(end + 4);
        let goes_on = match sign {
            '.' | ',' => digit(end + 1),
            ' ' | '\u{a0}' | '\u{202f}' | '\'' => three && end - start <= 11,
            _ => false,
        };
        end += usize::from(goes_on);
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn texts_are_split_into_words_numbers_and_signs() {
        assert_eq!(words("Plume’s C$11.5M"), ["plume", "'", "s", "c", "$", "11.5", "m"]);
        assert_eq!(
            words("4.200.000 € (900\u{a0}000)"),
            ["4.200.000", "€", "(", "900\u{a0}000", ")"]
        );
        assert_eq!(words("ソラノ、3億円"), ["ソ", "ラ", "ノ", "、", "3", "億", "円"]);
        assert_eq!(words("in 2026. 300"), ["in", "2026", ".", "300"]);
    }
}
