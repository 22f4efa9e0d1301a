//! Reads and changes of rows of collections within a transaction.

use crate::{
    connection::{NUMBER, Transaction},
    document::CollectionId,
    error::DbError,
    store::Store,
};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, SqlSafeStr as _, SqlStr};

/// The row of a collection: state, version, shape, generation; the collection that follows its changes, if
/// there is one; the end of its fence; the component that fills it; the last id that was copied.
pub(super) type Row = (String, i64, String, i64, Option<i64>, i64, Option<String>, Option<String>);

impl Store {
    pub(super) async fn find_row(
        &self,
        transaction: &mut Transaction,
        collection: CollectionId,
    ) -> Result<Option<Row>, DbError> {
        let backend = &self.inner.backend;
        let sql = format!(
            "SELECT t.state, CAST(t.version AS BIGINT), t.shape, t.generation, t.followed_by,
             t.fenced_until, t.migrated_by, t.copied_to FROM {} JOIN collections t ON t.id = {}",
            backend.row_source(),
            backend.parameter(0, NUMBER)
        );
        let rows: Vec<Row> = transaction.find(&sql_text(sql), vec![json!([collection.0])]).await?;
        Ok(rows.into_iter().next())
    }

    /// Sets columns, with their types, of a collection's row.
    pub(super) async fn set_columns(
        &self,
        transaction: &mut Transaction,
        collection: CollectionId,
        columns: &[(&str, &str, Value)],
    ) -> Result<(), DbError> {
        let backend = &self.inner.backend;
        let assignment = |(place, (name, kind, _)): (usize, &(&str, &str, Value))| {
            format!("{name} = {}", backend.parameter(place, kind))
        };
        let assignments: Vec<_> = columns.iter().enumerate().map(assignment).collect();
        let sql = format!(
            "UPDATE collections SET {} FROM {} WHERE collections.id = {}",
            assignments.join(", "),
            backend.row_source(),
            backend.parameter(columns.len(), NUMBER)
        );
        let values = columns.iter().map(|(.., value)| value.clone());
        let row = values.chain([json!(collection.0)]).collect();
        transaction.run(&sql_text(sql), vec![Value::Array(row)]).await
    }

    /// Counts rows. `source` is a table with joins and a condition as SQL, made of names and numbers only.
    pub(super) async fn count(
        &self,
        transaction: &mut Transaction,
        source: &str,
    ) -> Result<i64, DbError> {
        let sql =
            format!("SELECT count(*) FROM {} CROSS JOIN {source}", self.inner.backend.row_source());
        let counts: Vec<(i64,)> = transaction.find(&sql_text(sql), vec![json!([])]).await?;
        Ok(counts.first().map_or(0, |(count,)| *count))
    }

    /// Returns the statement that deletes the rows whose columns equal the elements of a given row.
    pub(super) fn delete_statement(&self, table: &str, columns: &[(&str, &str)]) -> SqlStr {
        let backend = &self.inner.backend;
        let parts =
            columns.iter().enumerate().map(|(place, (_, kind))| backend.parameter(place, kind));
        let parts: Vec<_> = parts.collect();
        let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
        sql_text(format!(
            "DELETE FROM {table} WHERE ({}) IN (SELECT {} FROM {})",
            names.join(", "),
            parts.join(", "),
            backend.row_source()
        ))
    }
}

pub(super) fn sql_text(text: String) -> SqlStr {
    AssertSqlSafe(text).into_sql_str()
}
