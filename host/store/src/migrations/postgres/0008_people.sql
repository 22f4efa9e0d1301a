-- The people whom the documents of a collection name, as JSON; NULL: not declared.
ALTER TABLE collections ADD COLUMN people TEXT;
-- The version of the form of the documents.
ALTER TABLE collections ADD COLUMN version INTEGER NOT NULL DEFAULT 1;

-- People who were erased, by the SHA-256 of the owner's id, which names nobody. A restored backup that
-- still contains them loses them again.
CREATE TABLE erasures (
    owner_digest TEXT PRIMARY KEY,
    erased_at BIGINT NOT NULL
);
