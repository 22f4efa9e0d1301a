//! Conditions on words, and the relevance of documents.

use super::super::{
    Query,
    recent::{self, NEWEST, RANKED_PARTIAL, RecentBlocks},
};
use super::parts::{SearchPart, Select, column};
use crate::connection::Backend;
use portolan_text::{Term, Word};
use sea_query::{
    Alias, Cond, Expr, ExprTrait as _, IntoTableRef as _, JoinType, Order, SelectStatement,
    UnionType,
};

/// The weights of the texts, the first the highest; further texts have the last weight.
const WEIGHTS: [f64; 4] = [8.0, 4.0, 2.0, 1.0];

impl Select<'_> {
    pub(super) fn add_words(
        &self,
        statement: &mut SelectStatement,
        query: &Query,
        part: &SearchPart,
    ) {
        let is_ranked = matches!(part, SearchPart::Ranked);
        match self.backend {
            Backend::Sqlite(_) => {
                let words = self.word_table();
                statement.and_where(self.has_all(&query.words));
                statement.and_where(self.ranks());
                if is_ranked {
                    statement.and_where(column(&words, "rowid").gte(column("ranked", "since")));
                }
            }
            Backend::Postgres(_) => {
                let all = self.all_of(&query.words);
                statement.and_where(word_condition(&all, self.recent.filter(|_| is_ranked)));
            }
        }
    }

    /// Adds the tables and conditions of the documents that have `count` of the telling words, and not all words.
    /// `partial` has the keys of the newest: positions on SQLite, and ids on PostgreSQL, where only these are
    /// indexed.
    pub(super) fn add_partial(
        &self,
        statement: &mut SelectStatement,
        query: &Query,
        count: usize,
        written: &[String],
    ) {
        let exactly = self.exactly(query, count);
        let table = self.table().into_table_ref().alias(Alias::new("x"));
        match self.backend {
            // `CROSS JOIN` fixes the order of the tables: `bm25` reads its statistics once for all documents.
            Backend::Sqlite(_) => {
                let words = self.word_table();
                let mut partial = SelectStatement::new();
                partial.from(Alias::new(&words));
                partial.cross_join(table.clone());
                partial.and_where(self.matches(exactly));
                partial.and_where(self.is_new());
                partial.and_where(column("x", "seq").eq(column(&words, "rowid")));
                partial.order_by((Alias::new(&words), Alias::new("rowid")), Order::Desc);
                self.add_newest(&mut partial, "seq", query, written);
                statement.from(Alias::new(&words));
                statement.join_subquery(
                    JoinType::CrossJoin,
                    partial,
                    Alias::new("partial"),
                    Cond::all(),
                );
                statement.cross_join(table);
                statement.and_where(self.matches(self.any_of(&query.telling)));
                statement.and_where(self.is_new());
                statement.and_where(self.ranks());
                statement.and_where(column("partial", "seq").eq(column(&words, "rowid")));
                statement.and_where(column("x", "seq").eq(column("partial", "seq")));
            }
            Backend::Postgres(_) => {
                let parts = self.stretches.iter().map(|stretch| {
                    let mut part = SelectStatement::new();
                    part.from(table.clone());
                    part.and_where(word_condition(&exactly, stretch.blocks));
                    part.and_where_option(
                        stretch.end.map(|end| column("x", "seq").lt(end.cast_signed())),
                    );
                    part.order_by_expr(column("x", "seq"), Order::Desc);
                    self.add_newest(&mut part, "id", query, written);
                    SelectStatement::new()
                        .column(Alias::new("id"))
                        .from_subquery(part, Alias::new("part"))
                        .take()
                });
                // PostgreSQL reads an older stretch only if the newer ones have too few documents.
                let all = parts.reduce(|mut all, part| all.union(UnionType::All, part).take());
                let mut partial = all.unwrap_or_default();
                partial.limit(RANKED_PARTIAL);
                statement.from_subquery(partial, Alias::new("partial"));
                statement.cross_join(table);
                statement.and_where(column("x", "id").eq(column("partial", "id")));
            }
        }
    }

    /// Selects the keys of the newest documents that fit the query's other conditions.
    fn add_newest(
        &self,
        partial: &mut SelectStatement,
        key: &'static str,
        query: &Query,
        written: &[String],
    ) {
        self.add_filters(partial, query, query.near, written);
        partial.expr_as(column("x", key), key);
        partial.limit(RANKED_PARTIAL);
    }

    /// Returns the condition that a row of the table of words is of one of the newest documents, on SQLite.
    fn is_new(&self) -> Expr {
        let (words, table) = (self.word_table(), self.layout.table());
        Expr::cust(format!("\"{words}\".rowid > (SELECT max(seq) - {NEWEST} FROM {table})"))
    }

    /// Returns the name of the table of words, on SQLite.
    pub(super) fn word_table(&self) -> String {
        format!("{}t", self.layout.table())
    }

    /// Returns the condition that a document has all words, on SQLite.
    pub(super) fn has_all(&self, words: &[Word]) -> Expr {
        self.matches(self.all_of(words))
    }

    fn matches(&self, expression: String) -> Expr {
        let name = self.word_table();
        Expr::cust_with_values(format!("\"{name}\".\"{name}\" MATCH ?"), [expression])
    }

    /// Returns a condition that is always true, and sets the function that ranks, on SQLite.
    fn ranks(&self) -> Expr {
        let weights = (0..self.layout.shape.text().len())
            .map(|place| WEIGHTS.get(place).or(WEIGHTS.last()).copied().unwrap_or(1.0).to_string());
        let weights: Vec<String> = weights.collect();
        Expr::cust_with_values(
            format!("\"{}\".rank MATCH ?", self.word_table()),
            [format!("bm25({})", weights.join(", "))],
        )
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
        matching.and_where(word_condition(&self.all_of(&query.words), Some(recent)));
        let mut statement = SelectStatement::new();
        statement.expr(Expr::cust("count(*)"));
        statement.from_subquery(matching, "some");
        statement
    }

    /// Returns the relevance of a document: at least 0 with all words, and else from `-missing` to `1 - missing`.
    pub(super) fn relevance(&self, query: &Query, part: &SearchPart) -> Option<Expr> {
        if query.words.is_empty() {
            return None;
        }
        let count = match part {
            SearchPart::Partial(count) => Some(*count),
            _ => None,
        };
        let score = match self.backend {
            Backend::Sqlite(_) => Expr::cust(format!("-\"{}\".rank", self.word_table())),
            Backend::Postgres(_) => {
                let sought = match count {
                    Some(_) => self.any_of(&query.telling),
                    None => self.all_of(&query.words),
                };
                Expr::cust_with_values(
                    // `ts_rank` expects the weights from the lowest to the highest.
                    "CAST(ts_rank('{0.125, 0.25, 0.5, 1}', x.words, CAST($1 AS tsquery)) AS double precision)",
                    [sought],
                )
            }
        };
        if let Some(count) = count {
            // 1 - 1 / (1 + score) is from 0 to 1.
            let part = Expr::value(1.0).sub(Expr::value(1.0).div(Expr::value(1.0).add(score)));
            let missing = query.most_missing().saturating_sub(count);
            return Some(part.sub(Expr::value(missing as i64)));
        }
        let since = match self.backend {
            Backend::Sqlite(_) => {
                Some(column(&self.word_table(), "rowid").gte(column("ranked", "since")))
            }
            Backend::Postgres(_) => {
                self.recent.map(|recent| column("x", "seq").gte(recent.first_position()))
            }
        };
        Some(match since {
            Some(since) => Expr::case(since, score).finally(0.0).into(),
            None => score,
        })
    }

    /// Returns the expression for documents that have all words.
    fn all_of(&self, words: &[Word]) -> String {
        let syntax = self.syntax();
        join(words.iter().map(|word| syntax.word(word)), syntax.and)
    }

    /// Returns the expression for documents that have at least one of the words.
    fn any_of(&self, words: &[Word]) -> String {
        let syntax = self.syntax();
        join(words.iter().map(|word| syntax.word(word)), syntax.or)
    }

    /// Returns the expression for documents that have exactly `count` of the telling words, and not all words.
    fn exactly(&self, query: &Query, count: usize) -> String {
        let more = match count < query.telling.len() {
            true => self.at_least(&query.telling, count + 1),
            false => self.all_of(&query.words),
        };
        join([self.at_least(&query.telling, count), more].into_iter(), self.syntax().without)
    }

    /// Returns the expression for documents that have at least `count` of the words: the first one and one fewer
    /// of the others, or as many of the others.
    fn at_least(&self, words: &[Word], count: usize) -> String {
        let syntax = self.syntax();
        match words.split_first() {
            Some((first, others)) if count <= others.len() => {
                let first = syntax.word(first);
                let with_first = match count {
                    0 | 1 => first,
                    _ => join([first, self.at_least(others, count - 1)].into_iter(), syntax.and),
                };
                join([with_first, self.at_least(others, count)].into_iter(), syntax.or)
            }
            _ => self.all_of(words),
        }
    }

    fn syntax(&self) -> Syntax {
        match self.backend {
            Backend::Sqlite(_) => Syntax { quote: '"', and: " AND ", or: " OR ", without: " NOT " },
            Backend::Postgres(_) => Syntax { quote: '\'', and: " & ", or: " | ", without: " & !" },
        }
    }
}

