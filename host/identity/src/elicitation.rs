//! Questions that a client asks its person during a call. The client holds them as signed texts, and the
//! host stores none.

use crate::{error::IdentityError, identity::Identity, signer::Expiring};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The time for a person to answer.
const ANSWER_TIME_S: u64 = 15 * 60;

/// A question, and the call that its answers complete.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Elicitation {
    /// The agent whose person is asked.
    pub agent_id: String,
    /// The digest of the call that needs the answers.
    pub about: String,
    /// The capability whose call the answers complete.
    pub capability: String,
    pub input: Map<String, Value>,
    /// The fields that are missing in the input.
    pub missing: Vec<String>,
    /// The question in words, for the person.
    pub text: String,
    /// The expiry in seconds since the Unix epoch; 0 until the question is signed.
    exp: u64,
}

impl Expiring for Elicitation {
    fn expires_at(&self) -> u64 {
        self.exp
    }
}

impl Elicitation {
    /// Makes a question for the fields that a call of a capability misses.
    pub fn new(
        (capability, input): (String, Map<String, Value>),
        missing: Vec<String>,
        text: String,
    ) -> Self {
        let (agent_id, about) = (String::new(), String::new());
        Self { agent_id, about, capability, input, missing, text, exp: 0 }
    }

    /// Addresses the question to this agent, about this call.
    #[must_use]
    pub fn addressed_to(self, agent_id: &str, about: &str) -> Self {
        Self { agent_id: agent_id.to_owned(), about: about.to_owned(), ..self }
    }
}

impl Identity {
    /// Signs a question. It expires a quarter of an hour after it was first signed.
    pub fn sign_elicitation(&self, mut question: Elicitation) -> Result<String, IdentityError> {
        if question.exp == 0 {
            question.exp = self.clock.now().as_secs() + ANSWER_TIME_S;
        }
        self.elicitations.sign(&question)
    }

    /// Returns a signed question, if this host signed it for this agent and this call and it has
    /// not expired.
    pub fn verify_elicitation(
        &self,
        text: &str,
        agent_id: &str,
        about: &str,
    ) -> Option<Elicitation> {
        let question: Elicitation = self.elicitations.verify(text, self.clock.now())?;
        (question.agent_id == agent_id && question.about == about).then_some(question)
    }
}
