-- Counts that every node shares and that outlive a restart: what was spent on text messages in a day, and
-- when a client's address may have its next ones.
CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value BIGINT NOT NULL,
    -- What was added last.
    step BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
