//! A text with everything that is found in it word by word: its language, sentences, phrases and amounts.

use super::{
    lexicon::{self, Class, Cue, Language},
    money::{self, Found},
    token::{Kind, Token, beginning, tokens},
};
use std::ops::Range;

/// How many tokens are read to find the language.
const SAMPLE: usize = 400;
/// Short forms after which a point ends no sentence.
const SHORT: [&str; 28] = [
    "mio", "mrd", "tsd", "mill", "inc", "corp", "ltd", "co", "st", "dr", "mr", "mrs", "ms", "no",
    "vs", "ca", "bzw", "z", "b", "u", "s", "sr", "sra", "jr", "approx", "nr", "d", "h",
];
/// What may follow the name of a company without belonging to it.
const FOLLOWS: &[Class] = &[
    Class::Verb,
    Class::Raise,
    Class::Take,
    Class::With,
    Class::Invest,
    Class::Round,
    Class::Hire,
    Class::Function,
    Class::Preposition,
    Class::Plan,
    Class::Rumour,
    Class::Hearsay,
    Class::Freeze,
    Class::Layoff,
    Class::Deny,
    Class::Acquire,
    Class::Acquired,
    Class::Launch,
    Class::Partner,
    Class::Shut,
    Class::Appoint,
    Class::Announce,
    Class::Condition,
    Class::Report,
    Class::Past,
    Class::By,
    Class::Idiom,
    Class::Open,
];
/// What may stand before it.
const PRECEDES: &[Class] = &[
    Class::Descriptor,
    Class::Verb,
    Class::Function,
    Class::Article,
    Class::Preposition,
    Class::By,
    Class::Raise,
    Class::Take,
    Class::With,
    Class::Invest,
    Class::Goes,
    Class::Relation,
    Class::Void,
    Class::Hire,
    Class::Plan,
    Class::Rumour,
    Class::Report,
    Class::Advice,
    Class::Condition,
    Class::Self_,
    Class::Round,
    Class::Open,
];

#[derive(Debug)]
pub(super) struct Text {
    pub(super) source: String,
    pub(super) language: Language,
    pub(super) tokens: Vec<Token>,
    pub(super) cues: Vec<Cue>,
    pub(super) amounts: Vec<Found>,
    pub(super) sentences: Vec<Range<usize>>,
    /// How many tokens the title has.
    pub(super) title_end: usize,
    pub(super) is_title_case: bool,
    /// For each token, the classes of the phrases to which it belongs, as bits.
    classes: Vec<u64>,
    starts: Vec<bool>,
}

fn bit(class: Class) -> u64 {
    1 << (class as u32)
}

impl Text {
    pub(super) fn new(title: &str, text: &str) -> Self {
        let (title, text) = (beginning(title), beginning(text));
        // A post has no title of its own: its beginning is repeated.
        let mut body = text.chars().filter(|letter| !letter.is_whitespace());
        let is_post = !text.is_empty()
            && (title.trim_end_matches('…').chars().filter(|letter| !letter.is_whitespace()))
                .all(|letter| body.next() == Some(letter));
        let source = if is_post { text.to_owned() } else { format!("{title}\n{text}") };
        let tokens = tokens(&source);
        let title_end = match is_post {
            true => tokens.len(),
            false => tokens.iter().take_while(|token| token.start < title.len()).count(),
        };
        let language = language(&tokens);
        let lexicon = lexicon::of(language);
        let mut cues = lexicon.cues(&tokens);
        cues.retain(|cue| !is_month(&tokens, cue));
        let amounts = money::amounts(&tokens, lexicon, language);
        let mut made = Self {
            language,
            is_title_case: is_title_case(tokens.get(..title_end).unwrap_or_default()),
            sentences: sentences(&tokens),
            classes: vec![0; tokens.len()],
            starts: vec![false; tokens.len()],
            source,
            tokens,
            cues,
            amounts,
            title_end,
        };
        for cue in &made.cues {
            for class in made.classes.get_mut(cue.start..cue.end).into_iter().flatten() {
                *class |= bit(cue.class);
            }
        }
        made.drop_boilerplate();
        made.drop_portrait();
        for sentence in &made.sentences {
            if let Some(start) = made.starts.get_mut(sentence.start) {
                *start = true;
            }
        }
        made
    }

    /// Removes what feeds add to each item: "The post … appeared first on …", "Read more".
    fn drop_boilerplate(&mut self) {
        let cues = &self.cues;
        let added = |sentence: &Range<usize>| {
            cues.iter()
                .find(|cue| cue.class == Class::Boilerplate && sentence.contains(&cue.start))
                .copied()
        };
        let has_any = cues.iter().any(|cue| cue.class == Class::Boilerplate);
        if !has_any {
            return;
        }
        let kept = self.sentences.iter().filter_map(|sentence| match added(sentence) {
            None => Some(sentence.clone()),
            Some(cue)
                if sentence.end.saturating_sub(cue.end) <= 2 && cue.start > sentence.start =>
            {
                Some(sentence.start..cue.start)
            }
            Some(_) => None,
        });
        self.sentences = kept.collect();
    }

