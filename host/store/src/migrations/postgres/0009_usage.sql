-- What the documents and timers of each capability take. Test mode counts apart, under the name that it
-- has in `collections`. Triggers keep it, so that no write is missed. They leave a row that stays as it is
-- unlocked, because timers are leased while others commit.
CREATE TABLE usage (
    capability TEXT COLLATE "C" PRIMARY KEY,
    documents BIGINT NOT NULL,
    tombstones BIGINT NOT NULL,
    -- Of the ids and bodies of documents, and of the names, actions and inputs of timers.
    bytes BIGINT NOT NULL,
    timers BIGINT NOT NULL
);

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
) AS taken
GROUP BY capability;

CREATE FUNCTION count_added_documents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO usage AS u (capability, documents, tombstones, bytes, timers)
        SELECT capability, sum(documents), sum(tombstones), sum(bytes), sum(timers)
        FROM (
            SELECT
                c.capability,
                count(r.body) AS documents,
                count(*) - count(r.body) AS tombstones,
                coalesce(sum(octet_length(r.id) + octet_length(r.body)), 0) AS bytes,
                0 AS timers
            FROM added r
            JOIN collections c ON c.id = r.collection
            GROUP BY c.capability
        ) AS part
        GROUP BY capability
        HAVING (sum(documents), sum(tombstones), sum(bytes), sum(timers)) <> (0, 0, 0, 0)
    ON CONFLICT (capability) DO UPDATE SET
        documents = u.documents + excluded.documents,
        tombstones = u.tombstones + excluded.tombstones,
        bytes = u.bytes + excluded.bytes,
        timers = u.timers + excluded.timers;
    RETURN NULL;
END
$$;

CREATE TRIGGER count_added_documents AFTER INSERT ON documents
REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION count_added_documents();

CREATE FUNCTION count_changed_documents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO usage AS u (capability, documents, tombstones, bytes, timers)
        SELECT capability, sum(documents), sum(tombstones), sum(bytes), sum(timers)
        FROM (
            SELECT
                c.capability,
                count(r.body) AS documents,
                count(*) - count(r.body) AS tombstones,
                coalesce(sum(octet_length(r.id) + octet_length(r.body)), 0) AS bytes,
                0 AS timers
            FROM added r
            JOIN collections c ON c.id = r.collection
            GROUP BY c.capability
            UNION ALL
            SELECT
                c.capability,
                -count(r.body) AS documents,
                count(r.body) - count(*) AS tombstones,
                -coalesce(sum(octet_length(r.id) + octet_length(r.body)), 0) AS bytes,
                0 AS timers
            FROM removed r
            JOIN collections c ON c.id = r.collection
            GROUP BY c.capability
        ) AS part
        GROUP BY capability
        HAVING (sum(documents), sum(tombstones), sum(bytes), sum(timers)) <> (0, 0, 0, 0)
    ON CONFLICT (capability) DO UPDATE SET
        documents = u.documents + excluded.documents,
        tombstones = u.tombstones + excluded.tombstones,
        bytes = u.bytes + excluded.bytes,
        timers = u.timers + excluded.timers;
    RETURN NULL;
END
$$;

CREATE TRIGGER count_changed_documents AFTER UPDATE ON documents
REFERENCING NEW TABLE AS added OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION count_changed_documents();

CREATE FUNCTION count_removed_documents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO usage AS u (capability, documents, tombstones, bytes, timers)
        SELECT capability, sum(documents), sum(tombstones), sum(bytes), sum(timers)
        FROM (
            SELECT
                c.capability,
                -count(r.body) AS documents,
                count(r.body) - count(*) AS tombstones,
                -coalesce(sum(octet_length(r.id) + octet_length(r.body)), 0) AS bytes,
                0 AS timers
            FROM removed r
            JOIN collections c ON c.id = r.collection
            GROUP BY c.capability
        ) AS part
        GROUP BY capability
        HAVING (sum(documents), sum(tombstones), sum(bytes), sum(timers)) <> (0, 0, 0, 0)
    ON CONFLICT (capability) DO UPDATE SET
        documents = u.documents + excluded.documents,
        tombstones = u.tombstones + excluded.tombstones,
        bytes = u.bytes + excluded.bytes,
        timers = u.timers + excluded.timers;
    RETURN NULL;
