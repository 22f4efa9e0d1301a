//! People as other capabilities see them: calls of `owners`, and of `svc.phone-binding` for their
//! number.

use crate::{patterns::OWNER_ID, taxonomy::is_within};
use portolan_sdk::prelude::*;
use std::collections::BTreeMap;

/// The policy for proposals to a person.
#[choice]
pub enum ContactPolicy {
    /// Anyone whose listing fits.
    AnyoneMatching,
    /// Only people the person is connected with.
    Network,
    /// Nobody until this is changed.
    Paused,
}

/// The id of a person, which is beside their name: it begins with `own_`.
#[id(pattern = OWNER_ID)]
pub struct PersonId(String);

/// A person as other capabilities see them; not for agents.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Person {
    pub owner_id: String,
    /// The name that the person has given themselves.
    pub display_name: Option<String>,
    /// Whether the person belongs to test mode.
    #[serde(default)]
    pub test_mode: bool,
    /// Whether the person is active; false while they are deactivated or suspended.
    pub active: bool,
    /// Whether the person has an agent, which can answer for them.
    #[serde(default = "has_agent")]
    pub has_agent: bool,
    pub contact_policy: ContactPolicy,
    /// The age that the person has reached for certain: only the year of birth is known.
    pub age_at_least: Option<u8>,
    /// The categories in which, and below which, proposals are declined without asking.
    #[serde(default)]
    pub declined_categories: Vec<String>,
}

fn has_agent() -> bool {
    true
}

impl Person {
    /// Returns whether an agent of the person gets what others send. It says nothing about blocks
    /// and contact policies.
    pub fn is_reachable(&self) -> bool {
        self.active && self.has_agent
    }

    /// Returns whether searches find the person's listings: not while the person is deactivated,
    /// suspended, or accepts no contact.
    pub fn is_findable(&self) -> bool {
        self.active && self.contact_policy != ContactPolicy::Paused
    }

    /// Returns whether searches find a listing of which this person is the owner. Of one of an organisation,
    /// others answer too, so the person's own contact policy does not matter.
    pub fn shows_listing(&self, org_id: Option<&str>) -> bool {
        self.active && (org_id.is_some() || self.is_findable())
    }

    /// Returns whether proposals in this category are declined without asking.
    pub fn declines(&self, category: &str) -> bool {
        self.declined_categories.iter().any(|declined| is_within(category, declined))
    }
}

/// The input of `owners people`.
#[message]
pub struct PeopleQuery {
    /// The ids of the people.
    #[schemars(length(max = 100), inner(length(min = 1, max = 40)))]
    pub owner_ids: Vec<String>,
}

/// The output of `owners people`: the people who exist.
#[message]
pub struct People {
    pub people: Vec<Person>,
}

/// The output of `owners presence`: the people who exist.
#[message]
pub struct Presences {
    pub people: Vec<Presence>,
}

/// When a person was last there.
#[message]
pub struct Presence {
    pub owner_id: String,
    /// When an agent of the person last called, in milliseconds since the Unix epoch, accurate to
    /// about a day; `None` if the person has no agent that ever called.
    pub last_call_at: Option<u64>,
}

/// The input of `owners contact` and of `svc.phone-binding number`.
#[message]
pub struct ContactQuery {
    #[schemars(length(min = 1, max = 40))]
    pub owner_id: String,
}

/// The output of `owners contact`.
#[message(Default)]
pub struct Contact {
    /// The person's own links.
    pub links: Vec<String>,
}

/// The input of `owners suspend`: the suspension of a person. It replaces that with the same reference.
#[message]
pub struct Suspension {
    #[schemars(length(min = 1, max = 40))]
    pub owner_id: String,
    /// The cause of the suspension, such as the id of a report.
    #[schemars(length(min = 1, max = 100))]
    pub reference: String,
    /// Why, for the person and their agents.
    #[schemars(length(min = 1, max = 500))]
    pub reason: String,
    /// The end, in milliseconds since the Unix epoch; omit it for a suspension until `reinstate`.
    pub until: Option<u64>,
    /// The step by which the person appeals.
    pub appeal: Option<Value>,
}

/// The input of `owners reinstate`: ends the suspension of a person with this reference.
#[message]
pub struct Reinstatement {
    #[schemars(length(min = 1, max = 40))]
    pub owner_id: String,
    #[schemars(length(min = 1, max = 100))]
    pub reference: String,
}

