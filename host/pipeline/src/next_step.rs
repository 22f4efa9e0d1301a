//! The next step of an outcome, which is never the same call again.

use crate::outcome::Outcome;
use portolan_catalog::{Action, Capability, Input};
use serde_json::Value;

/// The members of a step with which the same call can have another outcome: an answer of the person, or a wait.
const CHANGES: [&str; 2] = ["missing", "after_s"];

/// A call as a step names it.
struct Called<'a> {
    capability: &'a str,
    action: &'a str,
    /// The action of a call that names none.
    default_action: Option<&'a str>,
    fields: &'a Value,
}

/// Removes the next step of a call's outcome if it is the same call, with nothing in between that changes. A dry
/// run is not the call that it tries.
pub(super) fn remove_repetition(
    outcome: &mut Outcome,
    capability: &Capability,
    action: &Action,
    input: &Input,
) {
    let called = Called {
        capability: &capability.id,
        action: &action.descriptor.name,
        default_action: capability.descriptor.default_action.as_deref(),
        fields: &input.fields,
    };
    if input.dry_run {
        return;
    }
    match outcome {
        Ok((_, next)) => drop(next.take_if(|next| called.is_named_by(next))),
        Err(failure) => drop(failure.next.take_if(|next| called.is_named_by(next))),
    }
}

impl Called<'_> {
    /// Returns whether a step is this call again.
    fn is_named_by(&self, next: &Value) -> bool {
        let is_same = next.get("capability").and_then(Value::as_str) == Some(self.capability);
        if !is_same || CHANGES.iter().any(|name| next.get(name).is_some()) {
            return false;
        }
        let Some(mut input) = next.get("input").and_then(Value::as_object).cloned() else {
            return false;
        };
        let action = input.shift_remove("action");
        let action = action.as_ref().and_then(Value::as_str).or(self.default_action);
        action == Some(self.action) && Some(&input) == self.fields.as_object()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_step_is_the_same_call_if_nothing_differs() {
        let fields = json!({ "id": 7, "page": 1 });
        let called = Called {
            capability: "notes",
            action: "get",
            default_action: Some("get"),
            fields: &fields,
        };
        let step = |input: Value| json!({ "capability": "notes", "input": input });
        assert!(called.is_named_by(&step(json!({ "action": "get", "page": 1, "id": 7 }))));
        assert!(called.is_named_by(&step(json!({ "id": 7, "page": 1 }))));
        for other in [
            step(json!({ "action": "get", "id": 7 })),
            step(json!({ "action": "list", "id": 7, "page": 1 })),
            json!({ "capability": "others", "input": { "action": "get", "id": 7, "page": 1 } }),
            json!({ "after_s": 1, "then": "retry_original" }),
        ] {
            assert!(!called.is_named_by(&other), "{other}");
        }
        for change in ["missing", "after_s"] {
            let mut next = step(json!({ "id": 7, "page": 1 }));
            next[change] = json!(1);
            assert!(!called.is_named_by(&next), "{next}");
        }
    }
}
