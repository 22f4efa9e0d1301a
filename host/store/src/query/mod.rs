//! Queries over the documents of both databases: declarations, tables and statements. `portolan_query`
//! defines what a query means, and answers it in memory over the documents that a call has written.

mod collection;
mod declaration;
mod layout;
mod many;
mod recent;
mod search;
mod select;

pub(crate) use collection::Layouts;
pub use collection::{Collection, Collections};
pub(crate) use declaration::declaration_text;
pub use declaration::shape;
pub(crate) use layout::Layout;
pub(crate) use many::find_many;
pub use portolan_query::{
    Bound, Counted, CursorInvalid, Direction, Entry, EntryError, Filter, FilterError, Found,
    MAX_COUNTED_PATHS, MAX_ELEMENTS, MAX_ORDER, MAX_WORDS, Order, OrderBy, Path, Placed, Query,
    QueryError, Request, Shape, ShapeError, SortValue, cursor, geo, is_counted, key, most_frequent,
};
pub(crate) use search::{Row, Search};
