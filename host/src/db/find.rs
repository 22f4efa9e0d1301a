//! Queries: SQL from a checked query, every value bound; under the call's own writes.

use crate::{
    db::{
        Collection, DbError, Document, StateError, Store,
        backend::Backend,
        index::Layout,
        query::{
            Direction, Entry, Filter, Order, OrderBy, Path, Placed, Query, SortValue, cursor,
            geo::{Bounds, distance_m, earth_centred},
            key,
        },
        unit::{DocumentKey, Stored, Unit},
        unsigned,
    },
    vocabulary::Timestamp,
};
use sea_query::{
    Alias, Cond, Expr, ExprTrait as _, JoinType, PostgresQueryBuilder, SelectStatement,
    SqliteQueryBuilder,
};
use sea_query_sqlx::SqlxBinder as _;
use serde_json::Value;
use sqlx::AssertSqlSafe;

/// A page ends early rather than holding more than this.
const PAGE_BYTES: usize = 1 << 20;
/// A region of more bands is looked for by its latitudes alone.
const BANDS: i64 = 400;

/// A document that a query found.
#[derive(Debug, Clone)]
pub struct Hit {
    pub document: Document,
    /// 0 for a document that this very call wrote.
    pub relevance: Option<f64>,
    /// Metres.
    pub distance_m: Option<f64>,
}

#[derive(Debug, Clone)]
pub struct Page {
    pub hits: Vec<Hit>,
    /// Where the next page starts.
    pub next: Option<String>,
}

/// A hit on its way: where it stands among the others.
struct Candidate {
    placed: Placed,
    stored: Stored,
    relevance: Option<f64>,
    squared_chord: Option<f64>,
}

/// A row of a query: document, relevance, squared chord.
type Row = (String, i64, String, i64, i64, Option<f64>, Option<f64>);

impl Unit {
    /// A page of what fits, in the query's order.
    pub async fn find(
        &mut self,
        collection: &Collection,
        query: &Query,
        after: Option<&str>,
    ) -> Result<Page, StateError> {
        let keys = self.store.inner.cursor_keys.clone();
        let digest = query.digest(&collection.scope);
        let after = match after {
            None => None,
            Some(text) => Some(
                cursor::open(&keys, &digest, text, query.order.len())
                    .map_err(|_| StateError::CursorInvalid)?,
            ),
        };
        let written = self.own_ids(collection);
        let mut candidates = self.own(collection, query, after.as_ref());
        let limit = query.limit as usize;
        let (rows, cut) = self.store.search(collection, query, after.as_ref(), &written).await?;
        self.looked();
        let full = cut || rows.len() > limit;
        for row in rows {
            let candidate = candidate(collection, query, row)?;
            let key = DocumentKey { collection: collection.id(), id: candidate.placed.id.clone() };
            // What was seen first stays; if it has changed since, the commit finds out.
            self.reads.entry(key).or_insert_with(|| candidate.stored.clone());
            candidates.push(candidate);
        }
        candidates.sort_by(|one, other| one.placed.compare(&other.placed, &query.order));
        let more = candidates.len() > limit || full;
        candidates.truncate(if cut { candidates.len() } else { limit });
        let last = candidates.last().filter(|_| more).map(|last| &last.placed);
        let next = keys.first().and_then(|key| Some(cursor::seal(key, &digest, last?)));
        Ok(Page { hits: candidates.into_iter().filter_map(Candidate::hit).collect(), next })
    }

    /// How many documents fit.
    pub async fn count(
        &mut self,
        collection: &Collection,
        filter: Option<&str>,
    ) -> Result<u64, StateError> {
        let declared = collection.shape().paths();
        let filter = filter
            .map(|filter| Filter::parse(filter, declared))
            .transpose()
            .map_err(|error| StateError::Invalid(error.to_string()))?;
        let fits = |entry: &Entry| {
            filter.as_ref().is_none_or(|filter| filter.matches(declared, &entry.keys))
        };
        let own = self.writes_in(collection.id());
        let own = own.filter(|(_, write)| write.entry.as_ref().is_some_and(fits)).count() as u64;
        let written = self.own_ids(collection);
        let kept = self.store.count(collection, filter.as_ref(), &written).await?;
        self.looked();
        Ok(own + kept)
    }

    fn own_ids(&self, collection: &Collection) -> Written {
        self.writes_in(collection.id()).map(|(key, _)| key.id.clone()).collect()
    }

