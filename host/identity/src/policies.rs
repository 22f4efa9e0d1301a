//! The approval policy of a person, in the unit of work of the call that changes it.

use crate::{
    authenticate::is_record_id,
    error::IdentityError,
    identity::Identity,
    records::{ClientRecord, read, write},
};
use portolan_store::{Expectation, StateError, Unit};
use portolan_vocabulary::{AgentCaller, ApprovalPolicy, HeldCall};
use std::sync::Arc;

impl Identity {
    /// Returns the agent of a call that has waited, with the client and the scopes of the call. Refuses an agent that
    /// was revoked, has expired or belongs to somebody else meanwhile, and one whose client was revoked.
    pub async fn caller_of_held(&self, call: &HeldCall) -> Result<AgentCaller, IdentityError> {
        let caller = self.lookup_caller(&call.agent_id).await?;
        if caller.owner_id.as_deref() != Some(call.owner_id.as_str()) {
            return Err(IdentityError::AgentRevoked);
        }
        let client_ids = [call.client_id.clone()];
        let mut unit = self.unit();
        if self.is_any_revoked(&mut unit, &client_ids).await? {
            return Err(IdentityError::TokenInvalid);
        }
        // The record of a revocation is kept only as long as a token lives. A client known by its document has none.
        let clients = &self.records.clients;
        if is_record_id(&call.client_id)
            && read::<ClientRecord>(&mut unit, clients, &call.client_id).await?.is_none()
        {
            return Err(IdentityError::TokenInvalid);
        }
        let (client_id, scopes) = (Arc::from(&*call.client_id), Arc::from(&*call.scopes));
        Ok(AgentCaller { client_id, scopes, ..caller })
    }

    /// Sets the policy of an owner. It is part of the owner's record, which each standing of an agent is read from.
    pub(crate) async fn set_policy(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        mut policy: Option<ApprovalPolicy>,
        may_loosen: bool,
    ) -> Result<(), StateError> {
        let (mut owner, revision) = self.load_owner(unit, owner_id).await?;
        // The capability forgets the ids of people who are erased. Only the person may end what was asked about them.
        if let (false, Some(policy), Some(before)) = (may_loosen, &mut policy, &owner.policy) {
            policy.keep_asking(&before.always_ask);
        }
        let is_within = match (&policy, &owner.policy) {
            (Some(policy), before) => policy.is_within(before.as_ref()),
            (None, before) => before.is_none(),
        };
        if !is_within && !may_loosen {
            let text = "only the person permits their agents more, on a page of this host";
            return Err(StateError::Invalid(text.to_owned()));
        }
        if policy == owner.policy {
            return Ok(());
        }
        owner.policy = policy;
        let expect = Expectation::Revision(revision);
        write(unit, &self.records.owners, owner_id, &owner, expect).await
    }
}
