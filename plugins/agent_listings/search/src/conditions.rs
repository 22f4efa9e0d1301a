//! The conditions of a search.

use people_kit::listings::Compensation;
use people_kit::taxonomy::{Filters, Side};
use portolan_sdk::{documents::Rectangle, prelude::*};

/// The conditions of a search: a listing must fulfil all of them.
#[input(Default, Clone, PartialEq)]
pub struct Conditions {
    /// Words to search for, in any language; `flat|studio` finds either. A listing is found by its
    /// title, description, category, place and values, and by synonyms in English, German, Spanish,
    /// French and Japanese. By relevance, listings with some of the words follow those with all; any
    /// other order, `facets` and saved searches need all.
    #[schemars(length(min = 1, max = 200))]
    pub q: Option<String>,
    /// A code of `listing_taxonomy`. Listings in categories below it are found too.
    #[schemars(length(min = 1, max = 64))]
    pub category: Option<String>,
    pub side: Option<Side>,
    /// A circle around a point: only listings in it are found. Places are known to about a
    /// kilometre.
    pub near: Option<Near>,
    /// A rectangle: only listings in it are found.
    pub bbox: Option<Rectangle>,
    /// True to find only listings that do not depend on a place, false to find only listings that
    /// do. Omit this field to find both.
    pub remote: Option<bool>,
    /// Only listings of this person are found.
    #[schemars(length(min = 1, max = 40))]
    pub owner_id: Option<String>,
    /// Only listings of this organisation are found.
    #[schemars(length(min = 1, max = 40))]
    pub org_id: Option<String>,
    /// Exclusions of listings. For values of attributes, use `not_in` in `filters`.
    #[serde(default, skip_serializing_if = "Without::is_empty")]
    pub without: Without,
    /// A range: only listings whose pay, rent or price overlaps it are found. Periods are converted:
    /// those of homes in calendar time, others in working time of 40 hours a week.
    pub compensation: Option<Compensation>,
    /// Comparisons of attributes, by their names: at most 12, of which 3 with `gte` or `lte`.
    /// `listing_taxonomy` `fields` of the counterpart lists the attributes that can be compared.
    #[serde(default, skip_serializing_if = "Filters::is_empty")]
    #[schemars(length(max = 12))]
    pub filters: Filters,
    /// A time (RFC 3339): only listings that were published then or later are found.
    #[schemars(length(min = 1, max = 40))]
    pub posted_since: Option<String>,
}

/// Exclusions of listings.
#[input(Default, Clone, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Without {
    /// Codes of `listing_taxonomy`: listings in these categories and below them are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10), inner(length(min = 1, max = 64)))]
    pub categories: Vec<String>,
    /// Listings of these people are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50), inner(length(min = 1, max = 40)))]
    pub owner_ids: Vec<String>,
}

impl Without {
    fn is_empty(&self) -> bool {
        self.categories.is_empty() && self.owner_ids.is_empty()
    }
}

/// A circle around a point.
#[input(Clone, Copy, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Near {
    /// The latitude in degrees.
    #[schemars(range(min = -90, max = 90))]
    pub lat: f64,
    /// The longitude in degrees.
    #[schemars(range(min = -180, max = 180))]
    pub lng: f64,
    /// The radius in kilometres; at least 5 for homes and work.
    #[serde(default = "default_radius")]
    #[schemars(range(min = 1, max = 20_000))]
    pub radius_km: f64,
}

fn default_radius() -> f64 {
    25.0
}
