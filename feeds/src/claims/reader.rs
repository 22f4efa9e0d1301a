//! Finds the claims of an item's sentences.

use super::{
    Amount, Claim, Modality, Predicate, Reading,
    company::Companies,
    frame::{Frame, Standing, Subject},
    lexicon::{self, Class, Cue, Language},
    party,
    text::Text,
    token::Kind,
};
use crate::record::SourceType;
use std::ops::Range;

/// How many characters of evidence are kept.
const MOST_EVIDENCE: usize = 240;

/// A sentence that tells of funding or hiring.
struct Evidence {
    predicate: Predicate,
    sentence: Range<usize>,
    event: Cue,
    /// Whether the grammatical subject of the event is an investor.
    investor: bool,
    /// Whether the sentence suffices by itself.
    full: bool,
    has_money: bool,
    standing: Standing,
}

/// An item with what is known of it as a whole.
pub(super) struct Item<'a> {
    reading: &'a Reading<'a>,
    pub(super) frame: &'a Frame<'a>,
    pub(super) topic: Option<usize>,
    pub(super) reported: bool,
}

/// Returns the structure of an item that is no filing.
pub(super) fn frame<'a>(
    reading: &Reading<'_>,
    text: &'a Text,
    companies: &'a Companies,
) -> Frame<'a> {
    let mentions = companies.mentions(text);
    // A page on a company's website is its own, if the item names it or is a post of its board.
    let linked = reading.url.and_then(|url| companies.with_website(url)).filter(|company| {
        reading.kind == SourceType::AtsBoard
            || mentions.iter().any(|mention| mention.company == *company)
    });
    let own = reading.own.or(linked);
    Frame { text, companies, mentions, own, year: reading.year }
}

/// Returns the claims of an item that is no filing, those of the title first, and the company that it is about.
pub(super) fn claims(reading: &Reading<'_>, frame: &Frame<'_>) -> (Vec<Claim>, Option<usize>) {
    let topic = match reading.kind == SourceType::AtsBoard && frame.own.is_none() {
        true => frame.employer(),
        false => frame.topic(),
    };
    let text = frame.text;
    let whole = 0..text.tokens.len();
    let reported = text.sentences.iter().any(|sentence| frame.has(sentence, Class::Report));
    let item = Item { reading, topic, reported, frame };
    let mut found: Vec<Evidence> = Vec::new();
    for sentence in &text.sentences {
        found.extend(item.funding(sentence));
        found.extend(item.hiring(sentence));
    }
    item.join_parts(&mut found);
    let held = item.held(&whole, &found);
    let mut claims: Vec<Claim> = Vec::new();
    for evidence in &found {
        claims.extend(item.claim(evidence, held));
    }
    item.hold_asides(&mut claims);
    claims.extend(item.posted(&claims));
    claims.extend(item.others());
    (claims, topic)
}

