-- Due work is taken for one capability at a time.
CREATE INDEX timers_of_capability ON timers (capability, due_at);
CREATE INDEX deliveries_of_capability ON deliveries (capability, due_at) WHERE dead = false;
