//! What the host keeps for one call while its component runs.

use crate::{interfaces::one_line, memory::MemoryLimit, wasi::EmptyWasi, work::Work};
use portolan_vocabulary::{Access, AgentCaller, Caller, Digest, Limit, Status, Timestamp, entropy};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use std::sync::{Arc, OnceLock};
use wasmtime_wasi::{WasiCtxView, WasiView};

/// What makes a call repeatable: run again with the same context, it gets the same time and chance.
#[derive(Debug)]
pub struct CallContext {
    pub caller: Caller,
    /// Ids of the capabilities this call came through, outermost first.
    pub via: Vec<String>,
    pub now: Timestamp,
    pub request_id: Arc<str>,
    pub platform: Arc<Platform>,
    seed: OnceLock<[u8; 32]>,
}

impl CallContext {
    pub fn new(
        caller: Caller,
        now: Timestamp,
        request_id: Arc<str>,
        platform: Arc<Platform>,
    ) -> Self {
        Self { caller, via: Vec::new(), now, request_id, platform, seed: OnceLock::new() }
    }

    /// The context of a call within this one. The same call within the same run gets the same
    /// chance.
    pub(super) fn within(&self, capability: &str, seed: [u8; 32]) -> Self {
        let mut via = self.via.clone();
        via.push(capability.to_owned());
        Self {
            caller: self.caller.clone(),
            via,
            now: self.now,
            request_id: Arc::clone(&self.request_id),
            platform: Arc::clone(&self.platform),
            seed: OnceLock::from(seed),
        }
    }

    pub fn agent(&self) -> Option<&AgentCaller> {
        match &self.caller {
            Caller::Agent(agent) => Some(agent),
            Caller::System { .. } => None,
        }
    }
}

/// What the host tells components about itself: the `platform` interface.
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

/// One of its actions.
#[derive(Debug, Clone)]
pub struct PlatformAction {
    pub name: String,
    pub access: Access,
    pub emits: Vec<String>,
}

/// A call's randomness. Nothing is drawn from the operating system unless the component asks.
pub(super) struct Chance {
    context: Arc<CallContext>,
    generator: Option<StdRng>,
}

impl Chance {
    pub(super) fn generator(&mut self) -> &mut StdRng {
        self.generator
            .get_or_insert_with(|| StdRng::from_seed(*self.context.seed.get_or_init(entropy)))
    }

    pub(super) fn fork(&mut self) -> StdRng {
        StdRng::from_seed(self.generator().random())
    }
}

/// How much of a component's last words the log gets.
pub(super) const LAST_WORDS_BYTES: usize = 1024;

/// The data of one sandbox.
pub(super) struct CallState {
    pub(super) memory: MemoryLimit,
    pub(super) context: Arc<CallContext>,
    pub(super) chance: Chance,
    pub(super) capability: Arc<str>,
    /// Messages logged so far.
    pub(super) logged: u32,
    /// None while it only describes itself.
    pub(super) work: Option<Work>,
    /// The text of a panic, as far as it was told.
    pub(super) last_words: Vec<u8>,
    wasi: Option<Box<EmptyWasi>>,
}

impl CallState {
    pub(super) fn new(
        capability: Arc<str>,
        context: Arc<CallContext>,
        memory_limit: usize,
        work: Option<Work>,
    ) -> Self {
        Self {
            memory: MemoryLimit::new(memory_limit),
            chance: Chance { context: Arc::clone(&context), generator: None },
            context,
            capability,
            logged: 0,
            work,
            last_words: Vec::new(),
            wasi: None,
        }
    }

    /// What the component said last before it gave up, for its author.
    pub(super) fn last_words(&self) -> Option<String> {
        let stderr = || self.wasi.as_ref().map(|wasi| wasi.stderr()).unwrap_or_default();
        let text = match self.last_words.as_slice() {
            [] => stderr(),
            words => String::from_utf8_lossy(words).into_owned(),
        };
        let text = one_line(text.trim().trim_end_matches('\0'), LAST_WORDS_BYTES);
        (!text.is_empty()).then_some(text)
    }
}

impl WasiView for CallState {
    /// Made at the first use, so that a component without WASI does not pay for it.
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let (now, chance) = (self.context.now, &mut self.chance);
        self.wasi.get_or_insert_with(|| Box::new(EmptyWasi::new(now, chance))).view()
    }
}
