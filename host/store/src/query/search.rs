//! Queries over the documents in the database.

use super::{
    Collection, Filter, Layout, OrderBy, Path, Placed, Query, is_counted,
    recent::{RANKED, RecentBlocks, SAMPLE, Stretch},
    select::{SearchPart, Select},
};
use crate::{
    connection::{Backend, Queries},
    error::DbError,
    integers::unsigned,
};
use std::collections::BTreeMap;

/// The maximum number of bytes of the documents of a page, unless its first document has more. A page that
/// would have more ends early.
const PAGE_BYTES: usize = 1 << 20;

/// A row of a query: the id and the sort keys of a match, and the document if it still exists.
#[derive(Debug, sqlx::FromRow)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) revision: Option<i64>,
    pub(crate) body: Option<String>,
    pub(crate) created_at: Option<i64>,
    pub(crate) updated_at: Option<i64>,
    pub(crate) relevance: Option<f64>,
    pub(crate) squared_chord: Option<f64>,
    pub(crate) key0: Option<String>,
    pub(crate) key1: Option<String>,
    pub(crate) key2: Option<String>,
    pub(crate) key3: Option<String>,
}

impl TryFrom<&rusqlite::Row<'_>> for Row {
    type Error = rusqlite::Error;

    fn try_from(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get("id")?,
            revision: row.get("revision")?,
            body: row.get("body")?,
            created_at: row.get("created_at")?,
            updated_at: row.get("updated_at")?,
            relevance: row.get("relevance")?,
            squared_chord: row.get("squared_chord")?,
            key0: row.get("key0")?,
            key1: row.get("key1")?,
            key2: row.get("key2")?,
            key3: row.get("key3")?,
        })
    }
}

impl Row {
    /// Returns the bytes of memory that the row takes with its document.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.id.len() + self.body.as_ref().map_or(0, String::len)
    }
}

/// The number of documents that have these keys, one for each path of the query.
#[derive(Debug, sqlx::FromRow)]
struct CountRow {
    documents: i64,
    key0: Option<String>,
    key1: Option<String>,
    key2: Option<String>,
    key3: Option<String>,
}

impl TryFrom<&rusqlite::Row<'_>> for CountRow {
    type Error = rusqlite::Error;

    fn try_from(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            documents: row.get("documents")?,
            key0: row.get("key0")?,
            key1: row.get("key1")?,
            key2: row.get("key2")?,
            key3: row.get("key3")?,
        })
    }
}

/// A query of one collection in the database.
pub(crate) struct Search<'a> {
    backend: &'a Backend,
    queries: Queries,
    layout: &'a Layout,
}

impl<'a> Search<'a> {
    pub(crate) fn new(backend: &'a Backend, queries: Queries, collection: &'a Collection) -> Self {
        Self { backend, queries, layout: &collection.layout }
    }

    /// Returns rows after the cursor, one more than the limit if there are more, and whether the
    /// page was cut because of its size. The documents with the ids in `written` are left out.
    pub(crate) async fn page(
        &self,
        query: &Query,
        after: Option<&Placed>,
        written: &[String],
    ) -> Result<(Vec<Row>, bool), DbError> {
        let mut select = Select::new(self.layout, self.backend);
        let by_relevance = query.order.iter().any(|order| matches!(order.by, OrderBy::Relevance));
        if let (Backend::Postgres(_), true) = (self.backend, by_relevance) {
            let last: Vec<(i64,)> = self.queries.fetch(&select.last_written()).await?;
            let last = last.first().map_or(0, |(last,)| unsigned(*last));
            select.recent = self.recent(&select, query, last).await?;
            select.stretches = Stretch::all(last);
        }
        let limit = u64::from(query.limit) + 1;
        let (mut rows, mut is_cut) = (Vec::new(), false);
        for part in select.search_parts(query, after) {
            let statement = select.documents(query, &part, written, after, limit);
            if !matches!(part, SearchPart::Partial { .. }) {
                rows.clear();
            }
            let size = |row: &Row| row.body.as_ref().map_or(0, String::len);
            let mut bytes: usize = rows.iter().map(size).sum();
            let fits = move |row: &Row| {
                let first = bytes == 0;
                bytes += size(row);
                first || bytes <= PAGE_BYTES
            };
            let found;
            (found, is_cut) = self.queries.fetch_while(&statement, fits).await?;
            rows.extend(found);
            if is_cut || rows.len() > query.limit as usize {
                break;
            }
        }
        rows.truncate(query.limit as usize + 1);
        Ok((rows, is_cut))
    }

    pub(crate) async fn count(
        &self,
        filter: Option<&Filter>,
        written: &[String],
    ) -> Result<u64, DbError> {
        let select = Select::new(self.layout, self.backend);
        let statement = select.count(filter, written);
        let rows: Vec<(i64,)> = self.queries.fetch(&statement).await?;
        Ok(rows.first().map_or(0, |(count,)| unsigned(*count)))
    }

    /// Returns for each path the keys of its values, with the number of documents that have each.
    /// All paths with one value share one statement; a path with several values has its own.
    pub(crate) async fn count_by(
        &self,
        query: &Query,
        paths: &[&Path],
        written: &[String],
    ) -> Result<Vec<BTreeMap<String, u64>>, DbError> {
        let select = Select::new(self.layout, self.backend);
        let (many, single): (Vec<usize>, Vec<usize>) =
            (0..paths.len()).partition(|at| paths.get(*at).is_some_and(|path| path.is_multiple()));
        let groups = [single].into_iter().chain(many.into_iter().map(|at| vec![at]));
        let mut all = vec![BTreeMap::new(); paths.len()];
        for group in groups.filter(|group| !group.is_empty()) {
            let group_paths: Vec<&Path> =
                group.iter().filter_map(|at| paths.get(*at)).copied().collect();
            let statement = select.count_by_keys(query, &group_paths, written);
            for row in self.queries.fetch::<CountRow>(&statement).await? {
                let keys = [row.key0, row.key1, row.key2, row.key3].into_iter().flatten();
                for (at, key) in group.iter().zip(keys).filter(|(_, key)| is_counted(key)) {
                    let counts: Option<&mut BTreeMap<String, u64>> = all.get_mut(*at);
                    let count = counts.map(|counts| counts.entry(key).or_default());
                    count.into_iter().for_each(|count| *count += unsigned(row.documents));
                }
            }
        }
        Ok(all)
    }

    /// Returns recent blocks in which about [`RANKED`] documents have the words; `None` if all
    /// documents with the words are ranked. `last` is the last position in the order of writing.
    async fn recent(
        &self,
        select: &Select<'_>,
        query: &Query,
        last: u64,
    ) -> Result<Option<RecentBlocks>, DbError> {
        let Some(sample) = RecentBlocks::new(last, SAMPLE) else { return Ok(None) };
        let counted: Vec<(i64,)> = self.queries.fetch(&select.sample(query, sample)).await?;
        let sample_count = counted.first().map_or(0, |(count,)| unsigned(*count));
        // One more block is added, because the newest may be almost empty.
        let blocks = (SAMPLE * RANKED).checked_div(sample_count).map(|blocks| blocks + 1);
        let recent = blocks.and_then(|blocks| RecentBlocks::new(last, blocks));
        // For several words the index scans whole blocks. If these are large, ranking all documents
        // that have the words is faster.
        Ok(recent.filter(|recent| query.words.len() == 1 || recent.has_small_blocks()))
    }
}
