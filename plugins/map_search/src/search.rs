//! Searches targets.

use crate::types::*;
use people_kit::UNTRUSTED;
use portolan_sdk::{contract::platform, documents::Circle, prelude::*};

const NAME: &str = "properties.name";
const FACETS: [&str; 4] =
    ["properties.kind", "properties.ask[].type", "properties.stage", "properties.industries[]"];
const NEIGHBOURHOOD: &str = "properties.geo.neighbourhood";
/// The maturities that only an ask of the type `hiring` can have.
const LEADS: [&str; 2] = ["lead", "corroborated"];

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
    let found = TARGETS.find(query.limit(input.page.limit).cursor(input.page.cursor.clone()))?;
    let url = platform::about().public_url;
    let items = found.hits.into_iter().map(|hit| card(hit, &url)).collect();
    Ok(Found { items, next_cursor: found.next, facets })
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
    let others = query(&filters)
        .filter(filter(&filters).and(not_this(&input.target_id)))
        .first("distance")
        .page(input.page);
    let found = TARGETS.find(others)?;
    let url = platform::about().public_url;
    let items = found.hits.into_iter().map(|hit| card(hit, &url)).collect();
    Ok(Found { items, next_cursor: found.next, facets: None })
}

fn not_this(id: &str) -> Filter {
    portolan_sdk::documents::not(field("id").eq(id))
}

fn query(filters: &Filters) -> Query {
    let circle = |near: Near| Circle {
        latitude: near.lat,
        longitude: near.lng,
        radius_m: near.radius_km * 1000.0,
    };
    Query::new()
        .filter(filter(filters))
        .text(filters.q.clone())
        .near(filters.near.map(circle))
        .within(filters.bbox)
}

fn filter(filters: &Filters) -> Filter {
    let mut all = Vec::new();
    let sure = "properties.ask[].maturity";
    all.extend(filters.kind.map(|kind| field("properties.kind").eq(kind)));
    all.extend(filters.ask.map(|ask| field("properties.ask[].type").eq(ask)));
    all.extend(filters.stage.map(|stage| field("properties.stage").eq(stage)));
    all.extend(filters.maturity.map(|maturity| field(sure).eq(maturity)));
    all.extend(filters.hiring.map(|hiring| match hiring {
        HiringFilter::Any => field("properties.ask[].type").eq(AskType::Hiring),
        HiringFilter::Verified => field(sure).eq(Maturity::Verified),
        HiringFilter::Lead => field(sure).one_of(LEADS),
    }));
    all.extend(
        filters.industry.as_ref().map(|industry| field("properties.industries[]").eq(industry)),
    );
    all.extend(
        filters.neighbourhood.as_ref().map(|neighbourhood| field(NEIGHBOURHOOD).eq(neighbourhood)),
    );
    all_of(all)
}

fn card(hit: Hit<Target>, host: &str) -> Card {
    let (id, it) = (hit.document.id, hit.document.value.properties);
    Card {
        url: page_of(host, &id),
        id,
        name: it.name,
        kind: it.kind,
        tagline: it.tagline,
        stage: it.stage,
        status: it.status,
        industries: it.industries,
        ask: it.ask,
        geo: it.geo,
        open_roles_count: it.open_roles_count,
        verified_owner: it.verified_owner,
        handoff_ids: it.handoff_ids,
        updated_at: it.updated_at,
        distance_m: hit.distance_m,
        trust: UNTRUSTED,
    }
}

/// Returns the address of a target's page on the map.
pub(crate) fn page_of(host: &str, id: &str) -> String {
    format!("{host}/map/#target={id}")
}
