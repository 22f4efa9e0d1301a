//! Attributes of leads of any other kind.

use super::{Date, Language, Tag};
use portolan_sdk::prelude::*;
use serde_json::json;

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Subject {
    Introduction,
    Advice,
    Feedback,
    Speaking,
    Partnership,
    Customer,
    Volunteering,
    Research,
    Goods,
    Ride,
    Other,
}

/// Something one person has for another.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "subject": "speaking", "tags": ["climate", "panel"], "languages": ["en"], "by": "2027-02-01",
}))]
pub(crate) struct General {
    /// What it is about.
    subject: Subject,
    /// Words to be found by.
    #[serde(default)]
    #[schemars(length(max = 15))]
    tags: Vec<Tag>,
    /// Languages to speak in.
    #[serde(default)]
    #[schemars(length(max = 10))]
    languages: Vec<Language>,
    /// The day after which it is too late.
    by: Option<Date>,
}
