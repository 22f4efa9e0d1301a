//! Inputs, limits and events.

use crate::states::*;
pub(crate) use listing_search::Conditions;
pub(crate) use people_kit::listings::{Compensation, Place, Visibility};
use people_kit::taxonomy::{Criteria, Side};
use portolan_sdk::prelude::*;
use serde_json::{Map, Value};

pub(crate) const CAPABILITY: &str = "agent_listings";

/// The listing's id: `lst_` and a ULID.
#[id]
pub(crate) struct Id(String);

/// The id of a person, an organisation or a pairing.
#[id]
pub(crate) struct OtherId(String);

/// The maximum number of published listings of a person.
pub(crate) const MOST_PUBLISHED: usize = 20;
/// The maximum number of drafts, rejected and paused listings of a person.
pub(crate) const MOST_UNPUBLISHED: usize = 100;
/// The maximum number of days from now until `valid_through`.
pub(crate) const LONGEST_DAYS: u64 = 180;
/// The days after its end in which an expired or a filled listing can be renewed.
pub(crate) const RENEW_EXPIRED_DAYS: u64 = 90;
pub(crate) const RENEW_FILLED_DAYS: u64 = 30;
/// The days before the end at which the owner is notified.
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

/// The part of an organisation's events that is read; with a cursor, the input of `pause_of_org`.
#[input]
pub(crate) struct OrgChange {
    pub(crate) org_id: OtherId,
    /// The person whose membership has changed; without it, all members.
    pub(crate) owner_id: Option<OtherId>,
    #[schemars(length(min = 1, max = 2000))]
    pub(crate) cursor: Option<String>,
    /// Whether only listings that have ended are left to pass on.
    #[serde(default)]
    pub(crate) ended: bool,
}

/// An event of a listing.
pub(crate) type ListingEvent = Event<Data<Facts>>;
/// An event, with its summary.
pub(crate) type Notice = (ListingEvent, &'static str);
pub(crate) const REVIEWED: Notice = (IN_REVIEW, "The listing is reviewed before it is published.");

#[output]
pub(crate) struct Facts {
    pub(crate) listing_id: String,
    pub(crate) category: String,
    pub(crate) side: Side,
    pub(crate) valid_through: Option<String>,
    /// The operator's reason for rejecting or removing it.
    pub(crate) reason: Option<String>,
    /// The names of the fields that an update has changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) changed: Vec<&'static str>,
}

/// The content of a listing.
#[input(Clone, PartialEq)]
pub(crate) struct Content {
    /// The title, on one line.
    #[schemars(length(min = 1, max = 120))]
    pub(crate) title: String,
    /// The description in CommonMark. `content_render` with the profile `listing` shows how others
    /// will see it.
    #[schemars(length(min = 1, max = 8000))]
    pub(crate) description: String,
    /// The attributes, valid for the schema that `listing_taxonomy` `fields` returns for this
    /// category and side.
    pub(crate) attributes: Map<String, Value>,
    /// The criteria for its counterparts.
    #[serde(default, skip_serializing_if = "Criteria::is_empty")]
    pub(crate) criteria: Criteria,
    /// The place. Searches around a point do not find a listing without one.
    pub(crate) place: Option<Place>,
    /// Whether it does not depend on a place.
    #[serde(default)]
    pub(crate) remote: bool,
    /// The pay, rent or price.
    pub(crate) compensation: Option<Compensation>,
    /// When it expires (RFC 3339), at most 180 days ahead. The default is given by the category's
    /// policy and counts from the publication.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) valid_through: Option<String>,
    /// Its visibility. The default is given by the category's policy.
    pub(crate) visibility: Option<Visibility>,
}

/// The names of the fields of `Content`.
pub(crate) const FIELDS: &str = "title description attributes criteria place remote compensation \
    valid_through visibility";

#[input]
pub(crate) struct Create {
    /// The category: a code of `listing_taxonomy`.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) category: String,
    /// One of the category's sides.
    pub(crate) side: Side,
    #[serde(flatten)]
    pub(crate) content: Content,
    /// Whether to publish it at once; otherwise it is a draft.
    #[serde(default)]
    pub(crate) publish: bool,
    /// The id of an organisation that the person recruits for. The listing is the organisation's: all its
    /// owners, admins and recruiters can change it. When the person is gone, it passes to another one of
    /// these.
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
    /// A JSON Merge Patch (RFC 7396) of the fields that `create` takes, except category and side.
    /// Omitted fields stay as they are, null removes a field, and lists are replaced as a whole.
    pub(crate) patch: Map<String, Value>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct MarkFilled {
    pub(crate) listing_id: Id,
    /// The pairing that filled it, for the owner's own record. It is not checked.
    pub(crate) pairing_id: Option<OtherId>,
    /// The outcome, for the owner's own record.
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
pub(crate) struct StepWithReason {
    pub(crate) listing_id: Id,
    /// The reason, which the owner reads.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) reason: String,
}

#[input(Default)]
pub(crate) struct Mine {
    /// The states of the listings to return. Omit this field to get listings in all states.
    #[schemars(length(min = 1, max = 9))]
    pub(crate) state: Option<Vec<State>>,
    /// The id of an organisation that the person recruits for: its listings are returned instead of the
    /// person's own.
    pub(crate) as_org: Option<OtherId>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

/// The order of the results.
#[choice]
pub(crate) enum Sort {
    /// The best match for `q` first.
    Relevance,
    Newest,
    /// The nearest first; needs `near`.
    Distance,
    /// The lowest pay, rent or price of a year first, in the currency of `compensation`, which is
    /// required. Listings without a price are not found.
    Cheapest,
    /// The highest pay, rent or price of a year first; also needs `compensation`.
    Dearest,
}

#[input(Default)]
pub(crate) struct Search {
    #[serde(flatten)]
    pub(crate) conditions: Conditions,
    /// The order: by default `relevance` with `q`, otherwise `distance` with `near`, otherwise
    /// `newest`.
    pub(crate) sort: Option<Sort>,
    /// Whether to name the words of titles and excerpts that match `q`, in `highlights`.
    #[serde(default)]
    pub(crate) highlight: bool,
    /// Whether to count the matches by category, side and remote; not with `owner_id`.
    #[serde(default)]
    pub(crate) facets: bool,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}
