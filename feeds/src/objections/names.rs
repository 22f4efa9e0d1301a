//! Names as they are compared: without the difference of case, accents and spaces.

use percent_encoding::percent_decode_str;
use regex::{Regex, RegexBuilder};
use std::ops::Range;
use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};
use url::Url;

/// The bytes that the automaton of all names may take.
const MOST_AUTOMATON: usize = 256 << 20;
/// What may be between the words of a name in an address.
const BETWEEN: &str = "[-_+. ]*";

/// A space that does not break, as sanitized HTML has it.
const NO_BREAK: &str = "&nbsp;";

/// Returns a text in lower case, without accents, and with one space between words.
pub(super) fn folded(text: &str) -> String {
    Folded::of(text).text.trim().to_owned()
}

/// Returns the host of an address or a domain, without `www.`; `None` if it is no domain that somebody
/// can register, or lies within one.
pub(super) fn domain(text: &str) -> Option<String> {
    let host = address(text)?.host_str()?.trim_end_matches('.').to_lowercase();
    let host = host.strip_prefix("www.").unwrap_or(&host);
    psl::domain_str(host).map(|_| host.to_owned())
}

/// Returns whether a text is the address of one page of a domain, with or without its scheme.
pub(super) fn is_page(text: &str) -> bool {
    let is_below =
        |url: Url| url.path() != "/" || url.query().is_some() || url.fragment().is_some();
    domain(text).is_some() && address(text).is_some_and(is_below)
}

fn address(text: &str) -> Option<Url> {
    let text = text.trim();
    match text.contains("://") {
        true => Url::parse(text),
        false => Url::parse(&format!("https://{text}")),
    }
    .ok()
}

/// A folded text, with the place of each of its bytes in the text as it was.
struct Folded {
    text: String,
    /// For each character of `text`: its place in it, and the place of its origin.
    places: Vec<(usize, Range<usize>)>,
}

impl Folded {
    fn of(text: &str) -> Self {
        let mut folded = Self { text: String::with_capacity(text.len()), places: Vec::new() };
        folded.add(text, 0);
        folded
    }

    /// Returns the text of HTML: tags are between the characters, and in none of them.
    fn of_markup(html: &str) -> Self {
        let mut folded = Self { text: String::with_capacity(html.len()), places: Vec::new() };
        let mut at = 0;
        for (is_tag, part) in pieces(html) {
            for (position, text) in part.split(NO_BREAK).enumerate().filter(|_| !is_tag) {
                if position > 0 {
                    folded.space(at..at + NO_BREAK.len());
                    at += NO_BREAK.len();
                }
                folded.add(text, at);
                at += text.len();
            }
            at += if is_tag { part.len() } else { 0 };
        }
        folded
    }

    /// Adds a part that begins at this place of the whole.
    fn add(&mut self, text: &str, begin: usize) {
        for (at, character) in text.char_indices() {
            let origin = begin + at..begin + at + character.len_utf8();
            match character {
                '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}' => {}
                _ if character.is_whitespace() => self.space(origin),
                _ if character.is_ascii() => self.push(character.to_ascii_lowercase(), origin),
                '\u{2018}' | '\u{2019}' | '\u{2bc}' => self.push('\'', origin),
                '\u{2010}'..='\u{2015}' => self.push('-', origin),
                _ => character
                    .nfkd()
                    .filter(|part| !is_combining_mark(*part))
                    .flat_map(char::to_lowercase)
                    .for_each(|part| self.push(part, origin.clone())),
            }
        }
    }

    fn push(&mut self, character: char, origin: Range<usize>) {
        self.places.push((self.text.len(), origin));
        self.text.push(character);
    }

    fn space(&mut self, origin: Range<usize>) {
        match (self.text.ends_with(' '), self.places.last_mut()) {
            (true, Some((_, last))) => last.end = origin.end,
            _ => self.push(' ', origin),
        }
    }

    /// Returns the place in the original text of a part of the folded one.
    fn origin(&self, part: Range<usize>) -> Option<Range<usize>> {
        let first = self.places.partition_point(|(at, _)| *at < part.start);
        let after = self.places.partition_point(|(at, _)| *at < part.end);
        let (_, first) = self.places.get(first)?;
        let (_, last) = self.places.get(after.checked_sub(1)?)?;
        Some(first.start..last.end)
    }
}

