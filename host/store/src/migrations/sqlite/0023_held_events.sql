-- Events for a person that are held by the person's delivery rules.
CREATE TABLE held_events (
    owner_id TEXT NOT NULL,
    event_seq INTEGER NOT NULL REFERENCES events (seq),
    due_at INTEGER NOT NULL,
    -- 1: it is summarized with others in a digest; 0: it is delivered itself.
    summarized INTEGER NOT NULL CHECK (summarized IN (0, 1)),
    PRIMARY KEY (owner_id, event_seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX held_events_event ON held_events (event_seq);
