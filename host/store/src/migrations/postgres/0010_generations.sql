-- What the documents of each collection take, and what the timers of each capability take, instead of one
-- count for each capability: the generations of a collection are counted apart. Test mode counts apart,
-- under the name that it has in `collections`. Triggers keep both, so that no write is missed.
-- They leave a row that stays as it is unlocked, because timers are leased while others commit.
DROP TRIGGER count_added_documents ON documents;
DROP FUNCTION count_added_documents();
DROP TRIGGER count_changed_documents ON documents;
DROP FUNCTION count_changed_documents();
DROP TRIGGER count_removed_documents ON documents;
DROP FUNCTION count_removed_documents();
DROP TRIGGER count_added_timers ON timers;
DROP FUNCTION count_added_timers();
DROP TRIGGER count_changed_timers ON timers;
DROP FUNCTION count_changed_timers();
DROP TRIGGER count_removed_timers ON timers;
DROP FUNCTION count_removed_timers();
DROP TABLE usage;

-- A collection that changes its version gets a new generation: another row with documents of its own.
-- `serving`: the capability's calls use it. `filling`: it is being filled with migrated documents.
-- `retired`: it was replaced, or its filling was given up.
ALTER TABLE collections ADD COLUMN state TEXT COLLATE "C" NOT NULL DEFAULT 'serving'
    CHECK (state IN ('serving', 'filling', 'retired'));
-- Of a serving row: the generation that its changes are copied to.
ALTER TABLE collections ADD COLUMN followed_by BIGINT;
-- Of a serving row: until then (milliseconds) nothing commits to it, because it is being replaced.
ALTER TABLE collections ADD COLUMN fenced_until BIGINT NOT NULL DEFAULT 0;
-- Of a filling row: the component that migrates, and the last id that was copied; NULL: all were.
ALTER TABLE collections ADD COLUMN migrated_by TEXT COLLATE "C";
ALTER TABLE collections ADD COLUMN copied_to TEXT COLLATE "C";
-- Of a retired row: since when, in milliseconds, and by which row it was replaced.
ALTER TABLE collections ADD COLUMN retired_at BIGINT;
ALTER TABLE collections ADD COLUMN replaced_by BIGINT;

-- The documents that were changed while another generation is being filled.
CREATE TABLE generation_changes (
    collection BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (collection, id)
);

-- Documents that a version of a capability could not read, and with a body those that could not be
-- migrated: these are in no collection.
CREATE TABLE quarantined_documents (
    collection BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL,
    -- The version of the form of the body.
    version BIGINT NOT NULL,
    body TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    quarantined_at BIGINT NOT NULL,
    PRIMARY KEY (collection, id)
);

CREATE TABLE collection_usage (
    collection BIGINT PRIMARY KEY,
    documents BIGINT NOT NULL,
    tombstones BIGINT NOT NULL,
    -- Of the ids and bodies of documents.
    bytes BIGINT NOT NULL
);

INSERT INTO collection_usage (collection, documents, tombstones, bytes)
SELECT
    collection,
    count(body),
    count(*) - count(body),
    coalesce(sum(octet_length(id) + octet_length(body)), 0)
FROM documents
GROUP BY collection;

CREATE TABLE timer_usage (
    capability TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    timers BIGINT NOT NULL,
    -- Of their names, actions and inputs.
    bytes BIGINT NOT NULL
);

INSERT INTO timer_usage (capability, timers, bytes)
SELECT
    capability || CASE test_mode WHEN 0 THEN '' ELSE ' (test)' END,
    count(*),
    sum(octet_length(name) + octet_length(action) + octet_length(input))
FROM timers
GROUP BY 1;

CREATE FUNCTION count_added_documents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO collection_usage AS u (collection, documents, tombstones, bytes)
        SELECT collection, sum(documents), sum(tombstones), sum(bytes)
        FROM (
            SELECT
                collection,
                count(body) AS documents,
                (count(*) - count(body)) AS tombstones,
                coalesce(sum(octet_length(id) + octet_length(body)), 0) AS bytes
            FROM added
            GROUP BY collection
        ) AS part
        GROUP BY collection
        HAVING (sum(documents), sum(tombstones), sum(bytes)) <> (0, 0, 0)
    ON CONFLICT (collection) DO UPDATE SET
        documents = u.documents + excluded.documents,
        tombstones = u.tombstones + excluded.tombstones,
        bytes = u.bytes + excluded.bytes;
    INSERT INTO generation_changes AS g (collection, id, revision)
        SELECT r.collection, r.id, r.revision
        FROM added r
        JOIN collections c ON c.id = r.collection
        WHERE c.followed_by IS NOT NULL
    ON CONFLICT (collection, id) DO UPDATE SET revision = excluded.revision;
    RETURN NULL;
END
$$;

CREATE TRIGGER count_added_documents AFTER INSERT ON documents
REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION count_added_documents();

