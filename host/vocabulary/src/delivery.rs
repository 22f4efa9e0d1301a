//! The delivery rules of a person: which events reach their agents at once, later, or not at all.

use crate::{
    Digest, NOTIFICATIONS_DIGEST, Timestamp,
    zone::{Zone, find as zone, instant},
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Duration};

/// The types and families of events that no rule holds, limits or keeps out: codes and security notices, the
/// person's own approvals, their data and its erasure, and the notices about delivery itself.
pub const ALWAYS_DELIVERED: [&str; 8] = [
    "approval",
    "catalog.changed",
    "data_erasure",
    "data_export",
    "identity",
    "sms",
    "stream.gap",
    "webhook",
];

/// The maximum number of muted subjects of a person.
const MUTED_SUBJECTS: usize = 6000;
/// The number of hexadecimal digits of a digest under which a muted subject is kept.
const MUTED_DIGITS: usize = 20;

/// The delivery rules of a person. `events` are always names of types, such as `pairing.replied`, or of
/// families, such as `pairing`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeliveryRules {
    /// The events that are not delivered.
    pub disabled: Vec<String>,
    pub quiet_hours: Option<QuietHours>,
    pub caps: Vec<Cap>,
    pub digest: Option<DailyDigest>,
    /// The end of each mute, in milliseconds; `None` without an end. A subject is kept as its digest, so that
    /// the rules name nobody else.
    pub muted: BTreeMap<String, Option<u64>>,
}

/// The hours in which events are held. They end on the next day if `to` is before `from`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuietHours {
    /// In minutes after midnight.
    pub from: u16,
    pub to: u16,
    /// An IANA name.
    pub time_zone: String,
}

/// The number of events that are delivered in a time which begins with the first of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cap {
    pub events: String,
    pub most: u32,
    pub hours: u32,
}

/// The time of the day at which some events are delivered together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DailyDigest {
    pub events: Vec<String>,
    /// In minutes after midnight.
    pub at: u16,
    /// An IANA name.
    pub time_zone: String,
}

/// A change of a person's rules.
#[derive(Debug, Clone)]
pub enum RulesChange {
    /// Replaces everything but the mutes.
    Replace(DeliveryRules),
    Mute {
        subject: String,
        until: Option<Timestamp>,
    },
    Unmute {
        subject: String,
    },
}

/// The rules of a person with what the host needs to hold events for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerRules {
    pub owner_id: String,
    /// Whether the person belongs to test mode.
    pub test_mode: bool,
    pub rules: DeliveryRules,
}

/// The parts of an event that rules are about.
#[derive(Debug, Clone, Copy)]
pub struct EventParts<'a> {
    pub event_type: &'a str,
    pub subject: &'a str,
    /// A JSON object.
    pub data: &'a str,
}

/// The time at which the rules deliver an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    Now,
    /// Held until then.
    Later(Timestamp),
    Never,
}

/// The data of an event, as far as mutes need it.
#[derive(Deserialize)]
struct Named {
    actor: Option<Actor>,
}

#[derive(Deserialize)]
struct Actor {
    owner_id: Option<String>,
}

impl QuietHours {
    /// Returns whether an instant is in these hours; not if there is no such time zone.
    pub fn contain(&self, now: Timestamp) -> bool {
        let Some(minute) = minute_of_day(&self.time_zone, now) else { return false };
        match self.from < self.to {
            true => (self.from..self.to).contains(&minute),
            false => minute >= self.from || minute < self.to,
        }
    }
}

impl DeliveryRules {
    /// Returns when a new event is delivered.
    pub fn timing(&self, event: EventParts<'_>, now: Timestamp) -> Timing {
        let digest = self.digest.as_ref();
        let digest = digest.filter(|digest| is_one_of(&digest.events, event.event_type));
        let digest = digest.and_then(|digest| next(&digest.time_zone, digest.at, now));
        match (self.timing_of_held(event, now), digest) {
            (Timing::Now | Timing::Later(_), Some(at))
                if !is_always_delivered(event.event_type) =>
            {
                Timing::Later(at)
            }
            (timing, _) => timing,
        }
    }

