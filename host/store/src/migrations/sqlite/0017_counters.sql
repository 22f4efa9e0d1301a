-- Counts that every node shares and that outlive a restart: what was spent on text messages in a day, and
-- when a client's address may have its next ones.
CREATE TABLE counters (
    name TEXT NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL,
    -- What was added last.
    step INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
