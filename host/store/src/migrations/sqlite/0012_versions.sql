-- The contents of components, compressed with gzip, that served or are to serve, so that an earlier version can serve again.
CREATE TABLE component_contents (
    digest TEXT PRIMARY KEY,
    content BLOB NOT NULL
) STRICT;

-- How the components of each capability arrived: published, rolled back to, or dropped into a folder.
CREATE TABLE component_versions (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    capability_id TEXT NOT NULL,
    version TEXT NOT NULL,
    digest TEXT NOT NULL,
    publisher TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    arrival TEXT NOT NULL CHECK (arrival IN ('published', 'rolled_back', 'dropped')),
    -- The name of its file in a catalog folder.
    file TEXT NOT NULL,
    source TEXT NOT NULL,
    decided_by TEXT,
    at INTEGER NOT NULL,
    -- What breaks callers of the version before it: a JSON array of sentences.
    breaking TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('accepted', 'pending_approval'))
) STRICT;

CREATE INDEX component_versions_of ON component_versions (capability_id, seq);
