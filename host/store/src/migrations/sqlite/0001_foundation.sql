CREATE TABLE signing_keys (
    id TEXT PRIMARY KEY,
    -- PKCS #8 DER of an Ed25519 key.
    private_key BLOB NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE agents (
    id TEXT PRIMARY KEY,
    identity_type TEXT NOT NULL,
    name TEXT,
    software_id TEXT,
    software_version TEXT,
    install_id TEXT,
    test_mode INTEGER NOT NULL,
    owner_id TEXT,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE clients (
    id TEXT PRIMARY KEY,
    agent_id TEXT NOT NULL REFERENCES agents (id),
    -- SHA-256 of secrets with 256 random bits each.
    secret_hash BLOB NOT NULL,
    key_hash BLOB NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX clients_agent_id ON clients (agent_id);

-- One row: what the catalog was when it last changed.
CREATE TABLE catalog_state (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    version INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT;

-- When this host first served each capability.
CREATE TABLE catalog_since (
    capability_id TEXT PRIMARY KEY,
    since INTEGER NOT NULL
) STRICT;