/// Returns the condition that a document fits an expression and is in the recent blocks, if some are given. For
/// PostgreSQL.
fn word_condition(expression: &str, recent: Option<RecentBlocks>) -> Expr {
    let indexed = recent::indexed_expression("x.words", "x.seq");
    let condition = match recent {
        Some(recent) => format!("{expression} & ({})", recent.block_condition()),
        None => expression.to_owned(),
    };
    Expr::cust_with_values(format!("{indexed} @@ CAST($1 AS tsquery)"), [condition])
}

/// The syntax of the expressions of a database's word index.
struct Syntax {
    quote: char,
    and: &'static str,
    or: &'static str,
    /// The operator "and not".
    without: &'static str,
}

impl Syntax {
    /// Returns the expression for documents that have one of the terms.
    fn word(&self, word: &Word) -> String {
        join(word.terms.iter().map(|term| self.term(term)), self.or)
    }

    /// Terms have no quotes, so none is escaped.
    fn term(&self, term: &Term) -> String {
        let quote = self.quote;
        join(term.iter().map(|part| format!("{quote}{part}{quote}")), self.and)
    }
}

/// Joins several expressions in parentheses.
fn join(expressions: impl Iterator<Item = String>, between: &str) -> String {
    let expressions: Vec<String> = expressions.collect();
    match expressions.as_slice() {
        [expression] => expression.clone(),
        expressions => format!("({})", expressions.join(between)),
    }
}
