-- Test mode has timers and events of its own.
ALTER TABLE events ADD COLUMN test_mode BIGINT NOT NULL DEFAULT 0;
ALTER TABLE timers ADD COLUMN test_mode BIGINT NOT NULL DEFAULT 0;
ALTER TABLE timers DROP CONSTRAINT timers_pkey, ADD PRIMARY KEY (capability, name, test_mode);
