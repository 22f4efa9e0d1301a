-- Events for a person that are held by the person's delivery rules.
CREATE TABLE held_events (
    owner_id TEXT COLLATE "C" NOT NULL,
    event_seq BIGINT NOT NULL REFERENCES events (seq),
    due_at BIGINT NOT NULL,
    -- 1: it is summarized with others in a digest; 0: it is delivered itself.
    summarized BIGINT NOT NULL CHECK (summarized IN (0, 1)),
    PRIMARY KEY (owner_id, event_seq)
);

CREATE INDEX held_events_event ON held_events (event_seq);
