-- The counts cost a commit less: a trigger of an upsert that neither adds nor changes ends at once, and
-- the tables of migrations and of quarantine are written only while they are in use.
CREATE INDEX collections_followed ON collections (followed_by) WHERE followed_by IS NOT NULL;

CREATE OR REPLACE FUNCTION count_added_documents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM added) THEN
        RETURN NULL;
    END IF;
    INSERT INTO collection_usage AS u (collection, documents, tombstones, bytes)
        SELECT
            collection,
            count(body),
            count(*) - count(body),
            coalesce(sum(octet_length(id) + octet_length(body)), 0)
        FROM added
        GROUP BY collection
    ON CONFLICT (collection) DO UPDATE SET
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
    INSERT INTO collection_usage AS u (collection, documents, tombstones, bytes)
        SELECT collection, sum(documents), sum(tombstones), sum(bytes)
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
        ) AS part
        GROUP BY collection
        HAVING (sum(documents), sum(tombstones), sum(bytes)) <> (0, 0, 0)
    ON CONFLICT (collection) DO UPDATE SET
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