    /// Removes the portrait of the company at the end of a release: "About Harbor: …".
    fn drop_portrait(&mut self) {
        let begins = |sentence: &Range<usize>| {
            let words = (self.word(sentence.start), self.word(sentence.start + 1));
            let about =
                matches!(words, ("about" | "über" | "acerca" | "sobre", _) | ("à", "propos"));
            let colon = sentence.clone().take(8).any(|at| self.word(at) == ":");
            about && sentence.start >= self.title_end && (colon || sentence.len() <= 6)
        };
        if let Some(first) = self.sentences.iter().position(begins) {
            self.sentences.truncate(first);
        }
    }

    /// Returns whether the token belongs to a phrase of this class.
    pub(super) fn is(&self, at: usize, class: Class) -> bool {
        self.classes.get(at).is_some_and(|classes| classes & bit(class) != 0)
    }

    fn is_any(&self, at: usize, classes: &[Class]) -> bool {
        classes.iter().any(|class| self.is(at, *class))
    }

    pub(super) fn may_follow(&self, at: usize) -> bool {
        self.is_any(at, FOLLOWS)
    }

    pub(super) fn may_precede(&self, at: usize) -> bool {
        self.is_any(at, PRECEDES)
    }

    pub(super) fn begins_sentence(&self, at: usize) -> bool {
        self.starts.get(at).copied().unwrap_or(false)
    }

    pub(super) fn begins_line(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.new_line)
    }

    pub(super) fn token_apart(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.apart)
    }

    pub(super) fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text.as_str())
    }

    /// Returns the exact words of these tokens.
    pub(super) fn span(&self, range: Range<usize>) -> &str {
        let first = self.tokens.get(range.start);
        let last = range.end.checked_sub(1).and_then(|at| self.tokens.get(at));
        match (first, last) {
            (Some(first), Some(last)) => {
                self.source.get(first.start..last.end).unwrap_or_default().trim()
            }
            _ => "",
        }
    }
}

/// Returns whether a phrase is the month in a date: "May 11", "11 May".
fn is_month(tokens: &[Token], cue: &Cue) -> bool {
    let number = |at: Option<usize>| {
        at.and_then(|at| tokens.get(at)).is_some_and(|token| token.kind == Kind::Number)
    };
    cue.end == cue.start + 1
        && tokens.get(cue.start).is_some_and(|token| token.is("may") && token.capital)
        && (number(cue.start.checked_sub(1)) || number(Some(cue.end)))
}

fn is_title_case(title: &[Token]) -> bool {
    const SMALL: [&str; 6] = ["with", "from", "into", "over", "after", "amid"];
    let mut words = title.iter().filter(|token| {
        token.kind == Kind::Word
            && token.text.chars().count() > 3
            && !SMALL.contains(&token.text.as_str())
    });
    words.clone().count() >= 3 && words.all(|token| token.capital)
}

/// Returns the language whose words the text has most of.
fn language(tokens: &[Token]) -> Language {
    let sample = tokens.get(..tokens.len().min(SAMPLE)).unwrap_or_default();
    let kana = sample
        .iter()
        .filter(|token| matches!(token.kind, Kind::Hiragana | Kind::Katakana | Kind::Han));
    if kana.count() * 4 > sample.len() {
        return Language::Japanese;
    }
    let score = |lexicon: &lexicon::Lexicon| {
        let cues = lexicon.cues(sample);
        let of = |class| {
            cues.iter()
                .filter(|cue| cue.class == class)
                .map(|cue| cue.end - cue.start)
                .sum::<usize>()
        };
        let others = cues.iter().filter(|cue| {
            !matches!(cue.class, Class::Function | Class::With | Class::Preposition | Class::By)
        });
        let words = sample.iter().filter(|token| lexicon.is_function(token)).count();
        let spelt =
            cues.iter().map(|cue| cue.start).collect::<std::collections::BTreeSet<_>>().len();
        2 * words + others.count().min(12) + of(Class::Raise) + spelt.min(4)
    };
    let mut best = (Language::English, 0);
    for (language, lexicon) in lexicon::all() {
        let found = score(lexicon);
        if found > best.1 {
            best = (*language, found);
        }
    }
    best.0
}

fn sentences(tokens: &[Token]) -> Vec<Range<usize>> {
    let (mut all, mut start) = (Vec::new(), 0);
    for (at, token) in tokens.iter().enumerate() {
        if token.new_line && at > start {
            all.push(start..at);
            start = at;
        }
        if ends_sentence(tokens, at) && at + 1 > start {
            all.push(start..at + 1);
            start = at + 1;
        }
    }
    if start < tokens.len() {
        all.push(start..tokens.len());
    }
    all
}

fn ends_sentence(tokens: &[Token], at: usize) -> bool {
    let Some(token) = tokens.get(at) else { return false };
    let next = tokens.get(at + 1);
    let apart = next.is_none_or(|next| next.apart || next.kind == Kind::Sign);
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    let lower = next.is_some_and(|next| next.kind == Kind::Word && !next.capital);
    match token.text.as_str() {
        "。" | ";" => true,
        "!" | "?" | "…" => !lower || next.is_some_and(|next| next.new_line),
        "." => {
            let short = before.is_some_and(|before| {
                SHORT.contains(&before.text.as_str()) || (before.kind == Kind::Number && lower)
            });
            apart && !(short && next.is_some_and(|next| !next.new_line)) && !lower
        }
        _ => false,
    }
}
