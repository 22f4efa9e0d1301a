//! The host's implementation of the interfaces that components import.

use crate::{
    contract::{context, description, platform, types},
    state::{CallState, LAST_WORDS_BYTES},
};
use portolan_vocabulary::{Access, Status, new_identifier};
use rand::{Rng as _, RngExt as _};
use wasmtime::Result;

const RANDOM_BYTES: u32 = 4096;
const LOG_MESSAGES: u32 = 64;
const LOG_BYTES: usize = 1024;

impl types::Host for CallState {}
impl description::Host for CallState {}

impl context::Host for CallState {
    fn now(&mut self) -> Result<u64> {
        Ok(self.context.now.as_millis())
    }

    fn client_id(&mut self) -> Result<Option<String>> {
        Ok(self.context.agent().map(|agent| agent.client_id.as_ref().to_owned()))
    }

    fn test_mode(&mut self) -> Result<bool> {
        Ok(self.context.caller.test_mode())
    }

    fn random(&mut self, length: u32) -> Result<Vec<u8>> {
        if length > RANDOM_BYTES {
            wasmtime::bail!(
                "context.random gives at most {RANDOM_BYTES} bytes, asked for {length}"
            );
        }
        let mut bytes = vec![0; length as usize];
        self.chance.generator().fill_bytes(&mut bytes);
        Ok(bytes)
    }

    fn new_id(&mut self, prefix: String) -> Result<String> {
        let random = self.chance.generator().random();
        Ok(new_identifier(&prefix, self.context.now, random))
    }

    fn log(&mut self, level: context::Level, message: String) -> Result<()> {
        self.logged += 1;
        if self.logged > LOG_MESSAGES {
            return Ok(());
        }
        let message = one_line(&message, LOG_BYTES);
        let (capability, request) = (&*self.capability, &*self.context.request_id);
        match level {
            context::Level::Trace => tracing::trace!(capability, request, "{message}"),
            context::Level::Debug => tracing::debug!(capability, request, "{message}"),
            context::Level::Info => tracing::info!(capability, request, "{message}"),
            context::Level::Warn => tracing::warn!(capability, request, "{message}"),
            context::Level::Error => tracing::error!(capability, request, "{message}"),
        }
        Ok(())
    }

    fn last_words(&mut self, part: context::Words) -> Result<()> {
        let context::Words { a, b, c, d, e, f, g, h } = part;
        let bytes = [a, b, c, d, e, f, g, h].into_iter().flat_map(u64::to_le_bytes);
        let room = LAST_WORDS_BYTES - self.last_words.len();
        self.last_words.extend(bytes.take(room));
        Ok(())
    }
}

/// The text cut to so many bytes, with control characters escaped: a component must not be able to
/// forge lines of the operator's log.
pub(super) fn one_line(text: &str, bytes: usize) -> String {
    let text = text.get(..text.floor_char_boundary(bytes)).unwrap_or_default();
    let escape = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    text.chars().map(escape).collect()
}

impl platform::Host for CallState {
    fn about(&mut self) -> Result<platform::Service> {
        let platform = &self.context.platform;
        Ok(platform::Service {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: platform.started_at.as_millis(),
            public_url: platform.public_url.clone(),
            contract: "portolan:capability@1.0.0".to_owned(),
            catalog_version: platform.catalog_version,
        })
    }

    fn limits(&mut self) -> Result<Vec<platform::Limit>> {
        let limits = self.context.platform.limits.iter().map(|limit| platform::Limit {
            name: limit.name.to_owned(),
            value: limit.value,
            unit: limit.unit.to_owned(),
            description: limit.description.to_owned(),
        });
        Ok(limits.collect())
    }

    fn components(&mut self) -> Result<Vec<platform::Component>> {
        let components = self.context.platform.components.iter().map(|component| {
            let actions = component.actions.iter().map(|action| platform::ComponentAction {
                name: action.name.clone(),
                access: contract_access(action.access),
                emits: action.emits.clone(),
            });
            platform::Component {
                id: component.id.clone(),
                version: component.version.clone(),
                title: component.title.clone(),
                status: match component.status {
                    Status::Beta => description::Status::Beta,
                    Status::Stable => description::Status::Stable,
                    Status::Deprecated => description::Status::Deprecated,
                },
                sunset_at: component.sunset_at.map(|at| at.as_millis()),
                successor: component.successor.clone(),
                digest: component.digest.to_string(),
                actions: actions.collect(),
            }
        });
        Ok(components.collect())
    }
}

fn contract_access(access: Access) -> description::Access {
    match access {
        Access::Read => description::Access::Read,
        Access::Write => description::Access::Write,
        Access::Events => description::Access::Events,
        Access::Open => description::Access::Open,
        Access::Internal => description::Access::Internal,
    }
}
