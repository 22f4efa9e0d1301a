//! The waiting call that is handed to the capability with the role `approvals`, which asks the person.

use crate::{approvals::Approval, host::Host, run::Run, system::SystemCall};
use portolan_names::is_invisible;
use portolan_vocabulary::{
    Access, AgentCaller, Caller, ErrorCode, Failure, HeldCall, Role, person_ids,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{collections::BTreeSet, pin::Pin, sync::Arc};

/// The answer of the capability with the role.
#[derive(Deserialize)]
struct Held {
    approval_id: String,
    state: String,
    expires_at: Value,
}

/// The state of a waiting call that the person has denied lately.
const DENIED: &str = "denied";

impl Host {
    /// Hands a call that waits to the capability with the role `approvals`, and returns the failure that the agent
    /// gets. The same call of the same agent waits once.
    ///
    /// The future is boxed, because the capability's action is run in turn.
    pub(super) fn hold<'a>(
        self: &'a Arc<Self>,
        run: &'a Run<'_>,
        approval: &'a Approval,
        agent: &'a AgentCaller,
    ) -> Pin<Box<dyn Future<Output = Failure> + Send + 'a>> {
        Box::pin(async move {
            match self.hold_call(run, approval, agent).await {
                Ok(failure) | Err(failure) => failure,
            }
        })
    }

    async fn hold_call(
        self: &Arc<Self>,
        run: &Run<'_>,
        approval: &Approval,
        agent: &AgentCaller,
    ) -> Result<Failure, Failure> {
        let Ok(holder) = run.snapshot.holder(Role::Approvals) else {
            return Err(Failure::new(ErrorCode::DependencyUnavailable).message(
                "The person behind this agent limits what it may do alone, and this host cannot ask them now.",
            ));
        };
        let call = held_call(run, approval, agent);
        let (title, action_title) =
            (&run.capability.descriptor.title, &run.action.descriptor.title);
        let covers = call.covers.iter().map(|covered| {
            json!({
                "capability": covered.capability, "action": covered.action,
                "input": shown(&covered.input),
            })
        });
        let text = serde_json::to_string_pretty(&call).unwrap_or_default();
        let people: BTreeSet<&str> =
            person_ids(&text).filter(|id| *id != call.owner_id && *id != call.agent_id).collect();
        let input = json!({
            "owner_id": call.owner_id, "agent_id": call.agent_id,
            "agent_name": agent.agent_name.as_deref(),
            "capability": call.capability, "capability_title": title,
            "action_name": call.action, "action_title": action_title,
            "digest": call.digest().hex(), "reason": approval.reason(),
            "category": run.action.consequence.as_ref().map(|declared| &declared.category),
            "input": shown(&call.input), "covers": covers.collect::<Vec<_>>(),
            "people": people, "call": text, "after": approval.id(),
        });
        let system_call = SystemCall {
            capability: &holder.id,
            action: "hold",
            access: Access::Internal,
            input: &input.to_string(),
            caller: Caller::System { test_mode: agent.test_mode },
            via: None,
            task: None,
            trace: run.context.trace,
            has_secret: false,
            dry_run: false,
        };
        let held = self.run_system_call(system_call).await?;
        let held: Held = serde_json::from_value(held)
            .map_err(|_| Failure::new(ErrorCode::CapabilityAnswerInvalid))?;
        let code = match held.state == DENIED {
            true => ErrorCode::ApprovalDenied,
            false => ErrorCode::ApprovalRequired,
        };
        let get = json!({ "action": "get", "approval_id": held.approval_id });
        Ok(Failure::new(code)
            .conflict(json!({
                "kind": "approval", "approval_id": held.approval_id, "reason": approval.reason(),
                "expires_at": held.expires_at,
            }))
            .next(json!({ "capability": holder.id, "input": get })))
    }
}

/// Returns an input as the person sees it: with everything in it, also what cannot be seen.
fn shown(input: &Value) -> String {
    let text = serde_json::to_string_pretty(input).unwrap_or_default();
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match is_invisible(letter) && letter != '\n' && letter != ' ' {
            true => shown.extend(letter.escape_unicode()),
            false => shown.push(letter),
        }
    }
    shown
}

fn held_call(run: &Run<'_>, approval: &Approval, agent: &AgentCaller) -> HeldCall {
    HeldCall {
        owner_id: agent.owner_id.as_deref().unwrap_or_default().to_owned(),
        agent_id: agent.agent_id.to_string(),
        client_id: agent.client_id.to_string(),
        scopes: agent.scopes.to_vec(),
        capability: run.capability.id.to_string(),
        action: run.action.descriptor.name.clone(),
        access: run.action.descriptor.access,
        publisher: run.capability.publisher.to_string(),
        version: run.capability.descriptor.version.clone(),
        input: serde_json::from_str(&run.input).unwrap_or_default(),
        idempotency_key: run.keyed.map(|keyed| keyed.key().to_owned()),
        covers: approval.covered(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_shown_with_what_cannot_be_seen() {
        let text = shown(&json!({ "text": "pay\u{202e}100\u{200b}" }));
        assert_eq!(text, "{\n  \"text\": \"pay\\u{202e}100\\u{200b}\"\n}");
    }
}
