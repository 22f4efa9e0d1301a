//! Splits a text about places into pieces, each the name of a place or a word about it.

use std::iter;

/// How many pieces of a text are read.
const MOST: usize = 100;

/// What stands before a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Separator {
    /// A dash, a colon or a bracket: usually about the same place.
    Tight,
    /// A comma: the same place, or the next one of a list.
    Comma,
    /// A slash: another place, or where else one may work.
    Slash,
    /// A word such as "or": another place of the same kind.
    Word,
    /// A semicolon or a bullet: another place.
    List,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) before: Separator,
    pub(super) text: String,
}

fn separator(character: char) -> Option<Separator> {
    Some(match character {
        '(' | ')' | '[' | ']' | '（' | '）' | '【' | '】' | ':' | '：' | '–' | '—' | '→' | '>' => {
            Separator::Tight
        }
        ',' | '，' => Separator::Comma,
        '/' | '|' | '／' | '｜' => Separator::Slash,
        ';' | '；' | '•' | '·' | '、' | '\n' | '\r' | '\u{2028}' => Separator::List,
        _ => return None,
    })
}

/// Returns the pieces of a text. A flag is a piece of its own: the code of its country.
pub(super) fn pieces(text: &str) -> Vec<Piece> {
    let (mut pieces, mut before, mut piece) = (Vec::new(), Separator::Tight, String::new());
    let mut characters = iter::once(' ').chain(text.chars()).chain(iter::once(' ')).peekable();
    let mut last = ' ';
    while let Some(character) = characters.next() {
        let next = characters.peek().copied().unwrap_or(' ');
        let is_spaced = last.is_whitespace() || next.is_whitespace();
        let found = match character {
            '-' if is_spaced => Some(Separator::Tight),
            _ => separator(character),
        };
        let flag = indicator(character).zip(indicator(next));
        if found.is_some() || flag.is_some() {
            end(&mut pieces, &mut before, &mut piece);
        }
        if let Some(separator) = found {
            before = before.max(separator);
        } else if let Some((first, second)) = flag {
            pieces.push(Piece { before, text: [first, second].iter().collect() });
            before = Separator::Tight;
            characters.next();
        } else {
            piece.push(character);
        }
        if pieces.len() >= MOST {
            return pieces;
        }
        last = character;
    }
    end(&mut pieces, &mut before, &mut piece);
    pieces
}

fn end(pieces: &mut Vec<Piece>, before: &mut Separator, piece: &mut String) {
    let text = piece.trim();
    if text.chars().any(char::is_alphanumeric) {
        pieces.push(Piece { before: *before, text: text.to_owned() });
        *before = Separator::Tight;
    }
    piece.clear();
}

/// Returns the letter of a regional indicator, of which flags are made.
fn indicator(character: char) -> Option<char> {
    let offset = u32::from(character).checked_sub(0x1f1e6).filter(|offset| *offset < 26)?;
    char::from_u32(u32::from('A') + offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(Separator, String)> {
        pieces(text).into_iter().map(|piece| (piece.before, piece.text)).collect()
    }

    #[test]
    fn a_text_is_split_where_another_place_may_begin() {
        use Separator::{Comma, List, Slash, Tight};
        let owned = |parts: &[(Separator, &str)]| -> Vec<(Separator, String)> {
            parts.iter().map(|(before, text)| (*before, (*text).to_owned())).collect()
        };
        for (text, parts) in [
            ("HQ - IJmuiden -NL", &[(Tight, "HQ"), (Tight, "IJmuiden"), (Tight, "NL")][..]),
            ("US-CA-San Francisco", &[(Tight, "US-CA-San Francisco")]),
            ("Szczecin, , Poland;", &[(Tight, "Szczecin"), (Comma, "Poland")]),
            ("A (B) | C; D", &[(Tight, "A"), (Tight, "B"), (Slash, "C"), (List, "D")]),
            ("🇩🇪 Berlin", &[(Tight, "DE"), (Tight, "Berlin")]),
            ("リモート（日本）", &[(Tight, "リモート"), (Tight, "日本")]),
            ("  🌍 ,;-", &[]),
        ] {
            assert_eq!(split(text), owned(parts), "{text}");
        }
    }

    #[test]
    fn a_text_of_separators_is_bounded() {
        assert_eq!(pieces(&"a;".repeat(10_000)).len(), MOST);
        assert_eq!(pieces(&"🇩".repeat(9_999)).len(), MOST);
        assert_eq!(pieces(&";,-|/(".repeat(2_000)), []);
    }
}
