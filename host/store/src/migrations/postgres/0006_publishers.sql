-- Whose each capability id is: `host`, `ed25519:<key>` or `unsigned:<file>`.
CREATE TABLE publishers (
    capability_id TEXT COLLATE "C" PRIMARY KEY,
    publisher TEXT COLLATE "C" NOT NULL,
    installed_at BIGINT NOT NULL,
    -- The highest version that was served; NULL permits any.
    highest_version TEXT COLLATE "C"
);

-- Whose the first name of each event type is.
CREATE TABLE event_namespaces (
    namespace TEXT COLLATE "C" PRIMARY KEY,
    publisher TEXT COLLATE "C" NOT NULL
);

-- What the operator has permitted: `sms`, `invoke:<id>.<action>`, `subscribe:<event type>`.
CREATE TABLE grants (
    capability_id TEXT COLLATE "C" NOT NULL,
    publisher TEXT COLLATE "C" NOT NULL,
    permission TEXT COLLATE "C" NOT NULL,
    granted_at BIGINT NOT NULL,
    PRIMARY KEY (capability_id, publisher, permission)
);
