//! Questions that an agent's person is asked on the way of a call. They travel with the agent, signed,
//! and nothing of them is stored.

use crate::{Identity, IdentityError};
use portolan_vocabulary::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How long a person may take to answer.
const ANSWER_S: u64 = 15 * 60;

/// What is asked, and what the answers are for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Question {
    /// The agent that it was put to.
    pub agent_id: String,
    /// What the call was that cannot go on without it.
    pub about: String,
    /// The call that the answers complete.
    pub capability: String,
    pub input: Map<String, Value>,
    /// The fields that are missing in it.
    pub missing: Vec<String>,
    /// In words, for the person.
    pub text: String,
    /// Seconds since the Unix epoch.
    exp: u64,
}

impl Question {
    pub fn new(
        (capability, input): (String, Map<String, Value>),
        missing: Vec<String>,
        text: String,
    ) -> Self {
        let (agent_id, about) = (String::new(), String::new());
        let exp = Timestamp::now().as_secs() + ANSWER_S;
        Self { agent_id, about, capability, input, missing, text, exp }
    }

    /// Of this agent, about this call.
    #[must_use]
    pub fn of(self, agent_id: &str, about: &str) -> Self {
        Self { agent_id: agent_id.to_owned(), about: about.to_owned(), ..self }
    }
}

impl Identity {
    pub fn sign_question(&self, question: &Question) -> Result<String, IdentityError> {
        self.questions.sign(question)
    }

    /// A question of this host's that was put to this agent about this call, and is still good.
    pub fn read_question(&self, text: &str, agent_id: &str, about: &str) -> Option<Question> {
        let question: Question = self.questions.read(text)?;
        (question.agent_id == agent_id && question.about == about).then_some(question)
    }
}
