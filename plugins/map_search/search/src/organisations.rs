//! The organisations to which the found records belong: those that fit the filters.

use crate::{filters::about_organisations, inputs::*, refusals::*, travel};
use portolan_sdk::{feeds::Feed, prelude::*};
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

/// The maximum number of organisations by which other records are filtered.
const MOST: usize = 4_000;
const PAGE: u32 = 1_000;
/// The maximum number of values of one comparison.
const VALUES: usize = 200;

/// The targets, of which only ids and distances are read.
const IDS: Feed<IgnoredAny> = Feed::new("targets");

/// The organisations that fit the filters, with their distances from the point of `near`.
#[derive(Debug)]
pub struct Organisations(BTreeMap<String, Option<f64>>);

impl Organisations {
    /// Loads the organisations that fit; `None` if the filters are not about organisations.
    pub fn load(filters: &Filters) -> Result<Option<Self>> {
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
                return Err(SearchError::TooManyOrganisations);
            }
        }
    }

    /// Returns the condition that a record belongs to one of them.
    pub fn condition(&self, path: &str) -> Filter {
        let ids: Vec<&String> = self.0.keys().collect();
        any_of(ids.chunks(VALUES).map(|ids| field(path).one_of(ids)))
    }

    /// Returns the distance of the nearest of these organisations.
    pub fn distance_m(&self, ids: &[String]) -> Option<f64> {
        ids.iter().filter_map(|id| *self.0.get(id)?).reduce(f64::min)
    }
}
