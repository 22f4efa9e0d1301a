-- Test mode has timers and events of its own.
ALTER TABLE events ADD COLUMN test_mode INTEGER NOT NULL DEFAULT 0;

CREATE TABLE timers_of_modes (
    capability TEXT NOT NULL,
    name TEXT NOT NULL,
    test_mode INTEGER NOT NULL,
    -- Changes with every setting, so that a run does not end the timer that replaced its own.
    setting TEXT NOT NULL,
    action TEXT NOT NULL,
    input TEXT NOT NULL,
    at INTEGER NOT NULL,
    -- `at`, or later after a failed run.
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    last_error TEXT,
    PRIMARY KEY (capability, name, test_mode)
) STRICT, WITHOUT ROWID;

INSERT INTO timers_of_modes
SELECT capability, name, 0, setting, action, input, at, due_at, attempts, last_error FROM timers;

DROP TABLE timers;
ALTER TABLE timers_of_modes RENAME TO timers;
CREATE INDEX timers_due_at ON timers (due_at);
