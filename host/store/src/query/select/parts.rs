//! The parts of statements.

use super::super::{
    geo::Circle,
    layout::Layout,
    recent::{RecentBlocks, Stretch},
};
use crate::connection::Backend;
use sea_query::{Alias, Expr};

/// The part of the matching documents that is searched.
pub(crate) enum SearchPart {
    Within(Circle),
    /// The documents that are ranked: those written last.
    Ranked,
    All,
    /// Documents that have this many of the telling words and not all words, among the newest of the collection.
    Partial(usize),
}

/// A builder of statements over the tables of one layout. `x` is the table of keys, or the documents of a
/// collection without an index; the table of words on SQLite has its own name.
pub(crate) struct Select<'a> {
    pub(super) layout: &'a Layout,
    pub(super) backend: &'a Backend,
    /// The blocks that are ranked on PostgreSQL; all documents are ranked if it is `None`.
    pub(crate) recent: Option<RecentBlocks>,
    /// The documents of which those with a part of the words are found, on PostgreSQL.
    pub(crate) stretches: Vec<Stretch>,
}

pub(super) fn column(table: &str, name: impl Into<String>) -> Expr {
    Expr::col((Alias::new(table), Alias::new(name)))
}
