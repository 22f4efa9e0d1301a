//! Live and test mode do not see each other's data.

use crate::harness::{
    Agent, Host, Options, PATIENCE, Process, Reply, command,
    inbox::{Reader, texts},
    time::DAY,
};
use serde_json::{Value, json};
use std::{
    fs,
    time::{Duration, Instant},
};

async fn host() -> Host {
    Host::start(Options::with(&["ledger", "notes", "svc_phone_binding"])).await
}

/// Returns two claimed agents, one of live and one of test mode.
async fn agents_of_both_modes(host: &Host) -> [Agent<'_>; 2] {
    let test = host.test_agent().await;
    test.claim("+14155550100").await;
    [host.claimed_agent().await, test]
}

async fn balance(agent: &Agent<'_>, account: &str) -> Value {
    let body = json!({ "action": "balance", "account": account });
    agent.result("ledger", body).await["balance"].clone()
}

async fn wait_until(
    what: &str,
    agent: &Agent<'_>,
    capability: &str,
    body: Value,
    wanted: impl Fn(&Value) -> bool,
) {
    let started = Instant::now();
    loop {
        let answer = agent.result(capability, body.clone()).await;
        if wanted(&answer) {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "{what}: {answer}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_mode_has_its_own_documents() {
    let host = host().await;
    let [live, test] = agents_of_both_modes(&host).await;
    let put = |title: &str| json!({ "action": "put", "id": "one", "note": { "title": title, "body": "" } });
    live.result("notes", put("live")).await;
    let get = json!({ "action": "get", "id": "one" });
    test.call("notes", get.clone()).await.assert_refused(404, "note_not_found");
    let count = json!({ "action": "count" });
    assert_eq!(test.result("notes", count.clone()).await["count"], 0);
    test.result("notes", put("test")).await;
    assert_eq!(live.result("notes", get.clone()).await["note"]["title"], "live");
    assert_eq!(test.result("notes", get).await["note"]["title"], "test");
    assert_eq!(live.result("notes", count).await["count"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn timers_and_events_stay_in_their_mode() {
    let host = host().await;
    let [live, test] = agents_of_both_modes(&host).await;
    for agent in [&live, &test] {
        for account in ["bank", "ada"] {
            agent.result("ledger", json!({ "action": "open", "account": account })).await;
        }
    }
    // Timers of the same name in both modes do not replace or cancel each other.
    let schedule = |after_ms: u64, amount: u64| {
        let order = json!({ "from": "bank", "to": "ada", "amount": amount, "memo": "timer" });
        json!({ "action": "schedule", "timer": "pay", "after_ms": after_ms, "order": order })
    };
    live.result("ledger", schedule(3_600_000, 100)).await;
    test.result("ledger", schedule(0, 7)).await;
    let counter = json!({ "action": "balance", "account": "ada" });
    wait_until("the timer runs", &test, "ledger", counter, |account| account["balance"] == 7).await;
    assert_eq!(balance(&live, "ada").await, 0);
    let cancelled = json!({ "action": "unschedule", "timer": "pay" });
    assert_eq!(test.result("ledger", cancelled.clone()).await["was_set"], false);
    assert_eq!(live.result("ledger", cancelled).await["was_set"], true);

    // A subscriber handles a transfer only in the mode in which it was made.
    let transfer =
        json!({ "action": "transfer", "from": "bank", "to": "ada", "amount": 1, "memo": "m1" });
    test.result("ledger", transfer).await;
    let heard = json!({ "action": "heard", "subject": "accounts/bank" });
    wait_until("the event is delivered", &test, "notes", heard.clone(), |heard| {
        heard["transfers"].as_array().is_some_and(|transfers| transfers.len() == 2)
    })
    .await;
    assert_eq!(live.result("notes", heard).await, json!({ "transfers": [] }));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_of_test_mode_does_not_reach_an_agent_of_live_mode() {
    let host = Host::with(&["herald"]).await;
    let reader = Reader::new(&host).await;
    let proclaim = |text: &str| json!({ "action": "proclaim", "agent": reader.id, "subject": "towns/1", "texts": [text] });
    host.test_agent().await.result("herald", proclaim("of test mode")).await;
    reader.agent.result("herald", proclaim("of live mode")).await;
    assert_eq!(texts(&reader.page("wait=0").await), ["of live mode"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_of_test_mode_without_a_call_for_a_year_is_erased() {
    let host = host().await;
    let (used, unused) = (host.test_agent().await, host.test_agent().await);
    let kept = used.claim("+14155550100").await;
    // Every agent that claims with this number is the same person's.
    let erased = unused.claim("+14155550115").await;
    let about = async |owner: &Value| {
        let owner = owner.as_str().unwrap();
        let named = format!("id = '{owner}' OR body LIKE '%{owner}%'");
        let sql = format!("SELECT id FROM documents WHERE body IS NOT NULL AND ({named})");
        host.database().texts(&sql).await
    };
    let count = json!({ "action": "count" });
    host.advance(180 * DAY).await;
    used.result("notes", count.clone()).await;
    assert!(!about(&erased).await.is_empty());
    host.advance(186 * DAY).await;
    let started = Instant::now();
    while !about(&erased).await.is_empty() {
        assert!(started.elapsed() < PATIENCE, "{:?}", about(&erased).await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    used.result("notes", count).await;
    assert!(about(&kept).await.len() > 1);
    let stranger = host.test_agent().await.claim("+14155550115").await;
    assert_ne!(stranger, erased);
}

#[tokio::test(flavor = "multi_thread")]
async fn test_mode_is_off_unless_the_operator_switches_it_on() {
    let off = Options::with(&["svc_phone_binding"]).add_configuration("test_mode = \"off\"");
    let host = Host::start(off).await;
    register_in_test_mode(&host).await.assert_refused(403, "not_permitted");
    host.claimed_agent().await;
}

async fn register_in_test_mode(host: &Host) -> Reply {
    let body = json!({ "type": "anonymous", "mode": "test" });
    let request = host.client.post(format!("{}/v1/agents/register", host.url)).json(&body);
    Reply::read(request.send().await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_of_test_mode_get_no_token_after_it_is_switched_off() {
    let host = Process::start(Options::default());
    let agent = register_in_test_mode(&host).await.body;
    host.token_of(&agent, "svc.read").await;
    host.signal("TERM");
    let (_, folder) = host.wait();
    let file = folder.path().join("portolan.toml");
    let configuration = fs::read_to_string(&file).unwrap();
    assert!(configuration.contains("test_mode = \"on\""), "{configuration}");
    fs::write(&file, configuration.replace("test_mode = \"on\"", "")).unwrap();
    let host = Process::start_in(folder);
    let form = [
        ("grant_type", "client_credentials"),
        ("client_id", agent["client_id"].as_str().unwrap()),
        ("client_secret", agent["client_secret"].as_str().unwrap()),
    ];
    let request = host.client.post(format!("{}/oauth/token", host.url)).form(&form);
    let refused = Reply::read(request.send().await.unwrap()).await;
    assert_eq!((refused.status.as_u16(), &refused.body["error"]), (401, &json!("invalid_client")));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_calls_as_a_kept_agent_of_test_mode() {
    let host = host().await;
    let folder = tempfile::TempDir::new().unwrap();
    let call = async |input: Value, flags: &[&str]| {
        let mut command = command(folder.path());
        command.env("XDG_CONFIG_HOME", folder.path()).stderr(std::process::Stdio::piped());
        command.args(["call", "notes", "--url", &host.url, "--input", &input.to_string()]);
        command.args(flags);
        let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (output.status.success(), text)
    };
    let put = json!({ "action": "put", "id": "one", "note": { "title": "kept", "body": "" } });
    let (succeeded, text) = call(put.clone(), &["--test-mode"]).await;
    assert!(!succeeded && text.contains("phone_binding_required"), "{text}");
    let (succeeded, text) = call(put, &["--test-mode", "--claimed"]).await;
    assert!(succeeded, "{text}");
    let kept = |name: &str| fs::read_to_string(folder.path().join("portolan").join(name)).unwrap();
    let before = ["test-agent.json", "claimed-test-agent.json"].map(kept);
    assert_ne!(before[0], before[1]);
    let get = json!({ "action": "get", "id": "one" });
    for flags in [&["--test-mode"][..], &["--test-mode", "--claimed"]] {
        let (succeeded, text) = call(get.clone(), flags).await;
        assert!(succeeded && text.contains("kept"), "{text}");
    }
    assert_eq!(["test-agent.json", "claimed-test-agent.json"].map(kept), before);
    let (_succeeded, text) = call(get, &[]).await;
    assert!(text.contains("note_not_found"), "live mode sees nothing of test mode: {text}");
}
