-- Agents and clients become documents of the host's own, whose index is made at the next start.
INSERT INTO collections (capability, name, shape, generation)
VALUES (':host', 'agents', '', 0), (':host', 'clients', '', 0);

INSERT INTO documents (collection, id, revision, body, created_at, updated_at)
SELECT
    c.id,
    a.id,
    1,
    json_build_object(
        'identity_type', a.identity_type,
        'name', a.name,
        'software_id', a.software_id,
        'software_version', a.software_version,
        'install_id', a.install_id,
        'test_mode', a.test_mode,
        'owner_id', a.owner_id
    )::text,
    a.created_at,
    a.created_at
FROM agents a
JOIN collections c ON c.capability = ':host' AND c.name = 'agents';

INSERT INTO documents (collection, id, revision, body, created_at, updated_at)
SELECT
    c.id,
    k.id,
    1,
    json_build_object(
        'agent_id', k.agent_id,
        'secret_hash', encode(k.secret_hash, 'hex'),
        'key_hash', encode(k.key_hash, 'hex')
    )::text,
    k.created_at,
    k.created_at
FROM clients k
JOIN collections c ON c.capability = ':host' AND c.name = 'clients';

DROP TABLE clients;
DROP TABLE agents;
