//! Statements that are sent to PostgreSQL together, as one simple query: one round trip for all of them.
//!
//! sqlx waits for the answer to each statement with parameters, so the rows of these statements are part of the
//! text, in base64: none of its characters has a meaning in SQL. A statement over rows is prepared in the session by
//! the first text that has it, and its plan is kept. Through a pooler there is no session that could keep it, so the rows
//! are in the statement itself.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;
use sqlx::SqlStr;
use std::collections::HashMap;

/// The number of statements with which a session forgets them all. Each collection has up to four.
const MOST_PREPARED: usize = 512;

/// The numbers of the statements that a session has prepared.
#[derive(Debug, Default)]
pub(super) struct Prepared(HashMap<SqlStr, usize>);

/// Statements that wait to be sent, in their order.
#[derive(Debug, Default)]
pub(super) struct Batch(Vec<Waiting>);

#[derive(Debug)]
enum Waiting {
    /// A statement without rows.
    Plain(String),
    /// A statement over rows in base64, and whether the caller wants what it finds.
    OverRows { sql: SqlStr, rows: String, is_wanted: bool },
}

impl Batch {
    /// Adds a single statement without rows.
    pub(super) fn add(&mut self, sql: impl Into<String>) {
        self.0.push(Waiting::Plain(sql.into()));
    }

    /// Adds a statement over rows that are JSON arrays.
    pub(super) fn run(&mut self, sql: &SqlStr, rows: Vec<Value>) {
        self.push(sql, rows, false);
    }

    /// Adds a query over rows that are JSON arrays.
    pub(super) fn find(&mut self, sql: &SqlStr, rows: Vec<Value>) {
        self.push(sql, rows, true);
    }

