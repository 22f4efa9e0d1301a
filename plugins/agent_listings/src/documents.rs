//! The stored documents: listings, the cards by which searches find them, and the ids of the
//! listings that count towards each person's limits.

use crate::refusals::*;
use crate::{states::*, types::*};
use people_kit::taxonomy::{Category, Criteria, Keys, Side};
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

/// Cards of active listings that are not unlisted, keyed by the listing's id. Searches find these
/// and nothing else.
pub(crate) const CARDS: Collection<Card> = Collection::new("cards")
    .people(&[Person::delete("owner_id").fields(&[
        Public("title"),
        Public("excerpt"),
        Public("terms"),
    ])])
    .index("newest", &["published_at"])
    .index("level1", &["indexed.level1", "published_at"])
    .index("level2", &["indexed.level2", "published_at"])
    .index("level3", &["indexed.level3", "published_at"])
    .index("level4", &["indexed.level4", "published_at"])
    .index("level5", &["indexed.level5", "published_at"])
    .index("side", &["side", "published_at"])
    .index("facts", &["facts[]"])
    .index("ranks", &RANKS)
    .index("pay", &["indexed.pay", "indexed.pay_low", "indexed.pay_high"])
    .index("category", &["category"])
    .index("rest", &["owner_id", "visibility", "remote", "min_age"])
    .text(&["title", "terms", "excerpt"])
    .geo("lat", "lng");

/// The prefix of the names in `Card::indexed`.
const INDEXED: &str = "indexed.";
/// The number of levels in the taxonomy.
pub(crate) const LEVELS: usize = 5;

/// The fields of a card for its ranks: keys that sort as their values do. A rank may be in any of
/// these fields, so a search compares all of them.
pub(crate) const RANKS: [&str; 10] = [
    "indexed.rank0",
    "indexed.rank1",
    "indexed.rank2",
    "indexed.rank3",
    "indexed.rank4",
    "indexed.rank5",
    "indexed.rank6",
    "indexed.rank7",
    "indexed.rank8",
    "indexed.rank9",
];

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
    /// When it was filled or removed, or has expired.
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

/// The part of an active listing that searches need.
#[document]
pub(crate) struct Card {
    pub(crate) owner_id: String,
    pub(crate) org_id: Option<String>,
    pub(crate) category: String,
    pub(crate) label: String,
    /// Fields that only indexes read: `level1` to `level5` (the category and those above it),
    /// `rank0` to `rank9`, `pay`, `pay_low` and `pay_high`.
    pub(crate) indexed: Map<String, Value>,
    pub(crate) side: Side,
    pub(crate) title: String,
    pub(crate) excerpt: String,
    /// Search words for the category and the place, and what the texts and values mean.
    pub(crate) terms: String,
    pub(crate) attributes: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) said: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) gist: Vec<String>,
    /// The latitude of the public place, which is rounded.
    pub(crate) lat: Option<f64>,
    pub(crate) lng: Option<f64>,
    pub(crate) place: Option<Place>,
    pub(crate) remote: bool,
    pub(crate) compensation: Option<Compensation>,
    pub(crate) visibility: Visibility,
    pub(crate) min_age: u8,
    pub(crate) published_at: u64,
    pub(crate) valid_through: u64,
    pub(crate) facts: Vec<String>,
    #[serde(default, skip_serializing_if = "Criteria::is_empty")]
    pub(crate) criteria: Criteria,
    /// The category of the counterpart.
    pub(crate) counterpart: String,
    pub(crate) counterpart_side: Side,
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

    pub(crate) fn card(&self) -> Card {
        let content = &self.content;
        let place = content.place.as_ref().map(Place::public);
        view!(self => Card {
            owner_id, org_id, category, side, excerpt, visibility, min_age, said, gist;
            label: self.about.label.clone(),
            indexed: self.indexed(),
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

    fn terms(&self, place: Option<&Place>) -> String {
        let Category { label, synonyms, .. } = &self.about;
        let place = place.and_then(|place| place.label.as_deref()).unwrap_or_default();
        format!("{label} {} {place} {}", synonyms.join(" "), self.words)
    }

    /// Returns the fields that only indexes read.
    fn indexed(&self) -> Map<String, Value> {
        let ends = self.category.match_indices('.').map(|(end, _)| end);
        let codes = ends.chain([self.category.len()]).filter_map(|end| self.category.get(..end));
        let levels = codes.take(LEVELS).zip(1..).map(|(code, level)| (level_path(level), code));
        let names = RANKS.iter().map(|path| path.trim_start_matches(INDEXED).to_owned());
        let ranks = names.zip(self.keys.ranks.iter().map(String::as_str));
        let mut indexed: Map<String, Value> =
            levels.chain(ranks).map(|(path, key)| (path, key.into())).collect();
        if let Some(pay) = &self.content.compensation {
            let (low, high) = pay.range();
            indexed.insert("pay".into(), pay.kind().into());
            indexed.insert("pay_low".into(), low.into());
            indexed.insert("pay_high".into(), high.into());
        }
        indexed
    }
}

fn level_path(level: usize) -> String {
    format!("level{level}")
}

/// Returns the path of the field in `indexed` that has this code in the cards of the category and
/// of those below it.
pub(crate) fn level_of(code: &str) -> String {
    format!("{INDEXED}{}", level_path(code.split('.').count().min(LEVELS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_is_on_the_level_of_its_code() {
        assert_eq!(level_of("home"), "indexed.level1");
        assert_eq!(level_of("home.let.room"), "indexed.level3");
        assert_eq!(level_of("a.b.c.d.e"), "indexed.level5");
    }
}
