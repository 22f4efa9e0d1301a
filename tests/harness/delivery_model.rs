//! The model of which events reach the people of a random walk, and when. It knows the preferences only from
//! what the people have set, and computes in fixed offsets from UTC.

use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Time zones whose clocks are never changed, with their offsets from UTC in minutes.
pub const ZONES: [(&str, i64); 4] =
    [("UTC", 0), ("America/Phoenix", -420), ("Asia/Kolkata", 330), ("Asia/Tokyo", 540)];

/// The notices that can be turned off, with the types of their events.
pub const NOTICES: [(&str, &str); 3] = [
    ("match_update", "match.updated"),
    ("meeting_confirmation", "meeting.confirmed"),
    ("pairing_reply", "pairing.replied"),
];
/// The type of the event that summarizes others.
const DIGEST: &str = "notifications.digest";
const MINUTE: u64 = 60_000;
const MINUTES_OF_DAY: i64 = 24 * 60;

/// A part of each day, in minutes after midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hours {
    pub from: i64,
    pub to: i64,
    pub offset: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cap {
    pub events: String,
    pub most: usize,
    pub hours: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    pub events: Vec<String>,
    pub at: i64,
    pub offset: i64,
}

/// The delivery rules of a person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    pub disabled: Vec<String>,
    pub without_notice: Vec<String>,
    pub quiet: Option<Hours>,
    pub caps: Vec<Cap>,
    pub digest: Option<Digest>,
    /// The ids of people and conversations, each with the end of the mute if it has one.
    pub muted: BTreeMap<String, Option<u64>>,
}

#[derive(Debug, Clone)]
pub struct Event {
    pub id: String,
    pub event_type: String,
    subject: String,
    actor: Option<String>,
    /// When it was published, in milliseconds, like all times here.
    at: u64,
    /// How many events of each type a digest summarizes.
    summarizes: BTreeMap<String, usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Waiting,
    Delivered,
    Dropped,
}

/// An event for a person.
#[derive(Debug, Clone)]
struct Item {
    event: Event,
    fate: Fate,
    /// When it is delivered, unless a cap applies.
    due: u64,
    /// Whether a cap decides between a delivery and a digest.
    capped: bool,
    caps_changed: bool,
    /// Whether it was not wanted at some time while it waited.
    was_unwanted: bool,
    /// Whether it is of the step that is checked now.
    is_new: bool,
}

/// A person, and all events for them.
#[derive(Debug, Default)]
pub struct Recipient {
    pub settings: Settings,
    always: Vec<String>,
    items: BTreeMap<String, Item>,
    /// The instants of deliveries with their types.
    deliveries: Vec<(u64, String)>,
    digested: BTreeMap<String, usize>,
    /// Since when the two do not hear of each other, by the ids of others.
    pub blocked: BTreeMap<String, u64>,
}

/// How many events had each fate.
#[derive(Debug, Default, Clone, Copy)]
pub struct Counts {
    pub delivered: usize,
    pub dropped: usize,
    /// Delivered later than published.
    pub held: usize,
    pub summarized: usize,
    /// Published about organisations and applications.
    pub of_office: usize,
}

/// The clock before and after a step.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    pub from: u64,
    pub to: u64,
}

fn is_within(event_type: &str, name: &str) -> bool {
    event_type == name || event_type.starts_with(&format!("{name}."))
}

fn is_one_of(names: &[String], event_type: &str) -> bool {
    names.iter().any(|name| is_within(event_type, name))
}

/// Returns the minute of the day that clocks with this offset show.
pub fn minute_of_day(at: u64, offset: i64) -> i64 {
    (i64::try_from(at / MINUTE).unwrap() + offset).rem_euclid(MINUTES_OF_DAY)
}

/// Returns the next instant at which clocks with this offset show this minute.
fn next(minute: i64, offset: i64, now: u64) -> u64 {
    let left = (minute - minute_of_day(now, offset) - 1).rem_euclid(MINUTES_OF_DAY) + 1;
    (now / MINUTE + u64::try_from(left).unwrap()) * MINUTE
}

fn clock_time(minute: i64) -> String {
    format!("{:02}:{:02}", minute / 60, minute % 60)
}

impl Settings {
    /// Returns the call that sets them.
    pub fn body(&self) -> Value {
        let zone = |offset| ZONES.iter().find(|zone| zone.1 == offset).unwrap().0;
        let quiet = self.quiet.map(|hours| {
            let [from, to] = [hours.from, hours.to].map(clock_time);
            json!({ "from": from, "to": to, "time_zone": zone(hours.offset) })
        });
        let digest = self.digest.as_ref().map(|digest| {
            let (at, zone) = (clock_time(digest.at), zone(digest.offset));
            json!({ "events": digest.events, "at": at, "time_zone": zone })
        });
        let cap = |cap: &Cap| {
            let per = if cap.hours == 1 { "hour" } else { "day" };
            json!({ "events": cap.events, "most": cap.most, "per": per })
        };
        let wanted = NOTICES
            .iter()
            .filter(|(_, name)| !self.without_notice.iter().any(|unwanted| unwanted == name));
        json!({
            "action": "set_preferences", "quiet_hours": quiet, "event_digest": digest,
            "disabled_events": self.disabled,
            "event_caps": self.caps.iter().map(cap).collect::<Vec<_>>(),
            "notify": wanted.map(|(notice, _)| *notice).collect::<Vec<_>>(),
        })
    }

