//! The hostile corpus: what a dropped component can try, and the outcome. Each attack is a row of a
//! table; `docs/security/components.md` has the same rows.

use crate::{
    cases::{hostile_calls, hostile_claims, hostile_descriptors, hostile_files, hostile_storage},
    harness::{
        Host, Options, PATIENCE, Reply,
        conversations::open_thread,
        credits::anonymous,
        find_row,
        hostile::{Attack, Expected, Observation, Scene, excerpt},
        inbox::Reader,
        relationships::Person,
    },
};
use serde_json::{Value, json};
use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

/// The shipped capabilities beside which the attackers are loaded.
const SHIPPED: [&str; 7] = [
    "agent_credits",
    "conversations",
    "owners",
    "social_permissions",
    "social_relationships",
    "svc_events",
    "svc_phone_binding",
];

/// The maximum number of bytes of a refusal in the operator's view.
const REFUSAL_BYTES: usize = 64 << 10;

/// The attacks by the name of the test that makes them.
pub const TABLE: [(&str, &[&[Attack]]); 4] = [
    (
        "what_a_component_says_of_itself_harms_nobody",
        &[
            hostile_claims::IDS,
            hostile_claims::REACH,
            hostile_descriptors::COSTS,
            hostile_descriptors::TEXTS,
            hostile_descriptors::REPLACEMENTS,
        ],
    ),
    (
        "the_form_of_a_file_harms_nobody",
        &[hostile_files::SIGNATURES, hostile_files::IMPORTS, hostile_files::SECTIONS],
    ),
    (
        "what_a_component_does_in_a_call_harms_nobody",
        &[hostile_calls::RESOURCES, hostile_calls::ANSWERS, hostile_calls::NESTED_CALLS],
    ),
    (
        "what_a_component_stores_and_sends_harms_nobody",
        &[hostile_storage::DOCUMENTS, hostile_storage::EVENTS, hostile_storage::TIMERS],
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn what_a_component_says_of_itself_harms_nobody() {
    attempt_all(TABLE[0].1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_form_of_a_file_harms_nobody() {
    attempt_all(TABLE[1].1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_component_does_in_a_call_harms_nobody() {
    attempt_all(TABLE[2].1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_component_stores_and_sends_harms_nobody() {
    attempt_all(TABLE[3].1).await;
}

#[test]
fn every_attack_has_a_name_of_its_own() {
    let attacks = TABLE.iter().flat_map(|(_, groups)| groups.iter().copied().flatten());
    let mut names: Vec<_> = attacks.map(|attack| attack.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert!(count > 30 && names.len() == count, "{count} attacks, {} names", names.len());
}

/// Makes the attacks. Fails with every attack that does not have the expected outcome, and if a
/// person who has nothing to do with the attacks notices any.
async fn attempt_all(groups: &[&[Attack]]) {
    let host = Host::start(Options::with(&SHIPPED).configuration(hostile_storage::QUOTAS)).await;
    let witness = Witness::new(&host).await;
    let before = witness.read_data().await;
    let stranger = anonymous(&host).await;
    let scene = Scene {
        witness_owner: witness.ada.id.clone(),
        stranger_agent: stranger.id.clone(),
        sealed: witness.sealed_number().await,
        folder: host.folder.path().to_owned(),
    };
    let attacker = Person::new(&host).await;

    let attacks: Vec<&Attack> = groups.iter().copied().flatten().collect();
    let mut faults = String::new();
    for attack in attacks.iter().filter(|attack| attack.predecessor.is_some()) {
        let before = attack.predecessor.map(|build| build(&scene)).unwrap_or_default();
        host.drop_in(&file(attack), &before);
        wait_until_loaded(&host, attack).await.unwrap();
    }
    for attack in &attacks {
        host.drop_in(&file(attack), &(attack.component)(&scene));
    }
    let mut serving = Vec::new();
    for attack in attacks {
        let refusal = match attack.predecessor {
            Some(_) => Err(host.wait_for_refusal(&file(attack)).await),
            None => wait_until_loaded(&host, attack).await,
        };
        if let Err(row) = &refusal
            && row.to_string().len() > REFUSAL_BYTES
        {
            add_fault(&mut faults, attack, "a refusal that fills the operator's view");
        }
        match (refusal, &attack.expected) {
            (Ok(()), Expected::Refused(_)) => add_fault(&mut faults, attack, "it is loaded"),
            (Ok(()), _) => serving.push(attack),
            (Err(row), Expected::Refused(reason)) if row["reason"] == *reason => {}
            (Err(row), _) => add_fault(&mut faults, attack, &row.to_string()),
        }
    }
    for attack in serving {
        let observed = call_and_observe(&host, &attacker, &stranger, attack).await;
        if let Err(fault) = attack.check(&observed) {
            add_fault(&mut faults, attack, &fault);
        }
    }
    let after = witness.read_data().await;
    for (what, value) in after {
        if before.iter().all(|(same, earlier)| *same != what || *earlier != value) {
            let _written = writeln!(faults, "the witness sees another {what}: {value:#}");
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

fn add_fault(faults: &mut String, attack: &Attack, fault: &str) {
    let wanted = attack.expected.description();
    let _written = writeln!(faults, "{}: not “{wanted}” but {}", attack.name, excerpt(fault));
}

fn file(attack: &Attack) -> String {
    format!("{}.wasm", attack.name)
}

/// Waits until the attack's component serves. If its file is refused, the error is
/// the row of the refusal.
async fn wait_until_loaded(host: &Host, attack: &Attack) -> Result<(), Value> {
    let (file, started) = (file(attack), Instant::now());
    loop {
        let status = host.status().await;
        if let Some(row) = find_row(&status, "refused", "file", &file) {
            return Err(row);
        }
        if find_row(&status, "loaded", "file", &file).is_some() {
            return Ok(());
        }
        if started.elapsed() > 2 * PATIENCE {
            return Err(json!({ "reason": "neither loaded nor refused" }));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Calls the attacker's component, and returns what was seen afterwards.
async fn call_and_observe(
    host: &Host,
    attacker: &Person<'_>,
    stranger: &Reader<'_>,
    attack: &Attack,
) -> Observation {
    let logged = host.log().len();
    let reply = attacker.agent().call(attack.name, (attack.body)()).await;
    let log = host.log().split_off(logged);
    let page = stranger.page("wait=0&cursor=0&limit=100").await;
    Observation {
        reply,
        log,
        status: host.status().await,
        stranger_inbox: page["events"].as_array().cloned().unwrap_or_default(),
        registered: host.register().await,
    }
}

/// A person with data in several capabilities, who has nothing to do with the attacks.
struct Witness<'a> {
    ada: Person<'a>,
    thread_id: String,
}

impl<'a> Witness<'a> {
    async fn new(host: &'a Host) -> Self {
        let (ada, bo) = (Person::new(host).await, Person::new(host).await);
        let profile = json!({ "action": "update_profile", "display_name": "Ada" });
        ada.agent().result("owners", profile).await;
        let note = json!({ "action": "note", "owner_id": bo.id, "text": "Met in Lisbon" });
        ada.agent().result("social_relationships", note).await;
        let thread_id = open_thread(host, &[&ada, &bo]).await;
        ada.send_message(&thread_id, "Hello, Bo").await;
        bo.send_message(&thread_id, "Hello, Ada").await;
        host.wait_until_settled().await;
        Self { ada, thread_id }
    }

    /// Returns her sealed phone number, as `svc.phone-binding` has stored it.
    async fn sealed_number(&self) -> Vec<u8> {
        let sealed = format!(
            "SELECT json_extract(body, '$.sealed') FROM documents WHERE id = '{}'
             AND json_extract(body, '$.sealed') IS NOT NULL",
            self.ada.id
        );
        let found = self.ada.agent().host.database().texts(&sealed).await;
        let digits = found[0].as_bytes().chunks(2);
        let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.map(byte).collect()
    }

    /// Returns her data as she and the operator see it, read with the same token each time.
    async fn read_data(&self) -> Vec<(&'static str, Value)> {
        let agent = self.ada.agent();
        let mut exported = export(agent.host, &self.ada.id).await;
        // The host records a random share of her own calls too.
        exported["recordings"] = Value::Null;
        let messages = json!({ "action": "messages", "thread_id": self.thread_id });
        vec![
            ("export", exported),
            ("profile", agent.result("owners", json!({ "action": "me" })).await),
            ("balance", agent.result("agent_credits", json!({ "action": "balance" })).await),
            ("statement", agent.result("agent_credits", json!({ "action": "statement" })).await),
            ("conversation", agent.result("conversations", messages).await),
            ("inbox", Value::Array(self.inbox().await)),
        ]
    }

    /// Returns her events except `catalog.changed`, which everybody gets.
    async fn inbox(&self) -> Vec<Value> {
        let page = self.ada.reader.page("wait=0&cursor=0&limit=100").await;
        let events = page["events"].as_array().into_iter().flatten();
        events.filter(|event| event["type"] != "catalog.changed").cloned().collect()
    }
}

async fn export(host: &Host, owner_id: &str) -> Value {
    let url = format!("{}/people/{owner_id}", host.admin_url);
    let reply = Reply::read(host.operator.get(url).send().await.unwrap()).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.body
}
