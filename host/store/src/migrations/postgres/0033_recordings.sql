-- Recorded calls: each sealed by the keys of all people whom it names, or by that of its day.
CREATE TABLE recordings (
    request_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    at BIGINT NOT NULL,
    capability TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    -- The digest of the component.
    digest TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    failed BIGINT NOT NULL,
    test_mode BIGINT NOT NULL,
    -- The ids of all capabilities that ran, with a space before and after each.
    capabilities TEXT COLLATE "C" NOT NULL,
    -- The names of the keys that seal the content, separated by spaces.
    key_names TEXT COLLATE "C" NOT NULL,
    bytes BIGINT NOT NULL,
    content BYTEA NOT NULL
);

CREATE INDEX recordings_at ON recordings (at);

-- The people, and their agents, whom a recording names.
CREATE TABLE recording_people (
    person TEXT COLLATE "C" NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (person, request_id)
);

-- The keys of recordings, sealed by the host's own. What a destroyed key has sealed cannot be read again.
CREATE TABLE recording_keys (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    sealed BYTEA NOT NULL,
    created_at BIGINT NOT NULL
);
