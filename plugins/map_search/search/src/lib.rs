//! Searches of the map, as `map_search` answers them: their filters, the records that they find, and the queries
//! between the two. A capability that stores a search shares this crate, so that the search means the same
//! there.

mod filters;
mod inputs;
mod organisations;
mod plan;
mod records;
mod refusals;
mod travel;

pub use filters::NEIGHBOURHOOD;
pub use inputs::*;
pub use organisations::Organisations;
pub use plan::{Plan, searched_types};
pub use records::*;
pub use refusals::SearchError;
pub use travel::Estimate;