    /// This call's own documents that fit and come after the cursor.
    fn own(
        &self,
        collection: &Collection,
        query: &Query,
        after: Option<&Placed>,
    ) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (key, write) in self.writes_in(collection.id()) {
            let (Some(entry), Some(body)) = (&write.entry, &write.body) else { continue };
            let Some(fit) = query.matches(entry) else { continue };
            let placed = query.place(entry, fit, key.id.clone());
            if after.is_some_and(|after| placed.compare(after, &query.order).is_le()) {
                continue;
            }
            let stored = Stored {
                revision: write.revision,
                body: Some(body.clone()),
                created_at: write.created_at,
                updated_at: write.updated_at,
            };
            let relevance = (!query.words.is_empty()).then_some(0.0);
            let squared_chord = fit.squared_chord;
            found.push(Candidate { placed, stored, relevance, squared_chord });
        }
        found
    }
}

impl Candidate {
    fn hit(self) -> Option<Hit> {
        Some(Hit {
            document: Document {
                id: self.placed.id,
                revision: self.stored.revision,
                body: self.stored.body?,
                created_at: self.stored.created_at,
                updated_at: self.stored.updated_at,
            },
            relevance: self.relevance,
            distance_m: self.squared_chord.map(|squared| distance_m(squared.sqrt())),
        })
    }
}

fn candidate(collection: &Collection, query: &Query, row: Row) -> Result<Candidate, StateError> {
    let (id, revision, body, created_at, updated_at, relevance, squared_chord) = row;
    let by_path = query.order.iter().any(|order| matches!(order.by, OrderBy::Path(_)));
    let entry = if by_path {
        let value: Value = serde_json::from_str(&body).unwrap_or_default();
        collection.shape().entry(&value).ok()
    } else {
        None
    };
    let value = |order: &Order| match &order.by {
        OrderBy::Path(path) => {
            let keys = entry.as_ref().and_then(|it| it.keys.get(collection.layout.place(path)));
            let key = keys.and_then(|keys| keys.first()).cloned();
            SortValue::Key(key.unwrap_or_default())
        }
        OrderBy::Relevance => SortValue::Number(relevance.unwrap_or_default()),
        OrderBy::Distance => SortValue::Number(squared_chord.unwrap_or_default()),
    };
    let placed = Placed { sort: query.order.iter().map(value).collect(), id };
    let stored = Stored {
        revision: unsigned(revision),
        body: Some(body),
        created_at: Timestamp::from_millis(unsigned(created_at)),
        updated_at: Timestamp::from_millis(unsigned(updated_at)),
    };
    Ok(Candidate { placed, stored, relevance, squared_chord })
}

/// Ids of documents that the call has written.
type Written = Vec<String>;

impl Store {
    /// Rows after the cursor, one more than the limit if there are more; and whether they were cut
    /// because they are large.
    async fn search(
        &self,
        collection: &Collection,
        query: &Query,
        after: Option<&Placed>,
        written: &[String],
    ) -> Result<(Vec<Row>, bool), DbError> {
        let select = Select { layout: &collection.layout, backend: &self.inner.backend };
        let mut statement = select.documents(query, written);
        select.order(&mut statement, query, after);
        statement.limit(u64::from(query.limit) + 1);
        let mut bytes = 0;
        let mut rows: Vec<Row> = self.rows(&statement).await?;
        let fits = rows.iter().take_while(|row| {
            let first = bytes == 0;
            bytes += row.2.len();
            first || bytes <= PAGE_BYTES
        });
        let fits = fits.count();
        let cut = fits < rows.len() && fits <= query.limit as usize;
        if cut {
            rows.truncate(fits);
        }
        Ok((rows, cut))
    }

    async fn count(
        &self,
        collection: &Collection,
        filter: Option<&Filter>,
        written: &[String],
    ) -> Result<u64, DbError> {
        let select = Select { layout: &collection.layout, backend: &self.inner.backend };
        let mut statement = select.base(written);
        if let Some(filter) = filter {
            statement.and_where(select.filter(filter));
        }
        statement.expr(Expr::cust("count(*)"));
        let rows: Vec<(i64,)> = self.rows(&statement).await?;
        Ok(rows.first().map_or(0, |(count,)| unsigned(*count)))
    }

    async fn rows<T>(&self, statement: &SelectStatement) -> Result<Vec<T>, DbError>
    where
        T: Send
            + Unpin
            + for<'r> sqlx::FromRow<'r, sqlx::sqlite::SqliteRow>
            + for<'r> sqlx::FromRow<'r, sqlx::postgres::PgRow>,
    {
        Ok(match &*self.inner.backend {
            Backend::Sqlite(sqlite) => {
                let (sql, values) = statement.build_sqlx(SqliteQueryBuilder);
                sqlx::query_as_with(AssertSqlSafe(sql), values).fetch_all(&sqlite.readers).await?
            }
            Backend::Postgres(pool) => {
                let (sql, values) = statement.build_sqlx(PostgresQueryBuilder);
                sqlx::query_as_with(AssertSqlSafe(sql), values).fetch_all(pool).await?
            }
        })
    }
}

