//! The page about a company or another organisation.

use super::{
    error::PageError,
    frame::{Frame, NamedLink, SignalEntry, Subject},
    reader::{MAX_LISTED, Reader},
    records::{Company, Event, Person, Role, view},
    structured,
    words::{Badge, money, term, web},
};
use crate::times::of_record;
use askama::Template;
use portolan_publication::Roads;
use serde_json::Value;

#[derive(Template)]
#[template(path = "records/company.html")]
struct CompanyPage {
    frame: Frame,
    name: String,
    /// The kind and the neighbourhood.
    place: String,
    tagline: String,
    description: String,
    badges: Vec<Badge>,
    facts: Vec<(&'static str, String)>,
    website: Option<String>,
    map_url: String,
    asks: Vec<(String, String, Badge)>,
    signals: Vec<SignalEntry>,
    roles: Vec<RoleLine>,
    open_roles_count: usize,
    people: Vec<NamedLink>,
    events: Vec<EventLine>,
}

/// A role in a list.
pub(super) struct RoleLine {
    pub(super) link: NamedLink,
    pub(super) badge: Badge,
}

/// An event in a list.
pub(super) struct EventLine {
    pub(super) title: String,
    pub(super) href: String,
    /// The element of the time.
    pub(super) on: String,
    pub(super) badge: Badge,
}

impl RoleLine {
    pub(super) fn new(role: &Role, roads: &Roads) -> Self {
        let places = role.locations.iter().map(|location| location.label.clone());
        let note = [term(&role.workplace_type), term(&role.employment_type)].into_iter();
        let note: Vec<String> = places.chain(note).filter(|text| !text.is_empty()).collect();
        let href = roads.page(&format!("roles/{}", role.id));
        Self {
            link: NamedLink::new(&role.title, Some(href), note.join(" · ")),
            badge: Badge::of(&role.maturity),
        }
    }
}

impl EventLine {
    pub(super) fn new(event: &Event, roads: &Roads) -> Self {
        Self {
            title: event.title.clone(),
            href: roads.page(&format!("events/{}", event.id)),
            on: of_record(&event.date_published),
            badge: Badge::of(&event.map.maturity),
        }
    }
}

/// Returns the link to a person's page.
pub(super) fn person_link(person: &Person, roads: &Roads) -> NamedLink {
    let href = roads.page(&format!("people/{}", person.id));
    NamedLink::new(&person.full_name, Some(href), person.title.clone())
}

/// Returns the link to a company's page.
pub(super) fn company_link(company: &Company, roads: &Roads) -> NamedLink {
    let href = roads.page(&format!("companies/{}", company.id));
    NamedLink::new(&company.properties.name, Some(href), company.properties.tagline.clone())
}

pub(super) async fn render(reader: &Reader<'_>, record: &Value) -> Result<String, PageError> {
    let company: Company = view(record);
    let id = &company.id;
    let roles = reader.roles_of(id, MAX_LISTED).await?;
    let people = reader.people_of(id).await?;
    let signals = reader.signals_of(id).await?;
    let events = reader.events_of(id).await?;
    let of = &company.properties;
    let named = of.handoff_ids.iter().chain(signals.iter().flat_map(|one| &one.handoff_ids));
    let handoffs = reader.handoffs(named).await?;
    let city = &reader.publication.meta.city;
    let (addresses, roads) = (reader.addresses(), reader.roads());
    let frame = Frame::new(
        reader,
        Subject {
            title: &of.name,
            descriptions: &[&of.tagline, &of.description],
            path: roads.page(&format!("companies/{id}")),
            id,
            open_graph_type: "profile",
            json_ld: structured::organization(
                &company,
                &people,
                (&city.name, &city.country),
                &addresses,
            ),
            sources: &of.sources,
            handoffs: handoffs.links(&of.handoff_ids, id),
            updated_at: &of.updated_at,
        },
    );
    let signals = signals.iter().map(|signal| {
        SignalEntry::new(signal, handoffs.links(&signal.handoff_ids, &signal.id), roads)
    });
    let asks = of.ask.iter().filter(|ask| ask.kind != "none");
    let page = CompanyPage {
        place: place(&company),
        name: of.name.clone(),
        tagline: of.tagline.clone(),
        description: if of.description == of.tagline {
            String::new()
        } else {
            of.description.clone()
        },
        badges: badges(&company),
        facts: facts(&company),
        website: of.website.as_deref().and_then(web).map(str::to_owned),
        map_url: roads.page(&format!("#target={id}")),
        asks: asks
            .map(|ask| (term(&ask.kind), ask.text.clone(), Badge::of(&ask.maturity)))
            .collect(),
        signals: signals.collect(),
        open_roles_count: usize::try_from(of.open_roles_count)
            .unwrap_or(usize::MAX)
            .max(roles.len()),
        roles: roles.iter().map(|role| RoleLine::new(role, roads)).collect(),
        people: people.iter().map(|person| person_link(person, roads)).collect(),
        events: events.iter().map(|event| EventLine::new(event, roads)).collect(),
        frame,
    };
    Ok(page.render()?)
}

fn place(company: &Company) -> String {
    let of = &company.properties;
    let parts = [term(&of.kind), of.geo.neighbourhood.clone().unwrap_or_default()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

fn badges(company: &Company) -> Vec<Badge> {
    let of = &company.properties;
    let owner = Badge { label: "Owner verified".to_owned(), class: "fact" };
    let status = Badge { label: term(&of.status), class: "past" };
    let is_active = of.status.is_empty() || of.status == "active";
    of.verified_owner.then_some(owner).into_iter().chain((!is_active).then_some(status)).collect()
}

fn facts(company: &Company) -> Vec<(&'static str, String)> {
    let of = &company.properties;
    let accelerator = of.accelerator.as_ref().map(|one| match &one.batch {
        Some(batch) => format!("{}, {batch}", one.name),
        None => one.name.clone(),
    });
    let raised = of.funding_summary.as_ref().and_then(|funding| {
        let total = money(funding.total_usd? as f64, "USD");
        Some(format!("{total} ({})", Badge::of(&funding.maturity).label))
    });
    let facts = [
        ("Legal name", of.legal_name.clone()),
        ("Stage", of.stage.as_deref().map(term)),
        ("Founded", of.founded_year.map(|year| year.to_string())),
        ("Team", of.team_size_band.clone()),
        ("Works on", Some(of.industries.join(", "))),
        ("Accelerator", accelerator),
        ("Raised", raised),
    ];
    let known = facts.into_iter().filter_map(|(name, value)| Some((name, value?)));
    known.filter(|(_, value)| !value.is_empty()).collect()
}
