//! The page about a person whom a public directory lists.

use super::{
    company::{EventLine, company_link, person_link},
    error::PageError,
    frame::{Frame, NamedLink, Subject},
    reader::Reader,
    records::{Person, view},
    structured,
    words::{term, web},
};
use askama::Template;
use serde_json::Value;

#[derive(Template)]
#[template(path = "records/person.html")]
struct PersonPage {
    frame: Frame,
    name: String,
    title: String,
    companies: Vec<NamedLink>,
    bio: String,
    expertise: String,
    links: Vec<NamedLink>,
    basis: String,
    directory: NamedLink,
    events: Vec<EventLine>,
    others: Vec<NamedLink>,
}

pub(super) async fn render(reader: &Reader<'_>, record: &Value) -> Result<String, PageError> {
    let person: Person = view(record);
    let id = &person.id;
    let mut ids = vec![person.target_id.clone()];
    ids.extend(person.affiliations.iter().map(|at| at.target_id.clone()));
    ids.sort_unstable();
    ids.dedup();
    let companies = reader.companies(&ids).await?;
    let others = reader.people_of(&person.target_id).await?;
    let events = reader.events_of(&person.target_id).await?;
    let handoffs = reader.handoffs(person.handoff_ids.iter()).await?;
    let roads = reader.roads();
    let path = roads.page(&format!("people/{id}"));
    let canonical = format!("{}{path}", roads.feeds);
    let company = companies.iter().find(|company| company.id == person.target_id);
    let at = company.map_or("", |company| &company.properties.name);
    let summary = format!("{}, {} at {at}", person.full_name, person.title);
    let mut frame = Frame::new(
        reader,
        Subject {
            title: &person.full_name,
            descriptions: &[&person.public_bio, &summary],
            path,
            id,
            open_graph_type: "profile",
            json_ld: structured::person(&person, company, &canonical, &reader.addresses()),
            sources: &person.sources,
            handoffs: handoffs.links(&person.handoff_ids, id),
            updated_at: &person.updated_at,
        },
    );
    // The operator may have another page for it.
    if let Some(url) = web(&person.opt_out_url).filter(|url| !url.ends_with(&roads.objection())) {
        url.clone_into(&mut frame.objection_url);
    }
    let title_at = |company: &str| {
        let at = person.affiliations.iter().find(|at| at.target_id == company);
        at.map_or_else(String::new, |at| match at.current {
            true => at.title.clone(),
            false => format!("{} (formerly)", at.title),
        })
    };
    let directory = &person.directory;
    let batch = directory.batch.as_deref().unwrap_or_default();
    let links = person.links.iter().filter_map(|link| {
        let href = web(&link.url)?.to_owned();
        Some(NamedLink::new(&term(&link.kind), Some(href), ""))
    });
    let page = PersonPage {
        name: person.full_name.clone(),
        title: person.title.clone(),
        companies: companies
            .iter()
            .map(|company| NamedLink {
                note: title_at(&company.id),
                ..company_link(company, roads)
            })
            .collect(),
        bio: person.public_bio.clone(),
        expertise: person.expertise.join(", "),
        links: links.collect(),
        basis: person.public_figure_basis.clone(),
        directory: NamedLink::new(&directory.name, web(&directory.url).map(str::to_owned), batch),
        events: events
            .iter()
            .filter(|event| event.map.people_ids.contains(id))
            .map(|event| EventLine::new(event, roads))
            .collect(),
        others: others
            .iter()
            .filter(|other| other.id != *id)
            .map(|other| person_link(other, roads))
            .collect(),
        frame,
    };
    Ok(page.render()?)
}
