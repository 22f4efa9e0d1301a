//! The records of a page as they are answered.

use crate::{organisations, types::*};
use people_kit::UNTRUSTED;
use portolan_sdk::{contract::platform, prelude::*};
use record_search::{
    Content, Entry, EventMap, EventRecord, Mode, Organisations, Person, Properties, RecordType,
    Role, Signal,
};
use std::collections::BTreeMap;

/// The data that the records of a page share, read once for all of them.
struct Shown<'o> {
    host: String,
    names: BTreeMap<String, TargetName>,
    organisations: Option<&'o Organisations>,
    mode: Option<Mode>,
}

/// Returns the records of a page as they are answered.
pub(crate) fn items(
    entries: Vec<Entry>,
    organisations: Option<&Organisations>,
    mode: Option<Mode>,
) -> Result<Vec<Item>, HostError> {
    let ids = entries.iter().flat_map(|entry| entry.content.target_ids()).map(String::as_str);
    let names = organisations::names(ids)?;
    let host = platform::about().public_url;
    let shown = Shown { host, names, organisations, mode };
    Ok(entries.into_iter().map(|entry| shown.item(entry)).collect())
}

/// Returns the address of a target's page on the map.
pub(crate) fn page_of(host: &str, id: &str) -> String {
    format!("{host}/map/#target={id}")
}

impl Shown<'_> {
    fn item(&self, entry: Entry) -> Item {
        let target_ids = entry.content.target_ids();
        let distance_m = entry.distance_m.or_else(|| self.organisations?.distance_m(target_ids));
        let (name, page) = (entry.content.name().to_owned(), target_ids.first().cloned());
        let item = Item {
            record_type: RecordType::Organisation,
            name,
            organisation: None,
            card: None,
            role: None,
            person: None,
            signal: None,
            event: None,
            handoff_ids: Vec::new(),
            updated_at: String::new(),
            url: page_of(&self.host, page.as_ref().unwrap_or(&entry.id)),
            id: entry.id,
            distance_m,
            estimated_minutes: self.mode.zip(distance_m).map(|(mode, far)| mode.minutes(far)),
            trust: UNTRUSTED,
        };
        match entry.content {
            Content::Organisation(target) => organisation(target.properties, item),
            Content::Role(role) => self.role(role, item),
            Content::Person(person) => self.person(person, item),
            Content::Signal(signal) => self.signal(signal, item),
            Content::Event(event) => self.event(event, item),
        }
    }

    /// Returns the name of an organisation. If the feed no longer has it, only the id is known.
    fn name(&self, id: &str) -> TargetName {
        let unknown = || TargetName { id: id.to_owned(), name: String::new(), neighbourhood: None };
        self.names.get(id).cloned().unwrap_or_else(unknown)
    }

    fn role(&self, role: Role, item: Item) -> Item {
        Item {
            record_type: RecordType::Role,
            organisation: Some(self.name(&role.target_id)),
            handoff_ids: role.handoff_ids,
            updated_at: role.updated_at,
            role: Some(view!(move role => RoleDetails {
                department, function, seniority, employment_type, date_posted, apply_url, maturity;
                workplace: role.workplace_type,
                locations: role.locations.into_iter().map(|location| location.label).collect(),
                pay: role.base_salary,
            })),
            ..item
        }
    }

    fn person(&self, person: Person, item: Item) -> Item {
        Item {
            record_type: RecordType::Person,
            organisation: Some(self.name(&person.target_id)),
            handoff_ids: person.handoff_ids,
            updated_at: person.updated_at,
            person: Some(view!(move person => PersonDetails {
                title, role_kind, public_bio, expertise, public_figure_basis, opt_out_url;
            })),
            ..item
        }
    }

    fn signal(&self, signal: Signal, item: Item) -> Item {
        Item {
            record_type: RecordType::Signal,
            organisation: Some(self.name(&signal.target_id)),
            handoff_ids: signal.handoff_ids,
            updated_at: signal.updated_at,
            signal: Some(view!(move signal => SignalDetails {
                kind, summary, occurred_at, maturity, label, sources;
            })),
            ..item
        }
    }

    /// Returns an event, which has no handoffs.
    fn event(&self, event: EventRecord, item: Item) -> Item {
        let is_about_nobody = event.map.target_ids.is_empty();
        let url = if is_about_nobody { format!("{}/map/", self.host) } else { item.url.clone() };
        let organisations = event.map.target_ids.iter().map(|id| self.name(id)).collect();
        let EventMap { kind, maturity, sources, updated_at, .. } = event.map;
        Item {
            record_type: RecordType::Event,
            url,
            updated_at,
            event: Some(EventDetails {
                kind,
                summary: event.summary,
                organisations,
                date_published: event.date_published,
                maturity,
                sources,
            }),
            ..item
        }
    }
}

fn organisation(properties: Properties, item: Item) -> Item {
    Item {
        handoff_ids: properties.handoff_ids,
        updated_at: properties.updated_at,
        card: Some(view!(move properties => Card {
            kind, tagline, stage, status, industries, ask, geo, open_roles_count, verified_owner;
        })),
        ..item
    }
}
