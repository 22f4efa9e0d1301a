-- What each node serves: an event reaches the subscribers of every node, and work is left to a node that serves its
-- capability.
CREATE TABLE node_catalogs (
    node TEXT PRIMARY KEY,
    -- Hash over the ids and digests of its capabilities.
    fingerprint TEXT NOT NULL,
    -- A JSON object: the publisher and the subscriptions of each capability, by id.
    capabilities TEXT NOT NULL,
    -- By the server's clock, in milliseconds since the Unix epoch.
    seen_at BIGINT NOT NULL
);