END
$$;

CREATE TRIGGER count_removed_documents AFTER DELETE ON documents
REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION count_removed_documents();

CREATE FUNCTION count_added_timers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO usage AS u (capability, documents, tombstones, bytes, timers)
        SELECT capability, sum(documents), sum(tombstones), sum(bytes), sum(timers)
        FROM (
            SELECT
                capability || CASE test_mode WHEN 0 THEN '' ELSE ' (test)' END AS capability,
                0 AS documents,
                0 AS tombstones,
                sum(octet_length(name) + octet_length(action) + octet_length(input)) AS bytes,
                count(*) AS timers
            FROM added
            GROUP BY capability, test_mode
        ) AS part
        GROUP BY capability
        HAVING (sum(documents), sum(tombstones), sum(bytes), sum(timers)) <> (0, 0, 0, 0)
    ON CONFLICT (capability) DO UPDATE SET
        documents = u.documents + excluded.documents,
        tombstones = u.tombstones + excluded.tombstones,
        bytes = u.bytes + excluded.bytes,
        timers = u.timers + excluded.timers;
    RETURN NULL;
END
$$;

CREATE TRIGGER count_added_timers AFTER INSERT ON timers
REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION count_added_timers();

CREATE FUNCTION count_changed_timers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO usage AS u (capability, documents, tombstones, bytes, timers)
        SELECT capability, sum(documents), sum(tombstones), sum(bytes), sum(timers)
        FROM (
            SELECT
                capability || CASE test_mode WHEN 0 THEN '' ELSE ' (test)' END AS capability,
                0 AS documents,
                0 AS tombstones,
                sum(octet_length(name) + octet_length(action) + octet_length(input)) AS bytes,
                count(*) AS timers
            FROM added
            GROUP BY capability, test_mode
            UNION ALL
            SELECT
                capability || CASE test_mode WHEN 0 THEN '' ELSE ' (test)' END AS capability,
                0 AS documents,
                0 AS tombstones,
                -sum(octet_length(name) + octet_length(action) + octet_length(input)) AS bytes,
                -count(*) AS timers
            FROM removed
            GROUP BY capability, test_mode
        ) AS part
        GROUP BY capability
        HAVING (sum(documents), sum(tombstones), sum(bytes), sum(timers)) <> (0, 0, 0, 0)
    ON CONFLICT (capability) DO UPDATE SET
        documents = u.documents + excluded.documents,
        tombstones = u.tombstones + excluded.tombstones,
        bytes = u.bytes + excluded.bytes,
        timers = u.timers + excluded.timers;
    RETURN NULL;
END
$$;

CREATE TRIGGER count_changed_timers AFTER UPDATE ON timers
REFERENCING NEW TABLE AS added OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION count_changed_timers();

CREATE FUNCTION count_removed_timers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO usage AS u (capability, documents, tombstones, bytes, timers)
        SELECT capability, sum(documents), sum(tombstones), sum(bytes), sum(timers)
        FROM (
            SELECT
                capability || CASE test_mode WHEN 0 THEN '' ELSE ' (test)' END AS capability,
                0 AS documents,
                0 AS tombstones,
                -sum(octet_length(name) + octet_length(action) + octet_length(input)) AS bytes,
                -count(*) AS timers
            FROM removed
            GROUP BY capability, test_mode
        ) AS part
        GROUP BY capability
        HAVING (sum(documents), sum(tombstones), sum(bytes), sum(timers)) <> (0, 0, 0, 0)
    ON CONFLICT (capability) DO UPDATE SET
        documents = u.documents + excluded.documents,
        tombstones = u.tombstones + excluded.tombstones,
        bytes = u.bytes + excluded.bytes,
        timers = u.timers + excluded.timers;
    RETURN NULL;
END
$$;

CREATE TRIGGER count_removed_timers AFTER DELETE ON timers
REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION count_removed_timers();
