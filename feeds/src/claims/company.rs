//! The companies of the map: found by identifier, by domain, and by name in a text.

use super::{
    lexicon::{Class, Language},
    text::Text,
    token::{Kind, Token, tokens},
};
use std::collections::HashMap;
use url::Url;

/// Forms of companies that may follow a name.
const LEGAL: [&str; 22] = [
    "inc",
    "inc.",
    "corp",
    "corporation",
    "ltd",
    "limited",
    "llc",
    "plc",
    "gmbh",
    "ag",
    "se",
    "ug",
    "kg",
    "sas",
    "sa",
    "sarl",
    "sl",
    "bv",
    "ab",
    "oy",
    "co",
    "pbc",
];
/// Endings of nouns that describe a company.
const NOUNS: [&str; 16] = [
    "er", "or", "tech", "ics", "ware", "ist", "eur", "euse", "iste", "ora", "dor", "app", "firm",
    "ing", "ant", "ère",
];
/// What may stand before a Japanese name in the same script.
const PARTICLES: [&str; 14] =
    ["の", "が", "は", "や", "と", "も", "を", "に", "で", "へ", "か", "ら", "さ", "社"];

/// A company of the map.
#[derive(Debug, Clone, Default)]
pub struct Company {
    /// The name, and then other names.
    pub names: Vec<String>,
    /// The registrable domain of its website.
    pub domain: Option<String>,
    /// The number of the company at the SEC, without leading zeros.
    pub cik: Option<String>,
    pub invests: bool,
}

#[derive(Debug)]
struct Name {
    tokens: Vec<Token>,
    company: usize,
    /// Whether no ordinary word is written like this, whatever its capitals.
    is_distinct: bool,
}

/// The index of all companies.
#[derive(Debug, Default)]
pub struct Companies {
    pub(super) all: Vec<Company>,
    by_first: HashMap<String, Vec<Name>>,
    by_cik: HashMap<String, usize>,
    by_domain: HashMap<String, usize>,
}

/// A name of a company in a text, from its first token to the one after its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mention {
    pub(super) company: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Returns a CIK without leading zeros.
pub fn plain_cik(text: &str) -> Option<String> {
    let digits = text.trim().trim_start_matches('0');
    let valid = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    valid.then(|| digits.to_owned())
}

impl Companies {
    pub fn new(all: Vec<Company>) -> Self {
        let mut index = Self::default();
        for (company, known) in all.iter().enumerate() {
            if let Some(cik) = known.cik.as_deref().and_then(plain_cik) {
                index.by_cik.entry(cik).or_insert(company);
            }
            if let Some(domain) = &known.domain {
                index.by_domain.entry(domain.to_lowercase()).or_insert(company);
            }
            for name in &known.names {
                index.add(name, company);
            }
        }
        for names in index.by_first.values_mut() {
            names.sort_by_key(|name| std::cmp::Reverse(name.tokens.len()));
        }
        index.all = all;
        index
    }

    fn add(&mut self, name: &str, company: usize) {
        let mut found = tokens(name);
        // "Quell!" is also written without its sign.
        while found.len() > 1 && found.last().is_some_and(|token| token.kind == Kind::Sign) {
            found.pop();
        }
        // The form of the company may be left out.
        if found.len() > 1 && found.last().is_some_and(|token| LEGAL.contains(&token.text.as_str()))
        {
            let bare = found.last().and_then(|last| name.get(..last.start)).unwrap_or_default();
            self.add(bare.trim_end_matches([' ', ',']), company);
        }
        let Some(first) = found.first() else { return };
        // A single letter is no name.
        if found.len() == 1 && name.chars().count() < 2 {
            return;
        }
        let letters = name.chars().skip(1);
        let is_distinct = found.len() > 1
            || letters.clone().any(char::is_uppercase) && name.chars().any(char::is_lowercase)
            || name.chars().any(|letter| !letter.is_ascii() || letter.is_ascii_digit())
                && first.kind != Kind::Word;
        let key = first.text.clone();
        self.by_first.entry(key).or_default().push(Name { tokens: found, company, is_distinct });
    }

