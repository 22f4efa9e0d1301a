//! Attributes of people who look for friends and dates.

use super::{Availability, Language, Tag};
use portolan_sdk::prelude::*;
use serde_json::json;

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum GroupSize {
    OneToOne,
    SmallGroup,
    LargeGroup,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Experience {
    Beginner,
    Some,
    Experienced,
}

/// Somebody who looks for company.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "interests": ["bouldering", "coffee"], "group_sizes": ["one_to_one", "small_group"],
    "availability": ["weekday_evenings"], "languages": ["en", "es"], "experience": "some",
}))]
pub(crate) struct Friend {
    /// What the person would like to do or talk about.
    #[schemars(length(min = 1, max = 20))]
    interests: Vec<Tag>,
    /// How many people the person likes to meet at once.
    #[serde(default)]
    #[schemars(length(max = 3))]
    group_sizes: Vec<GroupSize>,
    /// When the person has time.
    #[serde(default)]
    #[schemars(length(max = 5))]
    availability: Vec<Availability>,
    /// Languages the person speaks.
    #[serde(default)]
    #[schemars(length(max = 10))]
    languages: Vec<Language>,
    /// Languages the person would like to learn.
    #[serde(default)]
    #[schemars(length(max = 5))]
    learning: Vec<Language>,
    /// How well the person knows the sport, game or subject.
    experience: Option<Experience>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Gender {
    Woman,
    Man,
    NonBinary,
    Other,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Aim {
    LongTerm,
    Casual,
    Marriage,
    FriendshipFirst,
    Open,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Wish {
    Yes,
    No,
    Undecided,
}

/// An adult who looks for a date or a partner.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "aims": ["long_term"], "gender": "woman", "seeking": ["man", "non_binary"], "age": 34,
    "seeking_age_min": 29, "seeking_age_max": 42, "interests": ["sailing", "cooking"],
}))]
pub(crate) struct Date {
    /// What the person hopes for.
    #[schemars(length(min = 1, max = 5))]
    aims: Vec<Aim>,
    /// The person's gender, in the person's own words as near as the list allows.
    gender: Gender,
    /// Whom the person would like to meet.
    #[schemars(length(min = 1, max = 4))]
    seeking: Vec<Gender>,
    /// The person's age in years.
    #[schemars(range(min = 18, max = 120))]
    age: u8,
    /// The youngest age the person would like to meet.
    #[schemars(range(min = 18, max = 120))]
    seeking_age_min: Option<u8>,
    /// The oldest age the person would like to meet.
    #[schemars(range(min = 18, max = 120))]
    seeking_age_max: Option<u8>,
    /// What the person likes.
    #[serde(default)]
    #[schemars(length(max = 20))]
    interests: Vec<Tag>,
    /// Languages the person speaks.
    #[serde(default)]
    #[schemars(length(max = 10))]
    languages: Vec<Language>,
    /// Whether the person wants children.
    wants_children: Option<Wish>,
    /// Whether the person smokes.
    smoker: Option<bool>,
    /// When the person has time.
    #[serde(default)]
    #[schemars(length(max = 5))]
    availability: Vec<Availability>,
}