impl Item<'_> {
    pub(super) fn text(&self) -> &Text {
        self.frame.text
    }

    /// Returns why nothing in the item can be a fact: it is a joke, a correction, advice, or its title tells of a
    /// rumour, a plan or a denial.
    fn held(&self, whole: &Range<usize>, found: &[Evidence]) -> Option<Modality> {
        let title = 0..self.text().title_end;
        if self.frame.has(whole, Class::Void) {
            return Some(Modality::Denied);
        }
        if self.frame.has(&title, Class::Advice)
            && (self.asks_first() || !self.frame.has(&title, Class::Raise))
        {
            return Some(Modality::Background);
        }
        let told = found.iter().any(|evidence| {
            evidence.full
                && evidence.standing == Standing::Fact
                && self.frame.is_title(&evidence.sentence)
        });
        let asks = self.asks(told);
        let first =
            self.frame.mentions_in(&title).first().map_or(title.end, |mention| mention.start);
        let advises = self.frame.has(&(0..first), Class::Advice);
        if (asks || advises) && !self.is_own() {
            return Some(Modality::Background);
        }
        if !told && self.frame.has(&title, Class::Deny) && self.hints_at_funding(&title) {
            return Some(Modality::Denied);
        }
        let funding =
            || found.iter().filter(|evidence| evidence.predicate == Predicate::RaisedFunding);
        if funding().any(|evidence| evidence.standing == Standing::Denied) {
            return Some(Modality::Denied);
        }
        let mut in_title =
            funding().filter(|evidence| self.frame.is_title(&evidence.sentence)).peekable();
        if in_title.peek().is_none() {
            // A round in the text only, below a title about something else, is the company's past.
            return (!self.is_own() && !self.hints_at_funding(&title))
                .then_some(Modality::Background);
        }
        in_title.find_map(|evidence| match evidence.standing {
            Standing::Rumoured => Some(Modality::Rumoured),
            Standing::Planned => Some(Modality::Planned),
            Standing::Denied => Some(Modality::Denied),
            Standing::Open if !self.reported => Some(Modality::Rumoured),
            _ => None,
        })
    }

    fn hints_at_funding(&self, title: &Range<usize>) -> bool {
        let classes =
            [Class::Round, Class::Fund, Class::Raise, Class::Invest, Class::Stake, Class::Sum];
        classes.iter().any(|class| self.frame.has(title, *class))
            || !self.frame.amounts(title).is_empty()
    }

    /// Returns whether the title begins with advice.
    fn asks_first(&self) -> bool {
        let title = 0..self.text().title_end;
        let found = self.frame.cues_in(&title, Class::Advice).next();
        found.is_some_and(|cue| cue.start <= 1)
    }

    /// Returns whether the title explains or advises, and does not tell of a fact.
    fn asks(&self, told: bool) -> bool {
        let title = 0..self.text().title_end;
        let first = self.text().word(0);
        ["how", "why", "what", "wie", "warum", "was"].contains(&first)
            || (!told && self.frame.has(&title, Class::Advice))
    }

    /// Returns whether a company of the map, or its investor, speaks.
    fn is_own(&self) -> bool {
        self.frame.own.is_some()
    }

    fn funding(&self, sentence: &Range<usize>) -> Option<Evidence> {
        let frame = self.frame;
        let first = |class| frame.cues_in(sentence, class).next();
        let rounds: Vec<Cue> = frame.cues_in(sentence, Class::Round).collect();
        let money = self.frame.amounts(sentence);
        let has_money = !money.is_empty() || frame.has(sentence, Class::Sum);
        let has_fund = frame.has(sentence, Class::Fund);
        // A phrase can be the event and the round: then another one must tell of the round.
        let round_beside = |event: &Cue| {
            rounds.iter().any(|round| round.start != event.start || round.end != event.end)
        };
        let japanese = self.text().language == Language::Japanese;
        let mut best: Option<(Cue, bool, bool)> = None;
        for (class, investor) in [
            (Class::Raise, false),
            (Class::Stake, true),
            (Class::Invest, true),
            (Class::Take, false),
            (Class::With, false),
        ] {
            for event in frame.cues_in(sentence, class).take(8) {
                let full = match class {
                    Class::Stake => true,
                    Class::Raise => {
                        has_money
                            || round_beside(&event)
                            || (japanese && !rounds.is_empty())
                            || (has_fund && self.near(sentence, &event, Class::Fund))
                    }
                    Class::Invest => has_money || round_beside(&event),
                    Class::Take => {
                        !rounds.is_empty() && (has_money || round_beside(&event))
                            || (has_money && has_fund)
                    }
                    _ => has_money && !rounds.is_empty(),
                };
                let part = full
                    || (has_money && class != Class::Invest)
                    || (class == Class::Raise && self.is_own());
                if part && best.as_ref().is_none_or(|(.., known)| !known && full) {
                    best = Some((event, investor, full));
                }
            }
        }
        if best.is_none() && (has_money && (!rounds.is_empty() || has_fund)) {
            let round = rounds.first().copied().or_else(|| first(Class::Fund))?;
            best = Some((round, false, !rounds.is_empty()));
        }
        let (event, investor, full) = best?;
        let full = full || (self.is_own() && !money.is_empty() && !rounds.is_empty());
        if self.is_blocked(sentence, &event, !rounds.is_empty()) {
            return None;
        }
        let standing = frame.standing(sentence, &event);
        Some(Evidence {
            predicate: Predicate::RaisedFunding,
            sentence: sentence.clone(),
            event,
            investor,
            full,
            has_money,
            standing,
        })
    }

    fn near(&self, sentence: &Range<usize>, event: &Cue, class: Class) -> bool {
        self.frame
            .cues_in(sentence, class)
            .any(|cue| cue.start <= event.end + 4 && cue.end + 4 >= event.start)
    }

    /// Returns whether what is raised or received is no round: a fine, a forecast, a grant.
    fn is_blocked(&self, sentence: &Range<usize>, event: &Cue, has_round: bool) -> bool {
        let frame = self.frame;
        let money = self.text().amounts.iter().filter(|found| sentence.contains(&found.at.start));
        let places: Vec<Range<usize>> = money
            .map(|found| found.at.clone())
            .chain(std::iter::once(event.start..event.end))
            .collect();
        let (reach, behind) = if has_round { (1, 1) } else { (7, 4) };
        let title = frame.is_title(sentence);
        // "raises $18M to cut costs": a purpose is no part of what is raised.
        let last = places.iter().map(|place| place.end).max().unwrap_or(event.end);
        let purpose = (last..sentence.end).find(|at| self.is_purpose(*at)).unwrap_or(sentence.end);
        frame.cues_in(sentence, Class::Block).filter(|cue| cue.start < purpose).any(|cue| {
            let near = places
                .iter()
                .any(|place| cue.start <= place.end + behind && cue.end + reach >= place.start);
            near || (title && !has_round)
        })
    }

    /// Returns whether a purpose begins here: "to cut", "um", "pour réduire", "para reducir".
    fn is_purpose(&self, at: usize) -> bool {
        let next = self.text().word(at + 1);
        let ends = |endings: &[&str]| endings.iter().any(|ending| next.ends_with(ending));
        match self.text().word(at) {
            "to" => self.text().tokens.get(at + 1).is_some_and(|token| token.kind == Kind::Word),
            "um" | "damit" | "afin" => true,
            "pour" => ends(&["er", "ir", "re"]),
            "para" => ends(&["ar", "er", "ir"]),
            _ => false,
        }
    }

    fn hiring(&self, sentence: &Range<usize>) -> Option<Evidence> {
        let frame = self.frame;
        let made = |predicate, event, full| {
            let standing = frame.standing(sentence, &event);
            Some(Evidence {
                predicate,
                sentence: sentence.clone(),
                event,
                investor: false,
                full,
                has_money: false,
                standing,
            })
        };
        if let Some(event) = frame.cues_in(sentence, Class::Freeze).next() {
            return made(Predicate::StoppedHiring, event, true);
        }
        if let Some(event) = frame.cues_in(sentence, Class::Layoff).next() {
            return made(Predicate::LaidOff, event, frame.is_title(sentence));
        }
        if frame.has(sentence, Class::HireOther) {
            return None;
        }
        let hire = frame.cues_in(sentence, Class::Hire).next();
        let open = frame.cues_in(sentence, Class::Open).next();
        let event = hire.or(open)?;
        let counted = self.counts(sentence);
        let support = self.is_board()
            || self.is_own()
            || open.is_some()
            || counted
            || self.text().sentences.iter().any(|other| frame.has(other, Class::Apply));
        let long = event.words >= if self.text().language == Language::Japanese { 3 } else { 2 };
        let full = match (hire, open) {
            (Some(_), Some(_)) => true,
            (Some(_), None) => long || support,
            (None, Some(_)) => self.is_own() && (counted || long) || (long && support),
            (None, None) => false,
        };
        made(Predicate::IsHiring, event, full)
    }

    /// Returns whether the sentence has a number that is no money and no year.
    fn counts(&self, sentence: &Range<usize>) -> bool {
        let words = &lexicon::of(self.text().language).numbers;
        sentence.clone().any(|at| {
            self.text().tokens.get(at).is_some_and(|token| match token.kind {
                Kind::Number => token.text.len() <= 3,
                _ => words.get(&token.text).is_some_and(|number| *number >= 2.0),
            }) && !self.frame.amount_in(&(at.saturating_sub(1)..at + 1))
        })
    }

    pub(super) fn is_board(&self) -> bool {
        self.reading.kind == SourceType::AtsBoard
    }

    /// A title that tells of a sum and a text that tells of the round are one statement.
    fn join_parts(&self, found: &mut [Evidence]) {
        let whole = 0..self.text().tokens.len();
        let of_round = [Class::Round, Class::Invest, Class::Raise, Class::Fund]
            .iter()
            .any(|class| self.frame.has(&whole, *class));
        let fact = |evidence: &Evidence| {
            evidence.has_money
                && matches!(evidence.standing, Standing::Fact | Standing::Hearsay | Standing::Open)
        };
        let title = 0..self.text().title_end;
        let titled = [Class::Round, Class::Raise, Class::Stake, Class::Fund]
            .iter()
            .any(|class| self.frame.has(&title, *class));
        let least = if titled { 1 } else { 2 };
        let parts = found
            .iter()
            .filter(|evidence| evidence.predicate == Predicate::RaisedFunding && fact(evidence))
            .count();
        for evidence in
            found.iter_mut().filter(|evidence| evidence.predicate == Predicate::RaisedFunding)
        {
            evidence.full |= of_round && parts >= least && fact(evidence);
        }
    }

    fn claim(&self, evidence: &Evidence, held: Option<Modality>) -> Option<Claim> {
        if !evidence.full {
            return None;
        }
        let frame = self.frame;
        let investor = evidence.investor;
        let subject = frame.subject(&evidence.sentence, &evidence.event, investor);
        let is_hiring = evidence.predicate == Predicate::IsHiring;
        let company = match subject {
            // A post on a board is one of its employer.
            Subject::Company(company) if self.is_board() => {
                Some(company).filter(|_| self.topic == Some(company))
            }
            _ if self.is_board() && is_hiring => self.topic,
            Subject::Company(company) => Some(company),
            // A stranger's post is about whom it names.
            Subject::Topic if self.is_strangers() => None,
            Subject::Topic if self.topic.is_some() => self.topic,
            _ if is_hiring && !frame.amount_in(&evidence.sentence) => {
                frame.hiring_investor(&evidence.sentence, subject == Subject::Other)
            }
            Subject::Topic | Subject::Other => None,
        };
        let is_funding = evidence.predicate == Predicate::RaisedFunding;
        let company = company.filter(|company| !(is_funding && frame.companies.invests(*company)));
        // What the title holds back is funding; hiring has its own sentences.
        let held = held.filter(|held| is_funding || *held == Modality::Denied || self.asks(false));
        let modality = match (held, evidence.standing) {
            (Some(held), _) => held,
            // Strangers confirm no round, and their word on hiring is a lead.
            (None, Standing::Fact | Standing::Hearsay) if self.is_strangers() => match is_funding {
                true => Modality::Rumoured,
                false => Modality::Reported,
            },
            (None, Standing::Fact) if self.reported => Modality::Reported,
            (None, Standing::Fact) => Modality::Announced,
            (None, Standing::Hearsay | Standing::Open) if self.reported => Modality::Reported,
            (None, Standing::Hearsay | Standing::Open | Standing::Rumoured) => Modality::Rumoured,
            (None, Standing::Planned) => Modality::Planned,
            (None, Standing::Denied) => Modality::Denied,
            (None, Standing::Past) => Modality::Background,
        };
        let (amount, round, investors) = match is_funding {
            true => (
                self.amount(evidence),
                party::round(frame, &evidence.sentence),
                party::investors(self.text()),
            ),
            false => (None, None, Vec::new()),
        };
        Some(Claim {
            company,
            predicate: evidence.predicate,
            amount,
            round,
            investors,
            is_negated: evidence.standing == Standing::Denied
                || evidence.predicate == Predicate::StoppedHiring,
            modality,
            evidence: self.words(&evidence.sentence),
            doubt: None,
        })
    }

    fn is_strangers(&self) -> bool {
        self.reading.kind == SourceType::Social && !self.is_own() && !self.reading.is_insider
    }

    pub(super) fn words(&self, sentence: &Range<usize>) -> String {
        self.text().span(sentence.clone()).chars().take(MOST_EVIDENCE).collect()
    }

    /// Returns the amount that is nearest to the event, or the first of the item.
    fn amount(&self, evidence: &Evidence) -> Option<Amount> {
        let distance = |at: &Range<usize>| at.start.abs_diff(evidence.event.start);
        let here = self.frame.amounts(&evidence.sentence);
        let nearest =
            here.iter().min_by_key(|(at, _)| distance(at)).map(|(_, amount)| amount.clone());
        nearest.or_else(|| {
            let mut others = self.text().sentences.iter().filter_map(|sentence| {
                let cue = evidence.event;
                let fact = !self.frame.has(sentence, Class::Past)
                    && !self.is_blocked(sentence, &cue, true);
                self.frame.amounts(sentence).into_iter().find(|_| fact).map(|(_, amount)| amount)
            });
            others.next()
        })
    }
}
