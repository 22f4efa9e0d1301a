-- Where each agent's inbox stands. There from its first event or its first poll.
CREATE TABLE inboxes (
    agent_id TEXT COLLATE "C" PRIMARY KEY,
    -- Of the newest event; sequences have no gaps.
    last_seq BIGINT NOT NULL,
    -- When the agent last asked, about a day exact; NULL: never.
    polled_at BIGINT
);

CREATE TABLE inbox (
    agent_id TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    event_seq BIGINT NOT NULL REFERENCES events (seq),
    acknowledged BIGINT NOT NULL,
    PRIMARY KEY (agent_id, seq)
);

CREATE INDEX inbox_waiting ON inbox (agent_id, seq) WHERE acknowledged = 0;
CREATE INDEX inbox_event ON inbox (event_seq, agent_id);

-- Addresses that an agent's events are sent to.
CREATE TABLE webhooks (
    id TEXT COLLATE "C" PRIMARY KEY,
    agent_id TEXT COLLATE "C" NOT NULL,
    test_mode BIGINT NOT NULL,
    url TEXT COLLATE "C" NOT NULL,
    -- JSON array; empty means all.
    types TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C",
    -- unverified, active, paused or disabled.
    state TEXT COLLATE "C" NOT NULL,
    -- Sealed, base64.
    secret TEXT COLLATE "C" NOT NULL,
    previous_secret TEXT COLLATE "C",
    previous_until BIGINT,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    last_error TEXT COLLATE "C",
    -- Since the last success.
    failures BIGINT NOT NULL DEFAULT 0,
    failing_since BIGINT,
    last_success_at BIGINT,
    -- Nothing is sent before then.
    rest_until BIGINT NOT NULL DEFAULT 0,
    -- One node at a time sends to it.
    leased_until BIGINT NOT NULL DEFAULT 0,
    lease TEXT COLLATE "C"
);

CREATE INDEX webhooks_agent ON webhooks (agent_id);

-- What was and is to be sent.
CREATE TABLE webhook_deliveries (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    webhook_id TEXT COLLATE "C" NOT NULL,
    event_seq BIGINT NOT NULL REFERENCES events (seq),
    -- Of the event in its agent's inbox; NULL: it is in none.
    inbox_seq BIGINT,
    subject TEXT COLLATE "C" NOT NULL,
    -- 1: it asks the address whether it wants to be one.
    challenge BIGINT NOT NULL,
    -- pending, delivered or dead.
    outcome TEXT COLLATE "C" NOT NULL,
    attempts BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    last_attempt_at BIGINT,
    status BIGINT,
    response TEXT COLLATE "C",
    error TEXT COLLATE "C",
    duration_ms BIGINT
);

CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at) WHERE outcome = 'pending';
CREATE INDEX webhook_deliveries_subject ON webhook_deliveries (webhook_id, subject, seq) WHERE outcome = 'pending';
CREATE INDEX webhook_deliveries_log ON webhook_deliveries (webhook_id, seq);
CREATE INDEX webhook_deliveries_event ON webhook_deliveries (event_seq);

-- Which version the catalog had when it last changed; NULL: none.
ALTER TABLE catalog_since ADD COLUMN version TEXT COLLATE "C";
