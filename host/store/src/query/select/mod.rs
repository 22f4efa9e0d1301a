//! Builds the statements of checked queries for either database, with every value bound.

mod count;
mod parts;
mod words;

use super::{
    Direction, Filter, MAX_ORDER, OrderBy, Path, Placed, Query, SortValue,
    geo::{Bounds, Circle, earth_centred},
    key,
    layout::Layout,
    recent::RANKED,
};
use crate::connection::Backend;
use parts::column;
pub(crate) use parts::{SearchPart, Select};
use sea_query::{Alias, Cond, Expr, ExprTrait as _, IntoTableRef as _, JoinType, SelectStatement};

/// A region of more bands than this is searched as one range of bands, in which the index does not find the
/// longitudes.
const MAX_LISTED_BANDS: i64 = 400;
/// The nearest documents are searched in a small circle first, and then in wider ones.
const MIN_RADIUS_M: f64 = 250.0;
const RADIUS_FACTOR: f64 = 4.0;

impl<'a> Select<'a> {
    pub(crate) fn new(layout: &'a Layout, backend: &'a Backend) -> Self {
        Self { layout, backend, recent: None, stretches: Vec::new() }
    }

    /// Selects documents in the query's order, each with its sort keys. The matching rows are
    /// sorted by their keys alone, and only the documents of the page are fetched.
    pub(crate) fn documents(
        &self,
        query: &Query,
        part: &SearchPart,
        written: &[String],
        after: Option<&Placed>,
        limit: u64,
    ) -> SelectStatement {
        let mut found = SelectStatement::new();
        match part {
            SearchPart::Partial(telling) => {
                self.add_partial(&mut found, query, *telling, written);
            }
            _ => {
                self.add_tables(&mut found, query);
                self.add_conditions(&mut found, query, part, written);
            }
        }
        let relevance = self.relevance(query, part).unwrap_or_else(null_double);
        found.expr_as(column("x", "id"), "id");
        found.expr_as(relevance.clone(), "relevance");
        found.expr_as(squared_chord(query), "squared_chord");
        for place in 0..MAX_ORDER {
            let key = match query.order.get(place).map(|order| &order.by) {
                Some(OrderBy::Path(path)) => self.key(path),
                _ => Expr::cust("CAST(NULL AS TEXT)"),
            };
            found.expr_as(key, format!("key{place}"));
        }
        let keys = query.order.iter().map(|order| match &order.by {
            OrderBy::Path(path) => self.key(path),
            OrderBy::Relevance => relevance.clone(),
            OrderBy::Distance => squared_chord(query),
        });
        let keys: Vec<Expr> = keys.chain([column("x", "id")]).collect();
        if let (None, Some((OrderBy::Path(_), key))) =
            (after, query.order.first().map(|order| &order.by).zip(keys.first()))
        {
            // This condition is always true. It makes SQLite's planner prefer an index in this order
            // if no index helps with the other conditions.
            found.and_where(key.clone().gte(key::MISSING));
        }
        add_order(&mut found, query, keys, after);
        found.limit(limit);

        let mut statement = SelectStatement::new();
        statement.from_subquery(found, "found");
        // An index of a former declaration may name documents that no longer exist.
        let same = column("d", "collection")
            .eq(self.layout.collection.0)
            .and(column("d", "id").eq(column("found", "id")));
        statement.join_as(JoinType::LeftJoin, Alias::new("documents"), Alias::new("d"), same);
        statement.expr(column("found", "id"));
        for name in ["revision", "body", "created_at", "updated_at"] {
            statement.expr(column("d", name));
        }
        for name in ["relevance", "squared_chord"] {
            statement.expr(column("found", name));
        }
        let key = |place| column("found", format!("key{place}"));
        statement.exprs((0..MAX_ORDER).map(key));
        let keys = query.order.iter().enumerate().map(|(place, order)| match &order.by {
            OrderBy::Path(_) => key(place),
            OrderBy::Relevance => column("found", "relevance"),
            OrderBy::Distance => column("found", "squared_chord"),
        });
        let id = column("found", "id");
        add_order(&mut statement, query, keys.chain([id]).collect(), None);
        statement
    }

