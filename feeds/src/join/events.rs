//! Makes the events, and the posts about organisations.

use super::{
    hearing::{Heard, Subject},
    town::Town,
};
use crate::{
    identifier::stable,
    maturity::Maturity,
    record::{
        AuthorKind, Event, EventMap, EventType, Person, Platform, Signal, SignalKind, SocialItem,
        SourceType, Topic,
    },
    text::line,
    timestamp::Timestamp,
};

const MOST_EVENTS: usize = 400;
const MOST_POSTS: usize = 1_000;
/// How many tags an event has.
const MOST_TAGS: usize = 20;
/// How many organisations and people an event names.
const MOST_NAMED: usize = 50;

/// Returns news, filings and announcements about organisations on the map, and an event for each hiring
/// signal that was verified; the newest first.
pub(super) fn events(
    heard: &[Heard<'_>],
    signals: &[Signal],
    people: &[Person],
    town: &Town<'_>,
    now: Timestamp,
) -> Vec<Event> {
    let news = heard
        .iter()
        .filter(|heard| heard.feed.kind != SourceType::Social && !heard.named.is_empty());
    let mut events: Vec<Event> = news.map(|heard| event(heard, signals, people, now)).collect();
    events.extend(signals.iter().filter_map(|signal| verified(signal, town, now)));
    events.sort_by(|one, other| {
        (other.date_published, &one.id).cmp(&(one.date_published, &other.id))
    });
    events.truncate(MOST_EVENTS);
    events
}

fn event(heard: &Heard<'_>, signals: &[Signal], people: &[Person], now: Timestamp) -> Event {
    let item = heard.item;
    let signal = supported(heard, signals);
    let target_ids: Vec<String> =
        heard.named.iter().take(MOST_NAMED).map(|place| place.target_id.clone()).collect();
    let text = format!("{} {}", item.title, item.text);
    let is_named = |person: &&Person| {
        target_ids.contains(&person.target_id) && text.contains(&person.full_name)
    };
    let named_people = people.iter().filter(is_named).take(MOST_NAMED);
    let without_signal =
        if heard.source.is_some() { Maturity::SourceBacked } else { Maturity::Unsourced };
    Event {
        id: stable("evn", &[&heard.source_id]),
        url: item.url.clone(),
        title: item.title.clone(),
        content_text: item.text.clone(),
        summary: line(&item.text, 300),
        date_published: heard.at,
        date_modified: heard.at,
        tags: item.tags.iter().take(MOST_TAGS).cloned().collect(),
        map: EventMap {
            kind: kind(heard),
            people_ids: named_people.map(|person| person.id.clone()).collect(),
            target_ids,
            signal_id: signal.map(|signal| signal.id.clone()),
            maturity: signal.map_or(without_signal, |signal| signal.maturity),
            sources: heard.source.iter().cloned().collect(),
            first_seen_at: now,
            updated_at: now,
        },
    }
}

fn kind(heard: &Heard<'_>) -> EventType {
    match heard.subject {
        Subject::Funding => EventType::Funding,
        Subject::Hiring => EventType::Role,
        Subject::Acquisition => EventType::Acquisition,
        Subject::Closure => EventType::Closure,
        Subject::Meetup => EventType::Meetup,
        Subject::Launch => EventType::Launch,
        Subject::Announcement => EventType::Announcement,
        Subject::Customer | Subject::Other if heard.feed.kind == SourceType::CompanySite => {
            EventType::Announcement
        }
        Subject::Customer | Subject::Other => EventType::News,
    }
}

/// Returns an event for the first time that a hiring signal was verified.
fn verified(signal: &Signal, town: &Town<'_>, now: Timestamp) -> Option<Event> {
    let step = signal.maturity_history.iter().find(|step| step.to == Maturity::Verified)?;
    let name = &town.with_id(&signal.target_id)?.organisation.name;
    let source = signal.sources.iter().find(|source| source.kind == SourceType::AtsBoard);
    let title = format!("{name} has open roles on its own board");
    (signal.kind == SignalKind::Hiring).then(|| Event {
        id: stable("evn", &[&signal.id, "verified"]),
        url: source.map(|source| source.url.clone()),
        content_text: title.clone(),
        summary: title.clone(),
        title,
        date_published: step.at,
        date_modified: step.at,
        tags: vec!["hiring".to_owned()],
        map: EventMap {
            kind: EventType::Role,
            target_ids: vec![signal.target_id.clone()],
            people_ids: Vec::new(),
            signal_id: Some(signal.id.clone()),
            maturity: signal.maturity,
            sources: source.into_iter().cloned().collect(),
            first_seen_at: now,
            updated_at: now,
        },
    })
}

/// Returns the signal that this item supports.
fn supported<'a>(heard: &Heard<'_>, signals: &'a [Signal]) -> Option<&'a Signal> {
    let own_id = stable("sig", &[&heard.source_id]);
    signals.iter().find(|signal| {
        signal.id == own_id || signal.sources.iter().any(|source| source.id == heard.source_id)
    })
}

/// Returns posts about organisations on the map, without their authors; the newest first.
pub(super) fn posts(heard: &[Heard<'_>], signals: &[Signal], now: Timestamp) -> Vec<SocialItem> {
    let posts = heard.iter().filter_map(|heard| {
        let source = heard.source.as_ref().filter(|source| source.kind == SourceType::Social)?;
        let signal = supported(heard, signals);
        Some(SocialItem {
            id: stable("soc", &[&heard.source_id]),
            target_id: heard.about?.target_id.clone(),
            platform: heard.feed.platform.unwrap_or(Platform::Other),
            url: source.url.clone(),
            author_kind: heard.feed.author_kind.unwrap_or(AuthorKind::Community),
            posted_at: heard.at,
            excerpt: line(&heard.item.text, 280),
            topic: topic(heard.subject),
            supports_signal_ids: signal.iter().map(|signal| signal.id.clone()).collect(),
            maturity: signal.map_or(Maturity::SourceBacked, |signal| signal.maturity),
            sources: vec![source.clone()],
            first_seen_at: now,
            updated_at: now,
        })
    });
    let mut posts: Vec<SocialItem> = posts.collect();
    posts.sort_by(|one, other| (other.posted_at, &one.id).cmp(&(one.posted_at, &other.id)));
    posts.truncate(MOST_POSTS);
    posts
}

fn topic(subject: Subject) -> Topic {
    match subject {
        Subject::Funding => Topic::Funding,
        Subject::Hiring => Topic::Hiring,
        Subject::Launch => Topic::Launch,
        Subject::Meetup => Topic::Event,
        Subject::Customer => Topic::Customer,
        Subject::Acquisition | Subject::Closure | Subject::Announcement | Subject::Other => {
            Topic::Other
        }
    }
}
