//! The code of a component, and of the engines that several components share.

use crate::{imports::Import, state::CallState};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
};
use wasmtime::component::{Component, ComponentExportIndex, InstancePre};

/// The code of an artifact, linked.
pub(super) struct Code {
    pub(super) component: Component,
    /// Shared with the calls, because the future of a call cannot borrow this value.
    pub(super) pre: Arc<InstancePre<CallState>>,
    /// The index of the export `call`, because every call would have to search for its name.
    pub(super) call: ComponentExportIndex,
    pub(super) imports: Vec<Import>,
}

/// The code of the engines in use, by the path of their artifacts.
#[derive(Default)]
pub(super) struct Engines(Mutex<HashMap<PathBuf, Weak<Code>>>);

impl Engines {
    /// Returns the code of an engine, and makes it if no component uses it yet. Others wait meanwhile, because
    /// they probably need the same code.
    pub(super) fn code<E>(
        &self,
        artifact: &Path,
        make: impl FnOnce() -> Result<Code, E>,
    ) -> Result<Arc<Code>, E> {
        let mut engines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(code) = engines.get(artifact).and_then(Weak::upgrade) {
            return Ok(code);
        }
        engines.retain(|_, code| code.strong_count() > 0);
        let code = Arc::new(make()?);
        engines.insert(artifact.to_owned(), Arc::downgrade(&code));
        Ok(code)
    }
}
