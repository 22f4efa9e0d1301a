//! Declared queries over JSON documents, without SQL: the keys both databases sort by, and the same
//! answers in memory for documents that a call has written but not committed.

pub mod key;
mod path;
mod shape;
pub mod text;
pub mod geo;
mod entry;
mod filter;
mod order;
mod request;
pub mod cursor;

pub use cursor::CursorInvalid;
pub use entry::{Entry, EntryError, MAX_ELEMENTS, MAX_WORDS};
pub use filter::{Bound, Filter, FilterError};
pub use order::{Direction, Order, OrderBy, Placed, SortValue};
pub use path::Path;
pub use request::{Found, MAX_ORDER, Query, QueryError, Request};
pub use shape::{Shape, ShapeError};
