//! Queries over JSON documents: which documents a collection can index, which of them a query
//! finds, and in which order. The host's store and the SDK's tests share this crate, so a query
//! means the same in both.
//!
//! # Modules, in reading order
//!
//! - `path`, `shape`: the indexed parts of a collection's documents
//! - `key`, `geo`: the forms in which values and positions are indexed; `portolan-text` has that of words
//! - `entry`: the index entry of one document
//! - `filter`, `order`, `request`: queries
//! - `count`: how many documents have each value
//! - `cursor`: where the next page starts
//!
//! The crate reads no clock, no file and no network.

mod count;
pub mod cursor;
mod entry;
mod filter;
pub mod geo;
pub mod key;
mod order;
mod path;
mod request;
mod shape;

pub use count::{Counted, MAX_COUNTED_PATHS, is_counted, most_frequent};
pub use cursor::CursorInvalid;
pub use entry::{Entry, EntryError, MAX_ELEMENTS, MAX_WORDS};
pub use filter::{Bound, Filter, FilterError};
pub use order::{Direction, Order, OrderBy, Placed, SortValue};
pub use path::Path;
pub use request::{Found, MAX_ORDER, Query, QueryError, Request};
pub use shape::{Shape, ShapeError};