    fn is_unwanted(&self, event: &Event, at: u64) -> bool {
        let is_muted =
            |id: &str| self.muted.get(id).is_some_and(|until| until.is_none_or(|until| until > at));
        let subject = event.subject.rsplit('/').next().unwrap();
        is_one_of(&self.disabled, &event.event_type)
            || is_one_of(&self.without_notice, &event.event_type)
            || is_muted(subject)
            || event.actor.as_deref().is_some_and(is_muted)
    }

    /// Returns the end of the quiet hours in which the instant is.
    fn quiet_until(&self, at: u64) -> Option<u64> {
        let Hours { from, to, offset } = self.quiet?;
        let since = (minute_of_day(at, offset) - from).rem_euclid(MINUTES_OF_DAY);
        let is_quiet = since < (to - from).rem_euclid(MINUTES_OF_DAY);
        is_quiet.then(|| next(to, offset, at))
    }

    /// Returns when an event is delivered that is held from this instant on.
    fn due(&self, event: &Event, at: u64) -> u64 {
        let digest =
            self.digest.as_ref().filter(|digest| is_one_of(&digest.events, &event.event_type));
        match digest {
            Some(digest) => next(digest.at, digest.offset, at),
            None => self.quiet_until(at).unwrap_or(at),
        }
    }

    fn caps_of<'a>(&'a self, event_type: &'a str) -> impl Iterator<Item = &'a Cap> {
        let can_be_capped = event_type != DIGEST;
        self.caps.iter().filter(move |cap| can_be_capped && is_within(event_type, &cap.events))
    }

    pub fn mute(&mut self, subject: &str, until: Option<u64>, now: u64) {
        self.muted.retain(|_, until| until.is_none_or(|until| until > now));
        self.muted.insert(subject.to_owned(), until);
    }
}

impl Event {
    /// Reads an event from a row of the host's table.
    pub fn of(row: &Value) -> Self {
        let text = |field: &str| row[field].as_str().unwrap().to_owned();
        let data: Value = serde_json::from_str(row["data"].as_str().unwrap()).unwrap();
        let types = data["types"].as_array().filter(|_| row["event_type"] == DIGEST);
        let summarized = types.into_iter().flatten().map(|row| {
            let count = row["count"].as_u64().unwrap();
            (row["type"].as_str().unwrap().to_owned(), usize::try_from(count).unwrap())
        });
        Self {
            id: text("id"),
            event_type: text("event_type"),
            subject: text("subject"),
            actor: data["actor"]["owner_id"].as_str().map(str::to_owned),
            at: row["occurred_at"].as_u64().unwrap(),
            summarizes: summarized.collect(),
        }
    }
}

impl Recipient {
    pub fn new(always: Vec<String>) -> Self {
        Self { always, ..Self::default() }
    }

    fn is_always_delivered(&self, event: &Event) -> bool {
        is_one_of(&self.always, &event.event_type)
    }

    /// Applies changed settings to the events that wait.
    pub fn change(&mut self, settings: Settings, now: u64) {
        if settings == self.settings {
            return;
        }
        let caps_changed = settings.caps != self.settings.caps;
        self.settings = settings;
        for item in self.items.values_mut().filter(|item| item.fate == Fate::Waiting) {
            item.caps_changed |= caps_changed;
            item.capped |= self.settings.caps_of(&item.event.event_type).next().is_some();
            match (self.settings.is_unwanted(&item.event, now), item.capped) {
                (true, true) => item.was_unwanted = true,
                (true, false) => item.fate = Fate::Dropped,
                (false, _) => item.due = self.settings.due(&item.event, now),
            }
        }
    }

