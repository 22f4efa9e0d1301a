//! Reads many documents by their ids. Such a read counts as a query, because it can take as long.

use crate::{
    connection::Queries,
    document::{CollectionId, DocumentKey, Stored},
    error::DbError,
    integers::{instant, unsigned},
};
use sea_query::{Alias, Expr, ExprTrait as _, SelectStatement};
use std::collections::HashMap;

type Row = (String, i64, Option<String>, i64, i64);

/// Returns the documents that exist or existed, all from one snapshot. Returns `None` if they are larger than
/// `max_bytes` bytes together.
pub(crate) async fn find_many(
    queries: &Queries,
    collection: CollectionId,
    ids: impl IntoIterator<Item = String>,
    mut max_bytes: usize,
) -> Result<Option<HashMap<DocumentKey, Stored>>, DbError> {
    let column = |name: &'static str| Expr::col(Alias::new(name));
    let mut statement = SelectStatement::new();
    statement
        .columns(["id", "revision", "body", "created_at", "updated_at"].map(Alias::new))
        .from(Alias::new("documents"))
        .and_where(column("collection").eq(collection.0))
        .and_where(column("id").is_in(ids));
    let fits = move |row: &Row| {
        let left = max_bytes
            .checked_sub(size_of::<Stored>() + row.0.len() + row.2.as_ref().map_or(0, String::len));
        max_bytes = left.unwrap_or(0);
        left.is_some()
    };
    let (rows, exceeds) = queries.fetch_while(&statement, fits).await?;
    let document = |(id, revision, body, created_at, updated_at): Row| {
        let stored = Stored {
            revision: unsigned(revision),
            body,
            created_at: instant(created_at),
            updated_at: instant(updated_at),
        };
        (DocumentKey { collection, id }, stored)
    };
    Ok((!exceeds).then(|| rows.into_iter().map(document).collect()))
}