    fn push(&mut self, sql: &SqlStr, rows: Vec<Value>, is_wanted: bool) {
        let rows = STANDARD.encode(Value::Array(rows).to_string());
        self.0.push(Waiting::OverRows { sql: sql.clone(), rows, is_wanted });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of bytes of the rows.
    pub(super) fn bytes(&self) -> usize {
        let bytes = |waiting: &Waiting| match waiting {
            Waiting::Plain(_) => 0,
            Waiting::OverRows { rows, .. } => rows.len(),
        };
        self.0.iter().map(bytes).sum()
    }

    /// Returns the text for a session, and for each statement of the text whether the caller wants what it finds.
    /// Adds the statements that the text prepares; without a session of its own, it prepares none.
    pub(super) fn text(&self, prepared: Option<&mut Prepared>) -> (String, Vec<bool>) {
        let (mut text, mut wanted) = (String::new(), Vec::new());
        let mut add = |statement: &str, is_wanted: bool| {
            text.push_str(statement);
            text.push_str(";\n");
            wanted.push(is_wanted);
        };
        let mut numbers = prepared.map(|Prepared(numbers)| numbers);
        for waiting in &self.0 {
            let (sql, rows, is_wanted) = match waiting {
                Waiting::Plain(sql) => {
                    add(sql, false);
                    continue;
                }
                Waiting::OverRows { sql, rows, is_wanted } => (sql, rows, *is_wanted),
            };
            let rows = literal(rows);
            let Some(numbers) = numbers.as_deref_mut() else {
                add(&with_rows(sql, &rows), is_wanted);
                continue;
            };
            let number = match numbers.get(sql.as_str()).copied() {
                Some(number) => number,
                None => {
                    if numbers.len() >= MOST_PREPARED {
                        numbers.clear();
                        add("DEALLOCATE ALL", false);
                    }
                    let number = numbers.len();
                    add(&format!("PREPARE s{number}(text) AS {}", sql.as_str()), false);
                    numbers.insert(sql.clone(), number);
                    number
                }
            };
            add(&format!("EXECUTE s{number}({rows})"), is_wanted);
        }
        (text, wanted)
    }
}

/// Returns a query over rows that are JSON arrays as a text without parameters.
pub(super) fn plain(sql: &SqlStr, rows: Vec<Value>) -> String {
    with_rows(sql, &literal(&STANDARD.encode(Value::Array(rows).to_string())))
}

/// Returns the expression for rows in base64.
fn literal(rows: &str) -> String {
    format!("convert_from(decode('{rows}', 'base64'), 'UTF8')")
}

/// Returns a statement with this expression in place of its parameter.
fn with_rows(sql: &SqlStr, rows: &str) -> String {
    sql.as_str().replace("$1", rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const FIND: SqlStr = SqlStr::from_static("SELECT 1 FROM jsonb_array_elements($1::jsonb)");
    const DROP: SqlStr = SqlStr::from_static("DELETE FROM t WHERE $1 = ''");

    fn decoded(text: &str) -> Value {
        let (_, rest) = text.split_once("decode('").unwrap();
        let (rows, _) = rest.split_once("', 'base64')").unwrap();
        serde_json::from_slice(&STANDARD.decode(rows).unwrap()).unwrap()
    }

    #[test]
    fn a_statement_is_prepared_once_in_a_session() {
        let mut prepared = Prepared::default();
        let mut batch = Batch::default();
        batch.add("BEGIN");
        batch.find(&FIND, vec![json!(["a"])]);
        batch.run(&DROP, vec![json!(["a"])]);
        batch.find(&FIND, vec![json!(["b"])]);
        let (text, wanted) = batch.text(Some(&mut prepared));
        let statements: Vec<&str> = text.lines().collect();
        assert_eq!(statements.len(), 6, "{text}");
        assert_eq!(statements[0], "BEGIN;");
        assert_eq!(statements[1], format!("PREPARE s0(text) AS {};", FIND.as_str()));
        assert!(statements[2].starts_with("EXECUTE s0("), "{text}");
        assert!(statements[3].starts_with("PREPARE s1(text) AS DELETE"), "{text}");
        assert!(statements[5].starts_with("EXECUTE s0("), "{text}");
        assert_eq!(wanted, [false, false, true, false, false, true]);

        let (text, wanted) = batch.text(Some(&mut prepared));
        assert!(!text.contains("PREPARE"), "{text}");
        assert_eq!(wanted, [false, true, false, true]);
        let (text, _) = batch.text(Some(&mut Prepared::default()));
        assert_eq!(text.matches("PREPARE").count(), 2, "another session has prepared nothing");
    }

    #[test]
    fn without_a_session_nothing_is_prepared() {
        let mut batch = Batch::default();
        batch.add("BEGIN");
        batch.find(&FIND, vec![json!(["a"])]);
        batch.run(&DROP, vec![json!(["b"])]);
        let (text, wanted) = batch.text(None);
        let statements: Vec<&str> = text.lines().collect();
        assert_eq!(wanted, [false, true, false]);
        assert!(!text.contains("PREPARE") && !text.contains("$1"), "{text}");
        assert_eq!(statements[1], format!("{};", plain(&FIND, vec![json!(["a"])])));
        assert_eq!(decoded(statements[1]), json!([["a"]]));
        assert!(statements[1].ends_with("'UTF8')::jsonb);"), "{text}");
        assert!(statements[2].starts_with("DELETE FROM t WHERE convert_from(decode('"), "{text}");
    }

    #[test]
    fn rows_are_base64_whatever_they_contain() {
        let hostile = json!(["'); DROP TABLE documents; --", "\\'", "$1 \u{0} é \u{1F980}", null]);
        let mut batch = Batch::default();
        batch.run(&DROP, vec![hostile.clone()]);
        let (text, _) = batch.text(Some(&mut Prepared::default()));
        assert_eq!(decoded(&text), json!([hostile]));
        let (_, execute) = text.split_once("EXECUTE").unwrap();
        assert_eq!(execute.matches('\'').count(), 6, "{text}");
        assert!(batch.bytes() > 0 && !batch.is_empty());
    }

    #[test]
    fn a_session_that_has_prepared_many_statements_forgets_them() {
        let mut prepared = Prepared::default();
        for number in 0..=MOST_PREPARED {
            let sql = sqlx::AssertSqlSafe(format!("SELECT {number} WHERE $1 = ''"));
            let mut batch = Batch::default();
            batch.run(&sqlx::SqlSafeStr::into_sql_str(sql), vec![json!([])]);
            let (text, wanted) = batch.text(Some(&mut prepared));
            let forgets = number == MOST_PREPARED;
            assert_eq!(text.starts_with("DEALLOCATE ALL;\nPREPARE s0(text)"), forgets, "{text}");
            assert_eq!(wanted.len(), if forgets { 3 } else { 2 });
        }
    }
}
