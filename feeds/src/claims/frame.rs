//! The structure of a sentence: which company acts, which ones are only named, and how far it is a fact.

use super::{
    Amount,
    company::{Companies, Mention},
    lexicon::{Class, Cue, Language},
    text::Text,
    token::Kind,
};
use std::ops::Range;

/// Words before the year in which a company began.
const FOUNDED: [&str; 10] = [
    "founded",
    "started",
    "launched",
    "gegründet",
    "gegründete",
    "fondée",
    "créée",
    "fondé",
    "fundada",
    "creada",
];

/// Words before a level that something reaches.
const LEVELS: [&str; 4] = ["to", "auf", "à", "hasta"];

/// The part that a company has in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Subject,
    /// Owns the round or the posts: "Beacon's Series B".
    Owner,
    /// Gets something: "for Beacon".
    Receiver,
    /// A name before another noun, or with a preposition: something else is told of.
    Beside,
    /// Names somebody else by their relation: "rival to Beacon".
    Relation,
}

/// How far an event of a sentence is a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Fact,
    /// In a form of the verb that leaves it open.
    Hearsay,
    Rumoured,
    Planned,
    Denied,
    Past,
    /// A question or a condition.
    Open,
}

/// The company that a sentence is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Company(usize),
    /// The one that the whole item is about.
    Topic,
    Other,
}

pub(super) struct Frame<'a> {
    pub(super) text: &'a Text,
    pub(super) companies: &'a Companies,
    pub(super) mentions: Vec<Mention>,
    /// The company to which the feed belongs.
    pub(super) own: Option<usize>,
    pub(super) year: i64,
}

impl<'a> Frame<'a> {
    pub(super) fn cues_in(&self, range: &Range<usize>, class: Class) -> impl Iterator<Item = Cue> {
        let all = self.text.cues.as_slice();
        let from = all.partition_point(|cue| cue.start < range.start);
        let to = all.partition_point(|cue| cue.start < range.end);
        let found = all.get(from..to).unwrap_or_default();
        found.iter().filter(move |cue| cue.class == class && !self.is_in_name(cue)).copied()
    }

    pub(super) fn has(&self, range: &Range<usize>, class: Class) -> bool {
        self.cues_in(range, class).next().is_some()
    }

    /// Returns whether a phrase is a part of a name: "First Round Capital" tells of no round.
    fn is_in_name(&self, cue: &Cue) -> bool {
        let at = self.mentions.partition_point(|mention| mention.end <= cue.start);
        self.mentions
            .get(at)
            .is_some_and(|mention| mention.start <= cue.start && cue.end <= mention.end)
    }

    pub(super) fn mentions_in(&self, range: &Range<usize>) -> &[Mention] {
        let from = self.mentions.partition_point(|mention| mention.start < range.start);
        let to = self.mentions.partition_point(|mention| mention.start < range.end);
        self.mentions.get(from..to).unwrap_or_default()
    }

    pub(super) fn is_title(&self, sentence: &Range<usize>) -> bool {
        sentence.start < self.text.title_end
    }

    pub(super) fn amount_in(&self, range: &Range<usize>) -> bool {
        let all = &self.text.amounts;
        let from = all.partition_point(|found| found.at.start < range.start);
        all.get(from).is_some_and(|found| found.at.start < range.end)
    }

    /// Returns the amounts of a sentence that can be a round's: not a valuation, revenue or a total.
    pub(super) fn amounts(&self, sentence: &Range<usize>) -> Vec<(Range<usize>, Amount)> {
        let text = self.text;
        let mut all = Vec::new();
        let from = text.amounts.partition_point(|found| found.at.start < sentence.start);
        for found in
            text.amounts.iter().skip(from).take_while(|found| found.at.start < sentence.end)
        {
            // "raises prices to $20": a level and no sum.
            let level =
                found.at.start.checked_sub(1).is_some_and(|at| LEVELS.contains(&text.word(at)));
            let before = found.at.start.saturating_sub(3)..found.at.start;
            let after = found.at.end..found.at.end + 2;
            let beside = level
                || self.has(&before, Class::Beside)
                || self.cues_in(&after, Class::Beside).any(|cue| cue.start < found.at.end + 2);
            if !beside {
                all.push((found.at.clone(), found.amount.clone()));
            }
        }
        all
    }

