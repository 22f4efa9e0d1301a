//! Makes the open roles, from the boards of the organisations on the map.

use super::{
    town::{Place, Town},
    whereabouts::{Gate, LeftOut},
    work,
};
use crate::{
    board::Posting,
    identifier::{sha256, stable},
    record::{Location, Role, RoleMaturity, Source, SourceType, WorkplaceType},
    sources::{BoardSource, Sources},
    state::{Held, Records, State},
    text::line,
    timestamp::Timestamp,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How many characters a summary has, and from how many of the description it is made.
const SUMMARY: usize = 300;
const BEGINNING: usize = 1_200;

/// The open roles, and when each organisation's boards were last read, by target.
pub(super) struct Open {
    pub(super) roles: Vec<Role>,
    pub(super) left_out: LeftOut,
    pub(super) read_at: BTreeMap<String, Timestamp>,
}

/// Makes the roles, each with these handoffs.
pub(super) fn roles(
    sources: &Sources,
    state: &State,
    town: &Town<'_>,
    (handoff_ids, now): (&[String], Timestamp),
) -> Open {
    let mut gate = Gate::new(sources);
    let mut open =
        Open { roles: Vec::new(), left_out: LeftOut::default(), read_at: BTreeMap::new() };
    for board in &sources.board {
        let kept = state.sources.get(&board.id());
        let (Some(kept), Some(place)) = (kept, town.with_slug(&board.target)) else { continue };
        let (Records::Postings(held), Some(read_at)) = (&kept.records, kept.read_at) else {
            continue;
        };
        let latest = open.read_at.entry(place.target_id.clone()).or_insert(read_at);
        *latest = (*latest).max(read_at);
        let at = Reading { read_at, failing: kept.failing.is_some(), handoff_ids, now };
        let in_city = held.iter().filter_map(|held| {
            let locations = gate.locations(&held.posting, board.ats)?;
            Some(role(board, place, (held, locations), &at))
        });
        open.roles.extend(in_city);
    }
    open.left_out = gate.left_out;
    // The newest first.
    open.roles
        .sort_by(|one, other| (other.date_posted, &one.id).cmp(&(one.date_posted, &other.id)));
    open
}

/// Returns the identifier of a board's role.
pub(super) fn role_id(board_id: &str, posting: &Posting) -> String {
    stable("rol", &[board_id, &posting.external_id])
}

/// Returns the postings from which roles are made, by the roles' identifiers.
pub fn postings<'a>(sources: &Sources, state: &'a State) -> BTreeMap<String, &'a Posting> {
    let mut postings = BTreeMap::new();
    for id in sources.board.iter().map(BoardSource::id) {
        let Some(Records::Postings(held)) = state.sources.get(&id).map(|kept| &kept.records) else {
            continue;
        };
        postings.extend(held.iter().map(|held| (role_id(&id, &held.posting), &held.posting)));
    }
    postings
}

/// The last reading of a board.
struct Reading<'h> {
    read_at: Timestamp,
    failing: bool,
    /// The handoffs of every role.
    handoff_ids: &'h [String],
    now: Timestamp,
}

fn role(
    board: &BoardSource,
    place: &Place<'_>,
    (held, locations): (&Held, Vec<Location>),
    at: &Reading<'_>,
) -> Role {
    let posting = &held.posting;
    let board_id = board.id();
    let function = work::function(&posting.title);
    let seen = held.missing == 0 && !at.failing;
    let name = &place.organisation.name;
    let description = posting.description_text.text();
    let beginning: String = description.chars().take(BEGINNING).collect();
    let summary = line(&beginning, SUMMARY);
    let source = Source {
        id: stable("src", &[&board_id, &posting.external_id]),
        kind: SourceType::AtsBoard,
        publisher: name.clone(),
        url: posting.source_url.clone(),
        title: posting.title.clone(),
        published_at: posting.date_posted.map(|date| date.min(at.now)),
        retrieved_at: at.read_at,
        excerpt: summary.clone(),
        sha256: sha256(format!("{}\n{}", posting.title, description).as_bytes()),
        license: board.license.clone(),
        attribution: board.attribution.clone(),
    };
    Role {
        id: role_id(&board_id, posting),
        target_id: place.target_id.clone(),
        ats: board.ats,
        board_token: board.token.clone(),
        external_id: posting.external_id.clone(),
        title: posting.title.clone(),
        department: posting.department.clone(),
        team: posting.team.clone(),
        function: function.to_owned(),
        seniority: work::seniority(posting.level.as_deref(), &posting.title),
        employment_type: posting.employment_type,
        workplace_type: posting.workplace_type,
        schema_org: schema_org(posting, &summary, place, &locations),
        locations,
        summary,
        // The part is known when all roles are.
        description_url: String::new(),
        base_salary: posting.base_salary.clone(),
        occupation: work::occupation(function),
        date_posted: posting.date_posted.map(|date| date.min(at.now)),
        valid_through: posting.valid_through,
        apply_url: posting.apply_url.clone(),
        source_url: posting.source_url.clone(),
        maturity: if seen { RoleMaturity::Verified } else { RoleMaturity::Stale },
        handoff_ids: at.handoff_ids.to_vec(),
        sources: vec![source],
        first_seen_at: at.now,
        updated_at: at.now,
    }
}

/// Returns the role as a JobPosting, without unknown fields.
fn schema_org(
    posting: &Posting,
    summary: &str,
    place: &Place<'_>,
    locations: &[Location],
) -> Value {
    let organisation = place.organisation;
    let (remote, on_site): (Vec<&Location>, Vec<_>) =
        locations.iter().partition(|location| location.remote);
    let places = on_site.into_iter().map(|location| {
        json!({
            "@type": "Place",
            "name": location.label,
            "address": {
                "@type": "PostalAddress",
                "addressLocality": location.city,
                "addressRegion": location.region,
                "addressCountry": location.country,
            },
        })
    });
    let applicants: Vec<Value> = remote.iter().copied().filter_map(applicants).collect();
    let is_remote = posting.workplace_type == WorkplaceType::Remote || !remote.is_empty();
    let salary = posting.base_salary.as_ref().map(|salary| {
        json!({
            "@type": "MonetaryAmount",
            "currency": salary.currency,
            "value": {
                "@type": "QuantitativeValue",
                "minValue": salary.min,
                "maxValue": salary.max,
                "unitText": salary.unit,
            },
        })
    });
    let mut value = json!({
        "@context": "https://schema.org",
        "@type": "JobPosting",
        "title": posting.title,
        "description": summary,
        "identifier": { "@type": "PropertyValue", "name": organisation.name, "value": posting.external_id },
        "datePosted": posting.date_posted,
        "validThrough": posting.valid_through,
        "employmentType": posting.employment_type,
        "hiringOrganization": { "@type": "Organization", "name": organisation.name, "sameAs": organisation.website },
        "jobLocation": places.collect::<Vec<_>>(),
        "jobLocationType": is_remote.then_some("TELECOMMUTE"),
        "applicantLocationRequirements": (!applicants.is_empty()).then_some(applicants),
        "baseSalary": salary,
        "url": posting.source_url,
    });
    without_nulls(&mut value);
    value
}

/// Returns where the applicants for remote work may be.
fn applicants(location: &Location) -> Option<Value> {
    let (kind, name) = match (&location.city, &location.region, &location.country) {
        (Some(city), ..) => ("City", city),
        (None, Some(region), _) => ("AdministrativeArea", region),
        (None, None, country) => ("Country", country.as_ref()?),
    };
    Some(json!({ "@type": kind, "name": name }))
}

fn without_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(without_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(without_nulls),
        _ => {}
    }
}