    pub(super) fn get(&self, company: usize) -> Option<&Company> {
        self.all.get(company)
    }

    pub(super) fn invests(&self, company: usize) -> bool {
        self.get(company).is_some_and(|company| company.invests)
    }

    pub(super) fn with_cik(&self, cik: &str) -> Option<usize> {
        self.by_cik.get(&plain_cik(cik)?).copied()
    }

    /// Returns the company on whose website a page is.
    pub fn with_website(&self, url: &str) -> Option<usize> {
        let url = Url::parse(url).ok()?;
        let host = url.host_str()?.to_lowercase();
        let domain = psl::domain_str(&host).unwrap_or(&host);
        self.by_domain.get(domain).copied()
    }

    /// Returns the company with this name, of which only the capitals, signs and the form of company may differ.
    pub fn with_name(&self, name: &str) -> Option<usize> {
        let words = tokens(name);
        let wanted = bare(&words);
        let first = wanted.first()?;
        let mut names = self.by_first.get(*first)?.iter();
        names.find(|known| bare(&known.tokens) == wanted).map(|known| known.company)
    }

    /// Returns the names in a text, the longest where several begin.
    pub(super) fn mentions(&self, text: &Text) -> Vec<Mention> {
        let (mut all, mut at) = (Vec::new(), 0);
        while let Some(token) = text.tokens.get(at) {
            let names = self.by_first.get(&token.text).map(Vec::as_slice).unwrap_or_default();
            let matched =
                names.iter().find_map(|name| Some((name, matched(name, &text.tokens, at)?)));
            match matched {
                Some((name, end)) => {
                    if is_whole(name, text, at, end) {
                        all.push(Mention { company: name.company, start: at, end });
                    }
                    at = end;
                }
                None => at += 1,
            }
        }
        all
    }
}

/// Returns the words of a name without signs and the form of company.
fn bare(tokens: &[Token]) -> Vec<&str> {
    let words =
        tokens.iter().filter(|token| token.kind != Kind::Sign).map(|token| token.text.as_str());
    let mut words: Vec<&str> = words.collect();
    while words.len() > 1 && words.last().is_some_and(|word| LEGAL.contains(word)) {
        words.pop();
    }
    words
}

fn matched(name: &Name, text: &[Token], start: usize) -> Option<usize> {
    let end = start + name.tokens.len();
    let found = text.get(start..end)?;
    let same = name.tokens.iter().zip(found).all(|(one, other)| one.text == other.text);
    // The words of a name are apart, or not, as in the name; a name on two lines is none.
    let apart = name.tokens.iter().zip(found).skip(1).all(|(one, other)| {
        (one.apart == other.apart || one.kind == Kind::Sign) && !other.new_line
    });
    let first = found.first()?;
    let capital = first.kind != Kind::Word || first.capital || !name.tokens.first()?.capital;
    (same && apart && (capital || name.is_distinct)).then_some(end)
}

