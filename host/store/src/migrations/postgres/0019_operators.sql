-- The tokens of operators. Only the SHA-256 hash of a token is stored, in hexadecimal digits.
CREATE TABLE operators (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    role TEXT COLLATE "C" NOT NULL,
    token_hash TEXT COLLATE "C" NOT NULL,
    -- The name of the operator who made or renewed the token.
    made_by TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    -- The start of the day on which the token was last used.
    last_used_at BIGINT
);
