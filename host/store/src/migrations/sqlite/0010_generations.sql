-- What the documents of each collection take, and what the timers of each capability take, instead of one
-- count for each capability: the generations of a collection are counted apart. Test mode counts apart,
-- under the name that it has in `collections`. Triggers keep both, so that no write is missed.
DROP TRIGGER count_added_document;
DROP TRIGGER count_changed_document;
DROP TRIGGER count_removed_document;
DROP TRIGGER count_added_timer;
DROP TRIGGER count_changed_timer;
DROP TRIGGER count_removed_timer;
DROP TABLE usage;

-- A collection that changes its version gets a new generation: another row with documents of its own.
-- `serving`: the capability's calls use it. `filling`: it is being filled with migrated documents.
-- `retired`: it was replaced, or its filling was given up.
ALTER TABLE collections ADD COLUMN state TEXT NOT NULL DEFAULT 'serving'
    CHECK (state IN ('serving', 'filling', 'retired'));
-- Of a serving row: the generation that its changes are copied to.
ALTER TABLE collections ADD COLUMN followed_by INTEGER;
-- Of a serving row: until then (milliseconds) nothing commits to it, because it is being replaced.
ALTER TABLE collections ADD COLUMN fenced_until INTEGER NOT NULL DEFAULT 0;
-- Of a filling row: the component that migrates, and the last id that was copied; NULL: all were.
ALTER TABLE collections ADD COLUMN migrated_by TEXT;
ALTER TABLE collections ADD COLUMN copied_to TEXT;
-- Of a retired row: since when, in milliseconds, and by which row it was replaced.
ALTER TABLE collections ADD COLUMN retired_at INTEGER;
ALTER TABLE collections ADD COLUMN replaced_by INTEGER;

-- The documents that were changed while another generation is being filled.
CREATE TABLE generation_changes (
    collection INTEGER NOT NULL,
    id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (collection, id)
) STRICT, WITHOUT ROWID;

-- Documents that a version of a capability could not read, and with a body those that could not be
-- migrated: these are in no collection.
CREATE TABLE quarantined_documents (
    collection INTEGER NOT NULL,
    id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    -- The version of the form of the body.
    version INTEGER NOT NULL,
    body TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    quarantined_at INTEGER NOT NULL,
    PRIMARY KEY (collection, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE collection_usage (
    collection INTEGER PRIMARY KEY,
    documents INTEGER NOT NULL,
    tombstones INTEGER NOT NULL,
    -- Of the ids and bodies of documents.
    bytes INTEGER NOT NULL
) STRICT;

INSERT INTO collection_usage (collection, documents, tombstones, bytes)
SELECT
    collection,
    count(body),
    count(*) - count(body),
    coalesce(sum(octet_length(id) + octet_length(body)), 0)
FROM documents
GROUP BY collection;

CREATE TABLE timer_usage (
    capability TEXT NOT NULL PRIMARY KEY,
    timers INTEGER NOT NULL,
    -- Of their names, actions and inputs.
    bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO timer_usage (capability, timers, bytes)
SELECT
    capability || CASE test_mode WHEN 0 THEN '' ELSE ' (test)' END,
    count(*),
    sum(octet_length(name) + octet_length(action) + octet_length(input))
FROM timers
GROUP BY 1;

CREATE TRIGGER count_added_document AFTER INSERT ON documents
BEGIN
    INSERT INTO collection_usage (collection, documents, tombstones, bytes)
    VALUES (
        NEW.collection,
        NEW.body IS NOT NULL,
        NEW.body IS NULL,
        coalesce(octet_length(NEW.id) + octet_length(NEW.body), 0)
    )
    ON CONFLICT (collection) DO UPDATE SET
        documents = documents + excluded.documents,
        tombstones = tombstones + excluded.tombstones,
        bytes = bytes + excluded.bytes;
    INSERT INTO generation_changes (collection, id, revision)
    SELECT id, NEW.id, NEW.revision FROM collections
    WHERE id = NEW.collection AND followed_by IS NOT NULL
    ON CONFLICT (collection, id) DO UPDATE SET revision = excluded.revision;
END;

CREATE TRIGGER count_changed_document AFTER UPDATE OF body ON documents
BEGIN
    UPDATE collection_usage SET
        documents = documents + (NEW.body IS NOT NULL) - (OLD.body IS NOT NULL),
        tombstones = tombstones + (NEW.body IS NULL) - (OLD.body IS NULL),
        bytes = bytes
            + coalesce(octet_length(NEW.id) + octet_length(NEW.body), 0)
            - coalesce(octet_length(OLD.id) + octet_length(OLD.body), 0)
    WHERE collection = NEW.collection;
    INSERT INTO generation_changes (collection, id, revision)
    SELECT id, NEW.id, NEW.revision FROM collections
    WHERE id = NEW.collection AND followed_by IS NOT NULL
    ON CONFLICT (collection, id) DO UPDATE SET revision = excluded.revision;
    -- The new version of the document may be readable.
    DELETE FROM quarantined_documents
    WHERE collection = NEW.collection AND id = NEW.id AND body IS NULL;
END;

CREATE TRIGGER count_removed_document AFTER DELETE ON documents
BEGIN
    UPDATE collection_usage SET
        documents = documents - (OLD.body IS NOT NULL),
        tombstones = tombstones - (OLD.body IS NULL),
        bytes = bytes - coalesce(octet_length(OLD.id) + octet_length(OLD.body), 0)
    WHERE collection = OLD.collection;
    DELETE FROM quarantined_documents
    WHERE collection = OLD.collection AND id = OLD.id AND body IS NULL;
END;

CREATE TRIGGER count_added_timer AFTER INSERT ON timers
BEGIN
    INSERT INTO timer_usage (capability, timers, bytes)
    VALUES (
        NEW.capability || CASE NEW.test_mode WHEN 0 THEN '' ELSE ' (test)' END,
        1,
        octet_length(NEW.name) + octet_length(NEW.action) + octet_length(NEW.input)
    )
    ON CONFLICT (capability) DO UPDATE SET
        timers = timers + 1,
        bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER count_changed_timer AFTER UPDATE OF action, input ON timers
BEGIN
    UPDATE timer_usage SET
        bytes = bytes
            + octet_length(NEW.action) + octet_length(NEW.input)
            - octet_length(OLD.action) - octet_length(OLD.input)
    WHERE capability = NEW.capability || CASE NEW.test_mode WHEN 0 THEN '' ELSE ' (test)' END;
END;

CREATE TRIGGER count_removed_timer AFTER DELETE ON timers
BEGIN
    UPDATE timer_usage SET
        timers = timers - 1,
        bytes = bytes - octet_length(OLD.name) - octet_length(OLD.action) - octet_length(OLD.input)
    WHERE capability = OLD.capability || CASE OLD.test_mode WHEN 0 THEN '' ELSE ' (test)' END;
END;