/// Names that are looked for in texts and in addresses.
#[derive(Debug)]
pub(super) struct Names {
    in_text: Regex,
    in_address: Regex,
}

impl Names {
    /// Returns the names that can be told from common words: those of several words, or in a script that
    /// writes none apart. `None` if there is no such name.
    pub(super) fn new<'a>(
        names: impl Iterator<Item = &'a String>,
    ) -> Result<Option<Self>, regex::Error> {
        let names: Vec<&String> = names.filter(|name| is_distinctive(name)).collect();
        if names.is_empty() {
            return Ok(None);
        }
        let any = |pattern: Vec<String>| {
            RegexBuilder::new(&pattern.join("|")).size_limit(MOST_AUTOMATON).build()
        };
        let words = |name: &&String| {
            let words = name.split(|letter: char| !letter.is_alphanumeric());
            let words = words.filter(|word| !word.is_empty()).map(regex::escape);
            words.collect::<Vec<_>>().join(BETWEEN)
        };
        Ok(Some(Self {
            in_text: any(names.iter().map(|name| regex::escape(name)).collect())?,
            in_address: any(names.iter().map(words).collect())?,
        }))
    }

    /// Replaces the names in a text, which may be HTML; returns `None` if there are none.
    pub(super) fn replaced(&self, text: &str, replacement: &str) -> Option<String> {
        let plain = self.replaced_in(&Folded::of(text), text, replacement);
        let after = plain.as_deref().unwrap_or(text);
        // A name can be written with tags between its words.
        let markup = after
            .contains('<')
            .then(|| self.replaced_in(&Folded::of_markup(after), after, replacement))
            .flatten();
        markup.or(plain)
    }

    fn replaced_in(&self, folded: &Folded, text: &str, replacement: &str) -> Option<String> {
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(name) = self.in_text.find_at(&folded.text, from) {
            match is_whole(&folded.text, name.range()) {
                true => {
                    found.extend(folded.origin(name.range()));
                    from = name.end();
                }
                // Another name may begin within this one.
                false => from = next_character(&folded.text, name.start()),
            }
        }
        if found.is_empty() {
            return None;
        }
        let mut result = text.to_owned();
        for part in found.into_iter().rev() {
            // Tags within the name stay, so that each that is open is closed.
            let within = pieces(text.get(part.clone()).unwrap_or_default());
            let tags: String = within.filter(|(is_tag, _)| *is_tag).map(|(_, tag)| tag).collect();
            result.replace_range(part, &format!("{replacement}{tags}"));
        }
        Some(result)
    }

    /// Returns an address without its path, if the path names somebody.
    pub(super) fn shortened(&self, address: &str) -> Option<String> {
        let url = Url::parse(address).ok()?;
        let host = url.host_str()?;
        let (_, path) = address.split_once("://")?.1.split_once('/')?;
        let path = folded(&percent_decode_str(path).decode_utf8_lossy());
        if !self.in_address.is_match(&path) {
            return None;
        }
        let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
        Some(format!("{}://{host}{port}/", url.scheme()))
    }
}

/// Returns the tags of HTML and the texts between them, in order; for each whether it is a tag.
fn pieces(html: &str) -> impl Iterator<Item = (bool, &str)> {
    let parts = html.split_inclusive('>');
    parts.flat_map(|part| {
        let tag = part.rfind('<').filter(|_| part.ends_with('>'));
        let (text, tag) = part.split_at_checked(tag.unwrap_or(part.len())).unwrap_or((part, ""));
        [(false, text), (true, tag)]
    })
}

fn next_character(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.chars().next().map_or(1, char::len_utf8)
}

fn is_distinctive(name: &str) -> bool {
    let words = name.split(' ').filter(|word| word.chars().any(char::is_alphanumeric)).count();
    words > 1 || (name.chars().all(is_written_without_spaces) && name.chars().count() > 1)
}

/// Returns whether a part of a text is not within a longer word.
fn is_whole(text: &str, part: Range<usize>) -> bool {
    let is_part = |outside: Option<char>, inside: Option<char>| {
        let is_letter = |letter: Option<char>| {
            letter.is_some_and(|letter| {
                letter.is_alphanumeric() && !is_written_without_spaces(letter)
            })
        };
        is_letter(outside) && is_letter(inside)
    };
    let inside = text.get(part.clone()).unwrap_or_default();
    let before = text.get(..part.start).and_then(|text| text.chars().next_back());
    let after = text.get(part.end..).and_then(|text| text.chars().next());
    !is_part(before, inside.chars().next()) && !is_part(after, inside.chars().next_back())
}

