-- The contents of components, compressed with gzip, that served or are to serve, so that an earlier version can serve again.
CREATE TABLE component_contents (
    digest TEXT PRIMARY KEY,
    content BYTEA NOT NULL
);

-- How the components of each capability arrived: published, rolled back to, or dropped into a folder.
CREATE TABLE component_versions (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    capability_id TEXT NOT NULL,
    version TEXT NOT NULL,
    digest TEXT NOT NULL,
    publisher TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    arrival TEXT NOT NULL CHECK (arrival IN ('published', 'rolled_back', 'dropped')),
    -- The name of its file in a catalog folder.
    file TEXT NOT NULL,
    source TEXT NOT NULL,
    decided_by TEXT,
    at BIGINT NOT NULL,
    -- What breaks callers of the version before it: a JSON array of sentences.
    breaking TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('accepted', 'pending_approval'))
);

CREATE INDEX component_versions_of ON component_versions (capability_id, seq);
