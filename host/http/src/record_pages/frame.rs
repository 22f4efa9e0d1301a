//! The frame of every page about a record: its head, its sources, what can be done with it, and how to
//! object.

use super::{
    handoffs::HandoffLink,
    reader::Reader,
    records::{Signal, Source},
    structured::embedded,
    words::{Badge, money, shortened, term, web},
};
use crate::times::of_record;
use portolan_publication::Roads;
use serde_json::Value;

/// The longest description of a page, as search engines show it.
const MAX_DESCRIPTION: usize = 160;

/// The parts of a page that do not depend on the kind of its record.
pub(super) struct Frame {
    pub(super) title: String,
    pub(super) description: String,
    pub(super) canonical: String,
    pub(super) open_graph_type: &'static str,
    /// JSON that is safe in a script element.
    pub(super) json_ld: String,
    /// The path of the map page.
    pub(super) map: String,
    pub(super) city: String,
    /// The operator of the site.
    pub(super) site: String,
    pub(super) is_synthetic: bool,
    pub(super) license: String,
    pub(super) attribution: String,
    pub(super) sources: Vec<SourceLine>,
    pub(super) handoffs: Vec<HandoffLink>,
    pub(super) objection_url: String,
    /// The element of the time.
    pub(super) updated: String,
}

/// The data of a frame.
pub(super) struct Subject<'a> {
    pub(super) title: &'a str,
    /// The first of these texts that is not empty is the description.
    pub(super) descriptions: &'a [&'a str],
    pub(super) path: String,
    pub(super) id: &'a str,
    pub(super) open_graph_type: &'static str,
    pub(super) json_ld: Value,
    pub(super) sources: &'a [Source],
    pub(super) handoffs: Vec<HandoffLink>,
    pub(super) updated_at: &'a str,
}

/// A source in plain words.
pub(super) struct SourceLine {
    pub(super) publisher: String,
    pub(super) url: Option<String>,
    pub(super) kind: String,
    pub(super) title: String,
    /// The elements of the times.
    pub(super) published: String,
    pub(super) read: String,
}

/// A link within the site, or to its sources.
pub(super) struct NamedLink {
    pub(super) name: String,
    pub(super) href: Option<String>,
    /// The text beside the name.
    pub(super) note: String,
}

/// A signal on the page of its company.
pub(super) struct SignalEntry {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) badge: Badge,
    pub(super) is_lead: bool,
    /// The element of the time.
    pub(super) occurred: String,
    pub(super) headline: String,
    pub(super) summary: String,
    pub(super) size: String,
    pub(super) investors: Vec<NamedLink>,
    pub(super) sources: Vec<SourceLine>,
    pub(super) handoffs: Vec<HandoffLink>,
}

impl Frame {
    pub(super) fn new(reader: &Reader<'_>, subject: Subject<'_>) -> Self {
        let meta = &reader.publication.meta;
        let (host, roads) = (reader.city.feeds.host(), reader.roads());
        let mut descriptions = subject.descriptions.iter().filter(|text| !text.is_empty());
        let description = descriptions.next().copied().unwrap_or(subject.title);
        Self {
            title: subject.title.to_owned(),
            description: shortened(description, MAX_DESCRIPTION),
            canonical: format!("{}{}", roads.feeds, subject.path),
            open_graph_type: subject.open_graph_type,
            json_ld: embedded(&subject.json_ld),
            map: roads.page(""),
            city: meta.city.name.clone(),
            site: host.provider.organization.clone(),
            is_synthetic: meta.synthetic,
            license: meta.license.clone(),
            attribution: meta.attribution.join("; "),
            sources: subject.sources.iter().map(SourceLine::new).collect(),
            handoffs: subject.handoffs,
            objection_url: format!("{}?record={}", roads.objection(), subject.id),
            updated: of_record(subject.updated_at),
        }
    }
}

impl SourceLine {
    pub(super) fn new(source: &Source) -> Self {
        Self {
            publisher: source.publisher.clone(),
            url: web(&source.url).map(str::to_owned),
            kind: term(&source.kind),
            title: source.title.clone(),
            published: source.published_at.as_deref().map(of_record).unwrap_or_default(),
            read: of_record(&source.retrieved_at),
        }
    }
}

impl NamedLink {
    pub(super) fn new(name: &str, href: Option<String>, note: impl Into<String>) -> Self {
        Self { name: name.to_owned(), href, note: note.into() }
    }
}

impl SignalEntry {
    pub(super) fn new(signal: &Signal, handoffs: Vec<HandoffLink>, roads: &Roads) -> Self {
        let funding = signal.funding.clone().unwrap_or_default();
        let currency = funding.currency.as_deref().unwrap_or("USD");
        let amount = funding.amount.map(|amount| money(amount as f64, currency));
        let round = funding.round.as_deref().map(term);
        let investors = funding.investors.iter().map(|investor| {
            let href = investor.target_id.as_ref();
            let href = href.map(|id| roads.page(&format!("companies/{id}")));
            NamedLink::new(&investor.name, href, if investor.lead { "lead investor" } else { "" })
        });
        let badge = Badge::of(&signal.maturity);
        let summary = if signal.summary == signal.headline { "" } else { &signal.summary };
        Self {
            id: signal.id.clone(),
            kind: match &*signal.kind {
                "hiring" => "Hiring".to_owned(),
                other => term(other),
            },
            is_lead: badge.class == "lead",
            badge,
            occurred: of_record(&signal.occurred_at),
            headline: signal.headline.clone(),
            summary: summary.to_owned(),
            size: round.into_iter().chain(amount).collect::<Vec<_>>().join(", "),
            investors: investors.collect(),
            sources: signal.sources.iter().map(SourceLine::new).collect(),
            handoffs,
        }
    }
}
