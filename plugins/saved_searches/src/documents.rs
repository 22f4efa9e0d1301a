//! The stored documents: saved searches, their hits, and the hits that are to be announced.

use crate::{refusals::*, states::*, types::*};
use listing_search::{Card, Prepared};
use portolan_sdk::documents::Person;
use portolan_sdk::documents::PersonalField::Personal;
use portolan_sdk::{documents::OpenIds, prelude::*};
use record_search::{Filters, RecordType};

pub(crate) const SEARCHES: Collection<SavedSearch> = Collection::new("searches")
    .people(&[
        // The conditions can name others, who do not learn that somebody searches for them.
        Person::delete("owner_id").fields(&[
            Personal("$id"),
            Personal("name"),
            Personal("prepared"),
            Personal("map_query"),
        ]),
        Person::redact("prepared.conditions.owner_id", &[]),
        Person::remove("prepared.conditions.without.owner_ids[]"),
    ])
    .index("mine", &["owner_id", "changed_at"])
    .index("state", &["state"])
    .index("anchors", &["indexed.anchors[]"]);

/// The listings and records that searches have found, keyed by both ids: those that were announced, and those
/// that wait for it. As long as such a document exists, it is not found again.
pub(crate) const HITS: Collection<StoredHit> = Collection::new("hits")
    .people(&[Person::delete("owner_id").fields(&[Personal("$id")]), Person::delete("lister_id")])
    .index("search", &["search_id", "number"])
    .index("first", &["search_id", "published_at"])
    .index("until", &["until"]);

/// The hits of a search that are to be announced, keyed by the search's id.
pub(crate) const NEWS: Collection<News> =
    Collection::new("news").people(&[Person::delete("owner_id")]);

/// The saved searches of each person, keyed by the owner's id.
pub(crate) const OWNER_SEARCHES: Collection<OpenIds> =
    Collection::new("books").people(&[Person::delete("$id")]);

#[document]
#[entity(
    kind = "saved_search", subjects = "saved_searches", collection = SEARCHES, owner = owner_id,
    not_found = SavedSearchError::SavedSearchNotFound
)]
pub(crate) struct SavedSearch {
    pub(crate) owner_id: String,
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) sought: Sought,
    pub(crate) frequency: Frequency,
    pub(crate) state: State,
    pub(crate) changed_at: u64,
    /// The time from which days and weeks are counted.
    pub(crate) since: u64,
    /// When the search was created, resumed, or got its conditions. A listing that was published
    /// before is not announced because of an update.
    pub(crate) active_since: u64,
    pub(crate) indexed: Indexed,
}

/// The conditions of a search.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Sought {
    /// Listings.
    #[serde(rename = "prepared")]
    Listings(Box<Prepared>),
    /// Records of the map.
    #[serde(rename = "map_query")]
    Records(Box<Filters>),
}

impl Sought {
    /// Returns the conditions of a search for listings.
    pub(crate) fn listings(&self) -> Option<&Prepared> {
        match self {
            Self::Listings(prepared) => Some(prepared),
            Self::Records(_) => None,
        }
    }

    /// Returns the filters of a search of the map.
    pub(crate) fn records(&self) -> Option<&Filters> {
        match self {
            Self::Listings(_) => None,
            Self::Records(filters) => Some(filters),
        }
    }
}

/// Fields that only indexes read.
#[document(Default)]
pub(crate) struct Indexed {
    /// The keys by which listings or records find the search; none while it is paused.
    pub(crate) anchors: Vec<String>,
}

#[document(Default)]
pub(crate) struct StoredHit {
    pub(crate) owner_id: String,
    pub(crate) search_id: String,
    /// The listing, or the record of the map.
    pub(crate) listing_id: String,
    /// The facts of the record, if it is one of the map.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) record: Option<HitRecord>,
    /// The person with whose erasure the listing is deleted; `None` for one of an organisation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lister_id: Option<String>,
    /// Its number among all hits that the search has had.
    pub(crate) number: u64,
    /// When the listing was published, or the record was found.
    pub(crate) published_at: u64,
    /// When it is forgotten.
    pub(crate) until: u64,
}

/// A record of the map that was found.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct HitRecord {
    #[serde(rename = "type")]
    pub(crate) kind: RecordType,
    pub(crate) change: RecordChange,
}

#[document(Default)]
pub(crate) struct News {
    pub(crate) owner_id: String,
    /// The number of hits of the search.
    pub(crate) kept: u32,
    /// The publication time of the newest listing whose hit was evicted. Listings published at or
    /// before it are not announced.
    pub(crate) dropped_through: u64,
    /// The number of the hit that was stored last.
    pub(crate) last: u64,
    /// The number of the last hit that does not wait to be announced.
    pub(crate) settled: u64,
    /// The number of hits that wait to be announced.
    pub(crate) count: u64,
    /// When they are announced.
    pub(crate) due_at: u64,
    /// When the person was notified last.
    pub(crate) notified_at: u64,
}

impl StoredHit {
    /// Notes when its listing was published, and until when it can be renewed.
    /// Returns whether this is later than before.
    pub(crate) fn extend(&mut self, card: &Card) -> bool {
        let before = (self.published_at, self.until);
        self.published_at = self.published_at.max(card.published_at);
        self.until = self.until.max(card.valid_through + REMEMBERED_FOR);
        before != (self.published_at, self.until)
    }
}

impl News {
    /// Lets nothing wait to be announced.
    pub(crate) fn settle(&mut self) {
        (self.settled, self.count) = (self.last, 0);
    }
}

/// Returns the id of the hit of a search and a listing.
pub(crate) fn hit_id(search_id: &str, listing_id: &str) -> String {
    format!("{search_id}>{listing_id}")
}

impl SavedSearch {
    /// Returns when listings that are found now are announced.
    pub(crate) fn due(&self, news: &News, now: u64) -> u64 {
        let period = match self.frequency {
            Frequency::Instant => return now.max(news.notified_at + NOTICE_INTERVAL),
            Frequency::Daily => DAY,
            Frequency::Weekly => 7 * DAY,
        };
        self.since + (now.saturating_sub(self.since) / period + 1) * period
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_frequency_has_its_time() {
        let now = 1_000 * DAY;
        let search =
            |frequency| SavedSearch { frequency, ..crate::fixtures::search("any", json!({})) };
        let due = |frequency, since, notified_at| {
            let search = SavedSearch { since, ..search(frequency) };
            search.due(&News { notified_at, ..News::default() }, now)
        };
        for (frequency, since, notified_at, expected) in [
            (Frequency::Instant, 0, 0, now),
            (Frequency::Instant, 0, now - 1, now - 1 + MINUTE),
            (Frequency::Daily, now - HOUR, 0, now + 23 * HOUR),
            (Frequency::Daily, now - DAY, now - 1, now + DAY),
            (Frequency::Weekly, now - 8 * DAY, 0, now + 6 * DAY),
        ] {
            assert_eq!(due(frequency, since, notified_at), expected, "{frequency:?} {since}");
        }
    }
}
