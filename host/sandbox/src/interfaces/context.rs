//! `context`: the call's instant, its random numbers, its identifiers and its log.

use crate::{
    contract::context,
    interfaces::interface::{Interface, State, host},
    state::CallState,
};
use portolan_vocabulary::new_identifier;
use rand::{Rng as _, RngExt as _};
use wasmtime::Result;

pub(super) const INTERFACE: Interface =
    Interface::open("context", |linker| context::add_to_linker::<_, State>(linker, host));

/// The maximum number of bytes of one call of `random`.
const RANDOM_BYTES: u32 = 4096;

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
                "context.random gives at most {RANDOM_BYTES} bytes, and {length} were asked for"
            );
        }
        let mut bytes = vec![0; length as usize];
        self.random.generator().fill_bytes(&mut bytes);
        Ok(bytes)
    }

    fn new_id(&mut self, prefix: String) -> Result<String> {
        let random = self.random.generator().random();
        Ok(new_identifier(&prefix, self.context.now, random))
    }

    fn log(&mut self, level: context::Level, message: String) -> Result<()> {
        self.write_log(level, &message);
        Ok(())
    }

    fn last_words(&mut self, part: context::Words) -> Result<()> {
        let context::Words { a, b, c, d, e, f, g, h } = part;
        let bytes = [a, b, c, d, e, f, g, h].into_iter().flat_map(u64::to_le_bytes);
        self.log_printed();
        self.log.append_last_words(bytes);
        Ok(())
    }
}
