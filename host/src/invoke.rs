//! The one pipeline: permit, find, validate, run, answer. Nothing else runs a component.

use crate::{
    catalog::{Action, Capability, Catalog},
    identity::Identity,
    sandbox::{CallContext, Ending, Sandbox},
    vocabulary::{AgentCaller, Caller, Failure, Timestamp, common_code},
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::{borrow::Cow, sync::Arc};

/// The rooms that a call passes.
#[derive(Debug)]
pub struct Host {
    pub identity: Identity,
    pub catalog: Arc<Catalog>,
    pub sandbox: Arc<Sandbox>,
}

/// One call as a door hands it in.
#[derive(Debug)]
pub struct Call<'a> {
    pub caller: AgentCaller,
    pub capability: &'a str,
    /// The body, or why there is none; told only once the capability is found.
    pub body: Result<Map<String, Value>, Failure>,
    pub request_id: Arc<str>,
}

/// The success body: `{result, meta, next?}`.
#[derive(Debug, Serialize)]
pub struct Answer {
    pub result: Value,
    pub meta: Meta,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Value>,
}

/// Which action of which version answered, and how.
#[derive(Debug, Serialize)]
pub struct Meta {
    pub capability: Arc<str>,
    pub action: String,
    pub version: String,
    pub request_id: Arc<str>,
    pub replayed: bool,
    pub test_mode: bool,
    pub cost_credits: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Host {
    /// Runs one call from its permission to its answer.
    pub async fn call(&self, call: Call<'_>) -> Result<Answer, Failure> {
        let now = Timestamp::now();
        let snapshot = self.catalog.snapshot();
        let capability = snapshot.find(call.capability, now)?;
        let selected = capability.select(call.body?)?;
        let action = selected.action;
        permit(&call.caller, action)?;
        let input = capability.check_input(selected)?;
        let test_mode = call.caller.test_mode;
        let context = CallContext::new(
            Caller::Agent(call.caller),
            now,
            Arc::clone(&call.request_id),
            Arc::clone(&snapshot.platform),
        );
        let ending = self.run(capability, action, context, &input.fields).await?;
        let (result, next) = answer(capability, action, ending, &call.request_id)?;
        let meta = Meta {
            capability: Arc::clone(&capability.id),
            action: action.descriptor.name.clone(),
            version: capability.descriptor.version.clone(),
            request_id: call.request_id,
            replayed: false,
            test_mode,
            cost_credits: action.descriptor.cost_credits,
            dry_run: input.dry_run,
        };
        Ok(Answer { result, meta, next })
    }

    async fn run(
        &self,
        capability: &Capability,
        action: &Action,
        context: CallContext,
        input: &Value,
    ) -> Result<Ending, Failure> {
        let (id, name) = (&capability.id, &action.descriptor.name);
        let context = Arc::new(context);
        let input = input.to_string();
        let ending = self.sandbox.run(&capability.prepared, id, &context, name, &input).await;
        ending.map_err(|error| {
            let request = &*context.request_id;
            tracing::warn!(capability = &**id, action = name, request, "{error}");
            Failure::from(error)
        })
    }
}

/// The claim comes before the scope: any write of an unclaimed identity is told to claim.
pub fn permit(caller: &AgentCaller, action: &Action) -> Result<(), Failure> {
    let access = action.descriptor.access;
    if access.requires_claim() && caller.owner_id.is_none() {
        return Err(Failure::new("phone_binding_required")
            .conflict(json!({ "kind": "identity", "current": "anonymous", "required": "claimed" }))
            .next(json!({
                "capability": "svc.phone-binding",
                "input": { "action": "bind" },
                "missing": ["phone"],
                "ask_user": "Which mobile number may I send a code to?",
                "then": "retry_original",
            })));
    }
    match access.scope() {
        Some(scope) if !caller.holds(scope) => Err(Failure::new("insufficient_scope")
            .conflict(json!({ "kind": "scope", "required": [scope], "held": &*caller.scopes }))
            .next(json!({ "http": { "method": "POST", "url": "/oauth/token" }, "scope": scope }))),
        _ => Ok(()),
    }
}

/// Holds what the component said against what it declared.
fn answer(
    capability: &Capability,
    action: &Action,
    ending: Ending,
    request: &str,
) -> Result<(Value, Option<Value>), Failure> {
    let broken = |what: &str| {
        let (id, name) = (&*capability.id, &action.descriptor.name);
        tracing::warn!(
            capability = id,
            action = name,
            request,
            "the component broke its contract: {what}"
        );
        Failure::new("capability_answer_invalid")
    };
    let object = |text: Option<String>, what: &str| match text.as_deref().map(serde_json::from_str)
    {
        None => Ok(None),
        Some(Ok(value @ Value::Object(_))) => Ok(Some(value)),
        Some(_) => Err(broken(what)),
    };
    match ending {
        Ending::Success { output, next } => {
            let output: Value =
                serde_json::from_str(&output).map_err(|_| broken("its output is not JSON"))?;
            if let Some(conflict) = action.schemas.output.violations(&output) {
                return Err(broken(&format!("its output breaks the output schema: {conflict}")));
            }
            Ok((output, object(next, "its next step is not a JSON object")?))
        }
        Ending::Refused { code, message, conflict, next, keep_writes: _ } => {
            let mut failure = declared(capability, action, &code)
                .ok_or_else(|| broken(&format!("it did not declare the code {code}")))?;
            failure.message = Cow::Owned(message);
            failure.conflict = object(conflict, "its conflict is not a JSON object")?.map(Box::new);
            failure.next = object(next, "its next step is not a JSON object")?.map(Box::new);
            Err(failure)
        }
    }
}

/// A code that the action declares, or a common one that components may use.
fn declared(capability: &Capability, action: &Action, code: &str) -> Option<Failure> {
    if let Some(row) = common_code(code).filter(|row| row.component) {
        return Some(Failure::new(row.code));
    }
    let listed = action.descriptor.errors.iter().any(|listed| listed == code);
    let error = capability.descriptor.errors.iter().find(|error| listed && error.code == code)?;
    Some(Failure {
        error_code: Cow::Owned(error.code.clone()),
        message: Cow::Borrowed(""),
        retryable: error.retryable,
        conflict: None,
        next: None,
        kind: error.kind,
    })
}