    /// Returns when an event is delivered that was held until now.
    pub fn timing_of_held(&self, event: EventParts<'_>, now: Timestamp) -> Timing {
        if is_always_delivered(event.event_type) {
            return Timing::Now;
        }
        if is_one_of(&self.disabled, event.event_type) || self.mutes(event, now) {
            return Timing::Never;
        }
        self.quiet_until(now).map_or(Timing::Now, Timing::Later)
    }

    /// Returns the caps that count this event.
    pub fn caps_of<'a>(&'a self, event_type: &'a str) -> impl Iterator<Item = &'a Cap> {
        let is_counted = !is_always_delivered(event_type) && event_type != NOTIFICATIONS_DIGEST;
        self.caps.iter().filter(move |cap| is_counted && is_within(event_type, &cap.events))
    }

    /// Returns whether an event can be held.
    pub fn can_hold(&self) -> bool {
        self.quiet_hours.is_some() || self.digest.is_some() || !self.caps.is_empty()
    }

    /// Returns the end of the quiet hours in which this instant is.
    pub fn quiet_until(&self, now: Timestamp) -> Option<Timestamp> {
        let hours = self.quiet_hours.as_ref()?;
        if hours.contain(now) { next(&hours.time_zone, hours.to, now) } else { None }
    }

    /// Returns the number of people and things that are muted.
    pub fn muted_count(&self, now: Timestamp) -> usize {
        self.muted.values().filter(|until| is_ahead(**until, now)).count()
    }

    /// Returns whether the event is about something muted, or of a person who is muted.
    fn mutes(&self, event: EventParts<'_>, now: Timestamp) -> bool {
        if self.muted.is_empty() {
            return false;
        }
        let is_muted =
            |id: &str| self.muted.get(&muted_key(id)).is_some_and(|until| is_ahead(*until, now));
        let subject = event.subject.rsplit('/').next().unwrap_or_default();
        is_muted(subject) || actor_of(event.data).is_some_and(|actor| is_muted(&actor))
    }
}

impl DeliveryRules {
    /// Returns the time zone of the person, if a rule names one.
    pub fn zone(&self) -> Option<Zone> {
        let hours = self.quiet_hours.as_ref().map(|hours| &hours.time_zone);
        let digest = self.digest.as_ref().map(|digest| &digest.time_zone);
        hours.or(digest).and_then(|name| Zone::named(name))
    }
}

/// Returns the id of the person who has caused the event with this data, if it names one.
pub(crate) fn actor_of(data: &str) -> Option<String> {
    let named: Named = serde_json::from_str(data).ok()?;
    named.actor?.owner_id
}

/// Returns whether no rule applies to events of this type.
pub fn is_always_delivered(event_type: &str) -> bool {
    ALWAYS_DELIVERED.iter().any(|name| is_within(event_type, name))
}

/// Returns whether the text is the name of a time zone.
pub fn is_time_zone(name: &str) -> bool {
    zone(name).is_some()
}

