//! The roles of the companies that a sentence names.

use super::{
    company::Mention,
    frame::{Frame, Role},
    lexicon::{Class, Language},
    token::Kind,
};
use std::ops::Range;

impl Frame<'_> {
    pub(super) fn role(&self, mention: &Mention) -> Role {
        match self.text.language {
            Language::Japanese => self.role_in_japanese(mention),
            _ => self.role_by_words(mention),
        }
    }

    /// Returns whether the item says that it is not about this company: "no relation to Square".
    fn is_disclaimed(&self, company: usize) -> bool {
        self.text.cues.iter().filter(|cue| cue.class == Class::Disclaim).any(|cue| {
            let after = cue.end..cue.end + 6;
            self.mentions_in(&after).iter().any(|mention| mention.company == company)
        })
    }

    fn role_in_japanese(&self, mention: &Mention) -> Role {
        let text = self.text;
        let before = mention.start.saturating_sub(8)..mention.start;
        let near = self.cues_in(&before, Class::Relation).any(|cue| cue.end + 1 >= mention.start);
        // "ソラノさんの", "ソラノ社の"
        let end = match (text.word(mention.end), text.word(mention.end + 1)) {
            ("さ", "ん") => mention.end + 2,
            ("社", _) => mention.end + 1,
            _ => mention.end,
        };
        let after = end..end + 3;
        // "ソラノ（東京・港）とは無関係"
        let ends = |at: &usize| matches!(text.word(*at), "。" | "、") || text.begins_line(*at);
        let clause = end..(end..end + 10).find(ends).unwrap_or(end + 10);
        let apart = self.has(&clause, Class::Disclaim) && self.mentions_in(&clause).is_empty();
        if near || apart || self.cues_in(&after, Class::Relation).next().is_some() {
            return Role::Relation;
        }
        match text.word(end) {
            "に" | "へ" => Role::Receiver,
            "の" => Role::Owner,
            "を" | "と" | "で" if text.word(end + 1) != "は" => Role::Beside,
            _ => Role::Subject,
        }
    }

    fn role_by_words(&self, mention: &Mention) -> Role {
        let text = self.text;
        let (start, end) = (mention.start, mention.end);
        // What another sentence or line says is no relation of this name.
        let begins = |at: &usize| text.begins_sentence(*at) || text.begins_line(*at);
        let first = start.saturating_sub(7);
        let near = (first..=start).rev().find(begins).unwrap_or(first)..start;
        if self.is_disclaimed(mention.company) {
            return Role::Relation;
        }
        let related = self.cues_in(&near, Class::Relation).any(|cue| {
            // A long phrase, such as "no relation to", reaches over words before the name.
            let reach = if cue.end - cue.start >= 2 { 3 } else { 2 };
            cue.end + reach >= start
                && cue.end <= start
                && (cue.end..start).all(|at| text.word(at) != ",")
        });
        if related || self.is_followed_by_relation(end) {
            return Role::Relation;
        }
        let next = text.word(end);
        if next == "-" && !text.token_apart(end) {
            return Role::Beside;
        }
        let possessive = next == "'" && !text.token_apart(end);
        if possessive {
            let owned = end..end + 8;
            if text.is(end + 2, Class::Relation) || text.is(end + 1, Class::Relation) {
                return Role::Relation;
            }
            let owns = [Class::Round, Class::Open, Class::Fund, Class::Hire]
                .iter()
                .any(|class| self.has(&owned, *class))
                || self.amount_in(&owned);
            return if owns { Role::Owner } else { Role::Beside };
        }
        // A lower-case noun after the name: "Harbor employees", "Techstars alumni".
        let is_noun = text
            .tokens
            .get(end)
            .is_some_and(|token| token.kind == Kind::Word && !token.capital && token.apart);
        let like_verb = ["ed", "ly", "s"].iter().any(|ending| next.ends_with(ending));
        let verb_next = [Class::Raise, Class::Take, Class::Verb, Class::Hire]
            .iter()
            .any(|class| text.is(end + 1, *class));
        if is_noun
            && text.language == Language::English
            && !text.may_follow(end)
            && (!like_verb || verb_next)
        {
            return Role::Beside;
        }
        let Some(mut at) = start.checked_sub(1).filter(|_| !text.begins_line(start)) else {
            return Role::Subject;
        };
        while at > 0 && text.is(at, Class::Article) && !text.is(at, Class::Preposition) {
            at -= 1;
        }
        if text.is(at, Class::Preposition) || text.is(at, Class::By) {
            let owned = at.saturating_sub(4)..at;
            let owns = self.has(&owned, Class::Round)
                || self.amount_in(&owned)
                || self.has(&owned, Class::Open)
                || self.has(&owned, Class::Invest)
                || self.has(&owned, Class::Raise)
                || self.has(&owned, Class::Fund);
            let goes = text.is(at, Class::Goes);
            return match (goes, owns, text.word(at)) {
                (true, ..) => Role::Receiver,
                (_, true, "of" | "von" | "de" | "d" | "del" | "du" | "bei" | "chez" | "'") => {
                    Role::Owner
                }
                (_, _, "at" | "bei" | "chez" | "en") => Role::Owner,
                _ => Role::Beside,
            };
        }
        Role::Subject
    }

    /// "Harbor rival", but not "Harbor ahead of", which tells nothing of a relation.
    fn is_followed_by_relation(&self, end: usize) -> bool {
        const OPEN: [&str; 4] = ["of", "to", "on", "like"];
        let text = self.text;
        let next = end..end + 1;
        let mut cues = self.cues_in(&next, Class::Relation);
        text.token_apart(end)
            && cues.any(|cue| !OPEN.contains(&text.word(cue.end.saturating_sub(1))))
    }

    /// Returns the investor that seeks people itself: the one of whom the sentence or the title tells first.
    pub(super) fn hiring_investor(
        &self,
        sentence: &Range<usize>,
        is_others: bool,
    ) -> Option<usize> {
        let title = 0..self.text.title_end;
        let first = match is_others {
            true => self.mentions_in(sentence).first(),
            false => self.mentions_in(sentence).first().or(self.mentions_in(&title).first()),
        };
        let acts = first.filter(|mention| self.role(mention) == Role::Subject);
        let named = match (first, acts) {
            (None, _) if is_others => None,
            (None, _) => self.own,
            (_, acts) => acts.map(|mention| mention.company),
        };
        named.filter(|company| self.companies.invests(*company))
    }

    /// Returns the employer of a post on a board of many: "Engineer – Harbor", "Engineer at Harbor", or a
    /// sentence that begins with it.
    pub(super) fn employer(&self) -> Option<usize> {
        let text = self.text;
        let is_employer = |mention: &&Mention| {
            let before = mention.start.checked_sub(1);
            let begins = text.begins_sentence(mention.start) || text.begins_line(mention.start);
            let sign = before.is_some_and(|at| {
                matches!(
                    text.word(at),
                    "–" | "-" | "|" | "," | ":" | "@" | "(" | "•" | "】" | "・" | "/"
                )
            });
            let role = self.role(mention);
            match mention.start < text.title_end {
                true => role == Role::Owner || (role == Role::Subject && (begins || sign)),
                false => (begins || sign) && matches!(role, Role::Subject | Role::Owner),
            }
        };
        self.mentions.iter().find(is_employer).map(|mention| mention.company)
    }
}
