//! The preparation of an artifact for calls.

use crate::{
    artifact::is_intact,
    code::Code,
    contract::AnyCapabilityPre,
    engine::{Sandbox, config},
    imports::{Import, ImportKind},
    long_calls::Load,
    source::Source,
};
use std::{path::Path, sync::Arc};
use tokio::sync::Semaphore;
use wasmtime::{Engine, component::Component};

/// A component that is ready to be called.
pub struct Prepared {
    pub(super) code: Arc<Code>,
    /// The source that the code runs, if it is an engine.
    pub(super) source: Option<Arc<Source>>,
    pub(super) calls: Semaphore,
    pub(super) load: Load,
}

/// The reasons why a component cannot be called on this host.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    #[error("the artifact cannot be loaded: {0}")]
    Artifact(String),
    #[error("needs more than a sandbox has: {0}")]
    ExceedsLimits(String),
    #[error("imports {} which this host does not offer", import_names(.0))]
    UnknownImports(Vec<Import>),
    #[error("does not fit the contract: {0}")]
    Contract(String),
}

fn import_names(imports: &[Import]) -> String {
    imports.iter().map(|import| import.name.as_str()).collect::<Vec<_>>().join(", ")
}

impl Sandbox {
    /// Loads an artifact that this host compiled, and checks that it imports only what this host offers.
    /// Components with the same engine share its code.
    pub fn prepare(
        &self,
        artifact: &Path,
        source: Option<Arc<Source>>,
    ) -> Result<Prepared, PrepareError> {
        let code = match source {
            Some(_) => self.engines.code(artifact, || self.link(artifact))?,
            None => Arc::new(self.link(artifact)?),
        };
        let calls = Semaphore::new(self.options.limits.concurrent_calls_per_capability as usize);
        Ok(Prepared { code, source, calls, load: Load::default() })
    }

    fn link(&self, artifact: &Path) -> Result<Code, PrepareError> {
        let component = self.load(artifact)?;
        let imports: Vec<_> = component
            .component_type()
            .imports(&self.engine)
            .map(|(name, _)| Import::new(name))
            .collect();
        let is_unknown = |import: &&Import| import.kind == ImportKind::Unknown;
        let unknown: Vec<_> = imports.iter().filter(is_unknown).cloned().collect();
        if !unknown.is_empty() {
            return Err(PrepareError::UnknownImports(unknown));
        }
        let contract = |error: wasmtime::Error| PrepareError::Contract(format!("{error:#}"));
        let pre = self.linker.instantiate_pre(&component).map_err(contract)?;
        // Checks that both exports exist; `describe` checks their types.
        AnyCapabilityPre::new(pre.clone()).map_err(contract)?;
        let call = component
            .get_export_index(None, "call")
            .ok_or_else(|| PrepareError::Contract("does not export call".to_owned()))?;
        Ok(Code::new(component, pre, imports, call))
    }

    /// Loads an artifact. The error is `ExceedsLimits` if the artifact can be loaded without a pool: it is
    /// valid then, but too large for the pool's slots.
    fn load(&self, artifact: &Path) -> Result<Component, PrepareError> {
        // Damaged machine code could do anything, so it is never mapped.
        match std::fs::read(artifact) {
            Ok(bytes) if is_intact(&bytes) => {}
            Ok(_) => return Err(PrepareError::Artifact("its checksum is wrong".to_owned())),
            Err(error) => return Err(PrepareError::Artifact(error.to_string())),
        }
        load(&self.engine, artifact).map_err(|error| {
            let without_pool = Engine::new(&config(None, self.options.backtraces))
                .map(|engine| load(&engine, artifact));
            match without_pool {
                Ok(Ok(_valid)) => PrepareError::ExceedsLimits(error.root_cause().to_string()),
                _ => PrepareError::Artifact(format!("{error:#}")),
            }
        })
    }
}

impl Prepared {
    pub fn imports(&self) -> &[Import] {
        &self.code.imports
    }

    /// Returns whether most calls of the component are long. The host's own work for them should then run in
    /// the threads of long calls.
    pub fn is_heavy(&self) -> bool {
        self.load.is_heavy()
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Prepared").field("imports", &self.imports()).finish_non_exhaustive()
    }
}

#[expect(
    unsafe_code,
    reason = "the artifact was written by this host's own compiler into its private folder"
)]
fn load(engine: &Engine, artifact: &Path) -> wasmtime::Result<Component> {
    // SAFETY: `artifact` is a file of the private artifact folder, named after the component's
    // digest and the engine's code generation, renamed into place when complete and never overwritten;
    // its checksum was verified.
    unsafe { Component::deserialize_file(engine, artifact) }
}
