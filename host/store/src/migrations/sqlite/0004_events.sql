-- Where each agent's inbox stands. There from its first event or its first poll.
CREATE TABLE inboxes (
    agent_id TEXT PRIMARY KEY,
    -- Of the newest event; sequences have no gaps.
    last_seq INTEGER NOT NULL,
    -- When the agent last asked, about a day exact; NULL: never.
    polled_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE inbox (
    agent_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    event_seq INTEGER NOT NULL REFERENCES events (seq),
    acknowledged INTEGER NOT NULL,
    PRIMARY KEY (agent_id, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX inbox_waiting ON inbox (agent_id, seq) WHERE acknowledged = 0;
CREATE INDEX inbox_event ON inbox (event_seq, agent_id);

-- Addresses that an agent's events are sent to.
CREATE TABLE webhooks (
    id TEXT PRIMARY KEY,
    agent_id TEXT NOT NULL,
    test_mode INTEGER NOT NULL,
    url TEXT NOT NULL,
    -- JSON array; empty means all.
    types TEXT NOT NULL,
    description TEXT,
    -- unverified, active, paused or disabled.
    state TEXT NOT NULL,
    -- Sealed, base64.
    secret TEXT NOT NULL,
    previous_secret TEXT,
    previous_until INTEGER,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    last_error TEXT,
    -- Since the last success.
    failures INTEGER NOT NULL DEFAULT 0,
    failing_since INTEGER,
    last_success_at INTEGER,
    -- Nothing is sent before then.
    rest_until INTEGER NOT NULL DEFAULT 0,
    -- One node at a time sends to it.
    leased_until INTEGER NOT NULL DEFAULT 0,
    lease TEXT
) STRICT;

CREATE INDEX webhooks_agent ON webhooks (agent_id);

-- What was and is to be sent.
CREATE TABLE webhook_deliveries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    webhook_id TEXT NOT NULL,
    event_seq INTEGER NOT NULL REFERENCES events (seq),
    -- Of the event in its agent's inbox; NULL: it is in none.
    inbox_seq INTEGER,
    subject TEXT NOT NULL,
    -- 1: it asks the address whether it wants to be one.
    challenge INTEGER NOT NULL,
    -- pending, delivered or dead.
    outcome TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    last_attempt_at INTEGER,
    status INTEGER,
    response TEXT,
    error TEXT,
    duration_ms INTEGER
) STRICT;

CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at) WHERE outcome = 'pending';
CREATE INDEX webhook_deliveries_subject ON webhook_deliveries (webhook_id, subject, seq) WHERE outcome = 'pending';
CREATE INDEX webhook_deliveries_log ON webhook_deliveries (webhook_id, seq);
CREATE INDEX webhook_deliveries_event ON webhook_deliveries (event_seq);

-- Which version the catalog had when it last changed; NULL: none.
ALTER TABLE catalog_since ADD COLUMN version TEXT;
