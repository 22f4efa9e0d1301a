//! The stored documents: listings, the cards by which searches find them (see `listing_search`), and
//! the ids of the listings that count towards each person's limits.

use crate::refusals::*;
use crate::{states::*, types::*};
use listing_search::indexed;
pub(crate) use listing_search::{CARDS, Card};
use people_kit::taxonomy::{Category, Keys, Side};
use portolan_sdk::documents::Person;
use portolan_sdk::documents::PersonalField::Public;
use portolan_sdk::prelude::*;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

pub(crate) const LISTINGS: Collection<Listing> = Collection::new("listings")
    .people(&[Person::delete("owner_id").fields(&[Public("content")])])
    .index("mine", &["owner_id", "changed_at"])
    .index("org", &["org_id", "owner_id"])
    .index("state", &["state"]);

/// The ids of each person's listings that count towards the limits, keyed by the owner's id.
pub(crate) const OWNER_LISTINGS: Collection<OwnerListings> =
    Collection::new("books").people(&[Person::delete("$id")]);

#[document]
#[entity(
    kind = "listing", collection = LISTINGS, owner = owner_id,
    not_found = ListingsError::ListingNotFound
)]
pub(crate) struct Listing {
    pub(crate) owner_id: String,
    pub(crate) org_id: Option<String>,
    pub(crate) category: String,
    pub(crate) side: Side,
    pub(crate) content: Content,
    /// The category as `listing_taxonomy` returned it.
    pub(crate) about: Category,
    pub(crate) min_age: u8,
    pub(crate) ttl_days: u16,
    pub(crate) visibility: Visibility,
    pub(crate) keys: Keys,
    /// Attributes, and a `compensation`, that were read from its text.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) said: Map<String, Value>,
    /// The distinct words of its texts, with one word for synonyms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) gist: Vec<String>,
    /// Further words by which searches find it: what its texts and values mean.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) words: String,
    /// The beginning of the description, without its markup.
    pub(crate) excerpt: String,
    pub(crate) state: State,
    pub(crate) changed_at: u64,
    /// The reasons for which its text needs a review.
    pub(crate) flags: Vec<String>,
    /// Whether a reviewer has approved this text.
    pub(crate) cleared: bool,
    /// Why it was rejected or removed.
    pub(crate) reason: Option<String>,
    pub(crate) published_at: Option<u64>,
    pub(crate) first_published_at: Option<u64>,
    pub(crate) times_published: u32,
    pub(crate) valid_through: Option<u64>,
    /// When it was filled, withdrawn or removed, or has expired.
    pub(crate) ended_at: Option<u64>,
    pub(crate) active_since: Option<u64>,
    /// The milliseconds for which it was active before the current period.
    pub(crate) active_ms: u64,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) pairing_id: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct OwnerListings {
    pub(crate) published: BTreeSet<String>,
    pub(crate) kept: BTreeSet<String>,
}

/// Returns the owners of the cards, each once.
pub(crate) fn owners(hits: &[Hit<Card>]) -> BTreeSet<&str> {
    hits.iter().map(|hit| hit.document.value.owner_id.as_str()).collect()
}

impl Listing {
    /// Whether searches find the listing. Only then does it have a card.
    pub(crate) fn is_searchable(&self) -> bool {
        self.state == State::Active && self.visibility != Visibility::Unlisted
    }

    /// Returns the card; `paused` is whether the owner takes no contact for now.
    pub(crate) fn card(&self, paused: bool) -> Card {
        let content = &self.content;
        let place = content.place.as_ref().map(Place::public);
        view!(self => Card {
            owner_id, org_id, category, side, excerpt, visibility, min_age, said, gist;
            paused,
            label: self.about.label.clone(),
            indexed: indexed(&self.category, &self.keys, content.compensation.as_ref()),
            title: content.title.clone(),
            terms: self.terms(place.as_ref()),
            attributes: content.attributes.clone(),
            lat: place.as_ref().map(|place| place.lat),
            lng: place.as_ref().map(|place| place.lng),
            place,
            remote: content.remote,
            compensation: content.compensation.clone(),
            published_at: self.published_at.unwrap_or_default(),
            valid_through: self.valid_through.unwrap_or_default(),
            facts: self.keys.facts.clone(),
            criteria: content.criteria.clone(),
            counterpart: self.about.counterpart.clone(),
            counterpart_side: self.about.counterpart_side,
        })
    }

    /// Returns the words for the category and the place, and for what the texts and values mean.
    fn terms(&self, place: Option<&Place>) -> String {
        let Category { label, synonyms, .. } = &self.about;
        let place = place.and_then(|place| place.label.as_deref()).unwrap_or_default();
        format!("{label} {} {place} {}", synonyms.join(" "), self.words)
    }
}
