//! The index of a collection: tables of keys that the host computes, so that both databases order
//! and compare alike.
//!
//! `x<collection>_<generation>` has a row for each document, with a key for each path with one value, and the
//! geographic position if the collection declares one. `…m` has the keys of paths with `[]`. Texts are in an
//! FTS5 table `…t` on SQLite, and in a `tsvector` on PostgreSQL. A changed declaration gets new tables in one
//! transaction; the former tables stay until the next change, for the calls that still read them.

use super::{
    Entry, Path, Shape,
    declaration::{declaration, shape},
    geo, recent,
};
use crate::{
    connection::{Backend, NUMBER, TEXT, Transaction},
    document::CollectionId,
    error::DbError,
};
use portolan_vocabulary::Index;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, SqlSafeStr as _, SqlStr};

/// The number of documents that are indexed with one statement.
const CHUNK: usize = 500;

/// The tables and statements of a collection's index.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) collection: CollectionId,
    /// Counts the changes of the declaration.
    pub(crate) generation: i64,
    pub(crate) shape: Shape,
    /// The positions of the paths of each index all of whose paths have one value.
    indexes: Vec<Vec<usize>>,
    sqlite: bool,
    statements: Option<IndexStatements>,
}

#[derive(Debug)]
struct IndexStatements {
    drop_rows: SqlStr,
    put_rows: SqlStr,
    drop_many: SqlStr,
    put_many: SqlStr,
    drop_words: Option<SqlStr>,
    put_words: Option<SqlStr>,
}

impl Layout {
    pub(crate) fn new(
        backend: &Backend,
        collection: CollectionId,
        generation: i64,
        text: &str,
    ) -> Result<Self, DbError> {
        let unusable = || DbError::Declaration(format!("collection {}", collection.0));
        let declaration = declaration(text).ok_or_else(unusable)?;
        let shape = shape(&declaration).map_err(|_| unusable())?;
        let place =
            |path: &String| shape.paths().iter().position(|declared| declared.as_str() == path);
        let columns = |index: &Index| -> Option<Vec<usize>> {
            let places: Option<Vec<usize>> = index.paths.iter().map(place).collect();
            places.filter(|places| {
                places
                    .iter()
                    .all(|place| shape.paths().get(*place).is_some_and(|path| !path.is_multiple()))
            })
        };
        let indexes = declaration.indexes.iter().filter_map(columns).collect();
        let sqlite = matches!(backend, Backend::Sqlite(_));
        let mut layout = Self { collection, generation, shape, indexes, sqlite, statements: None };
        if layout.is_indexed() {
            layout.statements = Some(layout.statements(backend));
        }
        Ok(layout)
    }

    /// Returns the number of bytes that the entry of a document takes in the index tables, and in the indexes over
    /// them: a value counts once for each index that has its path.
    pub(crate) fn index_bytes(&self, id: &str, entry: &Entry) -> usize {
        let length = |keys: &Vec<String>| keys.iter().map(String::len).sum::<usize>();
        let at = |position: &usize| entry.keys.get(*position).map_or(0, length);
        let of_index = |index: &Vec<usize>| id.len() + index.iter().map(at).sum::<usize>();
        let values = entry.keys.iter().chain(&entry.uniques).map(length);
        values.chain(self.indexes.iter().map(of_index)).sum()
    }

    /// Returns whether the collection has index tables.
    pub(crate) fn is_indexed(&self) -> bool {
        let shape = &self.shape;
        !shape.paths().is_empty() || !shape.text().is_empty() || shape.geo().is_some()
    }

    /// Returns the name of the table with a row for each document; the names of the other tables begin with
    /// it.
    pub(crate) fn table(&self) -> String {
        format!("x{}_{}", self.collection.0, self.generation)
    }

