-- Incidents and planned maintenance that the operator tells the public about, with their updates.
CREATE TABLE incidents (
    id TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    -- The state of the newest update.
    state TEXT NOT NULL,
    opened_at INTEGER NOT NULL,
    -- The time of planned maintenance.
    starts_at INTEGER,
    ends_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE incident_updates (
    incident_id TEXT NOT NULL REFERENCES incidents (id),
    number INTEGER NOT NULL,
    state TEXT NOT NULL,
    text TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (incident_id, number)
) STRICT, WITHOUT ROWID;
