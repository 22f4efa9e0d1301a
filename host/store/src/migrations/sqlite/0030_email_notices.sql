-- What people are told by email next: how many events of each type there were, and the newest of them.
CREATE TABLE email_notices (
    owner_id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    events INTEGER NOT NULL,
    -- The sequence of the newest event, which may be removed before.
    event_seq INTEGER NOT NULL,
    PRIMARY KEY (owner_id, event_type)
) STRICT, WITHOUT ROWID;
