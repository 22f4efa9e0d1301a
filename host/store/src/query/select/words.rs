//! Conditions on words, and the relevance of documents.

use super::super::{
    Query,
    recent::{self, RecentBlocks},
};
use super::parts::{SearchPart, Select, column};
use crate::connection::Backend;
use sea_query::{Alias, Expr, ExprTrait as _, SelectStatement};

/// The weights of the texts, the first the highest; further texts have the last weight.
const WEIGHTS: [f64; 4] = [8.0, 4.0, 2.0, 1.0];

impl Select<'_> {
    pub(crate) fn add_words(
        &self,
        statement: &mut SelectStatement,
        query: &Query,
        part: &SearchPart,
    ) {
        let is_ranked = matches!(part, SearchPart::Ranked);
        match self.backend {
            Backend::Sqlite(_) => {
                let words = format!("{}t", self.layout.table());
                statement.and_where(self.has_words(query));
                let weights: Vec<_> = self.weights().map(|weight| weight.to_string()).collect();
                statement.and_where(Expr::cust_with_values(
                    format!("\"{words}\".rank MATCH ?"),
                    [format!("bm25({})", weights.join(", "))],
                ));
                if is_ranked {
                    statement.and_where(column(&words, "rowid").gte(column("ranked", "since")));
                }
            }
            Backend::Postgres(_) => {
                statement.and_where(word_condition(query, self.recent.filter(|_| is_ranked)));
            }
        }
    }

    pub(crate) fn has_words(&self, query: &Query) -> Expr {
        let name = format!("{}t", self.layout.table());
        let words: Vec<_> = query.words.iter().map(|word| format!("\"{word}\"")).collect();
        let matches = format!("\"{name}\".\"{name}\" MATCH ?");
        Expr::cust_with_values(matches, [words.join(" AND ")])
    }

    /// Selects the last position in the order of writing, on PostgreSQL.
    pub(crate) fn last_written(&self) -> SelectStatement {
        let mut statement = SelectStatement::new();
        statement.column(Alias::new("last_value"));
        statement.from(Alias::new(format!("{}_seq", self.layout.table())));
        statement
    }

    /// Counts the recent documents that have the words, on PostgreSQL.
    pub(crate) fn sample(&self, query: &Query, recent: RecentBlocks) -> SelectStatement {
        let mut matching = SelectStatement::new();
        matching.expr_as(Expr::value(1), "one");
        matching.from_as(self.table(), Alias::new("x"));
        matching.and_where(word_condition(query, Some(recent)));
        let mut statement = SelectStatement::new();
        statement.expr(Expr::cust("count(*)"));
        statement.from_subquery(matching, "some");
        statement
    }

    fn weights(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.layout.shape.text().len())
            .map(|place| WEIGHTS.get(place).or(WEIGHTS.last()).copied().unwrap_or(1.0))
    }

    pub(crate) fn relevance(&self, query: &Query) -> Option<Expr> {
        if query.words.is_empty() {
            return None;
        }
        Some(match self.backend {
            Backend::Sqlite(_) => {
                let words = format!("\"{}t\"", self.layout.table());
                Expr::cust(format!(
                    "CASE WHEN {words}.rowid >= ranked.since THEN -{words}.rank ELSE 0.0 END"
                ))
            }
            Backend::Postgres(_) => {
                let relevance = Expr::cust_with_values(
                    // `ts_rank` expects the weights from the lowest to the highest.
                    "CAST(ts_rank('{0.125, 0.25, 0.5, 1}', x.words, CAST($1 AS tsquery)) AS double precision)",
                    [tsquery(query)],
                );
                match self.recent {
                    Some(recent) => {
                        Expr::case(column("x", "seq").gte(recent.first_position()), relevance)
                            .finally(0.0)
                            .into()
                    }
                    None => relevance,
                }
            }
        })
    }
}

/// Returns the condition that a document has the words and is in the recent blocks, if some are given. For
/// PostgreSQL.
fn word_condition(query: &Query, recent: Option<RecentBlocks>) -> Expr {
    let indexed = recent::indexed_expression("x.words", "x.seq");
    let condition = match recent {
        Some(recent) => format!("{} & ({})", tsquery(query), recent.block_condition()),
        None => tsquery(query),
    };
    Expr::cust_with_values(format!("{indexed} @@ CAST($1 AS tsquery)"), [condition])
}

/// Returns the words as a `tsquery`. They have letters and digits only, so no quote is escaped.
fn tsquery(query: &Query) -> String {
    let words: Vec<_> = query.words.iter().map(|word| format!("'{word}'")).collect();
    words.join(" & ")
}
