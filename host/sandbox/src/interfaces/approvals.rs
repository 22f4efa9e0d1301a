//! `approvals`: what agents may do without their person, in the call's unit of work, and the calls that a person has
//! approved, which the host makes after the commit. Only the person, on a page of the host, permits more or approves.

use crate::{
    contract::{approvals, types::HostError},
    grant::Grant,
    interfaces::{
        interface::Interface,
        names::ensure_name,
        reply::{Answer, Reply},
        taped::{TapedState, taped},
    },
    state::CallState,
};
use portolan_store::{TimerChange, TimerKey};
use portolan_vocabulary::{
    APPROVED_OF, ApprovalPolicy, ApprovedCall, HeldCall, InvalidPolicy, new_identifier,
};
use rand::RngExt as _;
use serde_json::json;

pub(super) const INTERFACE: Interface = Interface::sensitive(Grant::Approvals, |linker| {
    approvals::add_to_linker::<_, TapedState>(linker, taped)
});

const POLICY_BYTES: usize = 32 << 10;

impl approvals::Host for CallState {
    async fn set_policy(&mut self, policy: Option<String>) -> Reply<()> {
        Ok(self.change_policy(policy.as_deref()).await)
    }

    async fn run(&mut self, approval_id: String, call: String, action: String) -> Reply<()> {
        Ok(self.run_approved(approval_id, &call, action))
    }
}

impl CallState {
    async fn change_policy(&mut self, policy: Option<&str>) -> Answer<()> {
        let owner_id = self.calling_owner()?;
        let policy = policy.map(checked).transpose()?;
        let may_loosen = self.context.by_person;
        self.change_people(move |people, unit| {
            people.set_approval_policy(unit, owner_id, policy, may_loosen)
        })
        .await
    }

    fn run_approved(&mut self, approval_id: String, call: &str, action: String) -> Answer<()> {
        let owner_id = self.calling_owner()?;
        ensure_name("the id of an approval", &approval_id)?;
        if !self.context.by_person {
            let text = "only the person approves a call, on a page of this host".to_owned();
            return Err(HostError::Invalid(text));
        }
        let call: HeldCall = serde_json::from_str(call)
            .map_err(|error| HostError::Invalid(format!("`call` cannot be read: {error}")))?;
        if call.owner_id != owner_id {
            let text = "the call is not one of the calling person's agents".to_owned();
            return Err(HostError::Invalid(text));
        }
        let outcome = json!({
            "approval_id": approval_id, "state": "done", "code": null, "message": null,
            "output": null, "people": [], "waiting": null,
        });
        let checked = self.work()?.services.check_timer(&action, outcome.to_string());
        checked.map_err(HostError::Invalid)?;
        let (now, test_mode) = (self.context.now, self.context.caller.test_mode());
        let capability = format!("{APPROVED_OF}{}", self.capability);
        let key = TimerKey { capability, name: approval_id.clone(), test_mode };
        let setting = new_identifier("set", now, self.random.host().random());
        let input = json!(ApprovedCall { approval_id, call }).to_string();
        let set = TimerChange::Set { setting, at: now, action, input };
        self.writable_work()?.unit.change_timer(key, set);
        Ok(())
    }
}

/// Returns a policy as it is kept.
fn checked(text: &str) -> Answer<ApprovalPolicy> {
    let invalid = |error: String| HostError::Invalid(format!("the policy is not valid: {error}"));
    if text.len() > POLICY_BYTES {
        return Err(invalid(format!("it has more than {POLICY_BYTES} bytes")));
    }
    // A list would be taken for the fields in their order.
    if !text.trim_start().starts_with('{') {
        return Err(invalid("it is not an object".to_owned()));
    }
    let policy: ApprovalPolicy =
        serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?;
    policy.checked().map_err(|InvalidPolicy(sentence)| invalid(sentence.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_that_cannot_be_kept_is_refused_with_a_sentence() {
        assert!(checked(r#"{"alone":["own"],"ask_first_contact":true}"#).is_ok());
        for (text, sentence) in [
            ("[]", "is not valid"),
            (r#"{"alone":["all"]}"#, "categories"),
            (r#"{"alone":[],"colour":"red"}"#, "unknown field"),
        ] {
            let Err(HostError::Invalid(error)) = checked(text) else {
                panic!("{text} is accepted")
            };
            assert!(error.contains(sentence), "{error}");
        }
    }
}
