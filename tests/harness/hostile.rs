//! Hostile components: the fixture `hostile` with a script in its bytes, files with sections and signatures
//! that no toolchain writes, and what is expected of the host.

use crate::harness::{Reply, command, component};
use serde_json::{Value, json};
use std::{path::Path, sync::LazyLock};

/// The text in the fixture after which the script is written.
const MARK: &[u8] = b"the script of this component:";

/// The people and agents that components attack.
pub struct Scene {
    pub witness_owner: String,
    pub stranger_agent: String,
    /// The witness's phone number, as `svc.phone-binding` has sealed it.
    pub sealed: Vec<u8>,
    /// A folder for files that are signed.
    pub folder: std::path::PathBuf,
}

/// Makes the bytes of a component.
pub type Build = fn(&Scene) -> Vec<u8>;
/// Returns what is wrong with what was seen.
pub type Check = fn(&Observation) -> Result<(), String>;

/// The observation after the call of a component's action `act`.
pub struct Observation {
    pub reply: Reply,
    /// The operator's view of the catalog.
    pub status: Value,
    /// The host's log since the call began.
    pub log: String,
    /// The inbox of an anonymous agent that has nothing to do with the caller.
    pub stranger_inbox: Vec<Value>,
    /// A new agent's registration.
    pub registered: Value,
}

/// The outcome that an attack must have.
pub enum Expected {
    /// The file is refused with this reason.
    Refused(&'static str),
    /// The call is refused with this status and error code.
    Call(u16, &'static str),
    /// The component's operation is refused with a sentence that contains this.
    Operation(&'static str),
    /// The call does no harm: a description of its outcome, and the check of it.
    Harmless(&'static str, Check),
}

impl Expected {
    /// Returns the outcome as the document about hostile components describes it.
    pub fn description(&self) -> String {
        match self {
            Self::Refused(reason) => format!("file refused: `{reason}`"),
            Self::Call(_, code) => format!("call refused: `{code}`"),
            Self::Operation(text) => format!("operation refused: “{text}”"),
            Self::Harmless(how, _) => (*how).to_owned(),
        }
    }
}

/// One row of the table of attacks.
pub struct Attack {
    /// The name of the component's file, and its id unless the script has another one.
    pub name: &'static str,
    /// The attempt of the component.
    pub attempt: &'static str,
    pub component: Build,
    /// The component that serves under the same file name before this one is dropped.
    pub predecessor: Option<Build>,
    /// The body of the call.
    pub body: fn() -> Value,
    pub expected: Expected,
}

impl Attack {
    pub const fn new(
        name: &'static str,
        attempt: &'static str,
        expected: Expected,
        component: Build,
    ) -> Self {
        let body = || json!({ "action": "act" });
        Self { name, attempt, component, predecessor: None, body, expected }
    }

    pub const fn replacing(mut self, predecessor: Build) -> Self {
        self.predecessor = Some(predecessor);
        self
    }

    pub const fn with_body(mut self, body: fn() -> Value) -> Self {
        self.body = body;
        self
    }

    /// Compares what was seen of the call with what is expected.
    pub fn check(&self, observed: &Observation) -> Result<(), String> {
        let (status, body) = (observed.reply.status.as_u16(), &observed.reply.body);
        let answer = || format!("{status} {}", excerpt(&observed.reply.text));
        match &self.expected {
            Expected::Refused(_) => Err("it was loaded".to_owned()),
            Expected::Call(wanted, code) => {
                match status == *wanted && body["error_code"] == *code {
                    true => Ok(()),
                    false => Err(answer()),
                }
            }
            Expected::Operation(text) => {
                let operations = body["result"]["operations"].as_array().into_iter().flatten();
                let mut refusals = operations.filter_map(|report| report["refusal"].as_str());
                match refusals.any(|refusal| refusal.contains(text)) {
                    true => Ok(()),
                    false => Err(answer()),
                }
            }
            Expected::Harmless(_, check) => {
                check(observed).map_err(|fault| format!("{fault}; {}", answer()))
            }
        }
    }
}

/// Returns the first 600 bytes of a text at most.
pub fn excerpt(text: &str) -> &str {
    &text[..text.floor_char_boundary(600)]
}

/// Returns the schema of the input of an action that an event is delivered to.
pub fn delivered() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "type": "object",
        "properties": { "id": text, "event_type": text, "subject": text, "data": { "type": "object" } },
    })
}

/// Returns the fixture with this script.
pub fn with_script(script: &Value) -> Vec<u8> {
    static FIXTURE: LazyLock<Vec<u8>> = LazyLock::new(|| component("hostile"));
    embed_script(FIXTURE.clone(), script)
}

/// Writes this script into a build of the fixture.
pub fn embed_script(mut bytes: Vec<u8>, script: &Value) -> Vec<u8> {
    let mark = bytes.windows(MARK.len()).position(|window| window == MARK);
    let start = mark.unwrap() + MARK.len();
    let script = script.to_string();
    let room = bytes[start..].iter().take_while(|byte| **byte == b' ').count();
    assert!(
        script.len() <= room,
        "the script has {} bytes, and there is room for {room}",
        script.len()
    );
    bytes[start..start + script.len()].copy_from_slice(script.as_bytes());
    bytes
}

/// Returns the fixture with this id and these operations of its action `act`.
pub fn with_operations(id: &str, operations: Value) -> Vec<u8> {
    with_script(&json!({ "id": id, "operations": operations }))
}

/// Returns the component with a nested component added, and with this number of instances of that.
pub fn with_nested(component: &[u8], nested: &str, instances: usize) -> Vec<u8> {
    let nested = wat::parse_str(nested).unwrap();
    let mut bytes = component.to_vec();
    bytes.push(4);
    leb128(&mut bytes, nested.len());
    bytes.extend(nested);
    for _ in 0..instances {
        // An instance section (id 5, 4 bytes) of one instance: it instantiates (0) the component
        // with index 0 and no arguments.
        bytes.extend([5, 4, 1, 0, 0, 0]);
    }
    bytes
}

/// Returns the component with a custom section added.
pub fn with_custom_section(component: &[u8], name: &str, content: &[u8]) -> Vec<u8> {
    let mut bytes = component.to_vec();
    bytes.push(0);
    leb128(&mut bytes, 1 + name.len() + content.len());
    bytes.push(name.len() as u8);
    bytes.extend(name.as_bytes());
    bytes.extend(content);
    bytes
}

fn leb128(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Signs a component with the key in this file of the folder, which is created
/// if it does not exist.
pub fn signed(folder: &Path, key: &str, component: &[u8]) -> Vec<u8> {
    let (key, file) = (folder.join(key), folder.join("to-sign.wasm"));
    let run = |arguments: &[&str]| {
        let output = command(folder).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    if !key.exists() {
        run(&["keygen", key.to_str().unwrap()]);
    }
    std::fs::write(&file, component).unwrap();
    run(&["sign", file.to_str().unwrap(), "--key", key.to_str().unwrap()]);
    std::fs::read(file).unwrap()
}