    /// Returns parts that start at the first document of the order, each larger than the one
    /// before, and then everything: the first part with a whole page answers the query. The documents
    /// with a part of the words follow the others.
    pub(crate) fn search_parts(&self, query: &Query, after: Option<&Placed>) -> Vec<SearchPart> {
        let reached = match after.and_then(|after| after.sort.first()) {
            Some(SortValue::Number(number)) => Some(*number),
            _ => None,
        };
        let first = query.order.first().map(|order| (&order.by, order.direction));
        if let Some(relevance) = reached.filter(|relevance| *relevance < 0.0)
            && query.finds_partial()
        {
            // The relevance is from `-missing` to `1 - missing`.
            let missing = relevance.abs().ceil() as usize;
            return partial_parts(query, query.most_missing().saturating_sub(missing));
        }
        let mut parts = Vec::new();
        match (first, query.near, self.backend) {
            (Some((OrderBy::Distance, Direction::Ascending)), Some(near), _) => {
                let reached = reached.unwrap_or(0.0).sqrt();
                let mut radius = MIN_RADIUS_M;
                while radius * 2.0 < near.radius_m() {
                    if radius > reached {
                        parts.push(SearchPart::Within(near.with_radius(radius)));
                    }
                    radius *= RADIUS_FACTOR;
                }
            }
            (Some((OrderBy::Relevance, Direction::Descending)), _, backend)
                if reached.is_none_or(|relevance| relevance > 0.0)
                    && (matches!(backend, Backend::Sqlite(_)) || self.recent.is_some()) =>
            {
                parts.push(SearchPart::Ranked);
            }
            _ => {}
        }
        parts.push(SearchPart::All);
        if query.finds_partial() {
            parts.extend(partial_parts(query, query.most_telling()));
        }
        parts
    }

    fn table(&self) -> Alias {
        Alias::new(if self.layout.is_indexed() { self.layout.table() } else { "documents".into() })
    }

    fn add_tables(&self, statement: &mut SelectStatement, query: &Query) {
        match self.backend {
            // `CROSS JOIN` fixes the order of the tables: SQLite's planner would search for the words last.
            Backend::Sqlite(_) if !query.words.is_empty() => {
                let words = self.word_table();
                let mut last = SelectStatement::new();
                last.column(Alias::new("rowid"));
                last.from(Alias::new(&words));
                last.and_where(self.has_all(&query.words));
                last.order_by(Alias::new("rowid"), sea_query::Order::Desc);
                last.limit(RANKED);
                let mut ranked = SelectStatement::new();
                ranked.expr_as(Expr::cust("min(rowid)"), "since");
                ranked.from_subquery(last, "last");
                statement.from_subquery(ranked, "ranked");
                statement.and_where(column("x", "seq").eq(column(&words, "rowid")));
                statement.cross_join(Alias::new(words));
                statement.cross_join(self.table().into_table_ref().alias(Alias::new("x")));
            }
            _ => drop(statement.from_as(self.table(), Alias::new("x"))),
        }
    }

    fn add_conditions(
        &self,
        statement: &mut SelectStatement,
        query: &Query,
        part: &SearchPart,
        written: &[String],
    ) {
        if !query.words.is_empty() {
            self.add_words(statement, query, part);
        }
        let near = match part {
            SearchPart::Within(circle) => Some(*circle),
            SearchPart::Ranked | SearchPart::All | SearchPart::Partial(_) => query.near,
        };
        self.add_filters(statement, query, near, written);
    }

    /// Adds all conditions but that on the words.
    fn add_filters(
        &self,
        statement: &mut SelectStatement,
        query: &Query,
        near: Option<Circle>,
        written: &[String],
    ) {
        self.add_existence(statement, written);
        if let Some(filter) = &query.filter {
            statement.and_where(self.filter(filter));
        }
        if let Some(within) = &query.within {
            self.add_bounds(statement, &within.bounds());
        }
        if let Some(near) = near {
            self.add_bounds(statement, &near.bounds());
            if let Some(reach) = near.squared_reach() {
                statement.and_where(squared_chord(query).lte(reach));
            }
        }
    }

    /// Restricts the rows to documents of the collection that this call has not written.
    fn add_existence(&self, statement: &mut SelectStatement, written: &[String]) {
        if !self.layout.is_indexed() {
            statement.and_where(column("x", "collection").eq(self.layout.collection.0));
            statement.and_where(column("x", "body").is_not_null());
        }
        if !written.is_empty() {
            statement.and_where(column("x", "id").is_not_in(written.iter().cloned()));
        }
    }

    fn key(&self, path: &Path) -> Expr {
        column("x", format!("k{}", self.layout.position(path)))
    }

