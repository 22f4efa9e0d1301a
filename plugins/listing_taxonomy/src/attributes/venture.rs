//! Attributes of cofounders, of companies that raise money and of investors.

use super::{Currency, Date, Language, Tag};
use portolan_sdk::prelude::*;
use serde_json::json;

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Function {
    Engineering,
    Product,
    Design,
    Science,
    Sales,
    Marketing,
    Operations,
    Finance,
    Industry,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Progress {
    NoIdea,
    Idea,
    Prototype,
    Launched,
    Revenue,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Commitment {
    FullTime,
    PartTime,
    FullTimeOnceFunded,
}

/// Somebody who looks for a cofounder.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "strengths": ["engineering"], "seeking": ["sales", "industry"], "progress": "prototype",
    "commitment": "full_time", "industries": ["climate"], "languages": ["en"],
}))]
pub(crate) struct Cofounder {
    /// What the person brings.
    #[schemars(length(min = 1, max = 5))]
    strengths: Vec<Function>,
    /// What the other one should bring.
    #[schemars(length(min = 1, max = 5))]
    seeking: Vec<Function>,
    /// How far the person's own venture is.
    progress: Progress,
    /// How much time the person gives.
    commitment: Option<Commitment>,
    /// Fields of business.
    #[serde(default)]
    #[schemars(length(max = 10))]
    industries: Vec<Tag>,
    /// Languages the person works in.
    #[serde(default)]
    #[schemars(length(max = 10))]
    languages: Vec<Language>,
    /// The share of the company the other one would get, in percent.
    #[schemars(range(max = 100))]
    equity_percent: Option<u8>,
    /// The day from which the person has time.
    available_from: Option<Date>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Stage {
    PreSeed,
    Seed,
    SeriesA,
    Growth,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Instrument {
    Safe,
    ConvertibleNote,
    PricedEquity,
    RevenueBased,
    Debt,
    Grant,
}

/// A company that raises money. All amounts are in `currency`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "stage": "seed", "currency": "USD", "amount": 2_000_000, "committed": 600_000,
    "instrument": "safe", "industries": ["logistics"], "team_size": 7, "closes_on": "2027-03-31",
}))]
pub(crate) struct Raise {
    /// The round.
    stage: Stage,
    currency: Currency,
    /// How much is raised in all.
    #[schemars(range(min = 1))]
    amount: f64,
    /// How much of it investors have committed.
    #[schemars(range(min = 0))]
    committed: Option<f64>,
    /// What the investor gets.
    instrument: Option<Instrument>,
    /// The smallest amount one investor can put in.
    #[schemars(range(min = 0))]
    min_cheque: Option<f64>,
    /// Revenue of the last full month.
    #[schemars(range(min = 0))]
    monthly_revenue: Option<f64>,
    /// Fields of business.
    #[serde(default)]
    #[schemars(length(max = 10))]
    industries: Vec<Tag>,
    /// How many people work in the company.
    team_size: Option<u16>,
    /// Whether an investor leads the round already.
    has_lead: Option<bool>,
    /// The day the round closes.
    closes_on: Option<Date>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum InvestorKind {
    Angel,
    Fund,
    FamilyOffice,
    Corporate,
    Syndicate,
    PublicBody,
}

/// An investor who looks for companies. All amounts are in `currency`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "kind": "angel", "stages": ["pre_seed", "seed"], "currency": "USD", "cheque_min": 10_000,
    "cheque_max": 50_000, "industries": ["developer tools"], "leads": false,
}))]
pub(crate) struct Invest {
    /// Who invests.
    kind: InvestorKind,
    /// Rounds the investor takes part in.
    #[schemars(length(min = 1, max = 4))]
    stages: Vec<Stage>,
    currency: Currency,
    /// The smallest amount for one company.
    #[schemars(range(min = 0))]
    cheque_min: Option<f64>,
    /// The largest amount for one company.
    #[schemars(range(min = 0))]
    cheque_max: Option<f64>,
    /// What the investor would accept.
    #[serde(default)]
    #[schemars(length(max = 6))]
    instruments: Vec<Instrument>,
    /// Fields of business; none means any.
    #[serde(default)]
    #[schemars(length(max = 20))]
    industries: Vec<Tag>,
    /// Whether the investor leads rounds.
    leads: Option<bool>,
}
