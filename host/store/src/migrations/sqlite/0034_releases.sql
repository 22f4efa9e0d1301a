-- Versions that are given to a share of callers before they serve.
CREATE TABLE releases (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    capability_id TEXT NOT NULL,
    version TEXT NOT NULL,
    digest TEXT NOT NULL,
    -- The name of its file in a catalog folder.
    file TEXT NOT NULL,
    source TEXT NOT NULL,
    -- The version that serves the other callers.
    served_version TEXT NOT NULL,
    served_digest TEXT NOT NULL,
    -- In percent.
    share INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    started_by TEXT NOT NULL,
    -- When its time is over, if it has one.
    due_at INTEGER,
    -- 1 if it is promoted by itself then.
    promotes INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'promoted', 'aborted', 'replaced')),
    ended_at INTEGER,
    -- By whom it ended, the rule if there is one, the reason, and the figures of both versions: a JSON object.
    ending TEXT,
    -- The newest entry of the capability's history when the release began.
    history_seq INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX releases_running ON releases (capability_id) WHERE state = 'running';
CREATE INDEX releases_of ON releases (capability_id, id);

-- What each node has counted of the calls of both versions in a minute.
CREATE TABLE release_counts (
    release_id INTEGER NOT NULL,
    minute INTEGER NOT NULL,
    side TEXT NOT NULL CHECK (side IN ('served', 'canary')),
    node TEXT NOT NULL,
    -- A JSON object.
    figures TEXT NOT NULL,
    PRIMARY KEY (release_id, minute, side, node)
) STRICT, WITHOUT ROWID;
