//! Reads the items of the syndication feeds: the organisations that an item names, and its claims. The
//! result is called `Heard`.

use super::{
    town::{Place, Town},
    work,
};
use crate::{
    claims::{Claim, Claims, Companies, Company, Modality, Predicate, Reading, read},
    identifier::{sha256, stable},
    record::{AuthorKind, Source, SourceType},
    sources::{Sources, Syndication},
    state::{Quarantined, Records, State},
    syndication::Item,
    text::line,
    timestamp::{Timestamp, days},
};
use std::time::Duration;

/// Posts that are older than this say nothing any more, and cannot be seen to be deleted.
const OLDEST_POST: Duration = days(180);
/// How many doubtful claims are listed.
const MOST_DOUBTS: usize = 200;

/// The subject of an item, by its claims.
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

/// The subjects of claims; the more specific first.
const SUBJECTS: [(Predicate, Subject); 8] = [
    (Predicate::RaisedFunding, Subject::Funding),
    (Predicate::IsHiring, Subject::Hiring),
    (Predicate::Acquired, Subject::Acquisition),
    (Predicate::ShutDown, Subject::Closure),
    (Predicate::Met, Subject::Meetup),
    (Predicate::Launched, Subject::Launch),
    (Predicate::Partnered, Subject::Customer),
    (Predicate::Announced, Subject::Announcement),
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
    /// The claim that supports a signal, about `about`.
    pub(super) signal: Option<Claim>,
    /// Whether the company says that it is not hiring.
    pub(super) stops_hiring: bool,
    /// Why a claim of the item supports no signal.
    doubt: Option<String>,
    pub(super) functions: Vec<&'static str>,
}

/// Returns all items of all feeds, the oldest first.
pub(super) fn heard<'a>(
    sources: &'a Sources,
    state: &'a State,
    town: &'a Town<'a>,
    now: Timestamp,
) -> Vec<Heard<'a>> {
    let companies = companies(town);
    let mut all: Vec<Heard<'a>> = Vec::new();
    for feed in &sources.syndication {
        let Some(kept) = state.sources.get(&feed.id) else { continue };
        let Records::Items(items) = &kept.records else { continue };
        let read_at = kept.read_at.unwrap_or(now);
        let is_old = |item: &&Item| {
            feed.kind == SourceType::Social
                && now.since(item.published_at.unwrap_or(read_at)) > OLDEST_POST
        };
        let items = items.iter().filter(|item| !is_old(item));
        all.extend(items.map(|item| understood(feed, item, (town, &companies), read_at)));
    }
    all.sort_by(|one, other| (one.at, &one.source_id).cmp(&(other.at, &other.source_id)));
    all
}

/// Returns the claims that looked like a signal and are none, the newest first.
pub(super) fn doubts(heard: &[Heard<'_>]) -> Vec<Quarantined> {
    let doubtful = heard.iter().rev().filter_map(|heard| {
        Some(Quarantined {
            document: "live-signal-feed.json".to_owned(),
            id: heard.source_id.clone(),
            reason: heard.doubt.clone()?,
            source: heard.item.url.clone(),
        })
    });
    doubtful.take(MOST_DOUBTS).collect()
}

/// Returns the index of names, with the positions of the places.
fn companies(town: &Town<'_>) -> Companies {
    let company = |place: &Place<'_>| {
        let organisation = place.organisation;
        let names = std::iter::once(&organisation.name)
            .chain(organisation.legal_name.as_ref())
            .chain(&organisation.aliases);
        Company {
            names: names.cloned().collect(),
            domain: place.domain.clone(),
            cik: organisation.cik.clone(),
            invests: place.invests(),
        }
    };
    Companies::new(town.places().iter().map(company).collect())
}

