//! Inputs, outputs and stored documents.

pub(crate) use crate::refusals::{BindError, Result};
use crate::states::Stage;
use portolan_sdk::documents::Person;
use portolan_sdk::documents::PersonalField::Personal;
use portolan_sdk::prelude::*;
use std::fmt;

pub(crate) const CAPABILITY: &str = "svc.phone-binding";

/// An agent's last attempt and its recent requests, keyed by the agent's id.
pub(crate) const AGENTS: Collection<Agent> =
    Collection::new("agents").people(&[Person::delete("$id")]);
/// Attempts, keyed by their ids.
pub(crate) const BINDS: Collection<Bind> = Collection::new("binds")
    .people(&[Person::delete("agent_id").fields(&[Personal("sealed"), Personal("masked")])]);
/// The attempt to which a text message belongs, keyed by the message's id.
pub(crate) const MESSAGES: Collection<Attempt> = Collection::new("messages").nobody();
/// The attempt that an approval code names, keyed by the approval code.
pub(crate) const APPROVALS: Collection<Attempt> = Collection::new("approvals").nobody();
/// The links of messages, keyed by the MAC of their secret.
pub(crate) const LINKS: Collection<Link> = Collection::new("links").nobody();
/// The recent codes of a number, keyed by the number's MAC.
pub(crate) const NUMBERS: Collection<Number> =
    Collection::new("numbers").index("key", &["person_key"]).nobody();
/// The recent messages to numbers with one prefix, keyed by the digits with which they begin.
pub(crate) const BLOCKS: Collection<Block> = Collection::new("blocks").nobody();
/// The number of a person, keyed by the owner's id.
pub(crate) const OWNERS: Collection<Owner> = Collection::new("owners")
    .index("key", &["person_key"])
    .people(&[Person::delete("$id").fields(&[Personal("sealed"), Personal("masked")])]);

pub(crate) const CLAIMED: Event<Claim> = Event::new("identity.claimed");
pub(crate) const UNCLAIMED: Event<Unclaim> = Event::new("identity.unclaimed");
pub(crate) const LINKED: Event<Claim> = Event::new("identity.agent_linked");

/// Tells a person's agents of a sign-in.
pub(crate) const SIGNED_IN: Event<SignIn> = Event::new("identity.signed_in");

#[output]
pub(crate) struct SignIn {
    /// The event, in a sentence.
    pub(crate) summary: &'static str,
    pub(crate) owner_id: String,
    /// The family of the browser, such as `Firefox`; null if it is not known.
    pub(crate) browser: Option<String>,
    /// When the browser was signed in (RFC 3339).
    pub(crate) signed_in_at: String,
}

/// Tells a person's agents of a passkey that was added or removed.
pub(crate) const PASSKEYS_CHANGED: Event<PasskeysChange> = Event::new("identity.passkeys_changed");

#[output]
pub(crate) struct PasskeysChange {
    /// The event, in a sentence.
    pub(crate) summary: &'static str,
    pub(crate) owner_id: String,
    /// `added` or `removed`.
    pub(crate) change: String,
    /// When it was changed (RFC 3339).
    pub(crate) changed_at: String,
}

/// Tells a person's agents that somebody has proved the person's number, which nobody had proved for long.
pub(crate) const NUMBER_PROVED: Event<NumberProof> = Event::new("identity.number_proved");

#[output]
pub(crate) struct NumberProof {
    /// The event, in a sentence.
    pub(crate) summary: &'static str,
    pub(crate) owner_id: String,
    pub(crate) phone_masked: String,
    /// When it was proved (RFC 3339).
    pub(crate) proved_at: String,
    /// From then on, a person who proves the number owns it, unless `confirm_number` was called before.
    pub(crate) released_at: String,
}

#[output]
pub(crate) struct Claim {
    /// The event, in a sentence.
    pub(crate) summary: &'static str,
    pub(crate) agent_id: String,
    pub(crate) owner_id: String,
}