/// Builds statements over the tables of one layout: `d` the documents, `x` their keys, and on SQLite
/// the table of words under its own name.
struct Select<'a> {
    layout: &'a Layout,
    backend: &'a Backend,
}

fn column(table: &str, name: impl Into<String>) -> Expr {
    Expr::col((Alias::new(table), Alias::new(name)))
}

/// How much more a text counts than the next one.
const WEIGHTS: [f64; 4] = [8.0, 4.0, 2.0, 1.0];

impl Select<'_> {
    /// From the documents of the collection, but for those that this call wrote.
    fn base(&self, written: &[String]) -> SelectStatement {
        let mut statement = SelectStatement::new();
        statement.from_as(Alias::new("documents"), Alias::new("d"));
        if self.layout.is_indexed() {
            let table = Alias::new(self.layout.table());
            let same = column("x", "id").eq(column("d", "id"));
            statement.join_as(JoinType::InnerJoin, table, Alias::new("x"), same);
        }
        statement.and_where(column("d", "collection").eq(self.layout.collection.0));
        statement.and_where(column("d", "body").is_not_null());
        if !written.is_empty() {
            statement.and_where(self.id().is_not_in(written.iter().cloned()));
        }
        statement
    }

    fn id(&self) -> Expr {
        column(if self.layout.is_indexed() { "x" } else { "d" }, "id")
    }

    fn documents(&self, query: &Query, written: &[String]) -> SelectStatement {
        let mut statement = self.base(written);
        for name in ["id", "revision", "body", "created_at", "updated_at"] {
            statement.expr(column("d", name));
        }
        if let Some(filter) = &query.filter {
            statement.and_where(self.filter(filter));
        }
        if !query.words.is_empty() {
            self.words(&mut statement, query);
        }
        statement.expr(self.relevance(query).unwrap_or_else(nothing));
        if let Some(within) = &query.within {
            self.bounds(&mut statement, &within.bounds());
        }
        if let Some(near) = &query.near {
            self.bounds(&mut statement, &near.bounds());
            if let Some(reach) = near.squared_reach() {
                statement.and_where(squared_chord(query).lte(reach));
            }
        }
        statement.expr(if query.near.is_some() { squared_chord(query) } else { nothing() });
        statement
    }

    fn filter(&self, filter: &Filter) -> Expr {
        let all = |filters: &[Filter], empty: Cond| {
            filters.iter().fold(empty, |cond, filter| cond.add(self.filter(filter)))
        };
        match filter {
            Filter::And(filters) if filters.is_empty() => Expr::value(1).eq(1),
            Filter::Or(filters) if filters.is_empty() => Expr::value(1).eq(0),
            Filter::And(filters) => all(filters, Cond::all()).into(),
            Filter::Or(filters) => all(filters, Cond::any()).into(),
            Filter::Not(filter) => self.filter(filter).not(),
            Filter::In { path, keys } => self.keys(path, |key| match keys.is_empty() {
                true => Expr::value(1).eq(0),
                false => key.is_in(keys.iter().cloned()),
            }),
            Filter::Range { path, lower, upper } => self.keys(path, |key| {
                let above = match lower.inclusive {
                    true => key.clone().gte(lower.key.clone()),
                    false => key.clone().gt(lower.key.clone()),
                };
                above.and(match upper.inclusive {
                    true => key.lte(upper.key.clone()),
                    false => key.lt(upper.key.clone()),
                })
            }),
            Filter::Exists { path, exists } => {
                let there = self.keys(path, |key| key.gt(key::NULL));
                if *exists { there } else { there.not() }
            }
        }
    }

    /// What must be true of a key of this path; of any one, if there are many.
    fn keys(&self, path: &Path, fits: impl FnOnce(Expr) -> Expr) -> Expr {
        let place = self.layout.place(path);
        if !path.is_multiple() {
            return fits(column("x", format!("k{place}")));
        }
        let mut ids = SelectStatement::new();
        ids.column(Alias::new("id"))
            .from(Alias::new(format!("{}m", self.layout.table())))
            .and_where(Expr::col(Alias::new("place")).eq(i64::try_from(place).unwrap_or(-1)))
            .and_where(fits(Expr::col(Alias::new("key"))));
        self.id().in_subquery(ids)
    }

    fn words(&self, statement: &mut SelectStatement, query: &Query) {
        match self.backend {
            Backend::Sqlite(_) => {
                let name = format!("{}t", self.layout.table());
                let table = Alias::new(name.clone());
                let same = Expr::cust(format!("\"{name}\".rowid")).eq(column("x", "seq"));
                statement.join(JoinType::InnerJoin, table, same);
                let wanted: Vec<_> = query.words.iter().map(|word| format!("\"{word}\"")).collect();
                let weights: Vec<_> = self.weights().map(|weight| weight.to_string()).collect();
                let matches = |column: &str, text: String| {
                    Expr::cust_with_values(format!("\"{name}\".\"{column}\" MATCH ?"), [text])
                };
                statement.and_where(matches(&name, wanted.join(" AND ")));
                statement.and_where(matches("rank", format!("bm25({})", weights.join(", "))));
            }
            Backend::Postgres(_) => {
                statement.and_where(Expr::cust_with_values(
                    "x.words @@ CAST($1 AS tsquery)",
                    [wanted(query)],
                ));
            }
        }
    }

    fn weights(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.layout.shape.text().len())
            .map(|place| WEIGHTS.get(place).or(WEIGHTS.last()).copied().unwrap_or(1.0))
    }

    fn relevance(&self, query: &Query) -> Option<Expr> {
        if query.words.is_empty() {
            return None;
        }
        Some(match self.backend {
            Backend::Sqlite(_) => Expr::cust(format!("-\"{}t\".rank", self.layout.table())),
            Backend::Postgres(_) => Expr::cust_with_values(
                // From the lightest to the weightiest.
                "CAST(ts_rank('{0.125, 0.25, 0.5, 1}', x.words, CAST($1 AS tsquery)) AS double precision)",
                [wanted(query)],
            ),
        })
    }

    fn bounds(&self, statement: &mut SelectStatement, bounds: &Bounds) {
        let (first, last) = (*bounds.bands.start(), *bounds.bands.end());
        // Each band by itself, so that the index finds the longitudes in it.
        statement.and_where(match last - first < BANDS {
            true => column("x", "band").is_in(first..=last),
            false => column("x", "band").between(first, last),
        });
        let (south, north) = (*bounds.latitudes.start(), *bounds.latitudes.end());
        statement.and_where(column("x", "latitude").between(south, north));
        let between = bounds.longitudes.iter().fold(Cond::any(), |cond, range| {
            cond.add(column("x", "longitude").between(*range.start(), *range.end()))
        });
        statement.cond_where(between);
    }

    /// Sorts, and leaves out what does not come after the cursor.
    fn order(&self, statement: &mut SelectStatement, query: &Query, after: Option<&Placed>) {
        let mut keys: Vec<(Expr, Direction)> = query
            .order
            .iter()
            .map(|order| {
                let key = match &order.by {
                    OrderBy::Path(path) => column("x", format!("k{}", self.layout.place(path))),
                    OrderBy::Relevance => self.relevance(query).unwrap_or_else(nothing),
                    OrderBy::Distance => squared_chord(query),
                };
                (key, order.direction)
            })
            .collect();
        keys.push((self.id(), Direction::Ascending));
        if let Some(after) = after {
            let values = after.sort.iter().map(|value| match value {
                SortValue::Key(key) => Expr::value(key.clone()),
                SortValue::Number(number) => Expr::value(*number),
            });
            let values: Vec<Expr> = values.chain([Expr::value(after.id.clone())]).collect();
            statement.cond_where(behind(&keys, &values));
        }
        for (key, direction) in keys {
            let direction = match direction {
                Direction::Ascending => sea_query::Order::Asc,
                Direction::Descending => sea_query::Order::Desc,
            };
            statement.order_by_expr(key, direction);
        }
    }
}

