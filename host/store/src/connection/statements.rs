//! The statements for rows that are JSON arrays, made once for each database.
//!
//! The text of a statement for many rows never changes, so the database plans it once.

use super::{
    backend::{Backend, NUMBER, TEXT},
    email_statements::EmailStatements,
    held_statements::HeldStatements,
};
use sqlx::{AssertSqlSafe, SqlSafeStr as _, SqlStr};

/// Returns the columns of a capability's usage, and the joins that they need: rows of `collection_usage u`, of each
/// serving collection. Rows may be missing. `capability` is an SQL expression for the scope.
fn usage_of(capability: &str) -> (String, String) {
    let timers = |column: &str| {
        format!(
            "coalesce(max((SELECT sum(m.{column}) FROM timer_usage m WHERE m.capability = {capability})), 0)"
        )
    };
    let (timers, timer_bytes) = (timers("timers"), timers("bytes"));
    let columns = format!(
        "CAST(coalesce(sum(u.documents), 0) AS BIGINT), CAST(coalesce(sum(u.tombstones), 0) AS BIGINT),
         CAST(coalesce(sum(u.bytes), 0) + {timer_bytes} AS BIGINT), CAST({timers} AS BIGINT)"
    );
    let joins = format!(
        "LEFT JOIN collections c ON c.capability = {capability} AND c.state = 'serving'
         LEFT JOIN collection_usage u ON u.collection = c.id"
    );
    (columns, joins)
}

/// The kinds of the rows of `Statements::read_set`: the revision of a document, the holder of a unique key,
/// and the time until which nothing is committed to a collection.
pub(crate) const REVISION: i64 = 0;
pub(crate) const HOLDER: i64 = 1;
pub(crate) const FENCE: i64 = 2;

#[derive(Debug)]
pub(crate) struct Statements {
    pub(crate) documents: SqlStr,
    pub(crate) revisions: SqlStr,
    pub(crate) holders: SqlStr,
    pub(crate) timers: SqlStr,
    pub(crate) read_set: SqlStr,
    pub(crate) deliveries: SqlStr,
    pub(crate) answered: SqlStr,
    pub(crate) layouts: SqlStr,
    pub(crate) collection: SqlStr,
    pub(crate) put_collection: SqlStr,
    pub(crate) next_documents: SqlStr,
    pub(crate) drop_all_unique_keys: SqlStr,
    pub(crate) put_documents: SqlStr,
    pub(crate) drop_unique_keys: SqlStr,
    pub(crate) put_unique_keys: SqlStr,
    pub(crate) add_events: SqlStr,
    pub(crate) add_deliveries: SqlStr,
    pub(crate) drop_deliveries: SqlStr,
    pub(crate) put_timers: SqlStr,
    pub(crate) drop_timers: SqlStr,
    pub(crate) add_answers: SqlStr,
    pub(crate) add_audit: SqlStr,
    pub(crate) last_audit_row: SqlStr,
    pub(crate) inboxes: SqlStr,
    pub(crate) webhook_agents: SqlStr,
    pub(crate) missing_broadcasts: SqlStr,
    pub(crate) put_broadcasts: SqlStr,
    pub(crate) put_inboxes: SqlStr,
    pub(crate) put_polled: SqlStr,
    pub(crate) add_inbox: SqlStr,
    pub(crate) mark_inbox: SqlStr,
    pub(crate) receivers: SqlStr,
    pub(crate) add_webhook_deliveries: SqlStr,
    pub(crate) redeliver: SqlStr,
    pub(crate) webhook_versions: SqlStr,
    pub(crate) webhook_counts: SqlStr,
    pub(crate) put_webhooks: SqlStr,
    pub(crate) drop_webhooks: SqlStr,
    pub(crate) drop_webhook_deliveries: SqlStr,
    pub(crate) drop_challenges: SqlStr,
    pub(crate) drop_webhooks_of: SqlStr,
    pub(crate) drop_deliveries_of: SqlStr,
    pub(crate) empty_inbox_of: SqlStr,
    pub(crate) erasures: SqlStr,
    pub(crate) add_counts: SqlStr,
    pub(crate) counts: SqlStr,
    pub(crate) put_counts: SqlStr,
    pub(crate) held: HeldStatements,
    pub(crate) email_notices: EmailStatements,
    pub(crate) advance_timers: SqlStr,
}

