//! Whether the next steps of answers lead to an action.

use super::pattern::Difference;
use portolan_catalog::Capability;
use serde_json::{Map, Value};

/// The ids that begin so are served by every host.
const SHIPPED: &str = "svc.";

/// The actions to which a step of a capability can lead.
#[derive(Debug)]
pub(super) struct Steps {
    id: String,
    actions: Vec<String>,
    invoked: Vec<String>,
}

/// A fault of a next step, or a hint for its author.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    Fault(Difference),
    /// The step leads to another capability, which is not one of those that this one invokes.
    Foreign(String),
}

impl Steps {
    pub(super) fn of(capability: &Capability) -> Self {
        let invokes = &capability.descriptor.invokes;
        Self {
            id: capability.id.to_string(),
            actions: capability.callable().map(|action| action.descriptor.name.clone()).collect(),
            invoked: invokes.iter().map(|callee| callee.capability.clone()).collect(),
        }
    }

    /// Checks the next step of an outcome, if it has one.
    pub(super) fn check(&self, outcome: &Map<String, Value>) -> Option<Step> {
        let places = [("expect.next", "/next"), ("expect.error.next", "/error/next")];
        let outcome = outcome.get("expect")?;
        let found = |(at, pointer): (&'static str, &str)| Some((at, outcome.pointer(pointer)?));
        let (at, next) = places.into_iter().find_map(found)?;
        let capability = next.get("capability")?.as_str()?;
        if capability != self.id {
            let is_known = capability.starts_with(SHIPPED)
                || self.invoked.iter().any(|invoked| invoked == capability);
            return (!is_known).then(|| Step::Foreign(capability.to_owned()));
        }
        let action = next.pointer("/input/action")?.as_str()?;
        (!self.actions.iter().any(|name| name == action)).then(|| {
            Step::Fault(Difference {
                at: at.to_owned(),
                expected: format!("an action of {}: {}", self.id, self.actions.join(", ")),
                actual: format!("{action}, which agents cannot call; correct the step"),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(expect: Value) -> Option<Step> {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let (id, actions, invoked) =
            ("shop".to_owned(), names(&["find", "get"]), names(&["credits"]));
        let outcome = Map::from_iter([("expect".to_owned(), expect)]);
        Steps { id, actions, invoked }.check(&outcome)
    }

    fn step(capability: &str, action: &str) -> Value {
        json!({ "capability": capability, "input": { "action": action } })
    }

    #[test]
    fn a_step_to_no_action_is_a_fault_wherever_it_is() {
        for (expect, at) in [
            (json!({ "output": {}, "next": step("shop", "git") }), "expect.next"),
            (json!({ "error": { "next": step("shop", "git") } }), "expect.error.next"),
        ] {
            let Some(Step::Fault(fault)) = check(expect) else { panic!("{at}: no fault") };
            assert_eq!(fault.at, at);
            assert_eq!(fault.expected, "an action of shop: find, get");
        }
    }

    #[test]
    fn a_step_to_another_capability_is_named_unless_it_is_known() {
        for (capability, expected) in [
            ("shop", None),
            ("credits", None),
            ("svc.phone-binding", None),
            ("faq", Some(Step::Foreign("faq".to_owned()))),
        ] {
            assert_eq!(check(json!({ "next": step(capability, "get") })), expected);
        }
        assert_eq!(check(json!({ "output": {} })), None);
    }
}
