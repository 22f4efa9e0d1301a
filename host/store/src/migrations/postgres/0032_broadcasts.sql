-- An event to all listeners is a row of `events`, and an agent's inbox gets it when the agent reads next. This is the
-- sequence of the newest such event that the inbox has. The default is that of this step, for inboxes that an older
-- node adds.
DO $$
BEGIN
    EXECUTE format(
        'ALTER TABLE inboxes ADD COLUMN broadcast_seq BIGINT NOT NULL DEFAULT %s',
        (SELECT coalesce(max(seq), 0) FROM events)
    );
END
$$;
CREATE INDEX events_broadcast ON events (seq) WHERE audience = 'listeners';
