-- Where in a trace the event was published, as the header traceparent has it; null if the call belongs to no trace.
ALTER TABLE events ADD COLUMN trace TEXT;