fn understood<'a>(
    feed: &'a Syndication,
    item: &'a Item,
    (town, companies): (&'a Town<'a>, &Companies),
    read_at: Timestamp,
) -> Heard<'a> {
    let own = feed.target.as_deref().and_then(|slug| town.position_of(slug));
    let at = item.published_at.unwrap_or(read_at);
    let claims = read(
        &Reading {
            title: &item.title,
            text: &item.text,
            kind: feed.kind,
            own,
            is_insider: matches!(feed.author_kind, Some(AuthorKind::Company | AuthorKind::Founder)),
            url: item.url.as_deref(),
            form: item.form.as_deref(),
            cik: item.cik.as_deref(),
            sold: item
                .offering
                .as_ref()
                .and_then(|offering| offering.sold)
                .filter(|sold| *sold > 0),
            is_fund: item.offering.as_ref().is_some_and(|offering| offering.is_fund),
            year: at.to_string().get(..4).and_then(|year| year.parse().ok()).unwrap_or(0),
        },
        companies,
    );
    let place = |company: usize| town.places().get(company);
    let signal = claims.signal().cloned();
    let mut named: Vec<&'a Place<'a>> =
        claims.named.iter().chain(&own).filter_map(|company| place(*company)).collect();
    named.dedup_by(|one, other| one.target_id == other.target_id);
    let of_signal = signal.as_ref().and_then(|claim| claim.company);
    let no_investor = || named.iter().copied().find(|place| !place.invests());
    let about = of_signal.or(claims.about).and_then(place);
    let about = about.or_else(no_investor).or_else(|| named.first().copied());
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
        license: feed.license.clone(),
        attribution: feed.attribution.clone(),
    });
    // Words in an organisation's name do not count as kinds of work.
    let whole = format!("{} {}", item.title, item.text).to_lowercase();
    let without_names = named
        .iter()
        .fold(whole, |text, place| text.replace(&place.organisation.name.to_lowercase(), " "));
    Heard {
        feed,
        item,
        at,
        source,
        source_id,
        about,
        subject: subject(&claims, signal.as_ref()),
        stops_hiring: claims.stops_hiring(),
        doubt: doubt(&claims, signal.as_ref(), town),
        named,
        signal,
        functions: work::functions(&without_names),
    }
}

fn subject(claims: &Claims, signal: Option<&Claim>) -> Subject {
    let is_signal = |predicate| matches!(predicate, Predicate::RaisedFunding | Predicate::IsHiring);
    let told = |predicate: Predicate| match is_signal(predicate) {
        true => signal.is_some_and(|claim| claim.predicate == predicate),
        false => claims.all.iter().any(|claim| {
            claim.predicate == predicate
                && matches!(claim.modality, Modality::Announced | Modality::Reported)
        }),
    };
    SUBJECTS
        .iter()
        .find(|(predicate, _)| told(*predicate))
        .map_or(Subject::Other, |(_, subject)| *subject)
}

/// Returns why the item's claim about funding or hiring supports no signal.
fn doubt(claims: &Claims, signal: Option<&Claim>, town: &Town<'_>) -> Option<String> {
    if signal.is_some() {
        return None;
    }
    let claim = claims.all.iter().find(|claim| {
        matches!(claim.predicate, Predicate::RaisedFunding | Predicate::IsHiring)
            && claim.company.is_some()
    })?;
    let place = town.places().get(claim.company?)?;
    let reason = match claim.modality {
        Modality::Rumoured => "rumoured",
        Modality::Planned => "planned",
        Modality::Denied => "denied",
        // What is told as the past is no doubt.
        Modality::Background => return None,
        Modality::Announced | Modality::Reported if claim.is_negated => "denied",
        Modality::Announced | Modality::Reported if claim.doubt.is_some() => "doubtful",
        Modality::Announced | Modality::Reported => "contradicted in the item",
    };
    let kind = if claim.predicate == Predicate::RaisedFunding { "funding" } else { "hiring" };
    let evidence = line(&claim.evidence, 160);
    let against = claim.doubt.as_ref().map(|doubt| format!(" ({doubt})")).unwrap_or_default();
    Some(format!("{kind} of {} is {reason}{against}: “{evidence}”", place.organisation.name))
}

impl Heard<'_> {
    /// Returns whether the item is a filing, from a feed of filings.
    pub(super) fn is_filing(&self) -> bool {
        self.feed.kind == SourceType::Filing
    }
}
