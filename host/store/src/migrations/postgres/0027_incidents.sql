-- Incidents and planned maintenance that the operator tells the public about, with their updates.
CREATE TABLE incidents (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    title TEXT COLLATE "C" NOT NULL,
    -- The state of the newest update.
    state TEXT COLLATE "C" NOT NULL,
    opened_at BIGINT NOT NULL,
    -- The time of planned maintenance.
    starts_at BIGINT,
    ends_at BIGINT
);

CREATE TABLE incident_updates (
    incident_id TEXT COLLATE "C" NOT NULL REFERENCES incidents (id),
    number BIGINT NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (incident_id, number)
);
