//! The page about an event: news, a round, open roles, an announcement.

use super::{
    company::{company_link, person_link},
    error::PageError,
    frame::{Frame, NamedLink, Subject},
    reader::Reader,
    records::{Event, view},
    role::signal_link,
    structured,
    words::{Badge, term, web},
};
use crate::times::of_record;
use askama::Template;
use serde_json::Value;

#[derive(Template)]
#[template(path = "records/event.html")]
struct EventPage {
    frame: Frame,
    title: String,
    kind: String,
    badge: Badge,
    is_lead: bool,
    /// The element of the time.
    on: String,
    summary: String,
    /// The article itself.
    article: Option<NamedLink>,
    companies: Vec<NamedLink>,
    people: Vec<NamedLink>,
    signal: Option<NamedLink>,
}

pub(super) async fn render(reader: &Reader<'_>, record: &Value) -> Result<String, PageError> {
    let event: Event = view(record);
    let companies = reader.companies(&event.map.target_ids).await?;
    let people = reader.people(&event.map.people_ids).await?;
    let signal = match &event.map.signal_id {
        Some(id) => reader.signal(id).await?,
        None => None,
    };
    let roads = reader.roads();
    let path = roads.page(&format!("events/{}", event.id));
    let canonical = format!("{}{path}", roads.feeds);
    let frame = Frame::new(
        reader,
        Subject {
            title: &event.title,
            descriptions: &[&event.summary, &event.content_text],
            path,
            id: &event.id,
            open_graph_type: "article",
            json_ld: structured::event(&event, &companies, &canonical, &reader.addresses()),
            sources: &event.map.sources,
            handoffs: Vec::new(),
            updated_at: &event.map.updated_at,
        },
    );
    let publisher = event.map.sources.first().map_or("the source", |source| &source.publisher);
    let badge = Badge::of(&event.map.maturity);
    let summary = if event.summary == event.title { "" } else { &event.summary };
    let page = EventPage {
        title: event.title.clone(),
        kind: term(&event.map.kind),
        is_lead: badge.class == "lead",
        badge,
        on: of_record(&event.date_published),
        summary: summary.to_owned(),
        article: event
            .url
            .as_deref()
            .and_then(web)
            .map(|url| NamedLink::new(publisher, Some(url.to_owned()), "")),
        companies: companies.iter().map(|company| company_link(company, roads)).collect(),
        people: people.iter().map(|person| person_link(person, roads)).collect(),
        signal: signal.as_ref().map(|signal| signal_link(signal, roads)),
        frame,
    };
    Ok(page.render()?)
}
