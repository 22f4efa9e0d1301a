//! The contract's types, for modules whose toolchain does not write them.

use crate::error::{ComponentizeError, contract_error};
use wit_component::{StringEncoding, embed_component_metadata};
use wit_parser::{Resolve, SourceMap};

macro_rules! contract {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!("../../../wit/", $name)))),*]
    };
}

const FILES: [(&str, &str); 15] = contract![
    "approvals.wit",
    "blobs.wit",
    "delivery.wit",
    "description.wit",
    "documents.wit",
    "effects.wit",
    "feeds.wit",
    "messages.wit",
    "moderation.wit",
    "people.wit",
    "platform.wit",
    "sensitive.wit",
    "source.wit",
    "types.wit",
    "world.wit"
];
/// The world that has every interface. Interfaces that a module does not import are left out of its
/// component.
const WORLD: &str = "any-capability";

/// Appends the section with the contract's types to a module.
pub(crate) fn embed(module: &mut Vec<u8>) -> Result<(), ComponentizeError> {
    embed_world(module, &FILES, WORLD)
}

/// Appends the section with the types of a world to a module.
pub(crate) fn embed_world(
    module: &mut Vec<u8>,
    files: &[(&str, &str)],
    world: &str,
) -> Result<(), ComponentizeError> {
    let mut sources = SourceMap::default();
    for (name, text) in files {
        sources.push_str(name, *text);
    }
    let mut resolve = Resolve::default();
    let group = sources.parse().map_err(|(_, error)| contract_error(error))?;
    let package = resolve.push_group(group).map_err(contract_error)?;
    let world = resolve.select_world(&[package], Some(world)).map_err(contract_error)?;
    embed_component_metadata(module, &resolve, world, StringEncoding::UTF8).map_err(contract_error)
}