    /// Returns the part of the sentence between commas to which the token belongs.
    fn clause(&self, sentence: &Range<usize>, at: usize) -> Range<usize> {
        let is_border =
            |at: &usize| matches!(self.text.word(*at), "," | "–" | "、" | ":" | "(" | ")");
        // A space is a border in Japanese.
        let spaced =
            |at: &usize| self.text.language == Language::Japanese && self.text.token_apart(*at);
        let before = (sentence.start..at).rev().find(is_border).map_or(sentence.start, |at| at + 1);
        let start = (before..=at).rev().find(spaced).unwrap_or(before);
        let end =
            (at + 1..sentence.end).find(|at| is_border(at) || spaced(at)).unwrap_or(sentence.end);
        start..end
    }

    /// Returns how far the event at this token is a fact.
    pub(super) fn standing(&self, sentence: &Range<usize>, event: &Cue) -> Standing {
        let text = self.text;
        let japanese = text.language == Language::Japanese;
        let clause = self.clause(sentence, event.start);
        // "seeks" tells of hiring, and else of what is not yet.
        let apart = |cue: &Cue| cue.end <= event.start || event.end <= cue.start;
        let governs = |cue: Cue| {
            apart(&cue)
                && match japanese {
                    true => clause.contains(&cue.start) || self.is_title(sentence),
                    false => cue.start <= event.end + 2,
                }
        };
        if self.cues_in(sentence, Class::Deny).any(|cue| clause.contains(&cue.start)) {
            return Standing::Denied;
        }
        if self.is_question(sentence) {
            return Standing::Open;
        }
        if self.cues_in(sentence, Class::Rumour).any(governs) {
            return Standing::Rumoured;
        }
        let planned = self.cues_in(sentence, Class::Plan).filter(apart).any(|cue| match japanese {
            true => clause.contains(&cue.start) && cue.start >= event.start,
            false => clause.contains(&cue.start) && cue.start <= event.end + 6,
        });
        // "100人採用へ": towards it.
        let towards = japanese
            && (event.end.saturating_sub(1)..event.end + 2).any(|at| text.word(at) == "へ");
        if planned || towards {
            return Standing::Planned;
        }
        if self.cues_in(sentence, Class::Condition).any(|cue| japanese || cue.start <= event.start)
        {
            return Standing::Open;
        }
        if self.has(&clause, Class::Past) || self.names_a_past_year(&clause) {
            return Standing::Past;
        }
        if self.has(sentence, Class::Hearsay) || (japanese && self.leaves_open(sentence)) {
            return Standing::Hearsay;
        }
        Standing::Fact
    }

    /// "調達か 関係者"
    fn leaves_open(&self, sentence: &Range<usize>) -> bool {
        sentence.clone().any(|at| {
            let next = self.text.tokens.get(at + 1);
            let ends = at + 1 == sentence.end
                || next.is_some_and(|next| {
                    next.apart || matches!(next.text.as_str(), "。" | "、" | "」")
                });
            self.text.word(at) == "か" && ends
        })
    }

    pub(super) fn is_question(&self, sentence: &Range<usize>) -> bool {
        let last = sentence.end.saturating_sub(1);
        let ends = (last.saturating_sub(1)..=last).any(|at| self.text.word(at) == "?");
        ends || sentence.clone().any(|at| self.text.word(at) == "¿")
    }

    fn names_a_past_year(&self, clause: &Range<usize>) -> bool {
        clause.clone().any(|at| {
            let token = self.text.tokens.get(at);
            let year = token.filter(|token| token.kind == Kind::Number && token.text.len() == 4);
            let founded = at.checked_sub(2).is_some_and(|at| FOUNDED.contains(&self.text.word(at)));
            year.filter(|_| !founded)
                .and_then(|token| token.text.parse::<i64>().ok())
                .is_some_and(|year| year > 1950 && year < self.year)
        })
    }

