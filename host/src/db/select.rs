//! From a checked query to a statement: every value bound, for either database.

use crate::db::{
    backend::Backend,
    index::Layout,
    query::{
        Direction, Filter, OrderBy, Path, Placed, Query, SortValue,
        geo::{Bounds, earth_centred},
        key,
    },
};
use sea_query::{Alias, Cond, Expr, ExprTrait as _, JoinType, SelectStatement};

/// A region of more bands is looked for by its latitudes alone.
const BANDS: i64 = 400;

/// Builds statements over the tables of one layout: `d` the documents, `x` their keys, and on SQLite
/// the table of words under its own name.
pub(super) struct Select<'a> {
    pub(super) layout: &'a Layout,
    pub(super) backend: &'a Backend,
}

fn column(table: &str, name: impl Into<String>) -> Expr {
    Expr::col((Alias::new(table), Alias::new(name)))
}

/// How much more a text counts than the next one.
const WEIGHTS: [f64; 4] = [8.0, 4.0, 2.0, 1.0];

impl Select<'_> {
    /// From the documents of the collection, but for those that this call wrote.
    pub(super) fn base(&self, written: &[String]) -> SelectStatement {
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

    pub(super) fn documents(&self, query: &Query, written: &[String]) -> SelectStatement {
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

    pub(super) fn filter(&self, filter: &Filter) -> Expr {
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
    pub(super) fn order(
        &self,
        statement: &mut SelectStatement,
        query: &Query,
        after: Option<&Placed>,
    ) {
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
