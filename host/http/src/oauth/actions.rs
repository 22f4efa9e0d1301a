//! The actions of the sign-in page: calls of capabilities, as an agent of the sign-in or of the person.

use crate::App;
use portolan_identity::{IdentityError, NewSession, Proof, Session, SignInProgress};
use portolan_pipeline::Call;
use portolan_vocabulary::{AgentCaller, ErrorCode, Failure, Role, SCOPES};
use serde_json::{Value, json};
use std::{net::IpAddr, sync::Arc};

/// The channel of an attempt for which no code was sent.
const BY_LINK: &str = "link";

/// The change that a step made to the session.
pub(super) enum SessionChange {
    Unchanged,
    Started(String),
    /// The session starts once the person has used a passkey.
    NeedsPasskey(NewSession),
    Ended,
}

pub(super) struct SignInActions<'a> {
    pub(super) app: &'a App,
    pub(super) request_id: Arc<str>,
    pub(super) address: Option<IpAddr>,
    /// The family of the person's browser, if it is known.
    pub(super) browser: Option<&'static str>,
}

impl SignInActions<'_> {
    pub(super) async fn bind(
        &self,
        progress: &mut SignInProgress,
        phone: &str,
    ) -> Result<SessionChange, Failure> {
        let agent_id = match &progress.agent_id {
            Some(agent_id) => agent_id.clone(),
            None => {
                self.app.host.rates.count_registration(self.address)?;
                let identity = &self.app.host.identity;
                let agent = identity.register_sign_in_agent(progress.purpose.name()).await?;
                progress.agent_id.insert(agent.agent_id.to_string()).clone()
            }
        };
        let input = json!({ "action": "bind", "phone": as_e164(phone) });
        let result = self.call_phone_verification(&agent_id, input).await?;
        progress.phone_masked = Some(text_member(&result, "phone_masked"));
        progress.by_link = text_member(&result, "channel") == BY_LINK;
        Ok(SessionChange::Unchanged)
    }

    pub(super) async fn resend(
        &self,
        progress: &mut SignInProgress,
    ) -> Result<SessionChange, Failure> {
        let agent_id = progress.agent_id.as_deref().unwrap_or_default();
        let result = self.call_phone_verification(agent_id, json!({ "action": "resend" })).await?;
        progress.by_link = text_member(&result, "channel") == BY_LINK;
        Ok(SessionChange::Unchanged)
    }

    pub(super) async fn verify(
        &self,
        progress: &mut SignInProgress,
        code: &str,
    ) -> Result<SessionChange, Failure> {
        let agent_id = progress.agent_id.take().unwrap_or_default();
        let code: String = code.chars().filter(|letter| !letter.is_whitespace()).collect();
        let verified = self
            .call_phone_verification(&agent_id, json!({ "action": "verify", "code": code }))
            .await;
        let verified = match verified {
            Ok(verified) => verified,
            Err(failure) => {
                progress.agent_id = Some(agent_id);
                return Err(failure);
            }
        };
        let session = NewSession {
            owner_id: text_member(&verified, "owner_id"),
            proof: progress.phone_masked.take().unwrap_or_default(),
            browser: self.browser,
        };
        let change = start_session(self.app, session).await?;
        self.app.host.identity.revoke_sign_in_agent(&agent_id).await?;
        Ok(change)
    }

    /// Revokes an agent of the person, in the name of that agent.
    pub(super) async fn revoke_agent(
        &self,
        session: &Session,
        agent_id: &str,
    ) -> Result<SessionChange, Failure> {
        let caller = self.app.host.identity.lookup_caller(agent_id).await?;
        if caller.owner_id.as_deref() != Some(&session.owner_id) {
            return Err(Failure::new(ErrorCode::NotFound));
        }
        let input = json!({ "action": "revoke_agent", "agent_id": agent_id, "confirm": true });
        self.call_agent_management(caller, input).await?;
        Ok(SessionChange::Unchanged)
    }

    /// Ends all access of the person. The capability that manages agents does it, so that others are notified;
    /// the host does it alone if that is not possible.
    pub(super) async fn sign_out_everywhere(
        &self,
        session: &Session,
    ) -> Result<SessionChange, Failure> {
        let identity = &self.app.host.identity;
        for agent in identity.list_agents_by_owner(&session.owner_id).await? {
            let Ok(caller) = identity.lookup_caller(&agent.agent_id).await else { continue };
            let input = json!({ "action": "sign_out_everywhere", "confirm": true });
            match self.call_agent_management(caller, input).await {
                Ok(_) => return Ok(SessionChange::Ended),
                Err(failure) => {
                    let code = &*failure.error_code;
                    tracing::warn!(code, "the host signs out a person without notifying others");
                    break;
                }
            }
        }
        identity.end_all_access(&session.owner_id).await?;
        Ok(SessionChange::Ended)
    }

    /// Calls the capability that manages agents in the name of one, as its person has asked for it.
    async fn call_agent_management(
        &self,
        caller: AgentCaller,
        input: Value,
    ) -> Result<Value, Failure> {
        let scopes = SCOPES.map(str::to_owned).into();
        self.call(Role::AgentManagement, AgentCaller { scopes, ..caller }, input).await
    }

    /// Calls the capability that verifies phone numbers, as the agent of this sign-in.
    async fn call_phone_verification(
        &self,
        agent_id: &str,
        input: Value,
    ) -> Result<Value, Failure> {
        let caller = self.app.host.identity.lookup_caller(agent_id).await?;
        self.call(Role::PhoneVerification, caller, input).await
    }

    async fn call(&self, role: Role, caller: AgentCaller, input: Value) -> Result<Value, Failure> {
        let Value::Object(body) = input else { return Ok(Value::Null) };
        let snapshot = self.app.host.catalog.snapshot();
        let capability = &snapshot.holder(role)?.id;
        let call = Call {
            caller: AgentCaller { address: self.address, ..caller },
            capability,
            body: Ok(body),
            idempotency_key: None,
            request_id: Arc::clone(&self.request_id),
            by_person: true,
            trace: None,
        };
        Ok(self.app.host.call(call).await.outcome?.result)
    }
}

/// Starts the session of a person who has proved their number, unless they also need a passkey.
pub(super) async fn start_session(app: &App, new: NewSession) -> Result<SessionChange, Failure> {
    match app.host.identity.start_session(&new, Proof::Number).await {
        Ok(cookie) => Ok(SessionChange::Started(cookie)),
        Err(IdentityError::PasskeyRequired) => Ok(SessionChange::NeedsPasskey(new)),
        Err(error) => Err(error.into()),
    }
}

fn text_member(result: &Value, name: &str) -> String {
    result.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Returns a phone number without separators, and with `+` in place of a leading `00`. The
/// capability validates it.
fn as_e164(phone: &str) -> String {
    let digits: String =
        phone.chars().filter(|letter| letter.is_ascii_digit() || *letter == '+').collect();
    match digits.strip_prefix("00") {
        Some(rest) => format!("+{rest}"),
        None => digits,
    }
}
