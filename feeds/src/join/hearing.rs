//! Reads the items of the syndication feeds: finds the organisations that an item names, its subject, and
//! the funding and the kinds of work in it. The result is called `Heard`.

use super::{
    money::{self, Money},
    town::{Place, Town},
    work,
};
use crate::{
    identifier::{sha256, stable},
    record::{Source, SourceType},
    sources::{Sources, Syndication},
    state::{Records, State},
    syndication::Item,
    text::line,
    timestamp::Timestamp,
};

/// The subject of an item, derived from its words; the more specific first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Funding,
    Hiring,
    Acquisition,
    Closure,
    Meetup,
    Launch,
    Customer,
    Announcement,
    Other,
}

const WORDS: [(Subject, &[&str]); 7] = [
    (
        Subject::Hiring,
        &[
            "is hiring",
            "are hiring",
            "re hiring",
            "hiring for",
            "hiring a",
            "join our team",
            "open role",
            "job opening",
        ],
    ),
    (Subject::Acquisition, &["acquires", "acquired by", "acquisition of"]),
    (Subject::Closure, &["shuts down", "winds down", "closes its doors"]),
    (Subject::Meetup, &["meetup", "open house", "demo day", "workshop", "office hours"]),
    (Subject::Launch, &["launches", "launched", "unveils", "introduces", "now live"]),
    (Subject::Customer, &["customer", "pilot with", "partners with"]),
    (Subject::Announcement, &["announces", "appoints", "opens", "moves to"]),
];

/// One item, with what was found in it.
#[derive(Debug)]
pub(super) struct Heard<'a> {
    pub(super) feed: &'a Syndication,
    pub(super) item: &'a Item,
    pub(super) at: Timestamp,
    /// `None` if the item has no URL.
    pub(super) source: Option<Source>,
    pub(super) source_id: String,
    /// The organisation that the item is about.
    pub(super) about: Option<&'a Place<'a>>,
    /// All organisations that the item names.
    pub(super) named: Vec<&'a Place<'a>>,
    pub(super) subject: Subject,
    pub(super) money: Option<Money>,
    pub(super) functions: Vec<&'static str>,
}

/// Returns all items of all feeds, the oldest first.
pub(super) fn heard<'a>(
    sources: &'a Sources,
    state: &'a State,
    town: &'a Town<'a>,
    now: Timestamp,
) -> Vec<Heard<'a>> {
    let mut all: Vec<Heard<'a>> = Vec::new();
    for feed in &sources.syndication {
        let Some(kept) = state.sources.get(&feed.id) else { continue };
        let Records::Items(items) = &kept.records else { continue };
        all.extend(
            items.iter().map(|item| understood(feed, item, town, kept.read_at.unwrap_or(now))),
        );
    }
    all.sort_by(|one, other| (one.at, &one.source_id).cmp(&(other.at, &other.source_id)));
    all
}

fn understood<'a>(
    feed: &'a Syndication,
    item: &'a Item,
    town: &'a Town<'a>,
    read_at: Timestamp,
) -> Heard<'a> {
    let own = feed.target.as_deref().and_then(|slug| town.with_slug(slug));
    let in_title = town.named_in(&item.title);
    let mut named = town.named_in(&format!("{} {}", item.title, item.text));
    if let Some(own) = own
        && !named.iter().any(|place| place.target_id == own.target_id)
    {
        named.push(own);
    }
    let no_investor =
        |places: &[&'a Place<'a>]| places.iter().copied().find(|place| !place.invests());
    let about = match own.filter(|place| !place.invests()) {
        Some(own) => Some(own),
        None => no_investor(&in_title)
            .or_else(|| no_investor(&named))
            .or(own)
            .or(named.first().copied()),
    };
    let money = money::read(&item.title, &item.text, feed.kind == SourceType::Filing);
    let whole = format!("{} {}", item.title, item.text).to_lowercase();
    let speaks = |words: &&[&str]| words.iter().any(|word| whole.contains(word));
    let subject = match money {
        Some(_) => Subject::Funding,
        None => WORDS
            .iter()
            .find(|(_, words)| speaks(words))
            .map_or(Subject::Other, |(subject, _)| *subject),
    };
    let source_id = stable("src", &[&feed.id, &item.key]);
    let source = item.url.as_ref().map(|url| Source {
        id: source_id.clone(),
        kind: feed.kind,
        publisher: line(&feed.publisher, 120),
        url: url.clone(),
        title: item.title.clone(),
        published_at: item.published_at,
        retrieved_at: read_at,
        excerpt: line(&item.text, 300),
        sha256: sha256(format!("{}\n{}", item.title, item.text).as_bytes()),
    });
    // Words in an organisation's name do not count as kinds of work.
    let without_names = named.iter().fold(whole.clone(), |text, place| {
        text.replace(&place.organisation.name.to_lowercase(), " ")
    });
    Heard {
        feed,
        item,
        at: item.published_at.unwrap_or(read_at),
        source,
        source_id,
        about,
        named,
        subject,
        money,
        functions: work::functions(&without_names),
    }
}