    /// Notes a published event.
    pub fn publish(&mut self, event: Event) {
        for (event_type, count) in &event.summarizes {
            *self.digested.entry(event_type.clone()).or_default() += count;
        }
        let always = self.is_always_delivered(&event);
        let (fate, due) = match always {
            true => (Fate::Waiting, event.at),
            false if self.settings.is_unwanted(&event, event.at) => (Fate::Dropped, event.at),
            false => (Fate::Waiting, self.settings.due(&event, event.at)),
        };
        // A cap cannot apply as long as fewer events were delivered in its whole time.
        let applies = |cap: &Cap| {
            let since = event.at.saturating_sub(cap.hours * 60 * MINUTE);
            let in_time = |(at, event_type): &&(u64, String)| {
                *at >= since && is_within(event_type, &cap.events)
            };
            let waiting = self.items.values().filter(|item| {
                item.is_new
                    && item.fate == Fate::Waiting
                    && is_within(&item.event.event_type, &cap.events)
            });
            self.deliveries.iter().filter(in_time).count() + waiting.count() >= cap.most
        };
        let mut caps = self.settings.caps_of(&event.event_type);
        let capped = !always && caps.any(|cap| due > event.at || applies(cap));
        let item = Item {
            fate,
            due,
            capped,
            caps_changed: false,
            was_unwanted: false,
            is_new: true,
            event: event.clone(),
        };
        assert!(self.items.insert(event.id.clone(), item).is_none(), "{} twice", event.id);
    }

    /// Notes that an event has reached the person during a step, and asserts that it was allowed to.
    pub fn deliver(&mut self, id: &str, span: Span) {
        let item = self.items.get(id).unwrap_or_else(|| panic!("{id} is for somebody else"));
        let Item { event, fate, due, capped, caps_changed, is_new, .. } = item;
        let what = format!("{event:#?} with {:#?} in {span:?}", self.settings);
        assert_eq!(*fate, Fate::Waiting, "delivered twice, or not wanted: {what}");
        if !self.is_always_delivered(event) {
            let is_unwanted = |at| self.settings.is_unwanted(event, at);
            let from = if *is_new { event.at } else { span.from };
            assert!(!(is_unwanted(from) && is_unwanted(span.to)), "not wanted: {what}");
            let is_quiet = |at| self.settings.quiet_until(at).is_some();
            assert!(!(is_quiet(from) && is_quiet(span.to)), "in quiet hours: {what}");
            assert!(*capped || *due <= span.to, "before {due}: {what}");
            assert!(!*capped || *is_new || *caps_changed || *due > event.at, "above a cap: {what}");
            let blocked = event.actor.as_ref().and_then(|actor| self.blocked.get(actor));
            assert!(blocked.is_none_or(|since| event.at <= *since), "of somebody blocked: {what}");
        }
        self.deliveries.push((span.to, event.event_type.clone()));
        self.items.get_mut(id).unwrap().fate = Fate::Delivered;
    }

    /// Asserts at the end of a step that nothing waits that is due.
    pub fn settle(&mut self, span: Span, counts: &mut Counts) {
        let settings = &self.settings;
        for item in self.items.values_mut() {
            let is_new = std::mem::take(&mut item.is_new);
            let is_due = item.due <= if is_new { item.event.at } else { span.from };
            match item.fate {
                Fate::Delivered if is_new => counts.delivered += 1,
                Fate::Dropped if is_new => counts.dropped += 1,
                _ => {}
            }
            if item.fate != Fate::Waiting || item.capped || !is_due {
                continue;
            }
            let event = &item.event;
            let is_always = is_one_of(&self.always, &event.event_type);
            let either =
                |at_instant: &dyn Fn(u64) -> bool| at_instant(span.from) || at_instant(span.to);
            if !is_always && either(&|at| settings.is_unwanted(event, at)) {
                item.fate = Fate::Dropped;
            } else if !is_always && either(&|at| settings.quiet_until(at).is_some()) {
                item.due = settings.quiet_until(span.to).unwrap_or(span.to);
            } else {
                panic!("not delivered: {item:#?} with {settings:#?} in {span:?}");
            }
        }
    }

    /// Returns the least and the greatest number of events that can be held now.
    pub fn held(&self) -> (usize, usize) {
        let waiting = self.items.values().filter(|item| item.fate == Fate::Waiting);
        let (capped, exact): (Vec<_>, Vec<_>) = waiting.partition(|item| item.capped);
        let digested: usize = self.digested.values().sum();
        (exact.len(), exact.len() + capped.len() - digested.min(capped.len()))
    }

    /// Asserts at the end, when nothing is held any more, that each event was delivered, dropped or counted in
    /// a digest.
    pub fn close(&self, counts: &mut Counts) {
        let mut left: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for item in self.items.values() {
            let late = item.fate == Fate::Delivered && item.due > item.event.at;
            counts.held += usize::from(late);
            if item.fate != Fate::Waiting {
                continue;
            }
            assert!(item.capped, "never delivered: {item:#?}");
            let (must, can) = left.entry(&item.event.event_type).or_default();
            *must += usize::from(!item.was_unwanted);
            *can += 1;
        }
        for (event_type, count) in &self.digested {
            let (must, can) = left.remove(event_type.as_str()).unwrap_or_default();
            assert!(
                (must..=can).contains(count),
                "{count} of {must} to {can} {event_type} in digests"
            );
            counts.summarized += count;
        }
        assert!(
            left.values().all(|(must, _)| *must == 0),
            "neither delivered nor in a digest: {left:#?}"
        );
    }
}
