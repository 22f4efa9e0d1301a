//! Inputs, outputs, refusals and stored documents.

pub(crate) use crate::preferences::*;
use crate::states::{OWNER, State};
use people_kit::UNTRUSTED;
use people_kit::text::{Fault, Violations};
use portolan_sdk::documents::Person;
use portolan_sdk::documents::PersonalField::{Personal, Public};
use portolan_sdk::{contract::identity, events::Nothing, prelude::*};

pub(crate) const CAPABILITY: &str = "owners";

/// The records of people, keyed by the owner's id.
pub(crate) const OWNERS: Collection<Record> = Collection::new("owners")
    .people(&[Person::delete("$id").fields(&[Personal("preferences"), Public("profile")])]);

pub(crate) const UPDATED: Event<Data<Updated>> = Event::new("owner.updated");
pub(crate) const DEACTIVATED: Event<Data<Nothing>> = Event::new("owner.deactivated");
pub(crate) const REACTIVATED: Event<Data<Nothing>> = Event::new("owner.reactivated");
pub(crate) const SUSPENDED: Event<Data<SuspensionView>> = Event::new("identity.suspended");
pub(crate) const REINSTATED: Event<Data<Nothing>> = Event::new("identity.reinstated");
pub(crate) const REVOKED: Event<Data<Revoked>> = Event::new("identity.revoked");

#[derive(Serialize)]
pub(crate) struct Updated {
    /// The names of the changed fields, never their values.
    pub(crate) changed: Vec<&'static str>,
}

#[derive(Serialize)]
pub(crate) struct Revoked {
    pub(crate) agent_id: String,
    pub(crate) owner_id: String,
    /// The number of agents that the person still has.
    pub(crate) agents_left: usize,
}

#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
#[entity(kind = "owner", collection = OWNERS, not_found = OwnersError::OwnerNotFound)]
pub(crate) struct Record {
    pub(crate) state: State,
    /// Why the person was deactivated or reactivated.
    pub(crate) reason: Option<String>,
    pub(crate) profile: Profile,
    pub(crate) preferences: Preferences,
    /// The suspensions that have not ended, in the order of their beginnings.
    pub(crate) suspensions: Vec<Suspended>,
}

/// A suspension of a person by the operator.
#[document]
pub(crate) struct Suspended {
    pub(crate) reference: String,
    pub(crate) reason: String,
    /// In milliseconds since the Unix epoch; `None` until the person is reinstated.
    pub(crate) until: Option<u64>,
    pub(crate) appeal: Option<Value>,
}

impl Record {
    /// Returns whether others see the person.
    pub(crate) fn is_active(&self) -> bool {
        self.state == State::Active && self.suspensions.is_empty()
    }

