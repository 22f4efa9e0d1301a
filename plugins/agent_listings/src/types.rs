//! What agents send, what is refused, and what others are told.

use crate::life::*;
pub(crate) use people_kit::listings::{Compensation, Place, Visibility};
use people_kit::taxonomy::{Criteria, Filters, Side};
use portolan_sdk::prelude::*;
use serde_json::{Map, Value};

pub(crate) const CAPABILITY: &str = "agent_listings";

/// `lst_` and a ULID.
#[id]
pub(crate) struct Id(String);

/// The id of a person, an organisation or a pairing.
#[id]
pub(crate) struct OtherId(String);

/// Listings that a person may have published at once.
pub(crate) const MOST_PUBLISHED: usize = 20;
/// Drafts, rejected and paused listings that a person may keep beside them.
pub(crate) const MOST_KEPT: usize = 100;
/// How far ahead a listing may be valid.
pub(crate) const LONGEST_DAYS: u64 = 180;
/// How long after it expired or was filled a listing can be renewed.
pub(crate) const RENEW_EXPIRED_DAYS: u64 = 90;
pub(crate) const RENEW_FILLED_DAYS: u64 = 30;
/// How long before the end the owner is warned.
pub(crate) const WARNING_DAYS: u64 = 3;

pub(crate) const CREATED: ListingEvent = Event::new("listing.created");
pub(crate) const UPDATED: ListingEvent = Event::new("listing.updated");
pub(crate) const PUBLISHED: ListingEvent = Event::new("listing.published");
pub(crate) const IN_REVIEW: ListingEvent = Event::new("listing.in_review");
pub(crate) const REJECTED: ListingEvent = Event::new("listing.rejected");
pub(crate) const PAUSED: ListingEvent = Event::new("listing.paused");
pub(crate) const RESUMED: ListingEvent = Event::new("listing.resumed");
pub(crate) const FILLED: ListingEvent = Event::new("listing.filled");
pub(crate) const WITHDRAWN: ListingEvent = Event::new("listing.withdrawn");
pub(crate) const EXPIRING: ListingEvent = Event::new("listing.expiring");
pub(crate) const EXPIRED: ListingEvent = Event::new("listing.expired");
pub(crate) const REMOVED: ListingEvent = Event::new("listing.removed");
pub(crate) const REINSTATED: ListingEvent = Event::new("listing.reinstated");

/// What is used of the events of an organisation.
#[input]
pub(crate) struct OrgChange {
    pub(crate) org_id: OtherId,
    /// Whose part in it has changed; without it, everybody's.
    pub(crate) owner_id: Option<OtherId>,
    #[schemars(length(min = 1, max = 2000))]
    pub(crate) cursor: Option<String>,
}

/// An event of a listing.
pub(crate) type ListingEvent = Event<Data<Facts>>;

#[output]
pub(crate) struct Facts {
    pub(crate) listing_id: String,
    pub(crate) category: String,
    pub(crate) side: Side,
    pub(crate) valid_through: Option<String>,
    /// The operator's, where one rejected or removed it.
    pub(crate) reason: Option<String>,
    /// The fields that an update changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) changed: Vec<&'static str>,
}

/// What a listing says, as it is written and kept.
#[input(Clone, PartialEq)]
pub(crate) struct Content {
    /// One line.
    #[schemars(length(min = 1, max = 120))]
    pub(crate) title: String,
    /// CommonMark. `content_render` with the profile `listing` shows what others will see.
    #[schemars(length(min = 1, max = 8000))]
    pub(crate) description: String,
    /// After the schema that `listing_taxonomy` `fields` answers for this category and side.
    pub(crate) attributes: Map<String, Value>,
    /// What it asks of the listings it meets.
    #[serde(default, skip_serializing_if = "Criteria::is_empty")]
    pub(crate) criteria: Criteria,
    /// Where it is. Without it, searches around a place do not find it.
    pub(crate) place: Option<Place>,
    /// Whether it can be dealt with from anywhere.
    #[serde(default)]
    pub(crate) remote: bool,
    /// Pay, rent or price.
    pub(crate) compensation: Option<Compensation>,
    /// RFC 3339, at most 180 days ahead; by default what the category's policy says, counted from
    /// when it is published.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) valid_through: Option<String>,
    /// Who sees it; by default what the category's policy says.
    pub(crate) visibility: Option<Visibility>,
}

