-- Recorded calls: each sealed by the keys of all people whom it names, or by that of its day.
CREATE TABLE recordings (
    request_id TEXT NOT NULL PRIMARY KEY,
    at INTEGER NOT NULL,
    capability TEXT NOT NULL,
    action TEXT NOT NULL,
    version TEXT NOT NULL,
    -- The digest of the component.
    digest TEXT NOT NULL,
    outcome TEXT NOT NULL,
    failed INTEGER NOT NULL,
    test_mode INTEGER NOT NULL,
    -- The ids of all capabilities that ran, with a space before and after each.
    capabilities TEXT NOT NULL,
    -- The names of the keys that seal the content, separated by spaces.
    key_names TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    content BLOB NOT NULL
) STRICT;

CREATE INDEX recordings_at ON recordings (at);

-- The people, and their agents, whom a recording names.
CREATE TABLE recording_people (
    person TEXT NOT NULL,
    request_id TEXT NOT NULL,
    PRIMARY KEY (person, request_id)
) STRICT, WITHOUT ROWID;

-- The keys of recordings, sealed by the host's own. What a destroyed key has sealed cannot be read again.
CREATE TABLE recording_keys (
    name TEXT NOT NULL PRIMARY KEY,
    sealed BLOB NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
