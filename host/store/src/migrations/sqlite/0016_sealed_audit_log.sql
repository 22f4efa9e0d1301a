-- The node that wrote a row, and the row's number in the log of that node. Rows of an earlier version have
-- none and are not sealed.
ALTER TABLE audit ADD COLUMN node TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
-- The salt of the hash of what is personal in a row; after an erasure, the hash is there in its place.
ALTER TABLE audit ADD COLUMN salt TEXT;
ALTER TABLE audit ADD COLUMN commitment TEXT;
ALTER TABLE audit ADD COLUMN client_id TEXT;
ALTER TABLE audit ADD COLUMN address TEXT;
-- How often it happened, where several are one row.
ALTER TABLE audit ADD COLUMN count INTEGER NOT NULL DEFAULT 1;

CREATE TABLE audit_checkpoints (
    node TEXT NOT NULL,
    number INTEGER NOT NULL,
    first_position INTEGER NOT NULL,
    last_position INTEGER NOT NULL,
    oldest_at INTEGER NOT NULL,
    at INTEGER NOT NULL,
    expired_before INTEGER NOT NULL,
    -- The hash and the time of the node's checkpoint before.
    previous TEXT NOT NULL,
    previous_at INTEGER,
    root TEXT NOT NULL,
    key_id TEXT NOT NULL,
    signature TEXT NOT NULL,
    -- JSON array of the rows' hashes.
    leaves TEXT NOT NULL,
    PRIMARY KEY (node, number)
) STRICT, WITHOUT ROWID;
