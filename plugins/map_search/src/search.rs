//! Searches targets.

use crate::types::*;
use people_kit::UNTRUSTED;
use portolan_sdk::{contract::platform, documents::Circle, prelude::*};

const NAME: &str = "properties.name";
const FACETS: [&str; 4] =
    ["properties.kind", "properties.ask[].type", "properties.stage", "properties.industries[]"];
const NEIGHBOURHOOD: &str = "properties.geo.neighbourhood";
/// The maturities of an ask of the type `hiring` that is not verified. Asks of other types do not
/// have them.
const LEADS: [&str; 2] = ["lead", "corroborated"];

/// Returns one page of what the query finds.
fn find_page(query: Query, facets: Option<Facets>) -> Result<Found> {
    let page = TARGETS.find(query)?;
    let url = platform::about().public_url;
    let items = page.hits.into_iter().map(|hit| card(hit, &url)).collect();
    Ok(Found { items, next_cursor: page.next, facets })
}

pub(crate) fn search(input: &Search) -> Result<Found> {
    let facets = input.facets.then(|| facets(&input.filters)).transpose()?;
    let filters = &input.filters;
    let by_default = match (&filters.q, &filters.near) {
        (Some(_), _) => Sort::Relevance,
        (None, Some(_)) => Sort::Distance,
        (None, None) => Sort::Name,
    };
    let query = query(filters);
    let query = match input.sort.unwrap_or(by_default) {
        Sort::Relevance if filters.q.is_some() => query.last("relevance"),
        Sort::Distance if filters.near.is_some() => query.first("distance"),
        Sort::Newest => query.last("properties.updated_at"),
        Sort::OpenRoles => query.last("properties.open_roles_count"),
        Sort::Relevance | Sort::Distance | Sort::Name => query.first(NAME),
    };
    find_page(query.page(input.page.clone()), facets)
}

pub(crate) fn facets(filters: &Filters) -> Result<Facets> {
    let [kind, ask, stage, industry] = TARGETS.count_by(FACETS, query(filters))?;
    let [neighbourhood] = TARGETS.count_by([NEIGHBOURHOOD], query(filters))?;
    Ok(Facets { kind, ask, stage, industry, neighbourhood })
}

pub(crate) fn nearby(input: Nearby) -> Result<Found> {
    let target = TARGETS.get(&input.target_id)?.ok_or(MapError::TargetNotFound)?;
    let Place { lat, lng, .. } = target.value.properties.geo;
    let near = Near { lat, lng, radius_km: input.radius_km };
    let filters = Filters { kind: input.kind, near: Some(near), ..Filters::default() };
    let others = filter(&filters).and(not(field("id").eq(&input.target_id)));
    find_page(query(&filters).filter(others).first("distance").page(input.page), None)
}

fn query(filters: &Filters) -> Query {
    let circle = |near: Near| Circle {
        latitude: near.lat,
        longitude: near.lng,
        radius_m: near.radius_km * 1000.0,
    };
    Query::new()
        .filter(filter(filters))
        .text(filters.q.clone().map(Into::into))
        .near(filters.near.map(circle))
        .within(filters.bbox)
}

fn filter(filters: &Filters) -> Filter {
    const ASK: &str = "properties.ask[].type";
    const MATURITY: &str = "properties.ask[].maturity";
    fn equals<T: Serialize>(path: &str, value: Option<&T>) -> Option<Filter> {
        value.map(|value| field(path).eq(value))
    }
    let hiring = |hiring| match hiring {
        HiringFilter::Any => field(ASK).eq(AskType::Hiring),
        HiringFilter::Verified => field(MATURITY).eq(Maturity::Verified),
        HiringFilter::Lead => field(MATURITY).one_of(LEADS),
    };
    let all = [
        equals("properties.kind", filters.kind.as_ref()),
        equals(ASK, filters.ask.as_ref()),
        equals("properties.stage", filters.stage.as_ref()),
        equals(MATURITY, filters.maturity.as_ref()),
        filters.hiring.map(hiring),
        equals("properties.industries[]", filters.industry.as_ref()),
        equals(NEIGHBOURHOOD, filters.neighbourhood.as_ref()),
    ];
    all_of(all.into_iter().flatten())
}

fn card(Hit { document, distance_m, .. }: Hit<Target>, host: &str) -> Card {
    view!(document.value.properties => Card {
        name, kind, tagline, stage, status, industries, ask, geo, open_roles_count,
        verified_owner, handoff_ids, updated_at;
        url: page_of(host, &document.id),
        id: document.id,
        distance_m,
        trust: UNTRUSTED,
    })
}

/// Returns the address of a target's page on the map.
pub(crate) fn page_of(host: &str, id: &str) -> String {
    format!("{host}/map/#target={id}")
}
