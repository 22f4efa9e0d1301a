-- Each node counts in rows of its own, so that nodes that write to one collection do not wait for each other. Part 0
-- has what was counted before, and what is counted while nothing else is committed. A start adds the other parts to
-- it.
ALTER TABLE collection_usage ADD COLUMN part BIGINT NOT NULL DEFAULT 0;
ALTER TABLE collection_usage DROP CONSTRAINT collection_usage_pkey;
ALTER TABLE collection_usage ADD PRIMARY KEY (collection, part);
ALTER TABLE timer_usage ADD COLUMN part BIGINT NOT NULL DEFAULT 0;
ALTER TABLE timer_usage DROP CONSTRAINT timer_usage_pkey;
ALTER TABLE timer_usage ADD PRIMARY KEY (capability, part);

-- The part of the node whose transaction this is.
CREATE FUNCTION usage_part() RETURNS BIGINT LANGUAGE sql STABLE AS $$
    SELECT coalesce(CAST(nullif(current_setting('portolan.part', true), '') AS BIGINT), 0)
$$;

CREATE OR REPLACE FUNCTION count_added_documents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM added) THEN
        RETURN NULL;
    END IF;
    INSERT INTO collection_usage AS u (collection, part, documents, tombstones, bytes)
        SELECT
            collection,
            usage_part(),
            count(body),
            count(*) - count(body),
            coalesce(sum(octet_length(id) + octet_length(body)), 0)
        FROM added
        GROUP BY collection
        ORDER BY collection
    ON CONFLICT (collection, part) DO UPDATE SET
        documents = u.documents + excluded.documents,
        tombstones = u.tombstones + excluded.tombstones,
        bytes = u.bytes + excluded.bytes;
    IF EXISTS (SELECT FROM collections WHERE followed_by IS NOT NULL) THEN
        INSERT INTO generation_changes AS g (collection, id, revision)
            SELECT r.collection, r.id, r.revision
            FROM added r
            JOIN collections c ON c.id = r.collection
            WHERE c.followed_by IS NOT NULL
        ON CONFLICT (collection, id) DO UPDATE SET revision = excluded.revision;
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION count_changed_documents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM added) THEN
        RETURN NULL;
    END IF;
    INSERT INTO collection_usage AS u (collection, part, documents, tombstones, bytes)
        SELECT collection, usage_part(), sum(documents), sum(tombstones), sum(bytes)
        FROM (
            SELECT
                collection,
                count(body) AS documents,
                count(*) - count(body) AS tombstones,
                coalesce(sum(octet_length(id) + octet_length(body)), 0) AS bytes
            FROM added
            GROUP BY collection
            UNION ALL
            SELECT
                collection,
                -count(body),
                -(count(*) - count(body)),
                -coalesce(sum(octet_length(id) + octet_length(body)), 0)
            FROM removed
            GROUP BY collection
        ) AS change
        GROUP BY collection
        HAVING (sum(documents), sum(tombstones), sum(bytes)) <> (0, 0, 0)
        ORDER BY collection
    ON CONFLICT (collection, part) DO UPDATE SET
        documents = u.documents + excluded.documents,
        tombstones = u.tombstones + excluded.tombstones,
        bytes = u.bytes + excluded.bytes;
    IF EXISTS (SELECT FROM collections WHERE followed_by IS NOT NULL) THEN
        INSERT INTO generation_changes AS g (collection, id, revision)
            SELECT r.collection, r.id, r.revision
            FROM added r
            JOIN collections c ON c.id = r.collection
            WHERE c.followed_by IS NOT NULL
        ON CONFLICT (collection, id) DO UPDATE SET revision = excluded.revision;
    END IF;
    -- The new version of a document may be readable.
    IF EXISTS (SELECT FROM quarantined_documents) THEN
        DELETE FROM quarantined_documents q USING added r
            WHERE q.collection = r.collection AND q.id = r.id AND q.body IS NULL;
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION count_removed_documents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO collection_usage AS u (collection, part, documents, tombstones, bytes)
        SELECT
            collection,
            usage_part(),
            -count(body),
            -(count(*) - count(body)),
            -coalesce(sum(octet_length(id) + octet_length(body)), 0)
        FROM removed
        GROUP BY collection
        ORDER BY collection
    ON CONFLICT (collection, part) DO UPDATE SET
        documents = u.documents + excluded.documents,
        tombstones = u.tombstones + excluded.tombstones,
        bytes = u.bytes + excluded.bytes;
    DELETE FROM quarantined_documents q USING removed r
        WHERE q.collection = r.collection AND q.id = r.id AND q.body IS NULL;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION count_added_timers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO timer_usage AS u (capability, part, timers, bytes)
        SELECT
            capability || CASE test_mode WHEN 0 THEN '' ELSE ' (test)' END,
            usage_part(),
            count(*),
            sum(octet_length(name) + octet_length(action) + octet_length(input))
        FROM added
        GROUP BY 1
        ORDER BY 1
    ON CONFLICT (capability, part) DO UPDATE SET
        timers = u.timers + excluded.timers,
        bytes = u.bytes + excluded.bytes;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION count_changed_timers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO timer_usage AS u (capability, part, timers, bytes)
        SELECT capability, usage_part(), sum(timers), sum(bytes)
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
        ) AS change
        GROUP BY capability
        HAVING (sum(timers), sum(bytes)) <> (0, 0)
        ORDER BY capability
    ON CONFLICT (capability, part) DO UPDATE SET
        timers = u.timers + excluded.timers,
        bytes = u.bytes + excluded.bytes;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION count_removed_timers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO timer_usage AS u (capability, part, timers, bytes)
        SELECT
            capability || CASE test_mode WHEN 0 THEN '' ELSE ' (test)' END,
            usage_part(),
            -count(*),
            -sum(octet_length(name) + octet_length(action) + octet_length(input))
        FROM removed
        GROUP BY 1
        ORDER BY 1
    ON CONFLICT (capability, part) DO UPDATE SET
        timers = u.timers + excluded.timers,
        bytes = u.bytes + excluded.bytes;
    RETURN NULL;
END
$$;
