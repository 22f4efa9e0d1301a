-- The counts cost a commit less: the tables of migrations and of quarantine are written only while they
-- are in use.
DROP TRIGGER count_added_document;
DROP TRIGGER count_changed_document;

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
END;

CREATE TRIGGER follow_added_document AFTER INSERT ON documents
WHEN (SELECT followed_by FROM collections WHERE id = NEW.collection) IS NOT NULL
BEGIN
    INSERT INTO generation_changes (collection, id, revision)
    VALUES (NEW.collection, NEW.id, NEW.revision)
    ON CONFLICT (collection, id) DO UPDATE SET revision = excluded.revision;
END;

CREATE TRIGGER follow_changed_document AFTER UPDATE OF body ON documents
WHEN (SELECT followed_by FROM collections WHERE id = NEW.collection) IS NOT NULL
BEGIN
    INSERT INTO generation_changes (collection, id, revision)
    VALUES (NEW.collection, NEW.id, NEW.revision)
    ON CONFLICT (collection, id) DO UPDATE SET revision = excluded.revision;
END;

-- The new version of the document may be readable.
CREATE TRIGGER release_changed_document AFTER UPDATE OF body ON documents
WHEN EXISTS (
    SELECT 1 FROM quarantined_documents
    WHERE collection = NEW.collection AND id = NEW.id AND body IS NULL
)
BEGIN
    DELETE FROM quarantined_documents
    WHERE collection = NEW.collection AND id = NEW.id AND body IS NULL;
END;
