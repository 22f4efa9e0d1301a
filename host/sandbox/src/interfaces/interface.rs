//! The entry of one interface in the table of interfaces.

use crate::{grant::Grant, state::CallState};
use wasmtime::component::{HasSelf, Linker};

/// An interface that this host offers to components.
pub(crate) struct Interface {
    pub(crate) name: &'static str,
    /// The grant without which a component that imports the interface is not loaded; `None` if every
    /// component may use it.
    pub(crate) grant: Option<Grant>,
    /// Adds the host's functions to a linker.
    pub(crate) link: fn(&mut Linker<CallState>) -> wasmtime::Result<()>,
}

/// The type with which the generated bindings find their host: the state itself.
pub(super) type State = HasSelf<CallState>;

/// Returns the state as the host of the generated bindings.
pub(super) fn host(state: &mut CallState) -> &mut CallState {
    state
}

impl Interface {
    /// Returns an interface that every component may use.
    pub(super) const fn open(
        name: &'static str,
        link: fn(&mut Linker<CallState>) -> wasmtime::Result<()>,
    ) -> Self {
        Self { name, grant: None, link }
    }

    /// Returns an interface that needs the grant of another one.
    pub(super) const fn with_grant_of(
        grant: Grant,
        name: &'static str,
        link: fn(&mut Linker<CallState>) -> wasmtime::Result<()>,
    ) -> Self {
        Self { name, grant: Some(grant), link }
    }

    /// Returns an interface that needs a grant and has the name of that grant.
    pub(super) const fn sensitive(
        grant: Grant,
        link: fn(&mut Linker<CallState>) -> wasmtime::Result<()>,
    ) -> Self {
        Self { name: grant.name(), grant: Some(grant), link }
    }
}
