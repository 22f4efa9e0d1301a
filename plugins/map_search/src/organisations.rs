//! The organisations to which the found records belong: those that fit the filters, and their names.

use crate::{filters::about_organisations, inputs::*, records::*, travel, types::*};
use portolan_sdk::{feeds::Feed, prelude::*};
use serde::de::IgnoredAny;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of organisations by which other records are filtered.
const MOST: usize = 4_000;
const PAGE: u32 = 1_000;
/// The maximum number of values of one comparison.
const VALUES: usize = 200;

/// The targets, of which only ids and distances are read.
const IDS: Feed<IgnoredAny> = Feed::new("targets");

/// The organisations that fit the filters, with their distances from the point of `near`.
pub(crate) struct Organisations(BTreeMap<String, Option<f64>>);

impl Organisations {
    /// Loads the organisations that fit; `None` if the filters are not about organisations.
    pub(crate) fn load(filters: &Filters) -> Result<Option<Self>> {
        let conditions = about_organisations(filters)?;
        let near = travel::circle(filters)?;
        if conditions.is_empty() && near.is_none() && filters.bbox.is_none() {
            return Ok(None);
        }
        let query = Query::new().filter(all_of(conditions)).near(near).within(filters.bbox);
        let query = query.limit(PAGE);
        let (mut found, mut cursor) = (BTreeMap::new(), None);
        loop {
            let page = IDS.find(query.clone().cursor(cursor))?;
            found.extend(page.hits.into_iter().map(|hit| (hit.document.id, hit.distance_m)));
            cursor = page.next;
            if cursor.is_none() {
                return Ok(Some(Self(found)));
            }
            if found.len() >= MOST {
                return Err(MapError::TooManyOrganisations);
            }
        }
    }

    /// Returns the condition that a record belongs to one of them.
    pub(crate) fn condition(&self, path: &str) -> Filter {
        let ids: Vec<&String> = self.0.keys().collect();
        any_of(ids.chunks(VALUES).map(|ids| field(path).one_of(ids)))
    }

    /// Returns the distance of the nearest of these organisations.
    pub(crate) fn distance_m(&self, ids: &[String]) -> Option<f64> {
        ids.iter().filter_map(|id| *self.0.get(id)?).reduce(f64::min)
    }
}

/// Returns the names of organisations, by their ids.
pub(crate) fn names<'i>(
    ids: impl IntoIterator<Item = &'i str>,
) -> Result<BTreeMap<String, TargetName>, HostError> {
    let ids: BTreeSet<&str> = ids.into_iter().collect();
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let found = TARGETS.get_many(ids)?.into_iter().flatten();
    let named = |Stored { id, value: Target { properties }, .. }: Stored<Target>| {
        let name = properties.name;
        (id.clone(), TargetName { id, name, neighbourhood: properties.geo.neighbourhood })
    };
    Ok(found.map(named).collect())
}