/// Returns whether a character is of a script without spaces between words: Han, kana, Hangul, Thai, Lao,
/// Myanmar, Khmer.
fn is_written_without_spaces(character: char) -> bool {
    matches!(character,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7ff}'
        | '\u{20000}'..='\u{323af}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(all: &[&str]) -> Names {
        let all: Vec<String> = all.iter().map(|name| folded(name)).collect();
        Names::new(all.iter()).unwrap().unwrap()
    }

    #[test]
    fn names_are_the_same_in_any_case_and_with_other_accents_and_spaces() {
        for name in ["JOSÉ  MAREN", "jose\u{301} maren", "José\u{a0}Ma\u{200b}ren", " José Maren\n"]
        {
            assert_eq!(folded(name), "jose maren", "{name:?}");
        }
        assert_eq!(folded("O’Neil\u{2010}Ray"), "o'neil-ray");
    }

    #[test]
    fn a_name_is_removed_from_texts_as_a_whole_word() {
        let names = names(&["José Maren", "Ana Li", "山田太郎", "Prince"]);
        for (text, without) in [
            ("Says Jose\u{301}\n MAREN's team", "Says [x]'s team"),
            ("José Maren and Ana  Li.", "[x] and [x]."),
            ("Ana Lisbeth, Joana Li", ""),
            ("山田太郎氏が登壇", "[x]氏が登壇"),
            ("A prince of a job", ""),
            ("Ana Lina Li Ana Li", "Ana Lina Li [x]"),
            ("", ""),
        ] {
            let replaced = names.replaced(text, "[x]");
            assert_eq!(replaced.as_deref().unwrap_or_default(), without, "{text}");
        }
    }

    #[test]
    fn a_name_is_removed_from_html_and_every_tag_stays_closed() {
        let names = names(&["José Maren"]);
        for (html, without) in [
            ("<p>With <b>José</b> Maren.</p>", "<p>With <b>[x]</b>.</p>"),
            ("<p>José&nbsp;<i>Maren</i></p>", "<p>[x]<i></i></p>"),
            ("<p>José Maren</p><p>x</p>", "<p>[x]</p><p>x</p>"),
            ("1 < 2 José Maren > 0", "1 < 2 [x] > 0"),
            ("<p>José</p><p>Mar</p>", ""),
            ("<", ""),
            ("a > <b", ""),
        ] {
            let replaced = names.replaced(html, "[x]");
            assert_eq!(replaced.as_deref().unwrap_or_default(), without, "{html}");
        }
    }

    #[test]
    fn an_address_that_names_somebody_keeps_its_host_only() {
        let names = names(&["José Maren"]);
        for address in
            ["https://a.example:8/2026/jose-maren-raises", "https://a.example:8/?q=Jos%C3%A9+Maren"]
        {
            assert_eq!(
                names.shortened(address).as_deref(),
                Some("https://a.example:8/"),
                "{address}"
            );
        }
        for address in ["https://jose-maren.example/", "https://a.example/b", "no address"] {
            assert_eq!(names.shortened(address), None, "{address}");
        }
    }

    #[test]
    fn a_domain_is_one_that_can_be_registered() {
        for (text, found) in [
            ("https://www.copperleaf.example/about", Some("copperleaf.example")),
            ("Jobs.Copperleaf.example", Some("jobs.copperleaf.example")),
            ("com", None),
            ("co.uk", None),
            ("Copperleaf Robotics", None),
            ("", None),
        ] {
            assert_eq!(domain(text).as_deref(), found, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_search(text in "\\PC{0,40}", before in "\\PC{0,10}") {
            let names = names(&["José Maren", "Ana Li", "山田太郎"]);
            let _any = names.replaced(&text, "[x]");
            let text = format!("{before} josé maren {text}");
            let replaced = names.replaced(&text, "[x]").unwrap_or_default();
            prop_assert!(names.replaced(&replaced, "[x]").is_none(), "{:?}", replaced);
        }
    }
}