#[output]
pub(crate) struct Unclaim {
    pub(crate) agent_id: String,
    /// The person whose agent it was.
    pub(crate) owner_id: String,
    /// The number of agents that this person still has.
    pub(crate) agents_left: u32,
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Agent {
    pub(crate) bind_id: Option<String>,
    /// When codes were sent for this agent, in milliseconds since the Unix epoch, like all times in
    /// this file.
    pub(crate) sends: Vec<u64>,
    /// The ids of the numbers that the agent tried within a day, and when it tried each first.
    pub(crate) numbers: Vec<(String, u64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Purpose {
    Claim,
    Change,
}

impl Purpose {
    /// Returns the action that begins an attempt for this purpose.
    pub(crate) fn action(self) -> &'static str {
        match self {
            Self::Claim => "bind",
            Self::Change => "change",
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Bind {
    pub(crate) agent_id: String,
    pub(crate) purpose: Purpose,
    pub(crate) stage: Stage,
    /// The id of the number's own record.
    pub(crate) number: String,
    pub(crate) sealed: String,
    pub(crate) masked: String,
    /// The MAC of the attempt's id and the code, in hexadecimal digits.
    pub(crate) code_mac: String,
    pub(crate) sent_at: u64,
    pub(crate) expires_at: u64,
    pub(crate) checks_left: u32,
    /// The id of the latest message; `None` in test mode.
    #[serde(default)]
    pub(crate) message_id: Option<String>,
    /// Whether no code was sent for it, so that only the page of a link leads on.
    #[serde(default)]
    pub(crate) by_link: bool,
    /// The agent's name as messages and pages show it.
    #[serde(default)]
    pub(crate) name: Option<String>,
}

impl Bind {
    /// Returns the current state: the stored one, or `Expired`.
    pub(crate) fn stage(&self, now: u64) -> Stage {
        match self.stage {
            Stage::CodeSent if self.expires_at <= now => Stage::Expired,
            stage => stage,
        }
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Number {
    /// The key by which the host identifies the person. It stays the same when the keys of MACs
    /// change.
    pub(crate) person_key: String,
    /// When somebody first proved the number.
    pub(crate) proved_at: Option<u64>,
    /// When its person last did.
    pub(crate) last_proved_at: Option<u64>,
    /// When somebody proved it who may be another person than the one before.
    pub(crate) quarantined_at: Option<u64>,
    /// When all messages, and all guesses, are available again: see [`Pace`](crate::limits::Pace).
    pub(crate) sends_full_at: u64,
    pub(crate) guesses_full_at: u64,
    pub(crate) failures: Vec<u64>,
    pub(crate) last_link_at: u64,
    /// Links that were sent until then no longer work, because one of them or a code was used.
    pub(crate) links_after: u64,
    /// The expiry of all other links. Each request for a code renews it.
    pub(crate) links_until: u64,
}

/// The link of a message.
#[derive(Serialize, Deserialize)]
pub(crate) struct Link {
    /// The id of the number's own record.
    pub(crate) number: String,
    /// The attempt for which the message was sent.
    pub(crate) bind_id: String,
    pub(crate) sent_at: u64,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Block {
    pub(crate) slots: Vec<Slot>,
}

/// The messages of some minutes.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Slot {
    pub(crate) from: u64,
    pub(crate) sent: u64,
    pub(crate) verified: u64,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Owner {
    pub(crate) person_key: String,
    /// Empty, as `masked` is, if the number belongs to another person by now.
    pub(crate) sealed: String,
    pub(crate) masked: String,
    /// A new number, while the holder of the old one can object.
    pub(crate) next: Option<NextNumber>,
    /// When the person was last signed out. Codes, links and approvals from before are not valid.
    #[serde(default)]
    pub(crate) signed_out_at: u64,
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct NextNumber {
    pub(crate) person_key: String,
    pub(crate) sealed: String,
    pub(crate) masked: String,
    pub(crate) from: u64,
}

/// A phone number or a code, which no log may contain.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Secret(pub(crate) String);

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[redacted]")
    }
}

#[input]
pub(crate) struct PhoneInput {
    /// The mobile number in E.164, such as `+12015550123`.
    #[schemars(length(min = 2, max = 20))]
    pub(crate) phone: Secret,
}

#[input]
pub(crate) struct CodeInput {
    /// The six digits of the text message.
    #[schemars(length(min = 1, max = 12))]
    pub(crate) code: Secret,
    /// The attempt, as `bind` returned it; without it, the last one.
    #[schemars(length(max = 40))]
    pub(crate) bind_id: Option<String>,
}

#[input]
pub(crate) struct BindInput {
    /// The attempt; without it, the last one.
    #[schemars(length(max = 40))]
    pub(crate) bind_id: Option<String>,
}

#[input]
pub(crate) struct Confirm {
    /// Must be true: the agent can write nothing afterwards.
    #[serde(default)]
    pub(crate) confirm: bool,
}

#[input]
pub(crate) struct Attempt {
    pub(crate) bind_id: String,
}

/// An agent that the host has claimed for a person.
#[input]
pub(crate) struct Adopted {
    pub(crate) agent_id: String,
    pub(crate) owner_id: String,
    /// Whether the person has other agents, which are notified.
    pub(crate) linked_existing: bool,
}

/// A browser in which a person has signed in.
#[input]
pub(crate) struct NewSignIn {
    pub(crate) owner_id: String,
    pub(crate) browser: Option<String>,
    /// When that was, in milliseconds since the Unix epoch.
    pub(crate) at: u64,
}

/// A change of a person's passkeys.
#[input]
pub(crate) struct NewPasskeys {
    pub(crate) owner_id: String,
    /// `added` or `removed`.
    pub(crate) change: String,
    /// When that was, in milliseconds since the Unix epoch.
    pub(crate) at: u64,
}

/// A person whom the host has signed out.
#[input]
pub(crate) struct SignedOut {
    pub(crate) owner_id: String,
    /// When that was, in milliseconds since the Unix epoch.
    pub(crate) at: u64,
}

#[input]
pub(crate) struct LinkSecret {
    #[schemars(length(max = 64))]
    pub(crate) secret: Secret,
}

/// The id of a link's document.
#[input]
pub(crate) struct LinkId {
    pub(crate) id: String,
}

/// A person whose data is to be erased.
#[input]
pub(crate) struct ErasureWarning {
    pub(crate) owner_id: String,
    /// In milliseconds since the Unix epoch.
    pub(crate) erases_at: u64,
}

/// The key by which the host identifies a person.
#[input]
pub(crate) struct PersonKey {
    pub(crate) person_key: String,
}

/// The id of a number's own record.
#[input]
pub(crate) struct NumberId {
    pub(crate) id: String,
}

#[input]
pub(crate) struct Approval {
    /// The person who is signed in.
    pub(crate) owner_id: String,
    /// The code that the person's agent shows.
    #[schemars(length(max = 64))]
    pub(crate) approval_code: String,
}

#[output]
pub(crate) struct LinkView {
    pub(crate) phone_masked: String,
    /// The name of the agent for which the message was sent, if it deceives nobody.
    pub(crate) agent_name: Option<String>,
    pub(crate) asked_at: String,
}

#[output]
pub(crate) struct SignedIn {
    pub(crate) owner_id: String,
    pub(crate) phone_masked: String,
}

#[output]
pub(crate) struct Candidate {
    pub(crate) agent_id: String,
    /// Its name, if it deceives nobody.
    pub(crate) agent_name: Option<String>,
    pub(crate) asked_at: String,
}

/// The data of the host's event about a message.
#[input]
pub(crate) struct Undeliverable {
    pub(crate) message_id: String,
}

#[input]
pub(crate) struct OwnerId {
    pub(crate) owner_id: String,
}

#[output]
pub(crate) struct Sent {
    pub(crate) bind_id: String,
    pub(crate) state: Stage,
    pub(crate) allowed_actions: Vec<&'static str>,
    /// The country code and the last four digits.
    pub(crate) phone_masked: String,
    /// When the code expires (RFC 3339).
    pub(crate) expires_at: String,
    /// The time from which another code can be requested.
    pub(crate) resend_after: String,
    pub(crate) attempts_left: u32,
    /// `sms`: a code was sent, with a link to a page of this host. `link`: no code was sent, because
    /// there were too many messages to this number or too many wrong codes. Every link that was sent to the number within a
    /// day is valid again.
    pub(crate) channel: &'static str,
    /// The person enters it on the page of the link to approve this agent without a code.
    pub(crate) approval_code: String,
    /// The code, for an agent in test mode, which gets no message.
    pub(crate) test_code: Option<Secret>,
}

#[output]
pub(crate) struct Verified {
    /// The state: `claimed`, or `change_on_hold` for a new number.
    pub(crate) state: &'static str,
    pub(crate) agent_id: String,
    pub(crate) owner_id: String,
    /// Whether the person already had another agent.
    pub(crate) linked_existing_owner: bool,
    pub(crate) post_claim_scopes: [&'static str; 3],
    /// When the new number becomes valid.
    pub(crate) effective_at: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct BindStatus {
    /// The state: `anonymous` or `claimed`.
    pub(crate) state: &'static str,
    pub(crate) phone_masked: Option<String>,
    pub(crate) pending: Option<Pending>,
    pub(crate) change: Option<Change>,
}

#[output]
pub(crate) struct Pending {
    pub(crate) bind_id: String,
    pub(crate) state: Stage,
    pub(crate) allowed_actions: Vec<&'static str>,
    pub(crate) phone_masked: String,
    /// When the code expires (RFC 3339).
    pub(crate) expires_at: String,
    pub(crate) attempts_left: u32,
    /// As in the answer of `bind`.
    pub(crate) channel: &'static str,
    pub(crate) approval_code: String,
}

#[output]
pub(crate) struct Change {
    pub(crate) phone_masked: String,
    pub(crate) effective_at: String,
}

#[output]
pub(crate) struct State {
    /// The state: `anonymous` or `claimed`.
    pub(crate) state: &'static str,
}
