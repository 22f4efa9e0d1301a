//! The statements for rows that are JSON arrays, made once for each database.
//!
//! A statement for many rows costs the way to PostgreSQL once, and its text stays the same, so that
//! the database plans it once.

use crate::db::backend::{Backend, NUMBER, TEXT};
use sqlx::{AssertSqlSafe, SqlSafeStr as _, SqlStr};

#[derive(Debug)]
pub(super) struct Statements {
    pub(super) documents: SqlStr,
    pub(super) revisions: SqlStr,
    pub(super) holders: SqlStr,
    pub(super) settings: SqlStr,
    pub(super) deliveries: SqlStr,
    pub(super) answered: SqlStr,
    pub(super) layouts: SqlStr,
    pub(super) collection: SqlStr,
    pub(super) put_collection: SqlStr,
    pub(super) next_documents: SqlStr,
    pub(super) drop_all_unique_keys: SqlStr,
    pub(super) put_documents: SqlStr,
    pub(super) drop_unique_keys: SqlStr,
    pub(super) put_unique_keys: SqlStr,
    pub(super) add_events: SqlStr,
    pub(super) add_deliveries: SqlStr,
    pub(super) drop_deliveries: SqlStr,
    pub(super) put_timers: SqlStr,
    pub(super) drop_timers: SqlStr,
    pub(super) add_answers: SqlStr,
    pub(super) add_audit: SqlStr,
}

impl Statements {
    pub(super) fn new(backend: &Backend) -> Self {
        let sql = |text: String| AssertSqlSafe(text).into_sql_str();
        let rows = backend.rows();
        // The elements of a row, in order.
        let parts = |kinds: &[&str]| {
            let part = |(place, kind): (usize, &&str)| backend.part(place, kind);
            kinds.iter().enumerate().map(part).collect::<Vec<_>>().join(", ")
        };
        // `WHERE true` keeps SQLite from reading ON CONFLICT as part of a join.
        let add = |table: &str, columns: &str, kinds: &[&str], then: &str| {
            let parts = parts(kinds);
            sql(format!(
                "INSERT INTO {table} ({columns}) SELECT {parts} FROM {rows} WHERE true {then}"
            ))
        };
        // Rows of a table whose columns are equal to the elements.
        let find = |wanted: &str, table: &str, keys: &[(&str, &str)], more: &str| {
            let equal = |(place, (column, kind)): (usize, &(&str, &str))| {
                format!("t.{column} = {}", backend.part(place, kind))
            };
            let fits = keys.iter().enumerate().map(equal).collect::<Vec<_>>().join(" AND ");
            sql(format!("SELECT {wanted} FROM {rows} JOIN {table} t ON {fits} {more}"))
        };
        let drop = |table: &str, columns: &str, kinds: &[&str]| {
            let parts = parts(kinds);
            sql(format!("DELETE FROM {table} WHERE ({columns}) IN (SELECT {parts} FROM {rows})"))
        };
        Self {
            documents: find(
                "t.collection, t.id, t.revision, t.body, t.created_at, t.updated_at",
                "documents",
                &[("collection", NUMBER), ("id", TEXT)],
                "",
            ),
            revisions: find(
                "t.collection, t.id, t.revision",
                "documents",
                &[("collection", NUMBER), ("id", TEXT)],
                "",
            ),
            holders: find(
                "t.collection, t.place, t.key, t.id",
                "unique_keys",
                &[("collection", NUMBER), ("place", NUMBER), ("key", TEXT)],
                "",
            ),
            settings: find(
                "t.capability, t.name, t.setting",
                "timers",
                &[("capability", TEXT), ("name", TEXT)],
                "",
            ),
            deliveries: find("t.id", "deliveries", &[("id", NUMBER)], "AND NOT t.dead"),
            answered: find(
                "t.agent_id, t.capability, t.action, t.key",
                "idempotency",
                &[("agent_id", TEXT), ("capability", TEXT), ("action", TEXT), ("key", TEXT)],
                &format!("AND t.expires_at > {}", backend.part(4, NUMBER)),
            ),
            layouts: find("t.id, t.generation, t.shape", "collections", &[("id", NUMBER)], ""),
            collection: find(
                "t.id, t.generation, t.shape",
                "collections",
                &[("capability", TEXT), ("name", TEXT)],
                "",
            ),
            put_collection: sql(format!(
                "INSERT INTO collections (capability, name, shape, generation)
                 SELECT {}, 1 FROM {rows} WHERE true
                 ON CONFLICT (capability, name) DO UPDATE SET shape = excluded.shape, generation = collections.generation + 1",
                parts(&[TEXT, TEXT, TEXT])
            )),
            next_documents: sql(format!(
                "SELECT t.id, t.body FROM {rows} JOIN documents t
                 ON t.collection = {} AND t.id > {}
                 WHERE t.body IS NOT NULL ORDER BY t.id LIMIT 1000",
                backend.part(0, NUMBER),
                backend.part(1, TEXT)
            )),
            drop_all_unique_keys: sql(format!(
                "DELETE FROM unique_keys WHERE collection IN (SELECT {} FROM {rows})",
                backend.part(0, NUMBER)
            )),
            put_documents: add(
                "documents",
                "collection, id, revision, body, created_at, updated_at",
                &[NUMBER, TEXT, NUMBER, TEXT, NUMBER, NUMBER],
                "ON CONFLICT (collection, id) DO UPDATE SET revision = excluded.revision, body = excluded.body, created_at = excluded.created_at, updated_at = excluded.updated_at",
            ),
            drop_unique_keys: drop("unique_keys", "collection, id", &[NUMBER, TEXT]),
            put_unique_keys: add("unique_keys", "collection, place, key, id", &[NUMBER, NUMBER, TEXT, TEXT], ""),
            add_events: add(
                "events",
                "id, capability, event_type, subject, audience, audience_id, data, request_id, occurred_at",
                &[TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, NUMBER],
                "",
            ),
            add_deliveries: sql(format!(
                "INSERT INTO deliveries (event_seq, capability, action, lane, attempts, due_at, dead)
                 SELECT t.seq, {}, {}, {}, 0, t.occurred_at, {no}
                 FROM {rows} JOIN events t ON t.id = {} ORDER BY t.seq",
                backend.part(1, TEXT),
                backend.part(2, TEXT),
                backend.part(3, TEXT),
                backend.part(0, TEXT),
                no = backend.no()
            )),
            drop_deliveries: drop("deliveries", "id", &[NUMBER]),
            put_timers: add(
                "timers",
                "capability, name, setting, action, input, at, due_at, attempts",
                &[TEXT, TEXT, TEXT, TEXT, TEXT, NUMBER, NUMBER, NUMBER],
                "ON CONFLICT (capability, name) DO UPDATE SET setting = excluded.setting, action = excluded.action, input = excluded.input, at = excluded.at, due_at = excluded.due_at, attempts = 0, last_error = NULL",
            ),
            drop_timers: drop("timers", "capability, name", &[TEXT, TEXT]),
            // An answer that has expired gives its place to the new one.
            add_answers: add(
                "idempotency",
                "agent_id, capability, action, key, body_hash, answer, expires_at",
                &[TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, NUMBER],
                "ON CONFLICT (agent_id, capability, action, key) DO UPDATE SET body_hash = excluded.body_hash, answer = excluded.answer, expires_at = excluded.expires_at",
            ),
            add_audit: add(
                "audit",
                "at, request_id, agent_id, owner_id, via, capability, version, digest, action, outcome, duration_us",
                &[NUMBER, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, NUMBER],
                "",
            ),
        }
    }
}
