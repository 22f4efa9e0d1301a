//! Searches the feeds, and lists what is near an organisation.

use crate::{
    cards, facets,
    inputs::*,
    merge::{self, Order},
    types::*,
};
use portolan_sdk::{documents::Circle, prelude::*};
use record_search::{Batch, Filters, Mode, Place, Plan, RecordType, TARGETS};

pub(crate) fn search(input: &Search) -> Result<Found> {
    let filters = &input.filters;
    let plan = Plan::new(filters, input.sort)?;
    let counted = input.facets.then(|| facets::facets(&plan)).transpose()?;
    let signed = portolan_sdk::to_json(&(filters, plan.sort));
    let mut positions = merge::open(input.page.cursor.as_deref(), &signed, plan.types.len())?;
    let order = Order { sort: plan.sort, q: filters.q.as_deref() };
    let read = |feed: usize, cursor, limit| -> Result<Batch> {
        let Some(kind) = plan.types.get(feed).copied() else { return Ok(Batch::default()) };
        let query = plan.query(kind)?.limit(limit).cursor(cursor);
        let order = kind.order(plan.sort);
        let sorted = order
            .into_iter()
            .fold(query, |query, (path, direction)| query.order_by(path, direction));
        Ok(kind.find(sorted)?)
    };
    let entries = merge::page(&mut positions, &order, input.page.limit, read)?;
    let mode = filters.travel.map(|travel| travel.mode);
    Ok(Found {
        items: cards::items(entries, plan.organisations.as_ref(), mode)?,
        next_cursor: merge::close(&positions, &signed)?,
        facets: counted,
        travel: mode.map(Mode::estimate),
    })
}

pub(crate) fn facets(filters: &Filters) -> Result<Facets> {
    facets::facets(&Plan::new(filters, None)?)
}

pub(crate) fn nearby(input: Nearby) -> Result<Found> {
    let target = TARGETS.get(&input.target_id)?.ok_or(MapError::TargetNotFound)?;
    let Place { lat, lng, .. } = target.value.properties.geo;
    let circle = Circle { latitude: lat, longitude: lng, radius_m: input.radius_km * 1000.0 };
    let others = not(field("id").eq(&input.target_id));
    let others = others.and(input.kind.map(|kind| field("properties.kind").eq(kind)));
    let query = Query::new().filter(others).near(circle).first("distance").page(input.page);
    let found = RecordType::Organisation.find(query)?;
    Ok(Found {
        items: cards::items(found.entries, None, None)?,
        next_cursor: found.next,
        facets: None,
        travel: None,
    })
}
