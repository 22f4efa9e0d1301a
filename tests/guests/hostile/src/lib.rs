//! A component that does what a script in its own bytes says: tests write the script there, so that one
//! build gives any number of components.
//!
//! A script is a JSON object: the fields of the descriptor, each with a default, and for each action the
//! operations that it performs. See `script` for texts and lists that repeat, and `operations`.

#![expect(clippy::indexing_slicing, reason = "a missing member of the script is null")]

mod descriptor;
mod operations;
mod script;

use portolan_sdk::{
    contract::{Caller, Descriptor, Failure, Guest, Success},
    report_panics, unknown_action,
};

struct Hostile;

impl Guest for Hostile {
    fn describe() -> Descriptor {
        report_panics();
        let script = script::read();
        let _report = operations::perform_all(&script["describing"], &Caller::System, "{}");
        descriptor::descriptor(&script)
    }

    fn call(caller: Caller, action: String, input: String) -> Result<Success, Failure> {
        report_panics();
        let script = script::read();
        let actions = script::list(&descriptor::actions(&script)).collect::<Vec<_>>();
        match actions.iter().find(|declared| script::text(&declared["name"]) == action) {
            Some(called) => operations::perform_all(&called["operations"], &caller, &input),
            None => unknown_action(&action),
        }
    }
}

const _: fn() -> Descriptor = Hostile::describe;

#[cfg(target_arch = "wasm32")]
portolan_sdk::contract::export!(Hostile with_types_in portolan_sdk::contract);
