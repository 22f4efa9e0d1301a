//! The context of a call: its caller, its instant, the seed of its randomness, and facts about the host.

use crate::tape::Session;
use portolan_telemetry::TraceContext;
use portolan_vocabulary::{Access, AgentCaller, Caller, Digest, Limit, Status, Timestamp, entropy};
use std::sync::{Arc, OnceLock};

/// The context of one call. It makes the call repeatable: a second run with the same context gets
/// the same time and the same random numbers.
#[derive(Debug)]
pub struct CallContext {
    pub caller: Caller,
    /// The ids of the capabilities whose nested calls led to this call, the outermost first.
    pub via: Vec<String>,
    pub now: Timestamp,
    pub request_id: Arc<str>,
    pub platform: Arc<Platform>,
    /// The call's place in a trace; `None` if it belongs to no trace.
    pub trace: Option<TraceContext>,
    /// Whether the caller's person makes this call on a page of the host. A nested call is its component's.
    pub by_person: bool,
    recording: Recording,
    seed: OnceLock<[u8; 32]>,
    /// The bytes that the sandboxes of the callers hold while a nested call runs.
    pub(super) callers_memory: usize,
}

/// Where the runs of a call are recorded. The session is a part of the context, so that it costs nothing as long as
/// there is nothing to keep.
#[derive(Debug)]
enum Recording {
    Off,
    Here(Session),
    /// In the session of the outermost call.
    In(Arc<CallContext>),
}

impl CallContext {
    pub fn new(
        caller: Caller,
        now: Timestamp,
        request_id: Arc<str>,
        platform: Arc<Platform>,
    ) -> Self {
        Self {
            caller,
            via: Vec::new(),
            now,
            request_id,
            platform,
            trace: None,
            by_person: false,
            recording: Recording::Off,
            seed: OnceLock::new(),
            callers_memory: 0,
        }
    }

    /// Sets the seed of the call's randomness, which would otherwise be drawn at the first use.
    #[must_use]
    pub fn with_seed(self, seed: [u8; 32]) -> Self {
        Self { seed: OnceLock::from(seed), ..self }
    }

    /// Sets where in a trace the call runs.
    #[must_use]
    pub fn with_trace(self, trace: Option<TraceContext>) -> Self {
        Self { trace, ..self }
    }

    /// Sets whether the caller's person makes the call on a page of the host.
    #[must_use]
    pub fn made_by_person(self, by_person: bool) -> Self {
        Self { by_person, ..self }
    }

    /// Sets what keeps the runs of the call; `None` if it is not recorded.
    #[must_use]
    pub fn with_session(self, session: Option<Session>) -> Self {
        Self { recording: session.map_or(Recording::Off, Recording::Here), ..self }
    }

    /// Returns what keeps the runs of the call, which a nested call shares with the outermost one; `None` if it is not
    /// recorded.
    pub fn session(&self) -> Option<&Session> {
        match &self.recording {
            Recording::Off => None,
            Recording::Here(session) => Some(session),
            Recording::In(outermost) => outermost.session(),
        }
    }

    /// Returns the context of a nested call that `capability` makes. The seed is drawn from the outer call's
    /// randomness, so that the nested call is repeatable too. `memory` is what the sandbox of `capability` holds,
    /// in bytes.
    pub(super) fn nested(
        self: &Arc<Self>,
        capability: &str,
        seed: [u8; 32],
        memory: usize,
    ) -> Self {
        let mut via = self.via.clone();
        via.push(capability.to_owned());
        let recording = match &self.recording {
            Recording::Off => Recording::Off,
            Recording::Here(_) => Recording::In(Arc::clone(self)),
            Recording::In(outermost) => Recording::In(Arc::clone(outermost)),
        };
        Self {
            caller: self.caller.clone(),
            via,
            now: self.now,
            request_id: Arc::clone(&self.request_id),
            platform: Arc::clone(&self.platform),
            trace: self.trace,
            by_person: false,
            recording,
            seed: OnceLock::from(seed),
            callers_memory: self.callers_memory.saturating_add(memory),
        }
    }

    /// Returns the calling agent; `None` if the host itself calls.
    pub fn agent(&self) -> Option<&AgentCaller> {
        match &self.caller {
            Caller::Agent(agent) => Some(agent),
            Caller::System { .. } => None,
        }
    }

    /// Returns the seed of the call's randomness, which is drawn at the first use.
    pub fn seed(&self) -> [u8; 32] {
        *self.seed.get_or_init(entropy)
    }
}

/// The facts about the host that the interface `platform` returns.
#[derive(Debug)]
pub struct Platform {
    pub started_at: Timestamp,
    pub public_url: String,
    pub catalog_version: u64,
    pub limits: Vec<Limit>,
    pub components: Vec<PlatformComponent>,
}

/// A capability as other capabilities see it.
#[derive(Debug, Clone)]
pub struct PlatformComponent {
    pub id: String,
    pub version: String,
    pub title: String,
    pub status: Status,
    pub sunset_at: Option<Timestamp>,
    pub successor: Option<String>,
    pub digest: Digest,
    pub actions: Vec<PlatformAction>,
}

/// One action of a `PlatformComponent`.
#[derive(Debug, Clone)]
pub struct PlatformAction {
    pub name: String,
    pub access: Access,
    pub emits: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr;

    #[test]
    fn nested_calls_are_recorded_in_the_session_of_the_outermost_call() {
        let context = || {
            let platform = Platform {
                started_at: Timestamp::from_millis(0),
                public_url: String::new(),
                catalog_version: 1,
                limits: Vec::new(),
                components: Vec::new(),
            };
            let caller = Caller::System { test_mode: false };
            let (id, platform) = (Arc::from("req_1"), Arc::new(platform));
            CallContext::new(caller, Timestamp::from_millis(0), id, platform)
        };
        let outermost = Arc::new(context().with_session(Some(Session::new(1, true))));
        let nested = Arc::new(outermost.nested("outer", [0; 32], 1).with_trace(None));
        let deeper = nested.nested("inner", [0; 32], 1);
        for context in [&*nested, &deeper] {
            assert!(ptr::eq(context.session().unwrap(), outermost.session().unwrap()));
        }
        let unrecorded = Arc::new(context().with_session(None));
        assert!(unrecorded.nested("outer", [0; 32], 1).session().is_none());
    }
}
