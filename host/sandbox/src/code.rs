//! The code of a component, and of the engines that several components share.

use crate::{caller::CallerArgument, contract::types, imports::Import, state::CallState};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
};
use wasmtime::{
    Store,
    component::{Component, ComponentExportIndex, Instance, InstancePre, TypedFunc},
};

/// The export `call`: its arguments and its answer. The generated bindings would check the types of `describe` too, at
/// every call.
pub(super) type CallExport<'a> = TypedFunc<(&'a CallerArgument<'a>, &'a str, &'a str), Answers>;
type Answers = (Result<types::Success, types::Failure>,);

/// The code of an artifact, linked.
pub(super) struct Code {
    pub(super) component: Component,
    pub(super) pre: InstancePre<CallState>,
    pub(super) imports: Vec<Import>,
    /// The index of the export `call`, because every call would have to search for its name.
    call: ComponentExportIndex,
    /// Whether the type of the export `call` has been compared with the contract.
    is_checked: AtomicBool,
}

impl Code {
    pub(super) fn new(
        component: Component,
        pre: InstancePre<CallState>,
        imports: Vec<Import>,
        call: ComponentExportIndex,
    ) -> Self {
        Self { component, pre, imports, call, is_checked: AtomicBool::new(false) }
    }

    /// Returns the export `call` of an instance of this code. Its type, with the name of each member, is compared with
    /// the contract until it has been found to be the same.
    ///
    /// # Errors
    ///
    /// Fails if the export has another type.
    #[expect(unsafe_code, reason = "the type of the export was compared with the contract")]
    pub(super) fn call_of<'a>(
        &self,
        instance: &Instance,
        store: &mut Store<CallState>,
    ) -> wasmtime::Result<CallExport<'a>> {
        let function = instance
            .get_func(&mut *store, self.call)
            .ok_or_else(|| wasmtime::format_err!("the export call is not a function"))?;
        if self.is_checked.load(Ordering::Relaxed) {
            // SAFETY: the flag is set only when the export of another instance of the same code had exactly this type.
            // The types of a component's exports are part of its code, and differ between its instances only in the
            // resources that they name; these types name none.
            return Ok(unsafe { TypedFunc::new_unchecked(function) });
        }
        let call = function.typed(&*store)?;
        self.is_checked.store(true, Ordering::Relaxed);
        Ok(call)
    }
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