    /// Returns the actions that the person's agents may call now.
    fn allowed_actions(&self) -> Vec<&'static str> {
        let mut actions = OWNER.allowed(self.state);
        if !self.suspensions.is_empty() {
            actions.retain(|action| ["revoke_agent", "sign_out_everywhere"].contains(action));
        }
        actions
    }

    /// Returns the suspension that ends last.
    pub(crate) fn last_suspension(&self) -> Option<&Suspended> {
        let end = |suspended: &&Suspended| suspended.until.unwrap_or(u64::MAX);
        self.suspensions.iter().max_by_key(end)
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Profile {
    pub(crate) display_name: Option<String>,
    pub(crate) headline: Option<String>,
    /// The text about the person, in Markdown.
    pub(crate) bio_md: Option<String>,
    /// The languages, as BCP 47 tags.
    pub(crate) languages: Vec<String>,
    pub(crate) city: Option<String>,
    /// The links. They are not on the public card.
    pub(crate) links: Vec<String>,
    /// The year of birth. It is not on the public card and is used only for minimum ages.
    pub(crate) birth_year: Option<i16>,
}

#[input]
pub(crate) struct OwnerId {
    /// The person's id, `own_` and a ULID.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) owner_id: String,
}

#[input(Default)]
pub(crate) struct UpdateProfile {
    /// The name that others see; null removes it.
    #[schemars(length(max = 60))]
    pub(crate) display_name: Option<Option<String>>,
    /// One line below the name; null removes it.
    #[schemars(length(max = 140))]
    pub(crate) headline: Option<Option<String>>,
    /// More about the person, in Markdown; null removes it.
    #[schemars(length(max = 4000))]
    pub(crate) bio_md: Option<Option<String>>,
    /// BCP 47 tags of the languages the person speaks, the best first; null removes them.
    #[schemars(length(max = 20), inner(length(max = 35)))]
    pub(crate) languages: Option<Option<Vec<String>>>,
    /// The city the person lives in; null removes it.
    #[schemars(length(max = 80))]
    pub(crate) city: Option<Option<String>>,
    /// The person's own pages, https only; null removes them. They are not on the public card.
    #[schemars(length(max = 10), inner(length(max = 200)))]
    pub(crate) links: Option<Option<Vec<String>>>,
    /// The year the person was born in. It is private, and permits what is for adults only. Once it
    /// is given, only the operator can change or remove it.
    #[schemars(range(min = 1900, max = 2200))]
    pub(crate) birth_year: Option<Option<i16>>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct CorrectBirthYear {
    /// The person's id.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) owner_id: String,
    /// The right year; null if the person's year of birth is not known.
    #[schemars(range(min = 1900, max = 2200))]
    pub(crate) birth_year: Option<i16>,
}

#[input]
pub(crate) struct RenameAgent {
    /// The agent's id, from `list_agents`.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) agent_id: String,
    /// The new name.
    #[schemars(length(max = 100))]
    pub(crate) name: String,
}

#[input]
pub(crate) struct RevokeAgent {
    /// The agent's id, from `list_agents`.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) agent_id: String,
    /// Must be true if it is the person's only agent.
    #[serde(default)]
    pub(crate) confirm: bool,
}

#[input]
pub(crate) struct SignOut {
    /// Must be true: the calling agent is revoked too.
    #[serde(default)]
    pub(crate) confirm: bool,
}

#[input]
pub(crate) struct Turn {
    /// The reason, for the person's own record; nobody else reads it.
    #[schemars(length(max = 500))]
    pub(crate) reason: Option<String>,
    pub(crate) expected_version: Option<Version>,
}

/// The public card of a person.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Card {
    owner_id: String,
    state: State,
    display_name: Option<String>,
    headline: Option<String>,
    /// The text about the person, in Markdown.
    bio_md: Option<String>,
    /// The languages, as BCP 47 tags, the best spoken first.
    languages: Vec<String>,
    city: Option<String>,
    /// When the person first claimed an agent (RFC 3339).
    member_since: String,
    agents_count: u32,
    /// Always `untrusted_user_content`: the texts here were written by the person.
    trust: &'static str,
}

impl Card {
    pub(crate) fn new(owner_id: String, known: &identity::Person, record: Record) -> Self {
        // Others do not learn that the person is suspended.
        let (state, profile) = match record.is_active() {
            true => (State::Active, record.profile),
            false => (State::Deactivated, Profile::default()),
        };
        view!(move profile => Self {
            display_name, headline, bio_md, languages, city;
            owner_id,
            state,
            member_since: rfc3339(known.created_at),
            agents_count: known.agents,
            trust: UNTRUSTED,
        })
    }
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Me {
    /// The person's record; null if nobody has claimed the agent.
    pub(crate) owner: Option<Owner>,
    /// The person's agents in the order in which they were claimed, at most 100.
    pub(crate) agents: Vec<Agent>,
}

/// A person's record as that person sees it.
#[output]
pub(crate) struct Owner {
    owner_id: String,
    state: State,
    /// The version, which increases with every change of the record; 0 before the first.
    version: u64,
    allowed_actions: Vec<&'static str>,
    /// Why the person was deactivated or reactivated, in their own words.
    reason: Option<String>,
    /// The person's suspension; null if they are not suspended.
    suspension: Option<SuspensionView>,
    profile: Profile,
    preferences: Preferences,
    /// When the person first claimed an agent (RFC 3339).
    member_since: String,
    agents_count: u32,
}

impl Owner {
    pub(crate) fn new(owner: &Stored<Record>, known: &identity::Person) -> Self {
        let record = &owner.value;
        view!(record => Self {
            state, reason, profile, preferences;
            owner_id: owner.id.clone(),
            version: owner.revision,
            allowed_actions: record.allowed_actions(),
            suspension: record.last_suspension().map(SuspensionView::new),
            member_since: rfc3339(known.created_at),
            agents_count: known.agents,
        })
    }
}

/// A suspension as the person sees it.
#[output]
pub(crate) struct SuspensionView {
    reason: String,
    /// When it ends (RFC 3339); null for one that the operator ends.
    until: Option<String>,
    /// The step by which the person appeals.
    appeal: Option<Value>,
}

impl SuspensionView {
    pub(crate) fn new(suspended: &Suspended) -> Self {
        view!(suspended => Self {
            reason, appeal;
            until: suspended.until.map(rfc3339),
        })
    }
}

#[output]
pub(crate) struct Agents {
    /// The agents, at most 100.
    pub(crate) items: Vec<Agent>,
}

/// The year of birth in a person's record.
#[output]
pub(crate) struct BirthYear {
    pub(crate) owner_id: String,
    #[nullable]
    pub(crate) birth_year: Option<i16>,
}

#[output]
pub(crate) struct SignedOut {
    /// The number of agents that were revoked.
    pub(crate) agents_revoked: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Agent {
    pub(crate) agent_id: String,
    /// The name, from the registration or a later change.
    pub(crate) name: Option<String>,
    /// The state: `claimed`, or `revoked` in the answer of the call that revokes it.
    pub(crate) state: &'static str,
    pub(crate) allowed_actions: Vec<&'static str>,
    /// Whether it is the calling agent.
    pub(crate) this_agent: bool,
    /// When it was registered (RFC 3339).
    pub(crate) created_at: String,
    /// When it was claimed (RFC 3339).
    pub(crate) claimed_at: Option<String>,
    /// Always `untrusted_user_content`: the name was chosen when the agent was registered.
    pub(crate) trust: &'static str,
}

#[derive(Refusals)]
pub(crate) enum OwnersError {
    /// There is no such person.
    #[refusal(not_found, next = me())]
    OwnerNotFound,
    /// A field is not acceptable. See conflict for the fields and the reasons.
    #[refusal(invalid, conflict_detail = Violations::new(errors), next = me())]
    ProfileFieldInvalid { errors: Vec<Fault> },
    /// The year of birth was given before. Only the operator of this host can change or remove it:
    /// ask them to correct it, if it is wrong.
    #[refusal(forbidden, next = Next::action("faq_get", "get").field("slug", "dating-and-age"))]
    BirthYearFixed,
    /// This is the person's only agent. Send confirm: true to revoke it anyway.
    #[refusal(conflict, next = list_agents())]
    LastAgent,
    #[refusal(transparent)]
    Common(Refusal),
}

pub(crate) type Result<T, E = OwnersError> = std::result::Result<T, E>;

pub(crate) fn me() -> Next {
    Next::action(CAPABILITY, "me")
}

pub(crate) fn list_agents() -> Next {
    Next::action(CAPABILITY, "list_agents")
}