/// Returns whether the name is that of the type, or of its family.
fn is_within(event_type: &str, name: &str) -> bool {
    let rest = event_type.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn is_one_of(names: &[String], event_type: &str) -> bool {
    names.iter().any(|name| is_within(event_type, name))
}

fn is_ahead(until: Option<u64>, now: Timestamp) -> bool {
    until.is_none_or(|until| until > now.as_millis())
}

fn muted_key(id: &str) -> String {
    let mut key = Digest::of(id.as_bytes()).hex();
    key.truncate(MUTED_DIGITS);
    key
}

fn minute_of_day(time_zone: &str, now: Timestamp) -> Option<u16> {
    let local = zone(time_zone)?.to_datetime(instant(now)?);
    u16::try_from(i32::from(local.hour()) * 60 + i32::from(local.minute())).ok()
}

/// Returns the next instant after `now` at which clocks of the zone show this minute of the day. A minute that
/// the clocks skip is moved forward by as much as they skip.
fn next(time_zone: &str, minute: u16, now: Timestamp) -> Option<Timestamp> {
    let zone = zone(time_zone)?;
    let (hour, minute) = (i8::try_from(minute / 60).ok()?, i8::try_from(minute % 60).ok()?);
    let mut date = zone.to_datetime(instant(now)?).date();
    for _ in 0..3 {
        let at = zone.to_ambiguous_timestamp(date.at(hour, minute, 0, 0)).compatible().ok()?;
        let at = Timestamp::from_millis(u64::try_from(at.as_millisecond()).ok()?);
        if at > now {
            return Some(at);
        }
        date = date.tomorrow().ok()?;
    }
    None
}

impl RulesChange {
    /// Applies the change. Returns `false` if too many people and things are muted then.
    pub fn apply(self, rules: &mut DeliveryRules, now: Timestamp) -> bool {
        match self {
            Self::Replace(replacement) => {
                let muted = std::mem::take(&mut rules.muted);
                *rules = DeliveryRules { muted, ..replacement };
            }
            Self::Mute { subject, until } => {
                rules.muted.retain(|_, until| is_ahead(*until, now));
                rules.muted.insert(muted_key(&subject), until.map(Timestamp::as_millis));
            }
            Self::Unmute { subject } => {
                rules.muted.remove(&muted_key(&subject));
            }
        }
        rules.muted.len() <= MUTED_SUBJECTS
    }
}

impl Cap {
    /// Returns the length of the time in which the cap counts.
    pub fn period(&self) -> Duration {
        Duration::from_secs(u64::from(self.hours) * 3600)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: &str = r#"{"v":1,"actor":{"kind":"owner","owner_id":"own_2"}}"#;

    fn at(text: &str) -> Timestamp {
        let at: jiff::Timestamp = text.parse().unwrap();
        Timestamp::from_millis(u64::try_from(at.as_millisecond()).unwrap())
    }

    fn event(event_type: &str) -> EventParts<'_> {
        EventParts { event_type, subject: "pairings/pair_1", data: DATA }
    }

    fn mute(rules: &mut DeliveryRules, subject: &str, until: Option<Timestamp>) {
        let mute = RulesChange::Mute { subject: subject.to_owned(), until };
        assert!(mute.apply(rules, at("2026-03-01T12:00:00Z")));
    }

    fn unmute(rules: &mut DeliveryRules, subject: &str) {
        let unmute = RulesChange::Unmute { subject: subject.to_owned() };
        assert!(unmute.apply(rules, at("2026-03-01T12:00:00Z")));
    }

    fn quiet(from: u16, to: u16, time_zone: &str) -> DeliveryRules {
        let quiet_hours = Some(QuietHours { from, to, time_zone: time_zone.to_owned() });
        DeliveryRules { quiet_hours, ..DeliveryRules::default() }
    }

    #[test]
    fn a_name_covers_a_type_or_a_family() {
        for (event_type, name, covers) in [
            ("pairing.replied", "pairing", true),
            ("pairing.replied", "pairing.replied", true),
            ("pairings.replied", "pairing", false),
            ("pairing.replied", "pairing.rep", false),
        ] {
            let rules =
                DeliveryRules { disabled: vec![name.to_owned()], ..DeliveryRules::default() };
            let timing = rules.timing(event(event_type), at("2026-03-01T12:00:00Z"));
            assert_eq!(timing == Timing::Never, covers, "{event_type} {name}");
        }
    }

    #[test]
    fn quiet_hours_end_by_the_clocks_of_their_zone() {
        let night = quiet(22 * 60, 7 * 60, "Europe/Berlin");
        for (now, until) in [
            ("2026-03-28T20:59:00Z", None),
            ("2026-03-28T21:00:00Z", Some("2026-03-29T05:00:00Z")),
            // In this night, the clocks are put forward.
            ("2026-03-29T04:59:59Z", Some("2026-03-29T05:00:00Z")),
            ("2026-03-29T05:00:00Z", None),
            ("2026-10-25T00:30:00Z", Some("2026-10-25T06:00:00Z")),
        ] {
            assert_eq!(night.quiet_until(at(now)), until.map(at), "{now}");
        }
        let noon = quiet(12 * 60, 13 * 60, "UTC");
        let until = Some(at("2026-03-01T13:00:00Z"));
        assert_eq!(noon.quiet_until(at("2026-03-01T12:30:00Z")), until);
        assert_eq!(noon.quiet_until(at("2026-03-01T13:00:00Z")), None);
    }

    #[test]
    fn a_mute_concerns_the_subject_and_the_acting_person_until_it_ends() {
        let (now, later) = (at("2026-03-01T12:00:00Z"), at("2026-03-01T13:00:00Z"));
        for id in ["pair_1", "own_2"] {
            let mut rules = DeliveryRules::default();
            mute(&mut rules, id, Some(later));
            assert_eq!(rules.timing(event("pairing.replied"), now), Timing::Never, "{id}");
            assert_eq!(rules.timing(event("pairing.replied"), later), Timing::Now, "{id}");
            assert_eq!((rules.muted_count(now), rules.muted_count(later)), (1, 0));
            unmute(&mut rules, id);
            assert_eq!(rules.timing(event("pairing.replied"), now), Timing::Now, "{id}");
        }
        let mut rules = DeliveryRules::default();
        mute(&mut rules, "own_3", None);
        assert_eq!(rules.timing(event("pairing.replied"), now), Timing::Now);
        assert!(!serde_json::to_string(&rules).unwrap().contains("own_"));
    }

    #[test]
    fn a_digest_is_delivered_at_its_time_of_the_day() {
        let digest = DailyDigest {
            events: vec!["listing".to_owned()],
            at: 18 * 60,
            time_zone: "America/Los_Angeles".to_owned(),
        };
        let rules = DeliveryRules { digest: Some(digest), ..DeliveryRules::default() };
        let (now, six) = (at("2026-03-01T12:00:00Z"), at("2026-03-02T02:00:00Z"));
        assert_eq!(rules.timing(event("listing.expired"), now), Timing::Later(six));
        assert_eq!(rules.timing(event("pairing.replied"), now), Timing::Now);
        assert_eq!(rules.timing_of_held(event("listing.expired"), six), Timing::Now);
    }

    #[test]
    fn nothing_holds_what_is_always_delivered() {
        let now = at("2026-03-01T00:00:00Z");
        let mut rules = quiet(23 * 60, 5 * 60, "UTC");
        rules.disabled = ALWAYS_DELIVERED.iter().map(|name| (*name).to_owned()).collect();
        rules.caps = vec![Cap { events: "identity".to_owned(), most: 1, hours: 1 }];
        mute(&mut rules, "pair_1", None);
        mute(&mut rules, "own_2", None);
        for event_type in
            ["identity.claimed", "sms.undeliverable", "stream.gap", "approval.requested"]
        {
            assert_eq!(rules.timing(event(event_type), now), Timing::Now, "{event_type}");
            assert_eq!(rules.caps_of(event_type).count(), 0);
        }
        assert_eq!(rules.timing(event("identity_theft.noticed"), now), Timing::Never);
        unmute(&mut rules, "pair_1");
        unmute(&mut rules, "own_2");
        let end = at("2026-03-01T05:00:00Z");
        assert_eq!(rules.timing(event("identity_theft.noticed"), now), Timing::Later(end));
    }

    #[test]
    fn the_documentation_lists_what_is_always_delivered() {
        let documentation = include_str!("../../../docs/api.md");
        for name in ALWAYS_DELIVERED {
            let listed = format!("`{name}`");
            assert!(
                documentation.contains(&listed) || documentation.contains(&format!("`{name}.*`")),
                "{name}"
            );
        }
    }
}
