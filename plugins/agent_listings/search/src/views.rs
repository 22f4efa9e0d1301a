//! Listings in the results of a search.

use crate::cards::Card;
use people_kit::UNTRUSTED;
use people_kit::listings::Card as Short;
use people_kit::people::Person;
use people_kit::taxonomy::Highlight;
use portolan_sdk::prelude::*;
use serde_json::{Map, Value};

/// The owner of a listing.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Owner {
    owner_id: String,
    display_name: Option<String>,
}

impl Owner {
    pub fn new(owner_id: &str, person: Option<&Person>) -> Self {
        let display_name = person.and_then(|person| person.display_name.clone());
        Self { owner_id: owner_id.to_owned(), display_name }
    }
}

/// A listing in the results of a search.
#[output]
pub struct CardView {
    #[serde(flatten)]
    short: Short,
    attributes: Map<String, Value>,
    owner: Owner,
    org_id: Option<String>,
    /// When it was published (RFC 3339).
    published_at: String,
    /// When it expires (RFC 3339).
    valid_through: String,
    /// The distance from the point of `near`, as exact as places are known.
    distance_km: Option<f64>,
    /// The words that match `q`, if `highlight` was requested.
    highlights: Option<Highlights>,
}

/// The words that match a search.
#[output]
pub struct Highlights {
    title: Vec<Highlight>,
    excerpt: Vec<Highlight>,
}

impl CardView {
    pub fn new(hit: Hit<Card>, person: Option<&Person>) -> Self {
        let card = hit.document.value;
        let short = view!(move card => Short {
            category, side, title, excerpt, place, remote, compensation;
            listing_id: hit.document.id,
            category_label: card.label,
            trust: UNTRUSTED,
        });
        view!(move card => Self {
            attributes, org_id;
            short,
            owner: Owner::new(&card.owner_id, person),
            published_at: rfc3339(card.published_at),
            valid_through: rfc3339(card.valid_through),
            distance_km: hit.distance_m.map(|metres| (metres / 100.0).round() / 10.0),
            highlights: None,
        })
    }

    /// Returns the title and the excerpt.
    pub fn texts(&self) -> [&str; 2] {
        [&self.short.title, &self.short.excerpt]
    }

    pub fn highlight(&mut self, title: Vec<Highlight>, excerpt: Vec<Highlight>) {
        self.highlights = Some(Highlights { title, excerpt });
    }
}
