-- An event to all listeners is a row of `events`, and an agent's inbox gets it when the agent reads next. This is the
-- sequence of the newest such event that the inbox has.
ALTER TABLE inboxes ADD COLUMN broadcast_seq INTEGER NOT NULL DEFAULT 0;
UPDATE inboxes SET broadcast_seq = (SELECT coalesce(max(seq), 0) FROM events);
CREATE INDEX events_broadcast ON events (seq) WHERE audience = 'listeners';
