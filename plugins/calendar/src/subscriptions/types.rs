//! Inputs, outputs, the stored document, its states and its event.

use crate::{limits::LONGEST_ADDRESS, refusals::*, types::CAPABILITY};
use people_kit::hex;
use portolan_sdk::documents::Person;
use portolan_sdk::documents::PersonalField::Personal;
use portolan_sdk::{lookups::Validators, prelude::*, secrets};

/// The subscriptions, keyed by their ids.
pub(crate) const SUBSCRIPTIONS: Collection<Subscription> = Collection::new("subscriptions")
    .people(&[Person::delete("owner_id").fields(&[
        Personal("label"),
        Personal("sealed"),
        Personal("shown"),
    ])])
    .index("owner", &["owner_id"]);

/// The event that a subscription is no longer read.
pub(crate) const FAILED: Event<Data<SubscriptionFailed>> =
    Event::new("calendar.subscription_failed");

/// The data of the event, in addition to the fields that every event has.
#[derive(Debug, Serialize)]
pub(crate) struct SubscriptionFailed {
    /// Why the last reading failed.
    pub(crate) problem: Option<String>,
}

#[choice(States)]
pub(crate) enum SubscriptionState {
    /// It is read regularly.
    Active,
    /// The last reading has failed. It is tried again, less and less often.
    Failing,
    /// It is no longer read, because every reading of 14 days has failed, or the server has said that the
    /// calendar is gone for good. Its blocks stay until it is ended.
    Failed,
}

use SubscriptionState::{Active, Failed, Failing};

pub(crate) const SUBSCRIPTION: Machine<SubscriptionState> = Machine::new(
    "calendar_subscription",
    &[
        Transition::new("subscribe", &[], &[Active]),
        Transition::new("refresh_subscription", &[Active, Failing], &[]),
        Transition::new("refresh_subscription", &[Failed], &[Failing]),
        Transition::new("unsubscribe", &[Active, Failing, Failed], &[]),
        Transition::internal("take_calendar", &[Active], &[Active, Failing, Failed]),
        Transition::internal("take_calendar", &[Failing], &[Active, Failing, Failed]),
    ],
)
.read_by(CAPABILITY, "list_subscriptions", "subscription_id");

/// A subscription. Times are milliseconds since the Unix epoch.
#[document]
#[entity(
    kind = "calendar_subscription", subjects = "calendar_subscriptions",
    collection = SUBSCRIPTIONS, owner = owner_id,
    not_found = CalendarError::SubscriptionNotFound
)]
pub(crate) struct Subscription {
    pub(crate) owner_id: String,
    pub(crate) state: SubscriptionState,
    pub(crate) label: Option<String>,
    /// The address, sealed and as hexadecimal digits.
    pub(crate) sealed: String,
    /// The address as it is shown: the host, and the last characters.
    pub(crate) shown: String,
    /// The zone of times without one.
    pub(crate) time_zone: Option<String>,
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
    /// The look-up whose answer is awaited.
    pub(crate) lookup_id: Option<String>,
    pub(crate) asked_at: Option<u64>,
    /// When the person has asked for a reading.
    pub(crate) refreshed: Vec<u64>,
    /// The last reading that has not failed.
    pub(crate) read_at: Option<u64>,
    pub(crate) next_at: Option<u64>,
    /// The time between two readings that the file asks for.
    pub(crate) interval: Option<u64>,
    pub(crate) failures: u32,
    pub(crate) failing_since: Option<u64>,
    /// Why the last reading has failed.
    pub(crate) problem: Option<String>,
    pub(crate) blocks: u32,
    /// The number of events that the last file had and the calendar could not take.
    pub(crate) left_out: u32,
}

impl Subscription {
    /// Makes the subscription of an address, which has not been read yet.
    pub(crate) fn of(owner_id: &str, url: &str) -> Result<Self> {
        let mut subscription = Self {
            owner_id: owner_id.to_owned(),
            state: Active,
            label: None,
            sealed: String::new(),
            shown: String::new(),
            time_zone: None,
            etag: None,
            last_modified: None,
            lookup_id: None,
            asked_at: None,
            refreshed: Vec::new(),
            read_at: None,
            next_at: None,
            interval: None,
            failures: 0,
            failing_since: None,
            problem: None,
            blocks: 0,
            left_out: 0,
        };
        subscription.lead_to(url)?;
        Ok(subscription)
    }

    /// Sets the address.
    pub(crate) fn lead_to(&mut self, url: &str) -> Result<()> {
        self.sealed = hex::encode(&secrets::seal(url.as_bytes())?);
        self.shown = shown(url);
        Ok(())
    }

    /// Returns the address; `None` if this capability's keys cannot open it.
    pub(crate) fn url(&self) -> Result<Option<String>> {
        let opened = secrets::open(&hex::decode(&self.sealed))?;
        Ok(opened.and_then(|bytes| String::from_utf8(bytes).ok()))
    }

    pub(crate) fn validators(&self) -> Validators {
        Validators { etag: self.etag.clone(), last_modified: self.last_modified.clone() }
    }
}

