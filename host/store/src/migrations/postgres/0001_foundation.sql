CREATE TABLE signing_keys (
    id TEXT COLLATE "C" PRIMARY KEY,
    -- PKCS #8 DER of an Ed25519 key.
    private_key BYTEA NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE agents (
    id TEXT COLLATE "C" PRIMARY KEY,
    identity_type TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C",
    software_id TEXT COLLATE "C",
    software_version TEXT COLLATE "C",
    install_id TEXT COLLATE "C",
    test_mode BOOLEAN NOT NULL,
    owner_id TEXT COLLATE "C",
    created_at BIGINT NOT NULL
);

CREATE TABLE clients (
    id TEXT COLLATE "C" PRIMARY KEY,
    agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id),
    -- SHA-256 of secrets with 256 random bits each.
    secret_hash BYTEA NOT NULL,
    key_hash BYTEA NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE INDEX clients_agent_id ON clients (agent_id);

-- One row: what the catalog was when it last changed.
CREATE TABLE catalog_state (
    "only" BIGINT PRIMARY KEY CHECK ("only" = 1),
    version BIGINT NOT NULL,
    fingerprint TEXT COLLATE "C" NOT NULL,
    changed_at BIGINT NOT NULL
);

-- When this host first served each capability.
CREATE TABLE catalog_since (
    capability_id TEXT COLLATE "C" PRIMARY KEY,
    since BIGINT NOT NULL
);