    /// Returns the first company that the range names in one of these roles.
    pub(super) fn first_in(
        &self,
        range: &Range<usize>,
        roles: &[Role],
        investors: bool,
    ) -> Option<usize> {
        let mentions = self.mentions_in(range).iter();
        let mut fitting = mentions.filter(|mention| {
            (investors || !self.companies.invests(mention.company))
                && roles.contains(&self.role(mention))
        });
        fitting.next().map(|mention| mention.company)
    }

    /// Returns the company that the item is about.
    pub(super) fn topic(&self) -> Option<usize> {
        if let Some(own) = self.own.filter(|own| !self.companies.invests(*own)) {
            return Some(own);
        }
        let title = 0..self.text.title_end;
        let roles = [Role::Subject, Role::Owner, Role::Receiver];
        self.first_in(&title, &roles, false).or_else(|| {
            if self.names_another() {
                return None;
            }
            let body: Vec<&Range<usize>> = self
                .text
                .sentences
                .iter()
                .filter(|sentence| !self.is_title(sentence))
                .take(3)
                .collect();
            body.iter().find_map(|sentence| self.first_in(sentence, &roles, false))
        })
    }

    /// Returns whether the title begins with the name of somebody who is not on the map.
    fn names_another(&self) -> bool {
        let text = self.text;
        if matches!(text.language, Language::German | Language::Japanese) || text.is_title_case {
            return false;
        }
        let capital = |at: usize| {
            at < text.title_end && text.tokens.get(at).is_some_and(|token| token.is_name_part())
        };
        (0..text.title_end).any(|at| {
            let mentioned =
                self.mentions.iter().any(|mention| (mention.start..mention.end).contains(&at));
            let two = capital(at) && capital(at + 1) && text.token_apart(at + 1);
            two && !mentioned && !text.may_precede(at) && !text.may_follow(at + 1)
        })
    }

    /// Returns whom an event is about. `investor`: whether its grammatical subject is an investor.
    pub(super) fn subject(&self, sentence: &Range<usize>, event: &Cue, investor: bool) -> Subject {
        let own = self.own.filter(|own| !self.companies.invests(*own));
        let before = sentence.start..event.start;
        let after = event.start..sentence.end;
        if investor {
            let roles = [Role::Owner, Role::Receiver, Role::Subject];
            let found = self
                .first_in(
                    &after,
                    &[Role::Owner, Role::Receiver, Role::Subject, Role::Beside],
                    false,
                )
                .or_else(|| self.first_in(&before, &roles, false));
            return match found {
                Some(found) => Subject::Company(found),
                None if self.has(sentence, Class::Relation) => Subject::Other,
                None => self.unnamed(sentence, event),
            };
        }
        let nearest = self
            .mentions_in(&before)
            .iter()
            .rev()
            .find(|mention| self.role(mention) == Role::Subject);
        if let Some(nearest) = nearest {
            let between = nearest.end..event.start;
            if self.has_other_subject(&between, event) {
                return Subject::Other;
            }
            if !self.companies.invests(nearest.company) {
                return Subject::Company(nearest.company);
            }
            // An investor's fund, unless a company follows.
            return match self.first_in(&after, &[Role::Owner, Role::Receiver], false) {
                Some(found) => Subject::Company(found),
                None => Subject::Other,
            };
        }
        if self.has_other_subject(&before, event) {
            return Subject::Other;
        }
        let owners = [Role::Owner, Role::Receiver];
        if let Some(found) = self.first_in(sentence, &owners, false) {
            return Subject::Company(found);
        }
        if let Some(found) = self.first_in(&after, &[Role::Subject], false)
            && (self.text.language == Language::German || self.text.language == Language::Japanese)
        {
            return Subject::Company(found);
        }
        match own {
            _ if self.cues_in(&before, Class::Relation).next().is_some() => Subject::Other,
            Some(own) => Subject::Company(own),
            None => self.unnamed(sentence, event),
        }
    }