/// Returns whether a name stands for itself here: not within a longer name, and not as an ordinary word.
fn is_whole(name: &Name, text: &Text, start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).and_then(|at| text.tokens.get(at));
    let after = text.tokens.get(end);
    if text.language == Language::Japanese
        && !name.tokens.iter().any(|token| token.apart && token.capital && token.kind == Kind::Word)
    {
        return is_whole_in_japanese(name, text, before, after, end);
    }
    let sign_before =
        before.is_some_and(|token| token.kind == Kind::Sign && !text.token_apart(start));
    if sign_before && before.is_some_and(|token| token.is("-") || token.is(".") || token.is("/")) {
        return false;
    }
    if let Some(next) = after
        && !next.apart
        && !next.new_line
    {
        if next.kind == Kind::Word || next.kind == Kind::Number {
            return false;
        }
        // "Ramp-up": an ordinary word.
        let up = text.tokens.get(end + 1);
        if next.is("-") && up.is_some_and(|up| text.is(end + 1, Class::Particle) && !up.apart) {
            return false;
        }
    }
    let single = name.tokens.len() == 1;
    let article =
        before.is_some() && !text.begins_line(start) && text.is(start - 1, Class::Article);
    let is_legal = after.is_some_and(|token| LEGAL.contains(&token.text.as_str()));
    if single && !name.is_distinct && article && !is_legal {
        return false;
    }
    let begins = text.begins_sentence(start);
    if single
        && !name.is_distinct
        && begins
        && text.is(end, Class::Particle)
        && text.language == Language::English
    {
        return false;
    }
    let is_end_of_another = single && !name.is_distinct && begins_before(text, start);
    !goes_on(text, end) && !is_end_of_another
}

/// Returns whether the next word belongs to the name: "Harbor Hearing".
fn goes_on(text: &Text, end: usize) -> bool {
    let Some(next) = text.tokens.get(end) else { return false };
    let and = next.is("&") && text.tokens.get(end + 1).is_some_and(Token::is_name_part);
    if and {
        return true;
    }
    let adjacent = next.apart && !next.new_line && next.is_name_part();
    // In a title in capitals, a word such as "Banks" before a sum is a verb.
    let verb = text.is_title_case
        && (next.text.ends_with('s') || next.text.ends_with("ed"))
        && text
            .tokens
            .get(end + 1)
            .is_some_and(|token| !token.is_name_part() || text.may_follow(end + 1));
    adjacent && !verb && !LEGAL.contains(&next.text.as_str()) && !text.may_follow(end)
}

/// Returns whether the word before belongs to the name: "Pearl Harbor".
fn begins_before(text: &Text, start: usize) -> bool {
    let Some(at) = start.checked_sub(1) else { return false };
    let Some(before) = text.tokens.get(at) else { return false };
    let adjacent = text.token_apart(start) && !text.begins_line(start) && before.is_name_part();
    // "London-born WhereHouse", "Warehouse-robot maker", "Speicher-Anbieter Funke"
    let compound = at
        .checked_sub(1)
        .and_then(|at| text.tokens.get(at))
        .is_some_and(|sign| sign.is("-") && !before.apart);
    // "Chipmaker Northlight", "Assureur Marée": a noun at the beginning; in German every noun has a capital.
    let noun = text.begins_sentence(at) && NOUNS.iter().any(|ending| before.text.ends_with(ending));
    let in_title_case = text.is_title_case && at < text.title_end;
    adjacent
        && !compound
        && !noun
        && text.language != Language::German
        && !text.may_precede(at)
        && !in_title_case
        && before.text.chars().count() > 1
}

fn is_whole_in_japanese(
    name: &Name,
    text: &Text,
    before: Option<&Token>,
    after: Option<&Token>,
    end: usize,
) -> bool {
    let (Some(first), Some(last)) = (name.tokens.first(), name.tokens.last()) else { return false };
    let parts = |one: Kind, other: Kind| one == other && one != Kind::Sign;
    if let Some(before) = before
        && parts(before.kind, first.kind)
        && !(before.kind == Kind::Hiragana && PARTICLES.contains(&before.text.as_str()))
        && !text.may_precede((end - name.tokens.len()).saturating_sub(1))
    {
        return false;
    }
    match after {
        Some(after) if parts(after.kind, last.kind) => match after.kind {
            Kind::Hiragana => PARTICLES.contains(&after.text.as_str()) || text.may_follow(end),
            _ => text.may_follow(end),
        },
        Some(after) if last.kind == Kind::Hiragana && after.kind == Kind::Han => {
            text.may_follow(end)
        }
        Some(after) => !(last.kind == Kind::Word && after.kind == Kind::Word && !after.apart),
        None => true,
    }
}
