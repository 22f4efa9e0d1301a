-- What a key signs: access tokens, or checkpoints of the audit log.
ALTER TABLE signing_keys ADD COLUMN purpose TEXT NOT NULL DEFAULT 'tokens';
-- The name of the key that sealed `private_key`; empty for a key of an earlier version, which the next start
-- seals.
ALTER TABLE signing_keys ADD COLUMN sealed_by TEXT NOT NULL DEFAULT '';