    /// Returns the positions of the paths that have one value, and so a column.
    fn single_valued(&self) -> impl Iterator<Item = usize> + '_ {
        let paths = self.shape.paths().iter().enumerate();
        paths.filter(|(_, path)| !path.is_multiple()).map(|(place, _)| place)
    }

    /// Returns the position of a path among the declared ones; `usize::MAX` if it is not declared.
    pub(crate) fn position(&self, path: &Path) -> usize {
        self.shape.paths().iter().position(|declared| declared == path).unwrap_or(usize::MAX)
    }

    fn columns(&self) -> Vec<(String, &'static str)> {
        let (text, number, double) = match self.sqlite {
            true => ("TEXT", "INTEGER", "REAL"),
            false => ("TEXT COLLATE \"C\"", "BIGINT", "DOUBLE PRECISION"),
        };
        let mut columns: Vec<_> =
            self.single_valued().map(|place| (format!("k{place}"), text)).collect();
        if self.shape.geo().is_some() {
            columns.push(("band".to_owned(), number));
            let doubles = ["latitude", "longitude", "x", "y", "z"];
            columns.extend(doubles.map(|name| (name.to_owned(), double)));
        }
        if !self.sqlite && !self.shape.text().is_empty() {
            columns.push(("words".to_owned(), "TSVECTOR"));
        }
        columns
    }

    fn statements(&self, backend: &Backend) -> IndexStatements {
        let sql = |text: String| AssertSqlSafe(text).into_sql_str();
        let (table, rows) = (self.table(), backend.row_source());
        let id = backend.parameter(0, TEXT);
        let ids = format!("(SELECT {id} FROM {rows})");
        let columns = self.columns();
        let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        let parts: Vec<String> = columns
            .iter()
            .enumerate()
            .map(|(place, (_, kind))| match *kind {
                "BIGINT" | "DOUBLE PRECISION" | "TSVECTOR" => backend.parameter(place + 1, kind),
                _ => backend.parameter(place + 1, TEXT),
            })
            .collect();
        let comma_prefixed =
            |parts: &[String]| -> String { parts.iter().map(|part| format!(", {part}")).collect() };
        let owned_names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let texts: Vec<String> =
            (0..self.shape.text().len()).map(|place| format!("t{place}")).collect();
        let words = self.sqlite && !texts.is_empty();
        let text_parts: Vec<String> =
            (0..texts.len()).map(|place| backend.parameter(place + 1, TEXT)).collect();
        IndexStatements {
            drop_rows: sql(format!("DELETE FROM {table} WHERE id IN {ids}")),
            put_rows: sql(format!(
                "INSERT INTO {table} (id{}) SELECT {id}{} FROM {rows}",
                comma_prefixed(&owned_names),
                comma_prefixed(&parts)
            )),
            drop_many: sql(format!("DELETE FROM {table}m WHERE id IN {ids}")),
            put_many: sql(format!(
                "INSERT INTO {table}m (id, place, key)
                 SELECT {id}, {}, {} FROM {rows}",
                backend.parameter(1, NUMBER),
                backend.parameter(2, TEXT)
            )),
            drop_words: words.then(|| {
                sql(format!(
                    "DELETE FROM {table}t WHERE rowid IN (SELECT seq FROM {table} WHERE id IN {ids})"
                ))
            }),
            put_words: words.then(|| {
                sql(format!(
                    "INSERT INTO {table}t (rowid, {}) SELECT x.seq{} FROM {rows} JOIN {table} x ON x.id = {id}",
                    texts.join(", "),
                    comma_prefixed(&text_parts)
                ))
            }),
        }
    }

    /// Creates the tables, and drops those of two changes ago.
    pub(crate) async fn create(&self, transaction: &mut Transaction) -> Result<(), DbError> {
        if self.generation > 2 {
            let old = format!("x{}_{}", self.collection.0, self.generation - 2);
            for suffix in ["t", "m", ""] {
                transaction.execute(format!("DROP TABLE IF EXISTS {old}{suffix}")).await?;
            }
        }
        if !self.is_indexed() {
            return Ok(());
        }
        let table = self.table();
        let (table_options, id) = match self.sqlite {
            true => (" STRICT", "seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE".to_owned()),
            false => {
                let sequence = recent::sequence_column(&table);
                ("", format!("{sequence}, id TEXT COLLATE \"C\" PRIMARY KEY"))
            }
        };
        let text = if self.sqlite { "TEXT" } else { "TEXT COLLATE \"C\"" };
        let columns: String =
            self.columns().iter().map(|(name, kind)| format!(", {name} {kind}")).collect();
        transaction.execute(format!("CREATE TABLE {table} ({id}{columns}){table_options}")).await?;
        transaction
            .execute(format!(
                "CREATE TABLE {table}m (id {text} NOT NULL, place BIGINT NOT NULL, key {text} NOT NULL, PRIMARY KEY (place, key, id))"
            ))
            .await?;
        transaction.execute(format!("CREATE INDEX {table}m_id ON {table}m (id)")).await?;
        for (number, places) in self.indexes.iter().enumerate() {
            let columns: String = places.iter().map(|place| format!("k{place}, ")).collect();
            let index = format!("CREATE INDEX {table}_{number} ON {table} ({columns}id)");
            transaction.execute(index).await?;
        }
        if self.shape.geo().is_some() {
            let columns = "band, longitude, latitude";
            let index = format!("CREATE INDEX {table}_band ON {table} ({columns})");
            transaction.execute(index).await?;
        }
        let texts: Vec<String> =
            (0..self.shape.text().len()).map(|place| format!("t{place}")).collect();
        match (texts.is_empty(), self.sqlite) {
            (true, _) => Ok(()),
            // The host makes the words, the same for both databases; the tokenizer only splits
            // them at spaces.
            (false, true) => {
                transaction
                    .execute(format!(
                        "CREATE VIRTUAL TABLE {table}t USING fts5 ({}, content = '', contentless_delete = 1, tokenize = 'ascii')",
                        texts.join(", ")
                    ))
                    .await
            }
            (false, false) => {
                // Every search scans the list of pending entries, so that list is limited to 256
                // kilobytes.
                let indexed = recent::indexed_expression("words", "seq");
                let index = format!(
                    "CREATE INDEX {table}_words ON {table} USING gin ({indexed}) WITH (gin_pending_list_limit = 256)"
                );
                transaction.execute(index).await
            }
        }
    }

    /// Replaces the index rows of these documents with rows for their entries. A document without an entry
    /// gets no rows.
    pub(crate) async fn write(
        &self,
        transaction: &mut Transaction,
        documents: &[(&str, Option<&Entry>)],
    ) -> Result<(), DbError> {
        let Some(statements) = &self.statements else { return Ok(()) };
        for chunk in documents.chunks(CHUNK) {
            let ids = || chunk.iter().map(|(id, _)| json!([id])).collect::<Vec<_>>();
            if let Some(drop_words) = &statements.drop_words {
                transaction.run(drop_words, ids()).await?;
            }
            if self.shape.paths().iter().any(Path::is_multiple) {
                transaction.run(&statements.drop_many, ids()).await?;
            }
            transaction.run(&statements.drop_rows, ids()).await?;
            let entries = || chunk.iter().filter_map(|(id, entry)| Some((*id, (*entry)?)));
            let rows = entries().map(|(id, entry)| self.row(id, entry)).collect();
            transaction.run(&statements.put_rows, rows).await?;
            let many =
                entries().flat_map(|(id, entry)| self.multi_valued_rows(id, entry)).collect();
            transaction.run(&statements.put_many, many).await?;
            if let Some(put_words) = &statements.put_words {
                let words = entries().map(|(id, entry)| word_row(id, entry)).collect();
                transaction.run(put_words, words).await?;
            }
        }
        Ok(())
    }

    fn row(&self, id: &str, entry: &Entry) -> Value {
        let key = |place: usize| entry.keys.get(place).and_then(|keys| keys.first());
        let mut row = vec![json!(id)];
        row.extend(self.single_valued().map(|place| json!(key(place).map_or("", String::as_str))));
        if self.shape.geo().is_some() {
            match entry.position {
                Some(position) => {
                    let (latitude, longitude) = (position.latitude(), position.longitude());
                    row.push(json!(geo::band(latitude)));
                    row.extend([latitude, longitude].map(|degrees| json!(degrees)));
                    row.extend(geo::earth_centred(position).map(|metres| json!(metres)));
                }
                None => row.extend([const { Value::Null }; 6]),
            }
        }
        if !self.sqlite && !self.shape.text().is_empty() {
            row.push(json!(tsvector(entry)));
        }
        Value::Array(row)
    }

    fn multi_valued_rows(&self, id: &str, entry: &Entry) -> Vec<Value> {
        let paths = self.shape.paths().iter().enumerate().filter(|(_, path)| path.is_multiple());
        paths
            .flat_map(|(place, _)| {
                let keys = entry.keys.get(place).into_iter().flatten();
                keys.map(move |key| json!([id, place, key]))
            })
            .collect()
    }
}

fn word_row(id: &str, entry: &Entry) -> Value {
    let texts = entry.words.iter().map(|words| json!(words.join(" ")));
    Value::Array(std::iter::once(json!(id)).chain(texts).collect())
}

/// Returns the texts as the text of a `tsvector`: each word with its position and the weight of its
/// text.
fn tsvector(entry: &Entry) -> String {
    const WEIGHTS: [char; 4] = ['A', 'B', 'C', 'D'];
    const LAST_POSITION: usize = 16_383;
    let mut text = String::new();
    let mut place = 0;
    for (number, words) in entry.words.iter().enumerate() {
        let weight = WEIGHTS.get(number).unwrap_or(&'D');
        for word in words {
            place = LAST_POSITION.min(place + 1);
            // Words consist of letters and digits, so no quote or backslash is escaped.
            text.push_str(&format!("'{word}':{place}{weight} "));
        }
    }
    text
}
