-- What people are told by email next: how many events of each type there were, and the newest of them.
CREATE TABLE email_notices (
    owner_id TEXT COLLATE "C" NOT NULL,
    event_type TEXT COLLATE "C" NOT NULL,
    events BIGINT NOT NULL,
    -- The sequence of the newest event, which may be removed before.
    event_seq BIGINT NOT NULL,
    PRIMARY KEY (owner_id, event_type)
);