/// The fields of a content.
pub(crate) const FIELDS: [&str; 9] = [
    "title",
    "description",
    "attributes",
    "criteria",
    "place",
    "remote",
    "compensation",
    "valid_through",
    "visibility",
];

#[input]
pub(crate) struct Create {
    /// A code of `listing_taxonomy`.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) category: String,
    /// One of the category's sides.
    pub(crate) side: Side,
    #[serde(flatten)]
    pub(crate) content: Content,
    /// Publish it at once; otherwise it is a draft.
    #[serde(default)]
    pub(crate) publish: bool,
    /// The id of an organisation that the person recruits for: its recruiters can change the
    /// listing too. When the person recruits for it no longer, the listing is paused.
    pub(crate) as_org: Option<OtherId>,
}

#[input]
pub(crate) struct ListingId {
    pub(crate) listing_id: Id,
}

#[input]
pub(crate) struct Step {
    pub(crate) listing_id: Id,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Update {
    pub(crate) listing_id: Id,
    /// A JSON Merge Patch (RFC 7396) of the fields that `create` takes, but for category and side:
    /// what is left out stays, null takes a field away, lists are replaced as a whole.
    pub(crate) patch: Map<String, Value>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct MarkFilled {
    pub(crate) listing_id: Id,
    /// The pairing that filled it, if it was one of this service.
    pub(crate) pairing_id: Option<OtherId>,
    /// What came of it, for the owner's own record.
    pub(crate) outcome: Option<Outcome>,
    pub(crate) expected_version: Option<Version>,
}

#[choice]
pub(crate) enum Outcome {
    Hired,
    Leased,
    Invested,
    Met,
    Elsewhere,
    Other,
}

#[input]
pub(crate) struct Reasoned {
    pub(crate) listing_id: Id,
    /// The owner reads it.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) reason: String,
}

#[input(Default)]
pub(crate) struct Mine {
    /// Listings in one of these states; without it, all.
    #[schemars(length(min = 1, max = 9))]
    pub(crate) state: Option<Vec<State>>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

/// A point and how far around it.
#[input(Clone, Copy)]
#[serde(deny_unknown_fields)]
pub(crate) struct Near {
    /// Degrees.
    #[schemars(range(min = -90, max = 90))]
    pub(crate) lat: f64,
    /// Degrees.
    #[schemars(range(min = -180, max = 180))]
    pub(crate) lng: f64,
    /// Kilometres; for homes and work at least 5.
    #[serde(default = "default_radius")]
    #[schemars(range(min = 1, max = 20_000))]
    pub(crate) radius_km: f64,
}

fn default_radius() -> f64 {
    25.0
}

/// The order of what is found.
#[choice]
pub(crate) enum Sort {
    /// The best fit for `q` first.
    Relevance,
    Newest,
    /// The nearest first; needs `near`.
    Distance,
}

#[input(Default)]
pub(crate) struct Search {
    /// Words of title, description and category; all of them have to be there.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) q: Option<String>,
    /// A code of `listing_taxonomy`; everything below it is found too.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) category: Option<String>,
    pub(crate) side: Option<Side>,
    /// Listings around a point. Places are known to about a kilometre.
    pub(crate) near: Option<Near>,
    /// Listings in a rectangle.
    pub(crate) bbox: Option<portolan_sdk::documents::Rectangle>,
    /// Whether it can be dealt with from anywhere.
    pub(crate) remote: Option<bool>,
    /// Listings whose pay, rent or price reaches into this range.
    pub(crate) compensation: Option<Compensation>,
    /// Comparisons of attributes, by their names: at most 12, of which 4 with `gte` or `lte`. What
    /// there is to compare, `listing_taxonomy` `fields` tells for the counterpart.
    #[serde(default, skip_serializing_if = "Filters::is_empty")]
    #[schemars(length(max = 12))]
    pub(crate) filters: Filters,
    /// RFC 3339: listings published since.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) posted_since: Option<String>,
    /// By default `relevance` with `q`, otherwise `distance` with `near`, otherwise `newest`.
    pub(crate) sort: Option<Sort>,
    /// Count what fits by category, side and remote as well.
    #[serde(default)]
    pub(crate) facets: bool,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}