/// What comes behind these values: a later key decides where all before it are equal.
fn behind(keys: &[(Expr, Direction)], values: &[Expr]) -> Cond {
    let mut any = Cond::any();
    for (place, ((key, direction), value)) in keys.iter().zip(values).enumerate() {
        let later = match direction {
            Direction::Ascending => key.clone().gt(value.clone()),
            Direction::Descending => key.clone().lt(value.clone()),
        };
        let equal = keys.iter().zip(values).take(place);
        let all = equal
            .fold(Cond::all(), |all, ((key, _), value)| all.add(key.clone().eq(value.clone())));
        any = any.add(all.add(later));
    }
    any
}

fn nothing() -> Expr {
    Expr::cust("CAST(NULL AS DOUBLE PRECISION)")
}

/// Words are letters and digits alone, so quotes need no care.
fn wanted(query: &Query) -> String {
    let words: Vec<_> = query.words.iter().map(|word| format!("'{word}'")).collect();
    words.join(" & ")
}

/// Summed in the order of the model, so that both come to the same number.
fn squared_chord(query: &Query) -> Expr {
    let Some(near) = &query.near else { return nothing() };
    let [x, y, z] = earth_centred(near.centre());
    let squared = |name: &'static str, value: f64| {
        let difference = column("x", name).sub(value);
        difference.clone().mul(difference)
    };
    squared("x", x).add(squared("y", y)).add(squared("z", z))
}