/// The sequence of the newest event to all listeners.
const NEWEST_BROADCAST: &str =
    "(SELECT coalesce(max(seq), 0) FROM events WHERE audience = 'listeners')";

impl Statements {
    pub(crate) fn new(backend: &Backend) -> Self {
        let sql = |text: String| AssertSqlSafe(text).into_sql_str();
        let rows = backend.row_source();
        // Returns the elements of a row, in order.
        let parameters = |kinds: &[&str]| {
            let parameter = |(place, kind): (usize, &&str)| backend.parameter(place, kind);
            kinds.iter().enumerate().map(parameter).collect::<Vec<_>>().join(", ")
        };
        // `WHERE true` keeps SQLite from reading ON CONFLICT as part of a join.
        let add = |table: &str, columns: &str, kinds: &[&str], then: &str| {
            let parameters = parameters(kinds);
            sql(format!(
                "INSERT INTO {table} ({columns}) SELECT {parameters} FROM {rows} WHERE true {then}"
            ))
        };
        // Finds the rows of a table whose columns equal the elements.
        let find = |columns: &str, table: &str, keys: &[(&str, &str)], more: &str| {
            let equal = |(place, (column, kind)): (usize, &(&str, &str))| {
                format!("t.{column} = {}", backend.parameter(place, kind))
            };
            let condition = keys.iter().enumerate().map(equal).collect::<Vec<_>>().join(" AND ");
            sql(format!("SELECT {columns} FROM {rows} JOIN {table} t ON {condition} {more}"))
        };
        let drop = |table: &str, columns: &str, kinds: &[&str]| {
            let parameters = parameters(kinds);
            sql(format!(
                "DELETE FROM {table} WHERE ({columns}) IN (SELECT {parameters} FROM {rows})"
            ))
        };
        let (scope_usage, scope_joins) = usage_of("t.capability");
        let (timer_scope_usage, timer_scope_joins) = usage_of(&backend.parameter(3, TEXT));
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
            // One statement, so that all parts of a read set come from one snapshot.
            read_set: sql(format!(
                "SELECT {kind}, {collection}, {place}, {key}, CASE {kind}
                 WHEN {REVISION} THEN (SELECT CAST(t.revision AS TEXT) FROM documents t
                   WHERE t.collection = {collection} AND t.id = {key})
                 WHEN {HOLDER} THEN (SELECT t.id FROM unique_keys t
                   WHERE t.collection = {collection} AND t.place = {place} AND t.key = {key})
                 ELSE (SELECT CAST(CASE t.state WHEN 'retired' THEN {} ELSE t.fenced_until END AS TEXT)
                   FROM collections t WHERE t.id = {collection})
                 END
                 FROM {rows}",
                i64::MAX,
                kind = backend.parameter(0, NUMBER),
                collection = backend.parameter(1, NUMBER),
                place = backend.parameter(2, NUMBER),
                key = backend.parameter(3, TEXT),
            )),
            // The last element of each row is the scope, under which the usage is kept.
            timers: sql(format!(
                "SELECT {capability}, {name}, {mode}, t.setting,
                 CAST(octet_length(t.name) + octet_length(t.action) + octet_length(t.input) AS BIGINT),
                 {timer_scope_usage}
                 FROM {rows}
                 LEFT JOIN timers t ON t.capability = {capability} AND t.name = {name} AND t.test_mode = {mode}
                 {timer_scope_joins}
                 GROUP BY {capability}, {name}, {mode}, t.setting, t.name, t.action, t.input",
                capability = backend.parameter(0, TEXT),
                name = backend.parameter(1, TEXT),
                mode = backend.parameter(2, NUMBER),
            )),
            deliveries: find("t.id", "deliveries", &[("id", NUMBER)], "AND NOT t.dead"),
            answered: find(
                "t.agent_id, t.capability, t.action, t.key",
                "idempotency",
                &[("agent_id", TEXT), ("capability", TEXT), ("action", TEXT), ("key", TEXT)],
                &format!("AND t.expires_at > {}", backend.parameter(4, NUMBER)),
            ),
            layouts: sql(format!(
                "SELECT t.id, t.generation, t.shape, t.capability,
                 CASE t.state WHEN 'retired' THEN {} ELSE t.fenced_until END,
                 {scope_usage}
                 FROM {rows} JOIN collections t ON t.id = {}
                 {scope_joins}
                 GROUP BY t.id, t.generation, t.shape, t.capability, t.state, t.fenced_until",
                i64::MAX,
                backend.parameter(0, NUMBER),
            )),
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
                parameters(&[TEXT, TEXT, TEXT])
            )),
            next_documents: sql(format!(
                "SELECT t.id, t.body FROM {rows} JOIN documents t
                 ON t.collection = {} AND t.id > {}
                 WHERE t.body IS NOT NULL ORDER BY t.id LIMIT 1000",
                backend.parameter(0, NUMBER),
                backend.parameter(1, TEXT)
            )),
            drop_all_unique_keys: sql(format!(
                "DELETE FROM unique_keys WHERE collection IN (SELECT {} FROM {rows})",
                backend.parameter(0, NUMBER)
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
                "id, capability, event_type, subject, audience, audience_id, data, request_id, occurred_at, test_mode, trace",
                &[TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, NUMBER, NUMBER, TEXT],
                "",
            ),
            add_deliveries: sql(format!(
                "INSERT INTO deliveries (event_seq, capability, action, lane, attempts, due_at, dead)
                 SELECT t.seq, {}, {}, {}, 0, t.occurred_at, {no}
                 FROM {rows} JOIN events t ON t.id = {} ORDER BY t.seq",
                backend.parameter(1, TEXT),
                backend.parameter(2, TEXT),
                backend.parameter(3, TEXT),
                backend.parameter(0, TEXT),
                no = backend.false_literal()
            )),
            drop_deliveries: drop("deliveries", "id", &[NUMBER]),
            put_timers: add(
                "timers",
                "capability, name, test_mode, setting, action, input, at, due_at, attempts",
                &[TEXT, TEXT, NUMBER, TEXT, TEXT, TEXT, NUMBER, NUMBER, NUMBER],
                "ON CONFLICT (capability, name, test_mode) DO UPDATE SET setting = excluded.setting, action = excluded.action, input = excluded.input, at = excluded.at, due_at = excluded.due_at, attempts = 0, last_error = NULL",
            ),
            drop_timers: drop("timers", "capability, name, test_mode", &[TEXT, TEXT, NUMBER]),
            // A new answer replaces an expired one.
            add_answers: add(
                "idempotency",
                "agent_id, capability, action, key, body_hash, answer, expires_at",
                &[TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, NUMBER],
                "ON CONFLICT (agent_id, capability, action, key) DO UPDATE SET body_hash = excluded.body_hash, answer = excluded.answer, expires_at = excluded.expires_at",
            ),
            add_audit: add(
                "audit",
                "at, request_id, agent_id, owner_id, client_id, address, via, capability, version, digest, action, outcome, duration_us, count, node, position, salt",
                &[
                    NUMBER, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT,
                    NUMBER, NUMBER, TEXT, NUMBER, TEXT,
                ],
                "",
            ),
            // The newest rows are read first, so that this ends at the last row of the node.
            last_audit_row: sql(format!(
                "SELECT t.position FROM {rows} JOIN audit t ON t.node = {} ORDER BY t.seq DESC LIMIT 1",
                backend.parameter(0, TEXT)
            )),
            erasures: find("t.owner_digest", "erasures", &[("owner_digest", TEXT)], ""),
            inboxes: find("t.agent_id, t.last_seq", "inboxes", &[("agent_id", TEXT)], ""),
            webhook_agents: sql(format!(
                "SELECT DISTINCT w.agent_id FROM {rows} JOIN webhooks w ON w.state IN ('active', 'paused')"
            )),
            // What an older version has added to the inbox at once is not added again.
            missing_broadcasts: sql(format!(
                "SELECT t.agent_id, b.id FROM {rows} JOIN inboxes t ON t.agent_id = {agent}
                 JOIN events b ON b.audience = 'listeners' AND b.seq > t.broadcast_seq
                 WHERE NOT EXISTS (SELECT 1 FROM inbox i WHERE i.event_seq = b.seq AND i.agent_id = t.agent_id)
                 ORDER BY b.seq",
                agent = backend.parameter(0, TEXT)
            )),
            put_broadcasts: sql(format!(
                "UPDATE inboxes SET broadcast_seq = {NEWEST_BROADCAST} FROM {rows} WHERE inboxes.agent_id = {}",
                backend.parameter(0, TEXT)
            )),
            put_inboxes: add(
                "inboxes",
                "agent_id, last_seq",
                &[TEXT, NUMBER],
                "ON CONFLICT (agent_id) DO UPDATE SET last_seq = excluded.last_seq",
            ),
            put_polled: sql(format!(
                "INSERT INTO inboxes (agent_id, last_seq, polled_at, broadcast_seq)
                 SELECT {}, 0, {}, {NEWEST_BROADCAST} FROM {rows} WHERE true
                 ON CONFLICT (agent_id) DO UPDATE SET
                     polled_at = excluded.polled_at,
                     broadcast_seq = CASE WHEN inboxes.polled_at IS NULL
                         THEN excluded.broadcast_seq ELSE inboxes.broadcast_seq END",
                backend.parameter(0, TEXT),
                backend.parameter(1, NUMBER)
            )),
            add_inbox: sql(format!(
                "INSERT INTO inbox (agent_id, seq, event_seq, acknowledged)
                 SELECT {}, {}, t.seq, 0 FROM {rows} JOIN events t ON t.id = {}",
                backend.parameter(0, TEXT),
                backend.parameter(1, NUMBER),
                backend.parameter(2, TEXT)
            )),
            mark_inbox: sql(format!(
                "UPDATE inbox SET acknowledged = {} FROM {rows} WHERE inbox.agent_id = {} AND inbox.seq = {}",
                backend.parameter(2, NUMBER),
                backend.parameter(0, TEXT),
                backend.parameter(1, NUMBER)
            )),
            receivers: find(
                "t.id, t.agent_id, t.types",
                "webhooks",
                &[("agent_id", TEXT)],
                "AND t.state IN ('active', 'paused')",
            ),
            add_webhook_deliveries: sql(format!(
                "INSERT INTO webhook_deliveries (id, webhook_id, event_seq, inbox_seq, subject, challenge, outcome, attempts, due_at, created_at)
                 SELECT {}, {}, t.seq, {}, t.subject, {}, 'pending', 0, t.occurred_at, t.occurred_at
                 FROM {rows} JOIN events t ON t.id = {} ORDER BY t.seq",
                backend.parameter(1, TEXT),
                backend.parameter(2, TEXT),
                backend.parameter(3, NUMBER),
                backend.parameter(4, NUMBER),
                backend.parameter(0, TEXT)
            )),
            redeliver: sql(format!(
                "UPDATE webhook_deliveries SET outcome = 'pending', attempts = 0, due_at = {} FROM {rows} WHERE webhook_deliveries.id = {}",
                backend.parameter(1, NUMBER),
                backend.parameter(0, TEXT)
            )),
            webhook_versions: find("t.id, t.version", "webhooks", &[("id", TEXT)], ""),
            webhook_counts: find(
                "t.agent_id, count(*)",
                "webhooks",
                &[("agent_id", TEXT)],
                "GROUP BY t.agent_id",
            ),
            put_webhooks: add(
                "webhooks",
                "id, agent_id, test_mode, url, types, description, state, secret, previous_secret, previous_until, version, created_at, updated_at, last_error",
                &[
                    TEXT, TEXT, NUMBER, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, NUMBER, NUMBER, NUMBER,
                    NUMBER, TEXT,
                ],
                "ON CONFLICT (id) DO UPDATE SET url = excluded.url, types = excluded.types, description = excluded.description, state = excluded.state, secret = excluded.secret, previous_secret = excluded.previous_secret, previous_until = excluded.previous_until, version = excluded.version, updated_at = excluded.updated_at, last_error = excluded.last_error, rest_until = CASE WHEN webhooks.url = excluded.url THEN webhooks.rest_until ELSE 0 END, failures = CASE WHEN webhooks.url = excluded.url THEN webhooks.failures ELSE 0 END, failing_since = CASE WHEN webhooks.url = excluded.url THEN webhooks.failing_since END",
            ),
            add_counts: add(
                "counters",
                "name, value, step, expires_at",
                &[TEXT, NUMBER, NUMBER, NUMBER],
                "ON CONFLICT (name) DO UPDATE SET
                 value = CASE WHEN counters.value > excluded.value - excluded.step
                     THEN counters.value + excluded.step ELSE excluded.value END,
                 step = excluded.step, expires_at = excluded.expires_at",
            ),
            counts: find("t.name, t.value, t.expires_at", "counters", &[("name", TEXT)], ""),
            put_counts: add(
                "counters",
                "name, value, step, expires_at",
                &[TEXT, NUMBER, NUMBER, NUMBER],
                "ON CONFLICT (name) DO UPDATE SET
                 value = excluded.value, step = excluded.step, expires_at = excluded.expires_at",
            ),
            held: HeldStatements::new(backend),
            email_notices: EmailStatements::new(backend),
            // A timer that is due later becomes due earlier; one that is due earlier stays as it is.
            advance_timers: add(
                "timers",
                "capability, name, test_mode, setting, action, input, at, due_at, attempts",
                &[TEXT, TEXT, NUMBER, TEXT, TEXT, TEXT, NUMBER, NUMBER, NUMBER],
                "ON CONFLICT (capability, name, test_mode) DO UPDATE SET setting = excluded.setting, at = excluded.at, due_at = excluded.due_at, attempts = 0, last_error = NULL WHERE excluded.at < timers.at",
            ),
            drop_webhooks: drop("webhooks", "id", &[TEXT]),
            drop_webhook_deliveries: drop("webhook_deliveries", "webhook_id", &[TEXT]),
            drop_challenges: sql(format!(
                "DELETE FROM webhook_deliveries WHERE webhook_id IN (SELECT {} FROM {rows})
                 AND challenge = 1 AND outcome = 'pending'",
                backend.parameter(0, TEXT)
            )),
            drop_webhooks_of: drop("webhooks", "agent_id", &[TEXT]),
            drop_deliveries_of: sql(format!(
                "DELETE FROM webhook_deliveries WHERE webhook_id IN
                 (SELECT t.id FROM {rows} JOIN webhooks t ON t.agent_id = {})",
                backend.parameter(0, TEXT)
            )),
            empty_inbox_of: sql(format!(
                "DELETE FROM inbox WHERE agent_id IN (SELECT {} FROM {rows})
                 AND EXISTS (SELECT 1 FROM {rows} JOIN events t ON t.seq = inbox.event_seq WHERE t.occurred_at < {})",
                backend.parameter(0, TEXT),
                backend.parameter(1, NUMBER)
            )),
        }
    }
}
