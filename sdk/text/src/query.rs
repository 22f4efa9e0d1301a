//! The words that a query searches for.

use crate::{
    document::pairs,
    language::{Detected, Language, detect},
    tokens::{Token, cut, folded, tokens},
};
use std::collections::BTreeSet;
use unicode_script::Script;

/// Terms of the index that a text must have all together.
pub type Term = Vec<String>;

/// A word of a query: a text has it if it has one of these terms.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Word {
    /// Sorted and distinct.
    pub terms: Vec<Term>,
}

impl Word {
    /// Returns whether one of the terms is among those of a document.
    pub fn is_in(&self, has: impl Fn(&str) -> bool) -> bool {
        self.terms.iter().any(|term| term.iter().all(|part| has(part)))
    }
}

/// Returns the distinct words of a query, sorted. Stop words are left out unless there is nothing else. Words with
/// `|` between them, and no space, are alternatives: a text has `flat|apartment` if it has one of the two. Because
/// a query is short, its language is often uncertain: a word then has its stems in every language of its script.
pub fn words(text: &str) -> Vec<Word> {
    let groups = groups(text);
    let detected = detect(groups.iter().flatten());
    let is_stop_word = |token: &Token| match token {
        Token::Word(word) => detected.language.is_stop_word(word),
        // Hiragana are mostly endings and particles.
        Token::Run { script, .. } => *script == Script::Hiragana,
    };
    let is_name = is_name(text, detected);
    let (stop, content): (Vec<_>, Vec<_>) =
        groups.iter().partition(|group| !is_name && group.iter().all(is_stop_word));
    let chosen = if content.is_empty() { stop } else { content };
    let words: BTreeSet<Word> = chosen.into_iter().map(|group| word(group, detected)).collect();
    words.into_iter().collect()
}

/// Returns whether a query may be a name, such as "Uma Thurman", whose words are stop words in some language. English
/// titles and German nouns begin with capital letters too.
fn is_name(text: &str, detected: Detected) -> bool {
    !matches!(detected.language, Language::English | Language::German)
        && text.split_whitespace().all(|word| word.starts_with(char::is_uppercase))
}

/// Returns the tokens of a query, those that are alternatives together.
fn groups(text: &str) -> Vec<Vec<Token>> {
    let mut groups: Vec<Vec<Token>> = Vec::new();
    let mut is_joined = false;
    for part in text.split('|') {
        let mut tokens = tokens(part).into_iter();
        if is_joined && !part.starts_with(char::is_whitespace) {
            let first = tokens.next();
            groups.last_mut().into_iter().for_each(|group| group.extend(first.clone()));
        }
        groups.extend(tokens.map(|token| vec![token]));
        is_joined = !part.ends_with(char::is_whitespace) && !groups.is_empty();
    }
    groups
}

fn word(alternatives: &[Token], detected: Detected) -> Word {
    let terms: BTreeSet<Term> =
        alternatives.iter().flat_map(|token| terms(token, detected)).collect();
    Word { terms: terms.into_iter().collect() }
}

fn terms(token: &Token, detected: Detected) -> Vec<Term> {
    match token {
        Token::Run { characters, .. } if characters.len() > 1 => vec![pairs(characters).collect()],
        Token::Run { characters, .. } => vec![vec![characters.iter().collect()]],
        Token::Word(word) => {
            let as_written = cut(&folded(word)).to_owned();
            detected.stems(word).into_iter().chain([as_written]).map(|term| vec![term]).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms;
    use proptest::prelude::*;

    /// Returns how many words of the query a text has, and how many there are.
    fn found(text: &str, query: &str) -> (usize, usize) {
        let terms = terms(&[vec![text]]).concat();
        let words = words(query);
        let is_in = |word: &&Word| word.is_in(|part| terms.iter().any(|term| term == part));
        (words.iter().filter(is_in).count(), words.len())
    }

    #[test]
    fn articles_and_inflections_do_not_matter() {
        for (text, query) in [
            ("Apartments near the park", "an apartment by the park"),
            ("Zwei helle Wohnungen in der Stadt", "eine Wohnung in der Stadt"),
            ("Wohnungen Berlin", "eine Wohnung"),
            ("Se alquilan habitaciones en el centro", "habitación centro"),
            ("Nous louons des chambres", "chambre"),
            ("Сдаём комнаты в центре", "комната в центре"),
            ("نؤجر شقة في وسط المدينة", "شقة مدينة"),
            ("Senior C++ engineer", "c++ engineers"),
            ("Zimmer in der Hauptstraße", "hauptstrasse"),
        ] {
            let (has, of) = found(text, query);
            assert!(has == of && of > 0, "{query}: {has} of {of}");
        }
        assert_eq!(found("Senior C engineer", "c++"), (0, 1));
    }

    #[test]
    fn words_without_spaces_are_found_within_longer_ones() {
        for (text, query) in [
            ("東京のアパートを探しています", "東京"),
            ("東京のアパートを探しています", "東京でアパート"),
            ("ソフトウェアエンジニア募集", "エンジニア"),
            ("我想租一间公寓", "公寓"),
            ("黒い猫", "猫"),
            ("서울에서 방을 구합니다", "서울"),
            ("บ้านเช่าในกรุงเทพ", "บ้านเช่า"),
        ] {
            let (has, of) = found(text, query);
            assert!(has == of && of > 0, "{query}: {has} of {of}");
        }
        assert_eq!(found("京都のアパート", "東京"), (0, 1));
    }

    #[test]
    fn stop_words_are_searched_for_if_there_is_nothing_else() {
        assert_eq!(words("to be or not to be").len(), 4);
        assert_eq!(words("the flat").len(), 1);
        assert!(words(" 😀 \"*\" --- ").is_empty());
    }

    #[test]
    fn names_keep_words_that_are_stop_words_elsewhere() {
        assert_eq!(found("Cleo Hartsong", "Uma Hartsong"), (1, 2));
        assert_eq!(found("casas", "uma casa"), (1, 1));
        assert_eq!(found("Wohnung", "Eine Wohnung"), (1, 1));
    }

    #[test]
    fn words_with_a_bar_between_them_are_alternatives() {
        assert_eq!(found("a flat in Berlin", "apartment|flat berlin"), (2, 2));
        assert_eq!(found("a house in Berlin", "apartment|flat berlin"), (1, 2));
        assert_eq!(found("猫可のアパート", "cat|猫"), (1, 1));
        assert_eq!(words("flat | house").len(), 2);
        assert_eq!(words("|flat|").len(), 1);
    }

    #[test]
    fn short_stems_of_other_languages_find_nothing() {
        assert_eq!(found("It is not here", "note"), (0, 1));
    }

    proptest! {
        #[test]
        fn a_text_has_its_own_words(text in any::<String>()) {
            let (has, of) = found(&text, &text);
            prop_assert_eq!(has, of);
        }
    }
}
