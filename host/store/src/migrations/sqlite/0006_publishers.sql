-- Whose each capability id is: `host`, `ed25519:<key>` or `unsigned:<file>`.
CREATE TABLE publishers (
    capability_id TEXT PRIMARY KEY,
    publisher TEXT NOT NULL,
    installed_at INTEGER NOT NULL,
    -- The highest version that was served; NULL permits any.
    highest_version TEXT
) STRICT;

-- Whose the first name of each event type is.
CREATE TABLE event_namespaces (
    namespace TEXT PRIMARY KEY,
    publisher TEXT NOT NULL
) STRICT;

-- What the operator has permitted: `sms`, `invoke:<id>.<action>`, `subscribe:<event type>`.
CREATE TABLE grants (
    capability_id TEXT NOT NULL,
    publisher TEXT NOT NULL,
    permission TEXT NOT NULL,
    granted_at INTEGER NOT NULL,
    PRIMARY KEY (capability_id, publisher, permission)
) STRICT;
