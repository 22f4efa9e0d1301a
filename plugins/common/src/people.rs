//! What other capabilities may know of a person: asked of `owners`.

use portolan_sdk::{invoke, prelude::*};
use std::collections::BTreeMap;

/// Who may propose something to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContactPolicy {
    /// Anyone whose listing fits.
    AnyoneMatching,
    /// Only people the person is connected with.
    Network,
    /// Nobody for now.
    Paused,
}

/// A person as other capabilities see them; not for agents.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Person {
    pub owner_id: String,
    /// The person's own words.
    pub display_name: Option<String>,
    /// False while the person is withdrawn from view.
    pub active: bool,
    pub contact_policy: ContactPolicy,
    /// Years the person is old for certain: they told no more than the year of their birth.
    pub age_at_least: Option<u8>,
}

/// The input of `owners people`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Who {
    /// Their ids.
    #[schemars(length(max = 100), inner(length(min = 1, max = 40)))]
    pub owner_ids: Vec<String>,
}

/// The output of `owners people`: those that there are.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct People {
    pub people: Vec<Person>,
}

/// A person; none if there is nobody with this id.
pub fn person(owner_id: &str) -> Result<Option<Person>, Refusal> {
    Ok(people([owner_id])?.remove(owner_id))
}

/// Those of at most 100 people that there are, by id.
pub fn people<'a>(
    owner_ids: impl IntoIterator<Item = &'a str>,
) -> Result<BTreeMap<String, Person>, Refusal> {
    let who = Who { owner_ids: owner_ids.into_iter().map(str::to_owned).collect() };
    if who.owner_ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let answer: People = invoke::call("owners", "people", &who)?;
    Ok(answer.people.into_iter().map(|person| (person.owner_id.clone(), person)).collect())
}
