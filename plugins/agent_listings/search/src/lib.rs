//! Searches for listings, as `agent_listings` answers them: their conditions, the cards that they
//! find, and the queries between the two. A capability that stores a search shares this crate, so
//! that the search means the same there.

mod conditions;
mod access;
mod cards;
mod prepared;
mod refusals;
mod views;

pub use access::{can_view, ensure_old_enough, is_too_young, is_withheld};
pub use cards::{
    CARDS, CARDS_OF, Card, CardsQuery, FoundCards, LEVELS, RANKS, StoredCard, cards, indexed,
    level_of, levels,
};
pub use conditions::{Conditions, Near, Without};
pub use prepared::Prepared;
pub use refusals::SearchError;
pub use views::{CardView, Highlights, Owner};