CREATE FUNCTION count_changed_documents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO collection_usage AS u (collection, documents, tombstones, bytes)
        SELECT collection, sum(documents), sum(tombstones), sum(bytes)
        FROM (
            SELECT
                collection,
                count(body) AS documents,
                (count(*) - count(body)) AS tombstones,
                coalesce(sum(octet_length(id) + octet_length(body)), 0) AS bytes
            FROM added
            GROUP BY collection
            UNION ALL
            SELECT
                collection,
                -count(body) AS documents,
                -(count(*) - count(body)) AS tombstones,
                -coalesce(sum(octet_length(id) + octet_length(body)), 0) AS bytes
            FROM removed
            GROUP BY collection
        ) AS part
        GROUP BY collection
        HAVING (sum(documents), sum(tombstones), sum(bytes)) <> (0, 0, 0)
    ON CONFLICT (collection) DO UPDATE SET
        documents = u.documents + excluded.documents,
        tombstones = u.tombstones + excluded.tombstones,
        bytes = u.bytes + excluded.bytes;
    INSERT INTO generation_changes AS g (collection, id, revision)
        SELECT r.collection, r.id, r.revision
        FROM added r
        JOIN collections c ON c.id = r.collection
        WHERE c.followed_by IS NOT NULL
    ON CONFLICT (collection, id) DO UPDATE SET revision = excluded.revision;
    DELETE FROM quarantined_documents q USING added r
        WHERE q.collection = r.collection AND q.id = r.id AND q.body IS NULL;
    RETURN NULL;
END
$$;

CREATE TRIGGER count_changed_documents AFTER UPDATE ON documents
REFERENCING NEW TABLE AS added OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION count_changed_documents();

CREATE FUNCTION count_removed_documents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO collection_usage AS u (collection, documents, tombstones, bytes)
        SELECT collection, sum(documents), sum(tombstones), sum(bytes)
        FROM (
            SELECT
                collection,
                -count(body) AS documents,
                -(count(*) - count(body)) AS tombstones,
                -coalesce(sum(octet_length(id) + octet_length(body)), 0) AS bytes
            FROM removed
            GROUP BY collection
        ) AS part
        GROUP BY collection
        HAVING (sum(documents), sum(tombstones), sum(bytes)) <> (0, 0, 0)
    ON CONFLICT (collection) DO UPDATE SET
        documents = u.documents + excluded.documents,
        tombstones = u.tombstones + excluded.tombstones,
        bytes = u.bytes + excluded.bytes;
    DELETE FROM quarantined_documents q USING removed r
        WHERE q.collection = r.collection AND q.id = r.id AND q.body IS NULL;
    RETURN NULL;
END
$$;

CREATE TRIGGER count_removed_documents AFTER DELETE ON documents
REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION count_removed_documents();

CREATE FUNCTION count_added_timers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO timer_usage AS u (capability, timers, bytes)
        SELECT capability, sum(timers), sum(bytes)
        FROM (
            SELECT
                capability || CASE test_mode WHEN 0 THEN '' ELSE ' (test)' END AS capability,
                count(*) AS timers,
                sum(octet_length(name) + octet_length(action) + octet_length(input)) AS bytes
            FROM added
            GROUP BY capability, test_mode
        ) AS part
        GROUP BY capability
        HAVING (sum(timers), sum(bytes)) <> (0, 0)
    ON CONFLICT (capability) DO UPDATE SET
        timers = u.timers + excluded.timers,
        bytes = u.bytes + excluded.bytes;
    RETURN NULL;
END
$$;

CREATE TRIGGER count_added_timers AFTER INSERT ON timers
REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION count_added_timers();

CREATE FUNCTION count_changed_timers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO timer_usage AS u (capability, timers, bytes)
        SELECT capability, sum(timers), sum(bytes)
        FROM (
            SELECT
                capability || CASE test_mode WHEN 0 THEN '' ELSE ' (test)' END AS capability,
                count(*) AS timers,
                sum(octet_length(name) + octet_length(action) + octet_length(input)) AS bytes
            FROM added
            GROUP BY capability, test_mode
            UNION ALL
            SELECT
                capability || CASE test_mode WHEN 0 THEN '' ELSE ' (test)' END AS capability,
                -count(*) AS timers,
                -sum(octet_length(name) + octet_length(action) + octet_length(input)) AS bytes
            FROM removed
            GROUP BY capability, test_mode
        ) AS part
        GROUP BY capability
        HAVING (sum(timers), sum(bytes)) <> (0, 0)
    ON CONFLICT (capability) DO UPDATE SET
        timers = u.timers + excluded.timers,
        bytes = u.bytes + excluded.bytes;
    RETURN NULL;
END
$$;

CREATE TRIGGER count_changed_timers AFTER UPDATE ON timers
REFERENCING NEW TABLE AS added OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION count_changed_timers();

CREATE FUNCTION count_removed_timers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO timer_usage AS u (capability, timers, bytes)
        SELECT capability, sum(timers), sum(bytes)
        FROM (
            SELECT
                capability || CASE test_mode WHEN 0 THEN '' ELSE ' (test)' END AS capability,
                -count(*) AS timers,
                -sum(octet_length(name) + octet_length(action) + octet_length(input)) AS bytes
            FROM removed
            GROUP BY capability, test_mode
        ) AS part
        GROUP BY capability
        HAVING (sum(timers), sum(bytes)) <> (0, 0)
    ON CONFLICT (capability) DO UPDATE SET
        timers = u.timers + excluded.timers,
        bytes = u.bytes + excluded.bytes;
    RETURN NULL;
END
$$;

CREATE TRIGGER count_removed_timers AFTER DELETE ON timers
REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION count_removed_timers();
