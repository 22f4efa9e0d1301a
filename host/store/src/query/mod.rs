//! Queries over JSON documents: the keys that both databases sort by, matching in memory for
//! documents that a call has written, and the statements for those that the database has.

mod collection;
pub mod cursor;
mod declaration;
mod entry;
mod filter;
pub mod geo;
pub mod key;
mod layout;
mod order;
mod path;
mod recent;
mod request;
mod search;
mod select;
mod shape;
pub mod text;

pub(crate) use collection::Layouts;
pub use collection::{Collection, Collections};
pub use cursor::CursorInvalid;
pub(crate) use declaration::declaration_text;
pub use declaration::shape;
pub use entry::{Entry, EntryError, MAX_ELEMENTS, MAX_WORDS};
pub use filter::{Bound, Filter, FilterError};
pub(crate) use layout::Layout;
pub use order::{Direction, Order, OrderBy, Placed, SortValue};
pub use path::Path;
pub use request::{Found, MAX_ORDER, Query, QueryError, Request};
pub(crate) use search::{Row, Search, is_counted};
pub(crate) use select::MAX_COUNTED_PATHS;
pub use shape::{Shape, ShapeError};