/// The output of `svc.phone-binding number`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Number {
    /// The number in E.164; null if the person's phone number is not known.
    pub number: Option<String>,
}

pub const PEOPLE: Invocation<PeopleQuery, People> = Invocation::new("owners", "people");
pub const PRESENCE: Invocation<PeopleQuery, Presences> = Invocation::new("owners", "presence");
pub const CONTACT: Invocation<ContactQuery, Contact> = Invocation::new("owners", "contact");
pub const SUSPEND: Invocation<Suspension, ()> = Invocation::new("owners", "suspend");
pub const REINSTATE: Invocation<Reinstatement, ()> = Invocation::new("owners", "reinstate");
pub const NUMBER: Invocation<ContactQuery, Number> = Invocation::new("svc.phone-binding", "number");

/// Returns a person; `None` if there is no such person.
pub fn person(owner_id: &str) -> Result<Option<Person>, Refusal> {
    Ok(people([owner_id])?.remove(owner_id))
}

/// Returns the refusal of a person who approaches others while their own profile is hidden.
pub fn hidden_profile() -> Refusal {
    let message = "The person's profile is hidden. Call `reactivate` first.";
    Refusal::common(ErrorCode::NotPermitted, message).next(Next::action("owners", "reactivate"))
}

/// Refuses a person whose profile is hidden.
pub fn ensure_visible(owner_id: &str) -> Result<(), Refusal> {
    match person(owner_id)?.is_some_and(|person| !person.active) {
        true => Err(hidden_profile()),
        false => Ok(()),
    }
}

/// Returns the people of at most 100 ids, without those who do not exist, by id.
pub fn people<'a>(
    owner_ids: impl IntoIterator<Item = &'a str>,
) -> Result<BTreeMap<String, Person>, Refusal> {
    let query = PeopleQuery { owner_ids: owner_ids.into_iter().map(str::to_owned).collect() };
    if query.owner_ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let people = PEOPLE.call(&query)?.people;
    Ok(people.into_iter().map(|person| (person.owner_id.clone(), person)).collect())
}

/// Returns whether at least one of these people exists and has an agent that called after this
/// instant.
pub fn is_anybody_present(owner_ids: &[String], since: u64) -> Result<bool, Refusal> {
    for chunk in owner_ids.chunks(100) {
        let query = PeopleQuery { owner_ids: chunk.to_vec() };
        let mut people = PRESENCE.call(&query)?.people.into_iter();
        if people.any(|person| person.last_call_at.is_some_and(|at| at > since)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the person's own links, for somebody to whom they have disclosed them.
pub fn links(owner_id: &str) -> Result<Vec<String>, Refusal> {
    let query = ContactQuery { owner_id: owner_id.to_owned() };
    Ok(CONTACT.call(&query)?.links)
}

/// Returns the number with which the person claimed their agents, for somebody to whom they have
/// disclosed it; `None` if it is not known.
pub fn phone(owner_id: &str) -> Result<Option<String>, Refusal> {
    let query = ContactQuery { owner_id: owner_id.to_owned() };
    Ok(NUMBER.call(&query)?.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_found_and_reached_while_active() {
        for (active, has_agent, contact_policy, findable, reachable) in [
            (true, true, ContactPolicy::AnyoneMatching, true, true),
            (true, true, ContactPolicy::Network, true, true),
            (true, true, ContactPolicy::Paused, false, true),
            (true, false, ContactPolicy::AnyoneMatching, true, false),
            (false, true, ContactPolicy::AnyoneMatching, false, false),
        ] {
            let person = Person { active, has_agent, contact_policy, ..person() };
            assert_eq!((person.is_findable(), person.is_reachable()), (findable, reachable));
        }
    }

    fn person() -> Person {
        Person {
            owner_id: "own_1".into(),
            display_name: None,
            test_mode: false,
            active: true,
            has_agent: true,
            contact_policy: ContactPolicy::AnyoneMatching,
            age_at_least: None,
            declined_categories: vec!["home.let".into()],
        }
    }

    #[test]
    fn a_category_is_declined_with_those_below_it() {
        let person = person();
        for (category, declined) in
            [("home.let", true), ("home.let.room", true), ("home.letters", false), ("home", false)]
        {
            assert_eq!(person.declines(category), declined, "{category}");
        }
    }
}
