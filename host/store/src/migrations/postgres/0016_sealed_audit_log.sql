-- The node that wrote a row, and the row's number in the log of that node. Rows of an earlier version have
-- none and are not sealed.
ALTER TABLE audit ADD COLUMN node TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN position BIGINT NOT NULL DEFAULT 0;
-- The salt of the hash of what is personal in a row; after an erasure, the hash is there in its place.
ALTER TABLE audit ADD COLUMN salt TEXT COLLATE "C";
ALTER TABLE audit ADD COLUMN commitment TEXT COLLATE "C";
ALTER TABLE audit ADD COLUMN client_id TEXT COLLATE "C";
ALTER TABLE audit ADD COLUMN address TEXT COLLATE "C";
-- How often it happened, where several are one row.
ALTER TABLE audit ADD COLUMN count BIGINT NOT NULL DEFAULT 1;

CREATE TABLE audit_checkpoints (
    node TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    first_position BIGINT NOT NULL,
    last_position BIGINT NOT NULL,
    oldest_at BIGINT NOT NULL,
    at BIGINT NOT NULL,
    expired_before BIGINT NOT NULL,
    -- The hash and the time of the node's checkpoint before.
    previous TEXT COLLATE "C" NOT NULL,
    previous_at BIGINT,
    root TEXT COLLATE "C" NOT NULL,
    key_id TEXT COLLATE "C" NOT NULL,
    signature TEXT COLLATE "C" NOT NULL,
    -- JSON array of the rows' hashes.
    leaves TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (node, number)
);
