//! A recorded run as it is stored: a function of its input, of what it was answered, of its time and its seed.

use crate::{answer::GuestAnswer, error::SandboxError};
use portolan_vocabulary::{AgentCaller, Caller};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::{borrow::Cow, sync::Arc};

/// One run of an action, with everything that decides its outcome.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RecordedRun {
    pub capability: String,
    pub version: String,
    /// The digest of the component.
    pub digest: String,
    pub action: String,
    pub caller: RecordedCaller,
    /// The ids of the capabilities whose nested calls led to this run, the outermost first.
    pub via: Vec<String>,
    pub request_id: String,
    /// The call's instant in milliseconds since 1970.
    pub at: u64,
    /// The seed of the call's randomness, in hexadecimal digits.
    pub seed: String,
    /// The input as the component got it, in JSON.
    pub input: String,
    /// Whether the run could write nothing.
    pub read_only: bool,
    /// The calls of host functions, in order.
    pub imports: Vec<HostCall>,
    pub ending: Ending,
    /// The error code of the run's outcome; `None` after a success.
    pub code: Option<String>,
}

/// The caller of a recorded run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedCaller {
    System {
        test_mode: bool,
    },
    Agent {
        agent_id: String,
        client_id: String,
        owner_id: Option<String>,
        agent_name: Option<String>,
        scopes: Vec<String>,
        test_mode: bool,
    },
}

impl RecordedRun {
    /// Returns the number of bytes of the run besides what it asked the host.
    pub(super) fn own_size(&self) -> usize {
        let ending = match &self.ending {
            Ending::Success { output, next } => output.len() + next.as_ref().map_or(0, String::len),
            Ending::Refused { message, conflict, next, .. } => {
                let texts = [conflict, next].into_iter().flatten().map(String::len);
                message.len() + texts.sum::<usize>()
            }
            Ending::Failed { text, .. } => text.len(),
        };
        self.input.len() + ending
    }

    /// Returns the number of bytes of the run.
    pub fn size(&self) -> usize {
        self.own_size() + self.imports.iter().map(HostCall::size).sum::<usize>()
    }
}

impl From<&Caller> for RecordedCaller {
    fn from(caller: &Caller) -> Self {
        match caller {
            Caller::System { test_mode } => Self::System { test_mode: *test_mode },
            Caller::Agent(agent) => Self::Agent {
                agent_id: agent.agent_id.to_string(),
                client_id: agent.client_id.to_string(),
                owner_id: agent.owner_id.as_deref().map(str::to_owned),
                agent_name: agent.agent_name.as_deref().map(str::to_owned),
                scopes: agent.scopes.to_vec(),
                test_mode: agent.test_mode,
            },
        }
    }
}

impl From<&RecordedCaller> for Caller {
    fn from(caller: &RecordedCaller) -> Self {
        match caller.clone() {
            RecordedCaller::System { test_mode } => Self::System { test_mode },
            RecordedCaller::Agent {
                agent_id,
                client_id,
                owner_id,
                agent_name,
                scopes,
                test_mode,
            } => Self::Agent(AgentCaller {
                agent_id: Arc::from(agent_id),
                client_id: Arc::from(client_id),
                owner_id: owner_id.map(Arc::from),
                agent_name: agent_name.map(Arc::from),
                scopes: scopes.into(),
                test_mode,
                suspension: None,
                // A replay runs what was approved or needed no approval.
                policy: None,
                address: None,
            }),
        }
    }
}

/// A call of a host function, with its answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HostCall {
    /// The interface and the function, such as `documents.get`.
    pub function: Cow<'static, str>,
    /// Whether the function changes something.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub effect: bool,
    /// The arguments as a JSON array, or the text `hmac-sha256:` with a digest of it under a key of the host.
    pub arguments: Box<RawValue>,
    /// The answer: an object with `Ok` or, if the guest trapped, `Trap`. In `Ok` is the result of the function, which
    /// has `Ok` or `Err` itself if it can fail.
    pub answer: Box<RawValue>,
}

impl HostCall {
    /// Returns the number of bytes that the call takes.
    pub(super) fn size(&self) -> usize {
        self.function.len() + self.arguments.get().len() + self.answer.get().len()
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    Success {
        output: String,
        next: Option<String>,
    },
    Refused {
        code: String,
        message: String,
        conflict: Option<String>,
        next: Option<String>,
        keep_writes: bool,
    },
    /// The run has no answer. `reason` is a row of the table of reasons, `text` is for the operator.
    Failed {
        reason: String,
        text: String,
    },
}

/// Why a run can have no answer, as recordings name it. The first ones are faults of the component.
const TRAPPED: &str = "trapped";
const OUT_OF_TIME: &str = "out_of_time";
const OUT_OF_MEMORY: &str = "out_of_memory";
const OUTPUT_TOO_LARGE: &str = "output_too_large";
const BUSY: &str = "busy";
const HOST: &str = "host";

impl Ending {
    /// Returns how a run ended that has this answer, or none for this reason.
    pub fn of(answer: &Result<GuestAnswer, SandboxError>) -> Self {
        let failed = |reason: &str, error: &SandboxError| Self::Failed {
            reason: reason.to_owned(),
            text: error.to_string(),
        };
        match answer {
            Ok(GuestAnswer::Success { output, next }) => {
                Self::Success { output: output.clone(), next: next.clone() }
            }
            Ok(GuestAnswer::Refused { code, message, conflict, next, keep_writes }) => {
                Self::Refused {
                    code: code.clone(),
                    message: message.clone(),
                    conflict: conflict.clone(),
                    next: next.clone(),
                    keep_writes: *keep_writes,
                }
            }
            Err(error @ SandboxError::Trapped(_)) => failed(TRAPPED, error),
            Err(error @ SandboxError::OutOfTime(_)) => failed(OUT_OF_TIME, error),
            Err(error @ SandboxError::OutOfMemory(..)) => failed(OUT_OF_MEMORY, error),
            Err(error @ SandboxError::OutputTooLarge(_)) => failed(OUTPUT_TOO_LARGE, error),
            Err(error @ SandboxError::Busy) => failed(BUSY, error),
            Err(error @ SandboxError::Host(_)) => failed(HOST, error),
        }
    }

    /// Returns whether the component itself is why there is no answer.
    pub fn is_fault_of_component(&self) -> bool {
        matches!(self, Self::Failed { reason, .. } if ![BUSY, HOST].contains(&reason.as_str()))
    }

    /// Returns whether what the run has written is kept.
    pub fn keeps_writes(&self) -> bool {
        matches!(self, Self::Success { .. } | Self::Refused { keep_writes: true, .. })
    }

    /// Returns whether the component was ended without an answer.
    pub fn is_failed(&self) -> bool {
        matches!(self, Self::Failed { .. })
    }
}

/// A message that a replayed run has logged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LoggedLine {
    pub level: &'static str,
    pub message: String,
}
