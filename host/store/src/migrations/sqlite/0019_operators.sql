-- The tokens of operators. Only the SHA-256 hash of a token is stored, in hexadecimal digits.
CREATE TABLE operators (
    name TEXT NOT NULL PRIMARY KEY,
    role TEXT NOT NULL,
    token_hash TEXT NOT NULL,
    -- The name of the operator who made or renewed the token.
    made_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- The start of the day on which the token was last used.
    last_used_at INTEGER
) STRICT, WITHOUT ROWID;
