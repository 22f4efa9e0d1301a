-- What callers have taken of their rates. `account` is a MAC, and `full_at` is when the bucket is full, in
-- microseconds since the Unix epoch.
CREATE TABLE rates (
    account TEXT PRIMARY KEY,
    full_at BIGINT NOT NULL
);

CREATE INDEX rates_by_time ON rates (full_at);
