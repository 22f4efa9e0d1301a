//! The interfaces that components import, one module each.
//!
//! A module always has the same parts, in this order: `INTERFACE`, its entry in the table with its
//! grant if it is sensitive; its limits as constants; the bindings it implements (`x::Host` for
//! [`CallState`](crate::state::CallState)); what these need. State that an interface keeps over a
//! call is a field of `CallState` with a type of its own, such as [`GuestLog`](crate::log::GuestLog).
//!
//! # A new interface
//!
//! It is a new file `wit/x.wit`, a new file here, and at most seven changes to existing files:
//!
//! 1. `wit/world.wit`: the import in the world `any-capability`, and in a world for guests.
//! 2. This file: `mod x;` and one line of the table. Linking, the kinds of imports and the list of
//!    grants derive from it. Its functions get a policy in the table of `taped.rs`, so that calls can be replayed.
//! 3. `grant.rs`, if it is sensitive: the grant's name.
//! 4. `services.rs`, if it needs a service of the host: a method of `HostServices` with a default.
//! 5. `pipeline/src/nested.rs`: that method, which returns the service of the running host. An
//!    interface whose work is done after the commit needs no such method: it writes a timer
//!    of the host's own into the unit of work, as `sms`, `lookups` and `people` do. The file to change
//!    is then `pipeline/src/due.rs`, which runs the timer.
//! 6. `docs/plugin-guide.md`: what authors of components read.
//!
//! A service that does not exist yet is written first, in a crate on which this one depends, and is
//! created at the start of the process.

mod agent_events;
mod approvals;
mod blobs;
mod context;
mod delivery;
mod documents;
mod events;
mod feeds;
mod identity;
mod inbox;
mod interface;
mod invoke;
mod lookups;
mod messages;
mod moderation;
mod names;
mod people;
mod platform;
mod queries;
mod reply;
mod secrets;
mod sms;
mod source;
mod taped;
mod timers;
mod types;
mod webhooks;

use interface::Interface;

/// Every interface that this host offers.
pub(super) const INTERFACES: &[Interface] = &[
    types::TYPES,
    types::DESCRIPTION,
    documents::INTERFACE,
    events::INTERFACE,
    timers::INTERFACE,
    invoke::INTERFACE,
    context::INTERFACE,
    secrets::INTERFACE,
    feeds::INTERFACE,
    platform::INTERFACE,
    source::INTERFACE,
    sms::INTERFACE,
    messages::INTERFACE,
    identity::INTERFACE,
    moderation::INTERFACE,
    inbox::INTERFACE,
    webhooks::INTERFACE,
    lookups::INTERFACE,
    people::INTERFACE,
    delivery::INTERFACE,
    approvals::INTERFACE,
    blobs::INTERFACE,
];

#[cfg(test)]
mod tests {
    use super::INTERFACES;
    use std::collections::BTreeSet;

    #[test]
    fn the_table_has_what_the_worlds_import() {
        let worlds = include_str!("../../../../wit/world.wit").lines();
        let imports =
            worlds.filter_map(|line| line.trim().strip_prefix("import ")?.strip_suffix(';'));
        let names = INTERFACES.iter().map(|interface| interface.name);
        let with_functions = names.filter(|name| !["types", "description"].contains(name));
        assert_eq!(with_functions.collect::<BTreeSet<_>>(), imports.collect::<BTreeSet<_>>());
    }
}
