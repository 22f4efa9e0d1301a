-- Every collection that a capability has declared. Its shape (paths, unique keys, text, geo) only
-- grows; `generation` counts its changes.
CREATE TABLE collections (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    capability TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    shape TEXT COLLATE "C" NOT NULL,
    generation BIGINT NOT NULL,
    UNIQUE (capability, name)
);

CREATE TABLE documents (
    collection BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    -- Counts on over a deletion, so that a document that came back is told from the one before.
    revision BIGINT NOT NULL,
    -- NULL: deleted.
    body TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (collection, id)
);

CREATE INDEX documents_deleted ON documents (updated_at) WHERE body IS NULL;

CREATE TABLE unique_keys (
    collection BIGINT NOT NULL,
    -- Which of the collection's unique keys.
    place BIGINT NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (collection, place, key)
);

CREATE INDEX unique_keys_id ON unique_keys (collection, id);

CREATE TABLE events (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    capability TEXT COLLATE "C" NOT NULL,
    event_type TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    -- agent, owner or capabilities, and which.
    audience TEXT COLLATE "C" NOT NULL,
    audience_id TEXT COLLATE "C",
    data TEXT COLLATE "C" NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    occurred_at BIGINT NOT NULL
);

CREATE INDEX events_occurred_at ON events (occurred_at);

-- Events that a subscribed capability has yet to be told.
CREATE TABLE deliveries (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_seq BIGINT NOT NULL REFERENCES events (seq),
    capability TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    -- Deliveries of one lane go one after the other.
    lane TEXT COLLATE "C" NOT NULL,
    attempts BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    -- Given up; the operator may replay it.
    dead BOOLEAN NOT NULL,
    last_error TEXT COLLATE "C"
);

CREATE INDEX deliveries_lane ON deliveries (lane, id) WHERE dead = false;
CREATE INDEX deliveries_due_at ON deliveries (due_at) WHERE dead = false;
CREATE INDEX deliveries_event_seq ON deliveries (event_seq);

CREATE TABLE timers (
    capability TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    -- Changes with every setting, so that a run does not end the timer that replaced its own.
    setting TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    input TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    -- `at`, or later after a failed run.
    due_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    last_error TEXT COLLATE "C",
    PRIMARY KEY (capability, name)
);

CREATE INDEX timers_due_at ON timers (due_at);

CREATE TABLE idempotency (
    agent_id TEXT COLLATE "C" NOT NULL,
    capability TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    -- SHA-256 of the body without the key, in hexadecimal digits.
    body_hash TEXT COLLATE "C" NOT NULL,
    answer TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (agent_id, capability, action, key)
);

CREATE INDEX idempotency_expires_at ON idempotency (expires_at);

CREATE TABLE audit (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    -- NULL: the host itself.
    agent_id TEXT COLLATE "C",
    owner_id TEXT COLLATE "C",
    -- JSON array of capability ids, outermost first.
    via TEXT COLLATE "C" NOT NULL,
    capability TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    -- ok, or the error code.
    outcome TEXT COLLATE "C" NOT NULL,
    duration_us BIGINT NOT NULL
);

CREATE INDEX audit_at ON audit (at);
CREATE INDEX audit_agent_id ON audit (agent_id, at);
