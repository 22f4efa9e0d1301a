//! Statements that count documents, and documents by value.

use super::super::{Filter, MAX_COUNTED_PATHS, Path, Query};
use super::{SearchPart, Select, column};
use sea_query::{Alias, Expr, ExprTrait as _, JoinType, SelectStatement};

/// The maximum number of documents whose values are counted.
const MAX_COUNTED_DOCUMENTS: u64 = 10_000;

impl Select<'_> {
    /// Counts the matching documents.
    pub(crate) fn count(&self, filter: Option<&Filter>, written: &[String]) -> SelectStatement {
        let mut statement = SelectStatement::new();
        statement.from_as(self.table(), Alias::new("x"));
        if self.layout.is_indexed() {
            let same = column("d", "collection")
                .eq(self.layout.collection.0)
                .and(column("d", "id").eq(column("x", "id")))
                .and(column("d", "body").is_not_null());
            statement.join_as(JoinType::InnerJoin, Alias::new("documents"), Alias::new("d"), same);
        }
        self.add_existence(&mut statement, written);
        if let Some(filter) = filter {
            statement.and_where(self.filter(filter));
        }
        statement.expr(Expr::cust("count(*)"));
        statement
    }

    /// Counts the matching documents by each combination of the keys of these paths. A path with
    /// several values must be the only one.
    pub(crate) fn count_by_keys(
        &self,
        query: &Query,
        paths: &[&Path],
        written: &[String],
    ) -> SelectStatement {
        let mut found = SelectStatement::new();
        self.add_tables(&mut found, query);
        self.add_conditions(&mut found, query, &SearchPart::All, written);
        found.expr_as(column("x", "id"), "id").limit(MAX_COUNTED_DOCUMENTS);
        let mut statement = SelectStatement::new();
        let many = paths.iter().find(|path| path.is_multiple());
        if many.is_none() {
            for (place, path) in paths.iter().enumerate() {
                found.expr_as(self.key(path), format!("key{place}"));
            }
        }
        statement.from_subquery(found, "found");
        if let Some(path) = many {
            let place = i64::try_from(self.layout.position(path)).unwrap_or(-1);
            let same = column("m", "id").eq(column("found", "id"));
            let keys = Alias::new(format!("{}m", self.layout.table()));
            statement.join_as(JoinType::InnerJoin, keys, Alias::new("m"), same);
            statement.and_where(column("m", "place").eq(place));
        }
        for place in 0..MAX_COUNTED_PATHS {
            let name = format!("key{place}");
            if place >= paths.len() {
                statement.expr_as(Expr::cust("CAST(NULL AS TEXT)"), name);
                continue;
            }
            let (table, key) = match many {
                Some(_) => ("m", "key"),
                None => ("found", name.as_str()),
            };
            statement.expr_as(column(table, key), name.clone());
            statement.group_by_col((Alias::new(table), Alias::new(key)));
        }
        statement.expr_as(Expr::cust("count(*)"), "documents");
        statement
    }
}
