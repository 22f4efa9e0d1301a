//! The check that a call does only what the hints of its tool promise.

use crate::{
    View,
    request::{Permitted, Target},
};
use portolan_catalog::Snapshot;
use portolan_vocabulary::{ErrorCode, Failure};
use serde_json::{Value, json};

/// The maximum number of bytes of a refused call that the refusal repeats.
const REPEATED_BYTES: usize = 2_048;

/// Refuses a call of an action that the tool or the endpoint does not permit, so that what clients are told about a
/// tool is true. The pipeline refuses unknown actions.
pub(super) fn ensure_true_hints(
    snapshot: &Snapshot,
    target: &Target,
    view: &View,
) -> Result<(), Failure> {
    let Some(capability) = snapshot.capabilities.get(&target.capability) else { return Ok(()) };
    let named = target.body.get("action").and_then(Value::as_str);
    let Some(action) = named.or(capability.descriptor.default_action.as_deref()) else {
        return Ok(());
    };
    let Some(right) = capability.tool_with(action) else { return Ok(()) };
    if view.read_only && !right.read_only {
        let message = format!("This endpoint only reads, and {action} does not. Use /mcp.");
        return Err(Failure::new(ErrorCode::NotPermitted).message(message));
    }
    let called = match target.permitted {
        Permitted::All => return Ok(()),
        Permitted::Reads if right.read_only => return Ok(()),
        Permitted::Reads => "read_capability",
        Permitted::Tool(place) => match capability.tools.get(place) {
            Some(tool) if !tool.has(action) => &tool.name,
            _ => return Ok(()),
        },
    };
    let message =
        format!("The tool {called} does not have the action {action}; {} has it.", right.name);
    let failure = Failure::new(ErrorCode::UnknownAction).message(message);
    let step = json!({ "capability": target.capability, "input": target.body });
    // A long call is not repeated.
    Err(if step.to_string().len() > REPEATED_BYTES { failure } else { failure.next(step) })
}
