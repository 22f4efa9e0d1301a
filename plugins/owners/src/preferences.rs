//! The preferences of a person: stored, given and in force.

use people_kit::people::ContactPolicy;
use portolan_sdk::prelude::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Preferences {
    /// The people who can propose something.
    pub(crate) contact_policy: ContactPolicy,
    /// The hours in which events are held; they are delivered when the hours end.
    pub(crate) quiet_hours: Option<QuietHours>,
    /// The notices that the person wants.
    pub(crate) notify: Vec<Notice>,
    /// Further events that are not delivered.
    pub(crate) disabled_events: Vec<String>,
    /// The caps on the number of events.
    pub(crate) event_caps: Vec<EventCap>,
    /// The events that are delivered together once a day.
    pub(crate) event_digest: Option<EventDigest>,
    /// The proposals that are declined without asking the person.
    pub(crate) auto_decline_rules: Vec<DeclineRule>,
}

impl Default for Preferences {
    fn default() -> Self {
        Self {
            contact_policy: ContactPolicy::AnyoneMatching,
            quiet_hours: None,
            notify: vec![Notice::PairingReply, Notice::MeetingConfirmation, Notice::MatchUpdate],
            disabled_events: Vec::new(),
            event_caps: Vec::new(),
            event_digest: None,
            auto_decline_rules: Vec::new(),
        }
    }
}

#[choice(PartialOrd, Ord)]
pub(crate) enum Notice {
    /// Somebody has answered a proposal: `pairing.replied`.
    PairingReply,
    /// The time of a meeting is settled: `meeting.confirmed`.
    MeetingConfirmation,
    /// A matching session has new candidates: `match.updated`.
    MatchUpdate,
}

/// The time in which a cap counts. It begins with the first event.
#[choice]
pub(crate) enum Period {
    Hour,
    Day,
}

#[input(Clone, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventCap {
    /// A type of events, such as `pairing.proposed`, or a family, such as `pairing`.
    #[schemars(regex(pattern = "^[a-z0-9_]+([.][a-z0-9_]+)*$"), length(max = 128))]
    pub(crate) events: String,
    /// The number of events that are delivered. The others are summarized by `notifications.digest`.
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) most: u32,
    pub(crate) per: Period,
}

#[input(Clone, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventDigest {
    /// Types of events, such as `saved_search.matched`, or families, such as `listing`.
    #[schemars(
        length(min = 1, max = 20),
        inner(regex(pattern = "^[a-z0-9_]+([.][a-z0-9_]+)*$"), length(max = 128))
    )]
    pub(crate) events: Vec<String>,
    /// The time of the day, such as 18:00.
    #[schemars(regex(pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$"))]
    pub(crate) at: String,
    /// The time zone: an IANA name, such as America/Los_Angeles.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) time_zone: String,
}

#[input(Clone, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuietHours {
    /// The start, such as 22:00.
    #[schemars(regex(pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$"))]
    pub(crate) from: String,
    /// The end, such as 07:00; if it is before `from`, it is on the next day.
    #[schemars(regex(pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$"))]
    pub(crate) to: String,
    /// The time zone: an IANA name, such as America/Los_Angeles.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) time_zone: String,
}

#[input(Clone, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeclineRule {
    /// The category of the taxonomy in which, and below which, proposals are declined.
    #[schemars(regex(pattern = "^[a-z_]+([.][a-z_]+)*$"), length(max = 64))]
    pub(crate) category: String,
}

#[input(Default)]
pub(crate) struct SetPreferences {
    /// The people who can propose something: anyone whose listing fits, only people the person is
    /// connected with, or no one for now. For listings of an organisation it does not matter, nor do
    /// `auto_decline_rules`, because others answer too.
    pub(crate) contact_policy: Option<ContactPolicy>,
    /// The hours in which the person is not to be disturbed: events are held until they end. Null for
    /// none.
    pub(crate) quiet_hours: Option<Option<QuietHours>>,
    /// Which of these events the person wants to be notified of: `pairing_reply` (`pairing.replied`),
    /// `meeting_confirmation` (`meeting.confirmed`), `match_update` (`match.updated`). The others of these
    /// are not delivered.
    #[schemars(length(max = 10))]
    pub(crate) notify: Option<Vec<Notice>>,
    /// Further events that are not delivered: types, such as `saved_search.matched`, or families, such
    /// as `listing`. Those of `always_delivered` in `get_preferences` are delivered all the same.
    #[schemars(
        length(max = 50),
        inner(regex(pattern = "^[a-z0-9_]+([.][a-z0-9_]+)*$"), length(max = 128))
    )]
    pub(crate) disabled_events: Option<Vec<String>>,
    /// How many events of a type or a family are delivered in an hour or a day.
    #[schemars(length(max = 20))]
    pub(crate) event_caps: Option<Vec<EventCap>>,
    /// The events that are held and delivered together once a day; null for none.
    pub(crate) event_digest: Option<Option<EventDigest>>,
    /// The proposals that are declined without asking the person.
    #[schemars(length(max = 20))]
    pub(crate) auto_decline_rules: Option<Vec<DeclineRule>>,
    pub(crate) expected_version: Option<Version>,
}

/// The preferences of a person that are in force, and what is held because of them.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PreferencesInForce {
    /// The version of the person's record, for `expected_version`.
    pub(crate) version: u64,
    /// The preferences; null if nobody has claimed the agent.
    pub(crate) preferences: Option<Preferences>,
    /// The types and families of events that are not delivered.
    pub(crate) not_delivered: Vec<String>,
    /// The number of people and conversations that are muted.
    pub(crate) muted: u32,
    /// The number of events that are held now.
    pub(crate) held_events: u32,
    /// The types and families of events that are delivered whatever the preferences say.
    pub(crate) always_delivered: Vec<String>,
}

impl PreferencesInForce {
    /// Returns those of an agent that nobody has claimed.
    pub(crate) fn none() -> Self {
        Self {
            version: 0,
            preferences: None,
            not_delivered: Vec::new(),
            muted: 0,
            held_events: 0,
            always_delivered: Vec::new(),
        }
    }
}
