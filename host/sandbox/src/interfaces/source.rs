//! `source`: the source that an engine runs.

use crate::{
    contract::source,
    interfaces::interface::{Interface, State, host},
    state::CallState,
};
use wasmtime::Result;

pub(super) const INTERFACE: Interface =
    Interface::open("source", |linker| source::add_to_linker::<_, State>(linker, host));

impl source::Host for CallState {
    fn read(&mut self) -> Result<Option<source::Script>> {
        let script = self.source.as_deref();
        Ok(script.map(|from| source::Script { name: from.name.clone(), text: from.text.clone() }))
    }
}
