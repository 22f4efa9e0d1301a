//! The functions that only the fuzz targets of `tests/fuzz` call.

use crate::{
    check::check,
    problem::Problem,
    schema_cost::{Cost, values_in, visits},
};
use portolan_vocabulary::{Descriptor, Limits};
use serde_json::Value;

/// The visits of one check of an instance.
#[derive(Debug, Clone, Copy)]
pub struct Visits {
    /// The maximum that was computed from the schema.
    pub computed: u64,
    /// The number that the validator made.
    pub real: u64,
}

/// Returns the visits of a check; `None` if the schema is refused.
pub fn visits(schema: &Value, instance: &Value) -> Option<Visits> {
    let computed = Cost::of(schema).ok()?.visits(values_in(instance));
    let validator = visits::validator(schema)?;
    Some(Visits { computed, real: visits::visits(&validator, instance) })
}

/// Returns every problem of a descriptor.
pub fn problems(descriptor: &Descriptor, limits: &Limits) -> Vec<Problem> {
    check(descriptor, limits).err().unwrap_or_default()
}