    pub(crate) fn filter(&self, filter: &Filter) -> Expr {
        let all = |filters: &[Filter], empty: Cond| {
            filters.iter().fold(empty, |cond, filter| cond.add(self.filter(filter)))
        };
        match filter {
            Filter::And(filters) if filters.is_empty() => Expr::value(1).eq(1),
            Filter::Or(filters) if filters.is_empty() => Expr::value(1).eq(0),
            Filter::And(filters) => all(filters, Cond::all()).into(),
            Filter::Or(filters) => all(filters, Cond::any()).into(),
            Filter::Not(filter) => self.filter(filter).not(),
            Filter::In { path, keys } => self.key_condition(path, |key| match keys.is_empty() {
                true => Expr::value(1).eq(0),
                false => key.is_in(keys.iter().cloned()),
            }),
            Filter::Range { path, lower, upper } => self.key_condition(path, |key| {
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
                let has_value = self.key_condition(path, |key| key.gt(key::NULL));
                if *exists { has_value } else { has_value.not() }
            }
        }
    }

    /// Returns the condition that the key of this path fits or, for a path with several keys, that at least
    /// one of them fits.
    fn key_condition(&self, path: &Path, fits: impl FnOnce(Expr) -> Expr) -> Expr {
        if !path.is_multiple() {
            return fits(self.key(path));
        }
        let place = i64::try_from(self.layout.position(path)).unwrap_or(-1);
        let mut ids = SelectStatement::new();
        ids.column(Alias::new("id"))
            .from(Alias::new(format!("{}m", self.layout.table())))
            .and_where(Expr::col(Alias::new("place")).eq(place))
            .and_where(fits(Expr::col(Alias::new("key"))));
        column("x", "id").in_subquery(ids)
    }

    fn add_bounds(&self, statement: &mut SelectStatement, bounds: &Bounds) {
        let (first, last) = (*bounds.bands.start(), *bounds.bands.end());
        // Each band is listed, so that the index finds the longitudes in it.
        statement.and_where(match last - first < MAX_LISTED_BANDS {
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
}

/// Returns the parts of the documents that have at most `most` of the telling words: one for each number of words,
/// so that the first ones fill the page.
fn partial_parts(query: &Query, most: usize) -> Vec<SearchPart> {
    (query.fewest_telling()..=most).rev().map(SearchPart::Partial).collect()
}

/// Sorts by these keys, of which the last is the id, and selects only rows after the cursor.
fn add_order(
    statement: &mut SelectStatement,
    query: &Query,
    keys: Vec<Expr>,
    after: Option<&Placed>,
) {
    let directions = query.order.iter().map(|order| order.direction);
    let directions = directions.chain([Direction::Ascending]);
    let keys: Vec<(Expr, Direction)> = keys.into_iter().zip(directions).collect();
    if let Some(after) = after {
        let values = after.sort.iter().map(|value| match value {
            SortValue::Key(key) => Expr::value(key.clone()),
            SortValue::Number(number) => Expr::value(*number),
        });
        let values: Vec<Expr> = values.chain([Expr::value(after.id.clone())]).collect();
        statement.cond_where(rows_after(&keys, &values));
    }
    for (key, direction) in keys {
        let direction = match direction {
            Direction::Ascending => sea_query::Order::Asc,
            Direction::Descending => sea_query::Order::Desc,
        };
        statement.order_by_expr(key, direction);
    }
}

/// Returns the condition of rows after these values: a key decides if all keys before it are equal.
fn rows_after(keys: &[(Expr, Direction)], values: &[Expr]) -> Cond {
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
    // This condition follows from the others, and an index can start at it.
    let begin = keys.iter().zip(values).next().map(|((key, direction), value)| match direction {
        Direction::Ascending => key.clone().gte(value.clone()),
        Direction::Descending => key.clone().lte(value.clone()),
    });
    Cond::all().add_option(begin).add(any)
}

fn null_double() -> Expr {
    Expr::cust("CAST(NULL AS DOUBLE PRECISION)")
}

/// Returns the squared chord between a document's position and the centre of the query's circle, or NULL
/// if the query has no circle. It is summed in the same order as in memory, so that both results are equal.
fn squared_chord(query: &Query) -> Expr {
    let Some(near) = &query.near else { return null_double() };
    let [x, y, z] = earth_centred(near.centre());
    let squared = |name: &'static str, value: f64| {
        let difference = column("x", name).sub(value);
        difference.clone().mul(difference)
    };
    squared("x", x).add(squared("y", y)).add(squared("z", z))
}
