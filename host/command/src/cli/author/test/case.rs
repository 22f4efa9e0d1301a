//! A case as it is written: one call, the documents before it, and its expected outcome.

use portolan_vocabulary::{AgentCaller, Caller, SCOPES, Timestamp, from_hex};
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, sync::Arc};

/// The agent of the caller `agent`, and its person.
const AGENT_ID: &str = "agt_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const OWNER_ID: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X4";
const CLIENT_ID: &str = "cli_01JZX8Q4M2N6P7R8S9T0V1W2X5";
/// The time of a case that names none: 2026-01-01T00:00:00Z.
const DEFAULT_TIME: Timestamp = Timestamp::from_millis(1_767_225_600_000);
/// The member of a document that gives its id.
pub(super) const ID_MEMBER: &str = "$id";

/// One call of an action, with everything that decides its outcome.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) name: String,
    caller: Option<CallerSpec>,
    #[serde(default)]
    mode: Mode,
    #[serde(default, deserialize_with = "time")]
    at: Option<Timestamp>,
    #[serde(default)]
    seed: Seed,
    /// The documents of each collection before the call.
    #[serde(default)]
    pub(super) before: BTreeMap<String, Vec<Map<String, Value>>>,
    pub(super) action: String,
    #[serde(default)]
    pub(super) input: Map<String, Value>,
    pub(super) idempotency_key: Option<String>,
    #[serde(default)]
    pub(super) calls: Vec<Stub>,
    pub(super) expect: Option<Expected>,
    /// The documents of each collection after the call.
    pub(super) after: Option<Map<String, Value>>,
    pub(super) events: Option<Value>,
    pub(super) timers: Option<Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "caller must be \"anonymous\", \"agent\", \"system\" or {\"agent\": \"agt_…\", \"owner\": \"own_…\"}"
)]
enum CallerSpec {
    Named(NamedCaller),
    Agent(AgentSpec),
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NamedCaller {
    /// An agent that nobody has claimed.
    Anonymous,
    /// An agent that a person has claimed.
    Agent,
    /// The host itself.
    System,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentSpec {
    agent: String,
    owner: Option<String>,
}

/// The seed of the call's randomness: a number, or all 32 bytes in hexadecimal digits, as a recorded call has it.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "seed must be a number, or 64 hexadecimal digits")]
enum Seed {
    Number(u64),
    Digits(String),
}

impl Default for Seed {
    fn default() -> Self {
        Self::Number(0)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    #[default]
    Live,
    Test,
}

/// The answer of another capability to a nested call.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stub {
    pub(super) capability: String,
    pub(super) action: String,
    /// The pattern that the input must match.
    pub(super) input: Option<Value>,
    pub(super) output: Option<Value>,
    pub(super) error: Option<StubError>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StubError {
    pub(super) code: String,
    pub(super) message: Option<String>,
    pub(super) retryable: Option<bool>,
    pub(super) conflict: Option<Value>,
    pub(super) next: Option<Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expected {
    pub(super) output: Option<Value>,
    pub(super) next: Option<Value>,
    pub(super) error: Option<Value>,
}

/// Reads the time of a case.
fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    let parse = |text: String| {
        text.parse::<Timestamp>().map_err(|_unparsed| {
            D::Error::custom(format!("at is {text:?}; write a time such as 2026-03-01T09:00:00Z"))
        })
    };
    text.map(parse).transpose()
}

impl Case {
    pub(super) fn time(&self) -> Timestamp {
        self.at.unwrap_or(DEFAULT_TIME)
    }

    pub(super) fn test_mode(&self) -> bool {
        self.mode == Mode::Test
    }

    pub(super) fn seed(&self) -> [u8; 32] {
        let mut seed = [0; 32];
        let bytes = match &self.seed {
            Seed::Number(number) => number.to_le_bytes().to_vec(),
            Seed::Digits(digits) => from_hex(digits).unwrap_or_default(),
        };
        for (byte, value) in seed.iter_mut().zip(bytes) {
            *byte = value;
        }
        seed
    }

    /// Returns the caller: the one that the case names, or else the host itself for an internal action and a
    /// claimed agent for others.
    pub(super) fn caller(&self, internal: bool) -> Caller {
        let (agent, owner) = match &self.caller {
            Some(CallerSpec::Agent(spec)) => (&*spec.agent, spec.owner.as_deref()),
            Some(CallerSpec::Named(NamedCaller::Anonymous)) => (AGENT_ID, None),
            Some(CallerSpec::Named(NamedCaller::Agent)) => (AGENT_ID, Some(OWNER_ID)),
            None if !internal => (AGENT_ID, Some(OWNER_ID)),
            Some(CallerSpec::Named(NamedCaller::System)) | None => {
                return Caller::System { test_mode: self.test_mode() };
            }
        };
        Caller::Agent(AgentCaller {
            agent_id: Arc::from(agent),
            client_id: Arc::from(CLIENT_ID),
            owner_id: owner.map(Arc::from),
            agent_name: None,
            scopes: SCOPES.iter().map(ToString::to_string).collect(),
            test_mode: self.test_mode(),
            suspension: None,
            policy: None,
            address: None,
        })
    }

    /// Returns what is wrong with the case itself, if anything is.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let is_ambiguous = |stub: &Stub| stub.output.is_some() == stub.error.is_some();
        if self.calls.iter().any(is_ambiguous) {
            return Some("each of `calls` must have either an `output` or an `error`");
        }
        if let Seed::Digits(digits) = &self.seed
            && from_hex(digits).is_none_or(|seed| seed.len() != 32)
        {
            return Some("`seed` must be a number, or 64 hexadecimal digits");
        }
        match &self.expect {
            Some(Expected { output, error, .. }) if output.is_some() == error.is_some() => {
                Some("`expect` must have either an `output` or an `error`")
            }
            _ => None,
        }
    }

    /// Returns whether nothing is compared, as in a case that is to be recorded.
    pub(super) fn is_unrecorded(&self) -> bool {
        self.expect.is_none()
            && self.after.is_none()
            && self.events.is_none()
            && self.timers.is_none()
    }
}
