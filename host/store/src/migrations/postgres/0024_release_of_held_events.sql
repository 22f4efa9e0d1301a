-- The release of held events in steps, at a cost that does not depend on how many events are held.
CREATE INDEX held_events_due ON held_events (owner_id, summarized, due_at, event_seq);

-- The people for whom events are held, and how many.
CREATE TABLE held_owners (
    owner_id TEXT COLLATE "C" PRIMARY KEY,
    events BIGINT NOT NULL,
    -- The sequence of the event that the release has reached; NULL if no release is under way.
    released_to BIGINT
);

INSERT INTO held_owners (owner_id, events)
SELECT owner_id, count(*) FROM held_events GROUP BY owner_id;

CREATE FUNCTION count_added_held_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO held_owners AS o (owner_id, events)
        SELECT owner_id, count(*) FROM added GROUP BY owner_id
    ON CONFLICT (owner_id) DO UPDATE SET events = o.events + excluded.events;
    RETURN NULL;
END
$$;

CREATE TRIGGER count_added_held_events AFTER INSERT ON held_events
REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION count_added_held_events();

CREATE FUNCTION count_removed_held_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE held_owners o SET events = o.events - r.events
        FROM (SELECT owner_id, count(*) AS events FROM removed GROUP BY owner_id) AS r
        WHERE o.owner_id = r.owner_id;
    DELETE FROM held_owners
        WHERE events = 0 AND owner_id IN (SELECT owner_id FROM removed);
    RETURN NULL;
END
$$;

CREATE TRIGGER count_removed_held_events AFTER DELETE ON held_events
REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION count_removed_held_events();

-- Held events beyond the limit of a person, as numbers that a digest names.
CREATE TABLE held_counts (
    owner_id TEXT COLLATE "C" NOT NULL,
    event_type TEXT COLLATE "C" NOT NULL,
    events BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    PRIMARY KEY (owner_id, event_type)
);
