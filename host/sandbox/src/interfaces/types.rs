//! `types` and `description`: interfaces that have only types.

use crate::{
    contract::{description, types},
    interfaces::interface::{Interface, State, host},
    state::CallState,
};

pub(super) const TYPES: Interface =
    Interface::open("types", |linker| types::add_to_linker::<_, State>(linker, host));
pub(super) const DESCRIPTION: Interface =
    Interface::open("description", |linker| description::add_to_linker::<_, State>(linker, host));

impl types::Host for CallState {}
impl description::Host for CallState {}
