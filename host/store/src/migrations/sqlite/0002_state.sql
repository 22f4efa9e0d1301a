-- Every collection that a capability has declared. Its shape (paths, unique keys, text, geo) only
-- grows; `generation` counts its changes.
CREATE TABLE collections (
    id INTEGER PRIMARY KEY,
    capability TEXT NOT NULL,
    name TEXT NOT NULL,
    shape TEXT NOT NULL,
    generation INTEGER NOT NULL,
    UNIQUE (capability, name)
) STRICT;

CREATE TABLE documents (
    collection INTEGER NOT NULL,
    id TEXT NOT NULL,
    -- Counts on over a deletion, so that a document that came back is told from the one before.
    revision INTEGER NOT NULL,
    -- NULL: deleted.
    body TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (collection, id)
) STRICT;

CREATE INDEX documents_deleted ON documents (updated_at) WHERE body IS NULL;

CREATE TABLE unique_keys (
    collection INTEGER NOT NULL,
    -- Which of the collection's unique keys.
    place INTEGER NOT NULL,
    key TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (collection, place, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX unique_keys_id ON unique_keys (collection, id);

CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    capability TEXT NOT NULL,
    event_type TEXT NOT NULL,
    subject TEXT NOT NULL,
    -- agent, owner or capabilities, and which.
    audience TEXT NOT NULL,
    audience_id TEXT,
    data TEXT NOT NULL,
    request_id TEXT NOT NULL,
    occurred_at INTEGER NOT NULL
) STRICT;

CREATE INDEX events_occurred_at ON events (occurred_at);

-- Events that a subscribed capability has yet to be told.
CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    event_seq INTEGER NOT NULL REFERENCES events (seq),
    capability TEXT NOT NULL,
    action TEXT NOT NULL,
    -- Deliveries of one lane go one after the other.
    lane TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    -- Given up; the operator may replay it.
    dead INTEGER NOT NULL,
    last_error TEXT
) STRICT;

CREATE INDEX deliveries_lane ON deliveries (lane, id) WHERE dead = 0;
CREATE INDEX deliveries_due_at ON deliveries (due_at) WHERE dead = 0;
CREATE INDEX deliveries_event_seq ON deliveries (event_seq);

CREATE TABLE timers (
    capability TEXT NOT NULL,
    name TEXT NOT NULL,
    -- Changes with every setting, so that a run does not end the timer that replaced its own.
    setting TEXT NOT NULL,
    action TEXT NOT NULL,
    input TEXT NOT NULL,
    at INTEGER NOT NULL,
    -- `at`, or later after a failed run.
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    last_error TEXT,
    PRIMARY KEY (capability, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX timers_due_at ON timers (due_at);

CREATE TABLE idempotency (
    agent_id TEXT NOT NULL,
    capability TEXT NOT NULL,
    action TEXT NOT NULL,
    key TEXT NOT NULL,
    -- SHA-256 of the body without the key, in hexadecimal digits.
    body_hash TEXT NOT NULL,
    answer TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (agent_id, capability, action, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_expires_at ON idempotency (expires_at);

CREATE TABLE audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    -- NULL: the host itself.
    agent_id TEXT,
    owner_id TEXT,
    -- JSON array of capability ids, outermost first.
    via TEXT NOT NULL,
    capability TEXT NOT NULL,
    version TEXT NOT NULL,
    digest TEXT NOT NULL,
    action TEXT NOT NULL,
    -- ok, or the error code.
    outcome TEXT NOT NULL,
    duration_us INTEGER NOT NULL
) STRICT;

CREATE INDEX audit_at ON audit (at);
CREATE INDEX audit_agent_id ON audit (agent_id, at);
