-- The release of held events in steps, at a cost that does not depend on how many events are held.
CREATE INDEX held_events_due ON held_events (owner_id, summarized, due_at, event_seq);

-- The people for whom events are held, and how many.
CREATE TABLE held_owners (
    owner_id TEXT PRIMARY KEY,
    events INTEGER NOT NULL,
    -- The sequence of the event that the release has reached; NULL if no release is under way.
    released_to INTEGER
) STRICT, WITHOUT ROWID;

INSERT INTO held_owners (owner_id, events)
SELECT owner_id, count(*) FROM held_events GROUP BY owner_id;

CREATE TRIGGER count_added_held_event AFTER INSERT ON held_events
BEGIN
    INSERT INTO held_owners (owner_id, events) VALUES (NEW.owner_id, 1)
    ON CONFLICT (owner_id) DO UPDATE SET events = events + 1;
END;

CREATE TRIGGER count_removed_held_event AFTER DELETE ON held_events
BEGIN
    UPDATE held_owners SET events = events - 1 WHERE owner_id = OLD.owner_id;
    DELETE FROM held_owners WHERE owner_id = OLD.owner_id AND events = 0;
END;

-- Held events beyond the limit of a person, as numbers that a digest names.
CREATE TABLE held_counts (
    owner_id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    events INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    PRIMARY KEY (owner_id, event_type)
) STRICT, WITHOUT ROWID;
