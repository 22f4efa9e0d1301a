//! The next build of the feeds uses the evidence and confirmations of signals.

use crate::{
    cases::signal_verification::{
        ADA, BEN, NAMES, SIGNALS, get_signal, operate, operate_ok, person, published_items, signal,
        signal_action, submission,
    },
    harness::{
        Agent, Host, Options, binary,
        feeds::{PUBLIC_URL, city, publish},
        inbox::Reader,
    },
};
use portolan_feeds::publish::documents;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Starts a host with a copy of the invented city that can be built anew.
async fn host() -> Host {
    let folder = Options::with(&NAMES)
        .configuration("[limits]\ncall_wall_time_ms = 20000\n")
        .add_configuration(&format!("public_url = {PUBLIC_URL:?}"))
        .folder();
    let (from, to) = (city().join("feeds"), folder.path().join("data"));
    std::fs::create_dir_all(&to).unwrap();
    let copied = std::process::Command::new("cp").arg("-a").args([&from, &to]).status().unwrap();
    assert!(copied.success());
    let host = Host::start_in(folder).await;
    host.wait_for_feeds("published feeds", |status| !status["in_force"].is_null()).await;
    host
}

fn folder(host: &Host) -> PathBuf {
    host.folder.path().join("data/feeds")
}

fn data(host: &Host) -> PathBuf {
    host.folder.path().join("data")
}

/// Builds the feeds with the evidence in the host of this data folder; returns
/// what the command prints.
async fn built(folder: &Path, data: &Path, more: &[&str]) -> String {
    built_with(folder, ["--data-dir", data.to_str().unwrap()], more).await
}

async fn built_with(folder: &Path, host: [&str; 2], more: &[&str]) -> String {
    let mut command = tokio::process::Command::new(binary());
    command.current_dir(folder.parent().unwrap()).env_clear();
    command.args(["feeds", "demo", "--test-mode", "--public-url", PUBLIC_URL]);
    command.args(host).arg("--folder").arg(folder).args(more);
    let output = command.kill_on_drop(true).output().await.unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{text}");
    text
}

/// Builds the feeds anew, and waits until the host serves them.
async fn rebuilt(host: &Host) {
    let before = host.feeds_status().await;
    built(&folder(host), &data(host), &[]).await;
    host.wait_for_feeds("the next feeds", |status| status["in_force"] != before["in_force"]).await;
}

async fn maturity(agent: &Agent<'_>, signal_id: &str) -> Value {
    get_signal(agent, signal_id).await["signal"]["maturity"].clone()
}

fn missing_needs(signal: &Value) -> Vec<&str> {
    let missing = signal["missing"].as_array().unwrap().iter();
    missing.map(|need| need["needs"].as_str().unwrap()).collect()
}