/// The number of characters at the end of an address that are shown.
const SHOWN_CHARACTERS: usize = 4;

/// Returns an address so that its person recognises it, and nobody can use it.
fn shown(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let path = rest.strip_prefix(host).unwrap_or_default();
    let hidden = path.chars().count().saturating_sub(SHOWN_CHARACTERS);
    let last: String = path.chars().skip(hidden.max(1)).collect();
    format!("{host}/…{last}")
}

/// Returns the https address that a person has entered, which may begin with `webcal`; `None` for other schemes.
pub(crate) fn https_address(text: &str) -> Option<String> {
    let (scheme, rest) = text.trim().split_once("://")?;
    let is_known =
        ["https", "webcal", "webcals"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let rest = rest.split('#').next().unwrap_or_default();
    (is_known && !rest.is_empty()).then(|| format!("https://{rest}"))
}

/// The subscription that a timer or a look-up is about.
#[message]
pub(crate) struct AboutSubscription {
    /// The subscription's id.
    pub(crate) subscription_id: String,
}

/// The subscription's id: `sub_` and a ULID, as `list_subscriptions` lists it.
#[id(pattern = "^sub_[0-9A-Za-z]{1,36}$")]
pub(crate) struct SubscriptionId(String);

#[input]
pub(crate) struct Subscribe {
    /// The address at which the calendar is published, as its program shows it: `https://` or `webcal://`, without a
    /// port. It is kept secret and never shown again, because whoever has it can read the calendar.
    #[schemars(length(min = 1, max = LONGEST_ADDRESS))]
    pub(crate) url: String,
    /// A name for the calendar, only for the person.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) label: Option<String>,
    /// The time zone of times for which the calendar gives none: an IANA name. The default is that of the
    /// person's availability, or else UTC.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) time_zone: Option<String>,
}

#[input]
pub(crate) struct SubscriptionInput {
    pub(crate) subscription_id: SubscriptionId,
}

/// A calendar elsewhere that is read regularly.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SubscriptionView {
    pub(crate) subscription_id: String,
    pub(crate) version: u64,
    pub(crate) state: SubscriptionState,
    pub(crate) label: Option<String>,
    /// The host of the address, and its last characters.
    pub(crate) address: String,
    pub(crate) time_zone: Option<String>,
    /// The number of blocks that it has made.
    pub(crate) blocks: u32,
    /// The number of events of the last file that could not be taken, because of an error or a limit.
    pub(crate) left_out: u32,
    /// Whether it is being read now.
    pub(crate) reading: bool,
    /// When it was last read (RFC 3339).
    pub(crate) read_at: Option<String>,
    /// When it is read next (RFC 3339).
    pub(crate) next_at: Option<String>,
    /// Since when every reading has failed (RFC 3339).
    pub(crate) failing_since: Option<String>,
    /// Why the last reading has failed.
    pub(crate) problem: Option<String>,
    pub(crate) allowed_actions: Vec<&'static str>,
}

/// Returns the subscription as its person sees it.
pub(crate) fn view(stored: &Stored<Subscription>) -> SubscriptionView {
    let value = &stored.value;
    let is_read = value.state != Failed;
    view!(value => SubscriptionView {
        state, label, time_zone, blocks, left_out, problem;
        subscription_id: stored.id.clone(),
        version: stored.revision,
        address: value.shown.clone(),
        reading: value.lookup_id.is_some(),
        read_at: value.read_at.map(rfc3339),
        next_at: value.next_at.filter(|_| is_read).map(rfc3339),
        failing_since: value.failing_since.map(rfc3339),
        allowed_actions: SUBSCRIPTION.allowed(value.state),
    })
}

#[output]
pub(crate) struct Unsubscribed {
    pub(crate) subscription_id: String,
    /// The number of blocks that were removed.
    pub(crate) removed: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_https_whatever_calendars_call_it() {
        for (text, url) in [
            ("https://calendar.example/a.ics", Some("https://calendar.example/a.ics")),
            (" webcal://calendar.example/a.ics ", Some("https://calendar.example/a.ics")),
            ("WEBCALS://calendar.example/a.ics#x", Some("https://calendar.example/a.ics")),
            ("http://calendar.example/a.ics", None),
            ("file:///etc/passwd", None),
            ("calendar.example/a.ics", None),
            ("https://", None),
        ] {
            assert_eq!(https_address(text).as_deref(), url, "{text}");
        }
    }

    #[test]
    fn an_address_is_shown_without_its_secret() {
        for (url, expected) in [
            ("https://calendar.example/private-0123456789/basic.ics", "calendar.example/….ics"),
            ("https://calendar.example/?key=0123456789abcdef", "calendar.example/…cdef"),
            ("https://calendar.example/a", "calendar.example/…a"),
            ("https://calendar.example", "calendar.example/…"),
        ] {
            assert_eq!(shown(url), expected);
        }
    }

    #[test]
    fn a_failed_subscription_can_be_read_again_or_ended() {
        assert_eq!(SUBSCRIPTION.faults(), Vec::<String>::new());
        assert_eq!(SUBSCRIPTION.allowed(Failed), ["refresh_subscription", "unsubscribe"]);
    }
}
