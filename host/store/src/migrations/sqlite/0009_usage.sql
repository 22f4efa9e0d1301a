-- What the documents and timers of each capability take. Test mode counts apart, under the name that it
-- has in `collections`. Triggers keep it, so that no write is missed.
CREATE TABLE usage (
    capability TEXT NOT NULL PRIMARY KEY,
    documents INTEGER NOT NULL,
    tombstones INTEGER NOT NULL,
    -- Of the ids and bodies of documents, and of the names, actions and inputs of timers.
    bytes INTEGER NOT NULL,
    timers INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO usage (capability, documents, tombstones, bytes, timers)
SELECT capability, sum(documents), sum(tombstones), sum(bytes), sum(timers) FROM (
    SELECT
        c.capability,
        count(d.body) AS documents,
        count(*) - count(d.body) AS tombstones,
        coalesce(sum(octet_length(d.id) + octet_length(d.body)), 0) AS bytes,
        0 AS timers
    FROM documents d
    JOIN collections c ON c.id = d.collection
    GROUP BY c.capability
    UNION ALL
    SELECT
        capability || CASE test_mode WHEN 0 THEN '' ELSE ' (test)' END,
        0,
        0,
        octet_length(name) + octet_length(action) + octet_length(input),
        1
    FROM timers
)
GROUP BY capability;

CREATE TRIGGER count_added_document AFTER INSERT ON documents
BEGIN
    INSERT INTO usage (capability, documents, tombstones, bytes, timers)
    SELECT
        capability,
        NEW.body IS NOT NULL,
        NEW.body IS NULL,
        coalesce(octet_length(NEW.id) + octet_length(NEW.body), 0),
        0
    FROM collections
    WHERE id = NEW.collection
    ON CONFLICT (capability) DO UPDATE SET
        documents = documents + excluded.documents,
        tombstones = tombstones + excluded.tombstones,
        bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER count_changed_document AFTER UPDATE OF body ON documents
BEGIN
    UPDATE usage SET
        documents = documents + (NEW.body IS NOT NULL) - (OLD.body IS NOT NULL),
        tombstones = tombstones + (NEW.body IS NULL) - (OLD.body IS NULL),
        bytes = bytes
            + coalesce(octet_length(NEW.id) + octet_length(NEW.body), 0)
            - coalesce(octet_length(OLD.id) + octet_length(OLD.body), 0)
    WHERE capability = (SELECT capability FROM collections WHERE id = NEW.collection);
END;

CREATE TRIGGER count_removed_document AFTER DELETE ON documents
BEGIN
    UPDATE usage SET
        documents = documents - (OLD.body IS NOT NULL),
        tombstones = tombstones - (OLD.body IS NULL),
        bytes = bytes - coalesce(octet_length(OLD.id) + octet_length(OLD.body), 0)
    WHERE capability = (SELECT capability FROM collections WHERE id = OLD.collection);
END;

CREATE TRIGGER count_added_timer AFTER INSERT ON timers
BEGIN
    INSERT INTO usage (capability, documents, tombstones, bytes, timers)
    VALUES (
        NEW.capability || CASE NEW.test_mode WHEN 0 THEN '' ELSE ' (test)' END,
        0,
        0,
        octet_length(NEW.name) + octet_length(NEW.action) + octet_length(NEW.input),
        1
    )
    ON CONFLICT (capability) DO UPDATE SET
        bytes = bytes + excluded.bytes,
        timers = timers + 1;
END;

CREATE TRIGGER count_changed_timer AFTER UPDATE OF action, input ON timers
BEGIN
    UPDATE usage SET
        bytes = bytes
            + octet_length(NEW.action) + octet_length(NEW.input)
            - octet_length(OLD.action) - octet_length(OLD.input)
    WHERE capability = NEW.capability || CASE NEW.test_mode WHEN 0 THEN '' ELSE ' (test)' END;
END;

CREATE TRIGGER count_removed_timer AFTER DELETE ON timers
BEGIN
    UPDATE usage SET
        bytes = bytes - octet_length(OLD.name) - octet_length(OLD.action) - octet_length(OLD.input),
        timers = timers - 1
    WHERE capability = OLD.capability || CASE OLD.test_mode WHEN 0 THEN '' ELSE ' (test)' END;
END;