/// Waits for events of one type in an inbox, and returns them.
async fn wait_for_events(reader: &Reader<'_>, event_type: &str) -> Vec<Value> {
    let page = reader.page(&format!("wait=20&cursor=0&types={event_type}")).await;
    page["events"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn accepted_evidence_raises_the_maturity_of_a_lead() {
    let host = host().await;
    let ((ada, _), stranger) = (person(&host, ADA).await, host.test_agent().await);
    let (id, _) = signal("hiring", "lead");
    let before = get_signal(&ada.agent, &id).await;
    assert_eq!(missing_needs(&before), ["second_publisher", "open_role", "owner_confirms"]);
    assert_eq!(before["signal"]["label"], "Lead – not verified");
    assert_eq!(before["signal"]["trust"], "untrusted_user_content");
    assert_eq!(before["allowed_actions"], json!(["submit_evidence"]));
    let nobody = get_signal(&stranger, &id).await;
    assert_eq!((&nobody["allowed_actions"], &nobody["own_evidence"]), (&json!([]), &json!([])));

    let url = "https://sidewalk-ledger.example/2026/hiring";
    let evidence = ada.agent.result(SIGNALS, submission(&id, url)).await;
    assert_eq!((&evidence["state"], &evidence["version"]), (&json!("submitted"), &json!(1)));
    assert_eq!(evidence["allowed_actions"], json!(["withdraw"]));
    // Until the evidence is accepted, others see only its count.
    let seen = get_signal(&stranger, &id).await;
    assert_eq!(seen["evidence_counts"]["submitted"], 1);
    assert_eq!((&seen["evidence"], &seen["own_evidence"]), (&json!([]), &json!([])));
    assert_eq!(get_signal(&ada.agent, &id).await["own_evidence"], json!([evidence]));

    let waiting = operate_ok(&host, "waiting_evidence", json!({})).await;
    assert_eq!(waiting["items"], json!([evidence]));
    let accept = json!({ "evidence_id": evidence["evidence_id"], "publisher": "Sidewalk Ledger" });
    let accepted = operate_ok(&host, "accept", accept).await;
    assert_eq!(
        (&accepted["state"], &accepted["allowed_actions"]),
        (&json!("accepted"), &json!([]))
    );
    assert_eq!(maturity(&stranger, &id).await, "lead");
    rebuilt(&host).await;
    let after = get_signal(&stranger, &id).await;
    assert_eq!(after["signal"]["maturity"], "corroborated");
    assert_eq!(missing_needs(&after), ["open_role", "owner_confirms"]);
    assert_eq!(
        (&after["evidence"][0]["url"], after["evidence"].as_array().unwrap().len()),
        (&json!(url), 1)
    );
    assert!(after["evidence"][0].get("owner_id").is_none(), "{after:#}");
    let sources = after["signal"]["sources"].as_array().unwrap();
    assert!(sources.iter().any(|source| source["publisher"] == "Sidewalk Ledger"), "{sources:?}");

    let history = stranger.result(SIGNALS, signal_action("history", &id)).await;
    let entries = history["items"].as_array().unwrap();
    let steps: Vec<_> = entries
        .iter()
        .map(|entry| (entry["about"].as_str().unwrap(), entry["to"].as_str().unwrap()))
        .collect();
    assert_eq!(
        steps,
        [
            ("maturity", "lead"),
            ("evidence", "submitted"),
            ("evidence", "accepted"),
            ("maturity", "corroborated"),
        ]
    );
    assert_eq!(entries[3]["url"], url);
    assert!(
        entries.is_sorted_by_key(|entry| entry["at"].as_str().unwrap().to_owned()),
        "{history:#}"
    );

    let decided = wait_for_events(&ada, "signal.evidence_decided").await;
    assert_eq!(decided[0]["data"]["resource"]["state"], "accepted");
    let changed = &wait_for_events(&ada, "signal.maturity_changed").await[0]["data"];
    assert_eq!(
        (&changed["from"], &changed["to"], &changed["evidence_count"]),
        (&json!("lead"), &json!("corroborated"), &json!(1))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_company_confirms_or_disputes_a_signal_and_a_review_decides() {
    let host = host().await;
    let ((ada, a), (ben, _)) = (person(&host, ADA).await, person(&host, BEN).await);
    let (id, target_id) = signal("hiring", "lead");
    let refused = ada.agent.call(SIGNALS, signal_action("confirm", &id)).await;
    refused.assert_refused(403, "verification_required");
    assert_eq!(refused.body["next"]["capability"], "owner_verification");

    let appoint = json!({ "target_id": target_id, "owner_id": a, "note": "A letter was seen." });
    operate_ok(&host, "appoint", appoint).await;
    assert_eq!(get_signal(&ada.agent, &id).await["speaks_for_target"], true);
    ben.agent
        .call(SIGNALS, signal_action("dispute", &id))
        .await
        .assert_refused(403, "verification_required");
    let confirmed = ada.agent.result(SIGNALS, signal_action("confirm", &id)).await;
    assert_eq!(ada.agent.result(SIGNALS, signal_action("confirm", &id)).await, confirmed);
    rebuilt(&host).await;
    let verified = get_signal(&ben.agent, &id).await;
    assert_eq!(verified["signal"]["maturity"], "verified", "{verified:#}");
    assert_eq!(verified["confirmed_at"], confirmed["confirmed_at"]);
    let targets = published_items(&folder(&host), "sf-live-targets.json", "features");
    let target = targets.iter().find(|target| target["id"] == json!(target_id)).unwrap();
    assert_eq!(target["properties"]["verified_owner"], true);

    for (verdict, state, outcome) in
        [("overrule", "overruled", "verified"), ("uphold", "upheld", "retracted")]
    {
        let mut dispute = signal_action("dispute", &id);
        dispute["reason"] = json!("This was another company.");
        let dispute = ada.agent.result(SIGNALS, dispute).await;
        assert_eq!(
            (&dispute["state"], &dispute["cause"]),
            (&json!("open"), &json!("owner_objects"))
        );
        let again = ada.agent.call(SIGNALS, signal_action("dispute", &id)).await;
        again.assert_refused(409, "invalid_transition");
        assert_eq!(again.body["conflict"]["current"], "disputed");
        rebuilt(&host).await;
        assert_eq!(maturity(&ben.agent, &id).await, "disputed");
        let review = json!({ "dispute_id": dispute["dispute_id"], "reason": "We asked." });
        let decided = operate_ok(&host, verdict, review.clone()).await;
        assert_eq!((&decided["state"], &decided["decision"]), (&json!(state), &json!("We asked.")));
        operate(&host, verdict, review).await.assert_refused(409, "invalid_transition");
        rebuilt(&host).await;
        assert_eq!(maturity(&ben.agent, &id).await, outcome);
    }
    let over = get_signal(&ada.agent, &id).await;
    assert_eq!((&over["allowed_actions"], &over["missing"]), (&json!([]), &json!([])));
    assert_eq!(wait_for_events(&ada, "signal.dispute_decided").await.len(), 2);

    operate_ok(&host, "dismiss", json!({ "target_id": target_id, "owner_id": a })).await;
    ada.agent
        .call(SIGNALS, signal_action("confirm", &id))
        .await
        .assert_refused(403, "verification_required");
    operate(&host, "dismiss", json!({ "target_id": target_id, "owner_id": a }))
        .await
        .assert_refused(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_without_a_host_uses_the_verifications_of_the_last_build() {
    let host = host().await;
    let (_, a) = person(&host, ADA).await;
    let (_, target_id) = signal("hiring", "lead");
    let appoint = json!({ "target_id": target_id, "owner_id": a, "note": "A letter was seen." });
    operate_ok(&host, "appoint", appoint).await;
    rebuilt(&host).await;
    let is_verified = || {
        let targets = published_items(&folder(&host), "sf-live-targets.json", "features");
        let target = targets.iter().find(|target| target["id"] == json!(target_id)).unwrap();
        target["properties"]["verified_owner"] == true
    };
    assert!(is_verified());
    let nowhere = ["--admin-url", "http://127.0.0.1:1"];
    let output = built_with(&folder(&host), nowhere, &[]).await;
    assert!(output.contains("those of the last build are used"), "{output}");
    assert!(is_verified());
    operate_ok(&host, "dismiss", json!({ "target_id": target_id, "owner_id": a })).await;
    rebuilt(&host).await;
    assert!(!is_verified());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_that_has_left_the_feed_keeps_its_evidence() {
    let host = host().await;
    let (ada, _) = person(&host, ADA).await;
    // Another city, which does not have the company.
    let other = host.folder.path().join("other");
    built(&other, &data(&host), &["--seed", "2"]).await;
    let signals = |folder: &Path| published_items(folder, "live-signal-feed.json", "items");
    let others = signals(&other);
    let gone = |signal: &&Value| {
        signal["kind"] == "hiring" && others.iter().all(|other| other["id"] != signal["id"])
    };
    let signal = signals(&folder(&host)).iter().find(gone).unwrap().clone();
    let (id, target_id) = (signal["id"].as_str().unwrap(), signal["target_id"].clone());
    let url = "https://sidewalk-ledger.example/2026/hiring";
    let evidence = ada.agent.result(SIGNALS, submission(id, url)).await;
    operate_ok(&host, "accept", json!({ "evidence_id": evidence["evidence_id"] })).await;
    let before = host.feeds_status().await;
    publish(&folder(&host), &documents(&other).unwrap(), 23);
    host.wait_for_feeds("the other city", |status| status["in_force"] != before["in_force"]).await;
    let kept = get_signal(&ada.agent, id).await;
    assert_eq!((&kept["signal"], &kept["target_id"]), (&Value::Null, &target_id));
    assert_eq!((&kept["evidence"][0]["url"], &kept["allowed_actions"]), (&json!(url), &json!([])));
    let history = ada.agent.result(SIGNALS, signal_action("history", id)).await;
    assert_eq!(
        (&history["in_feed"], history["items"].as_array().unwrap().len()),
        (&json!(false), 2)
    );
    let more = submission(id, "https://sidewalk-ledger.example/more");
    ada.agent.call(SIGNALS, more).await.assert_refused(410, "resource_gone");
}
