//! Exports and erasures in a world without other capabilities.

mod erasing;
mod exporting;

use crate::{DataRights, types::*};
use portolan_sdk::{
    prelude::*,
    test::{self, World},
};

const NOW: u64 = 1_800_000_000_000;
const ADA: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const BO: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X4";

/// Returns a world in which Ada calls.
fn world() -> World {
    test::world().of::<DataRights>().at(NOW).owner(ADA).answer(WARN_OF_ERASURE, json!(null))
}

fn call(world: &mut World, action: &str) -> Value {
    world.call(action, &json!({})).unwrap()
}

fn event_types(world: &World) -> Vec<String> {
    world.events().into_iter().map(|event| event.event_type).collect()
}

/// Returns the times at which each action of a timer is due, in days from now.
fn timers(world: &World) -> Vec<(String, u64)> {
    let timers = world.timers().into_iter();
    timers.map(|timer| (timer.action, (timer.at - NOW) / DAY)).collect()
}

/// Runs the timer of an action at its time. Ada calls afterwards.
fn run_timer(world: World, action: &str) -> World {
    let timer = world.timers().into_iter().find(|timer| timer.action == action).unwrap();
    let mut world = world.at(timer.at).system();
    world.call(action, &timer.input).unwrap();
    world.owner(ADA)
}
