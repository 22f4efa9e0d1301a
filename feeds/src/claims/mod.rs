//! Reads claims: who says what of whom, how sure it is, and in which words. Words and phrases are data
//! (`tables/`), and so are the forms of amounts; the rules join them by sentence.

mod company;
mod features;
mod filing;
mod frame;
mod lexicon;
mod money;
mod notice;
mod opinion;
mod others;
mod party;
mod reader;
mod role;
mod text;
mod token;

pub use company::{Companies, Company, plain_cik};
pub use features::{BY_RULES, OF_WORDS};
pub use filing::{Head, head};
pub use money::Amount;
pub use opinion::LABELS;

use crate::record::SourceType;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is said of a company.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Predicate {
    RaisedFunding,
    IsHiring,
    StoppedHiring,
    LaidOff,
    Acquired,
    ShutDown,
    WentPublic,
    Met,
    Launched,
    Appointed,
    Partnered,
    Announced,
    Other,
}

/// How sure a claim is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Modality {
    // The company or its investor says so, or a report states it as a fact.
    Announced,
    // On the word of sources that are not named.
    Reported,
    Rumoured,
    Planned,
    Denied,
    // Told as a part of the past, as advice or as an example.
    Background,
}

/// A claim about a company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The company of the map; `None` if it is another one or none is named.
    pub company: Option<usize>,
    pub predicate: Predicate,
    pub amount: Option<Amount>,
    pub round: Option<String>,
    /// Each with whether it leads the round.
    pub investors: Vec<(String, bool)>,
    pub is_negated: bool,
    pub modality: Modality,
    /// The words that say so.
    pub evidence: String,
    /// The words for which the second opinion doubts the claim.
    pub doubt: Option<String>,
}

/// The least number of bytes that make a text more than a title. Bytes, because a sentence in Japanese has a third
/// of the characters of one in English.
const LEAST_BODY: usize = 32;

/// An item whose claims are read.
#[derive(Debug, Clone)]
pub struct Reading<'a> {
    pub title: &'a str,
    pub text: &'a str,
    pub kind: SourceType,
    /// The company to which the feed belongs.
    pub own: Option<usize>,
    /// Whether a company or a founder writes: what they post is no hearsay.
    pub is_insider: bool,
    /// The page of the item.
    pub url: Option<&'a str>,
    /// The form of a filing.
    pub form: Option<&'a str>,
    /// The number of the filer.
    pub cik: Option<&'a str>,
    /// The US dollars for which a Form D says that securities were sold.
    pub sold: Option<u64>,
    /// Whether a Form D says that the filer is a fund, which collects money to invest it.
    pub is_fund: bool,
    /// The year in which the item was published: earlier ones are the past.
    pub year: i64,
}

/// The claims of an item, and the companies that it names.
#[derive(Debug, Clone, Default)]
pub struct Claims {
    pub all: Vec<Claim>,
    pub named: Vec<usize>,
    /// The company that the item is about.
    pub about: Option<usize>,
    /// The language in which the item was read, as in ISO 639-1; empty for a filing.
    pub language: &'static str,
}

impl Claim {
    /// Returns whether the claim may begin a signal: affirmed, announced or reported, about a company of the map,
    /// and not doubted.
    pub fn holds(&self) -> bool {
        self.company.is_some()
            && self.doubt.is_none()
            && !self.is_negated
            && matches!(self.modality, Modality::Announced | Modality::Reported)
    }
}

impl Claims {
    /// Returns whether the item says as a fact that a company of the map is not hiring.
    pub fn stops_hiring(&self) -> bool {
        self.all.iter().any(|claim| {
            claim.predicate == Predicate::StoppedHiring
                && claim.company.is_some()
                && claim.modality == Modality::Announced
        })
    }

    /// Returns the claim that a careful editor would put on the map: the first that holds.
    pub fn signal(&self) -> Option<&Claim> {
        let stops = |predicate| {
            self.all
                .iter()
                .any(|claim| claim.predicate == predicate && claim.modality != Modality::Background)
        };
        let mut fitting = self.all.iter().filter(|claim| claim.holds());
        fitting.find(|claim| match claim.predicate {
            Predicate::RaisedFunding => true,
            Predicate::IsHiring => !stops(Predicate::StoppedHiring) && !stops(Predicate::LaidOff),
            _ => false,
        })
    }
}

/// Reads an item. Takes time linear in the length of its text.
pub fn read(reading: &Reading<'_>, companies: &Companies) -> Claims {
    if reading.kind == SourceType::Filing {
        let all = filing::claims(reading, companies);
        let about = all.iter().find_map(|claim| claim.company);
        return Claims { all, named: about.into_iter().collect(), about, language: "" };
    }
    let text = text::Text::new(reading.title, reading.text);
    let frame = reader::frame(reading, &text, companies);
    let mut claims = by_rules(reading, &frame);
    if has_body(reading) {
        let features = features::features(reading, &frame, &claims);
        opinion::weigh(&mut claims, &opinion::judge(&features), &frame);
    }
    claims
}

/// Returns whether an item tells more than its title. The second opinion was trained with such items only, and
/// doubts every title alone.
fn has_body(reading: &Reading<'_>) -> bool {
    let text = reading.text.trim();
    let body = text.strip_prefix(reading.title.trim()).unwrap_or(text);
    body.len() >= LEAST_BODY
}

fn by_rules(reading: &Reading<'_>, frame: &frame::Frame<'_>) -> Claims {
    let (mut all, about) = reader::claims(reading, frame);
    others::hold_lists(&mut all);
    let mut named: Vec<usize> = frame.mentions.iter().map(|mention| mention.company).collect();
    named.sort_unstable();
    named.dedup();
    Claims { all, named, about, language: frame.text.language.code() }
}

/// Returns what the second opinion looks at in an item that is no filing, for `examples/opinion.rs`, which
/// computes the weights.
pub fn features(reading: &Reading<'_>, companies: &Companies) -> Vec<String> {
    let text = text::Text::new(reading.title, reading.text);
    let frame = reader::frame(reading, &text, companies);
    features::features(reading, &frame, &by_rules(reading, &frame))
}