    /// A sentence that names no company of the map: it is about the item's, unless it names another one.
    fn unnamed(&self, sentence: &Range<usize>, event: &Cue) -> Subject {
        let related =
            self.mentions_in(sentence).iter().any(|mention| self.role(mention) == Role::Relation);
        match related || self.has_other_subject(&(sentence.start..event.start), event) {
            true => Subject::Other,
            false => Subject::Topic,
        }
    }

    /// Returns whether an unknown name stands where the subject of the event is.
    fn has_other_subject(&self, before: &Range<usize>, event: &Cue) -> bool {
        let text = self.text;
        if text.language == Language::Japanese {
            return self.has_other_topic(before);
        }
        // To the left of the verb, over words of grammar and what stands between commas.
        let mut at = before.end;
        let mut steps = 0;
        while at > before.start && steps < 24 {
            at -= 1;
            steps += 1;
            let word = text.word(at);
            if word == "," {
                match (before.start..at).rev().take(20).find(|at| text.word(*at) == ",") {
                    Some(comma) => at = comma,
                    None => return false,
                }
                continue;
            }
            let is_relative = matches!(word, "who" | "that" | "which" | "qui" | "que");
            let is_grammar = !is_relative
                && !text.is(at, Class::Self_)
                && text.tokens.get(at).is_some_and(|token| !token.capital || !token.apart)
                && (text.is(at, Class::Verb)
                    || text.is(at, Class::Function)
                    || text.is(at, Class::Hire)
                    || word.ends_with("ly")
                    || text.is(at, Class::Raise)
                    || text.is(at, Class::Hearsay));
            if is_grammar {
                continue;
            }
            let Some(token) = text.tokens.get(at) else { return false };
            if token.kind == Kind::Sign && matches!(word, "'" | "\"" | ")" | "!") {
                continue;
            }
            let known = text.may_precede(at)
                || text.is(at, Class::Fund)
                || text.is(at, Class::Round)
                || text.is(at, Class::Relation) && token.apart && !token.capital;
            if text.is(at, Class::Self_) {
                return false;
            }
            let relative = matches!(word, "who" | "that" | "which" | "qui" | "que");
            if relative && (at == before.start || text.word(at - 1) != ",") {
                return true;
            }
            // "Insurance startups raised": many of a kind, and no company.
            let many = text.language == Language::English
                && token.kind == Kind::Word
                && !token.capital
                && word.len() > 3
                && word.ends_with('s')
                && !known
                && !text.is(at, Class::Self_)
                && text.begins_sentence(before.start)
                && self.mentions_in(before).is_empty();
            if many {
                return true;
            }
            let german = text.language == Language::German;
            let initial = at == before.start || text.begins_sentence(at);
            if text.is(at, Class::Relation) {
                return true;
            }
            // In German every noun has a capital: only a name at the beginning is told from them.
            return token.is_name_part() && !known && (!german || initial) && event.start > at;
        }
        false
    }

    /// "湊電機、…": somebody else is named first.
    fn has_other_topic(&self, before: &Range<usize>) -> bool {
        let text = self.text;
        let comma = before.clone().find(|at| matches!(text.word(*at), "、" | "は" | "が"));
        let Some(comma) = comma else { return false };
        let head = before.start..comma;
        let named = !self.mentions_in(&head).is_empty();
        let is_name = head.clone().rev().take(2).all(|at| {
            text.tokens
                .get(at)
                .is_some_and(|token| matches!(token.kind, Kind::Katakana | Kind::Han | Kind::Word))
        });
        let words = head.clone().any(|at| {
            [
                Class::Self_,
                Class::Report,
                Class::Raise,
                Class::Round,
                Class::Fund,
                Class::Past,
                Class::Take,
                Class::Hire,
                Class::Open,
            ]
            .iter()
            .any(|class| text.is(at, *class))
        });
        let time = head.clone().any(|at| matches!(text.word(at), "日" | "月" | "年"));
        !named && is_name && head.len() >= 3 && !words && !time && self.is_title(before)
    }
}
