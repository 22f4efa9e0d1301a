//! The archive of a person's data, and the erasure that can be cancelled.

use crate::{
    cases::{personal::export as export_by_operator, reports::host, reports::operate_ok},
    harness::{
        Agent, Host, Reply, conversations::wait_until, inbox::Reader, relationships::OWNERS,
        time::DAY,
    },
};
use portolan_vocabulary::Digest;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub const RIGHTS: &str = "data_rights";
/// The number of test mode with which every agent is claimed for the same person.
const NUMBER: &str = "+14155550115";
/// The words that Ada leaves with several capabilities.
const CANARIES: [&str; 3] = ["canaryheadline", "canarynote", "canaryreport"];

/// A person with two agents.
struct Ada<'a> {
    first: Reader<'a>,
    second: Reader<'a>,
    id: String,
}

async fn claimed<'a>(host: &'a Host, number: &str) -> (Reader<'a>, String) {
    let agent = host.test_agent().await;
    let owner_id = agent.claim(number).await.as_str().unwrap().to_owned();
    (Reader { agent, id: String::new() }, owner_id)
}

impl<'a> Ada<'a> {
    async fn new(host: &'a Host) -> Self {
        let (first, id) = claimed(host, NUMBER).await;
        let (second, same) = claimed(host, NUMBER).await;
        assert_eq!(id, same);
        Self { first, second, id }
    }

    async fn call(&self, action: &str, fields: Value) -> Reply {
        let mut body = json!({ "action": action });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.first.agent.call(RIGHTS, body).await
    }

    async fn call_ok(&self, action: &str, fields: Value) -> Value {
        let reply = self.call(action, fields).await;
        assert_eq!(reply.status, 200, "{action}: {}", reply.text);
        reply.body["result"].clone()
    }

    /// Leaves a word with each of several capabilities.
    async fn leave_traces(&self, other: &str) {
        let [headline, note, report] = CANARIES;
        let agent = &self.first.agent;
        let profile = json!({ "action": "update_profile", "headline": headline });
        agent.result(OWNERS, profile).await;
        let note = json!({ "action": "note", "owner_id": other, "text": note });
        agent.result("social_relationships", note).await;
        let report = json!({
            "action": "create", "subject_id": other, "reason": "other", "text": report,
        });
        agent.result("reports", report).await;
    }

    /// Exports everything, and returns the files of the archive.
    async fn export(&self) -> BTreeMap<String, String> {
        let export_id = self.call_ok("export", json!({})).await["export_id"].clone();
        self.first.agent.host.wait_until_settled().await;
        let status = self.call_ok("status", json!({})).await["export"].clone();
        assert_eq!((&status["state"], &status["export_id"]), (&json!("ready"), &export_id));
        download(&self.first.agent, &export_id).await
    }
}

/// Downloads the files of an archive that is ready.
pub async fn download(agent: &Agent<'_>, export_id: &Value) -> BTreeMap<String, String> {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let mut part = json!(1);
    while !part.is_null() {
        let input =
            json!({ "action": "download", "export_id": export_id, "part": part, "limit": 3 });
        let parts = agent.result(RIGHTS, input).await;
        for item in parts["items"].as_array().unwrap() {
            let text = item["text"].as_str().unwrap();
            assert_eq!(item["sha256"], Digest::of(text.as_bytes()).hex());
            let file = files.entry(item["file"].as_str().unwrap().to_owned()).or_default();
            assert_eq!(item["offset"], file.len());
            file.push_str(text);
        }
        part = parts["next_part"].clone();
    }
    files
}

/// Returns the types of the events of an agent that are about exports and erasures, in their order.
async fn events(reader: &Reader<'_>) -> Vec<String> {
    let page = reader.page("wait=0&cursor=0&limit=100").await;
    let events = page["events"].as_array().unwrap().iter();
    let types = events.map(|event| event["type"].as_str().unwrap().to_owned());
    types.filter(|name| name.starts_with("data_")).collect()
}

fn everything(files: &BTreeMap<String, String>) -> String {
    files.values().cloned().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_is_an_archive_of_all_capabilities_without_earlier_archives() {
    let host = host(&[RIGHTS]).await;
    let ada = Ada::new(&host).await;
    let (bo, bo_id) = claimed(&host, "+14155550100").await;
    ada.leave_traces(&bo_id).await;
    let files = ada.export().await;
    for (folder, canary) in ["owners", "social_relationships", "reports"].into_iter().zip(CANARIES)
    {
        let of_folder = format!("capabilities/{folder}/");
        let mut texts = files.iter().filter(|(name, _)| name.starts_with(&of_folder));
        assert!(texts.any(|(_, text)| text.contains(canary)), "{folder}: {files:#?}");
    }
    for (name, text) in &files {
        if name.ends_with(".json") {
            let file: Value = serde_json::from_str(text).unwrap();
            assert!(file["items"][0]["kind"].is_string(), "{name}");
        }
    }
    assert!(files["index.md"].contains("| `capabilities/owners` |"), "{}", files["index.md"]);
    for reader in [&ada.first, &ada.second] {
        assert_eq!(events(reader).await, ["data_export.ready"]);
    }
    ada.call("export", json!({})).await.assert_refused(429, "export_too_soon");
    // Nobody else reads the archive, and it is in no export.
    let status = ada.call_ok("status", json!({})).await;
    let theirs = json!({ "action": "download", "export_id": status["export"]["export_id"] });
    bo.agent.call(RIGHTS, theirs.clone()).await.assert_refused(404, "export_not_found");
    let all = export_by_operator(&host, &ada.id).await;
    let documents = all.body["documents"].as_array().unwrap();
    assert!(documents.iter().any(|document| document["collection"] == "exports"));
    assert!(documents.iter().all(|document| document["collection"] != "parts"));
    // An export of a reported person does not name the report before a measure.
    let theirs = export_by_operator(&host, &bo_id).await;
    let theirs = theirs.body["documents"].as_array().unwrap();
    assert!(theirs.iter().all(|document| document["collection"] != "reports"), "{theirs:#?}");

    host.advance(DAY).await;
    let again = everything(&ada.export().await);
    assert_eq!(again.matches(CANARIES[0]).count(), everything(&files).matches(CANARIES[0]).count());
    host.advance(8 * DAY).await;
    let status = ada.call_ok("status", json!({})).await;
    assert_eq!(status["export"]["state"], "expired");
    let parts = "SELECT d.body FROM documents d JOIN collections c ON c.id = d.collection
                 WHERE c.name = 'parts' AND d.body IS NOT NULL";
    assert!(host.database().texts(parts).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_is_announced_and_erases_after_a_week() {
    let host = host(&[RIGHTS]).await;
    let ada = Ada::new(&host).await;
    let (_bo, bo_id) = claimed(&host, "+14155550100").await;
    ada.leave_traces(&bo_id).await;
    ada.export().await;
    let refused = ada.call("erase", json!({})).await;
    refused.assert_refused(409, "confirm_required");
    assert!(refused.body["conflict"]["consequences"].as_array().unwrap().len() > 5);
    let erasure = ada.call_ok("erase", json!({ "confirm": true })).await;
    assert_eq!(erasure["state"], "scheduled");
    let expected = ["data_export.ready", "data_erasure.scheduled"];
    assert_eq!(events(&ada.second).await, expected);

    host.advance(6 * DAY).await;
    let expected = [expected[0], expected[1], "data_erasure.reminder"];
    assert_eq!(events(&ada.second).await, expected);
    let headline = json!({ "action": "update_profile", "headline": CANARIES[0] });
    ada.first.agent.result(OWNERS, headline).await;
    host.advance(DAY).await;
    let traces: Vec<&str> = CANARIES.into_iter().chain([ada.id.as_str()]).collect();
    wait_until("no trace is left", async || host.database().texts_found(&traces).is_empty()).await;
    assert_eq!(export_by_operator(&host, &ada.id).await.status, 404);
    assert_eq!(export_by_operator(&host, &bo_id).await.status, 200);

    let (_again, stranger) = claimed(&host, NUMBER).await;
    assert_ne!(stranger, ada.id);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_agent_cancels_an_erasure_and_everything_stays() {
    let host = host(&[RIGHTS]).await;
    let ada = Ada::new(&host).await;
    let (_bo, bo_id) = claimed(&host, "+14155550100").await;
    ada.leave_traces(&bo_id).await;
    ada.call_ok("erase", json!({ "confirm": true })).await;
    host.advance(6 * DAY).await;
    let cancelled = ada.second.agent.result(RIGHTS, json!({ "action": "cancel" })).await;
    assert_eq!(cancelled["state"], "cancelled");
    assert_eq!(events(&ada.first).await.last().unwrap(), "data_erasure.cancelled");
    host.advance(2 * DAY).await;
    let kept = export_by_operator(&host, &ada.id).await.text;
    assert!(CANARIES.iter().all(|canary| kept.contains(canary)), "{kept}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspension_outlasts_the_erasure() {
    let host = host(&[RIGHTS]).await;
    let ada = Ada::new(&host).await;
    let why = "canarysuspension";
    let suspension = json!({
        "owner_id": ada.id, "reason": "scam", "explanation": why, "ground": "rules",
        "basis": "The page safety-and-fairness", "days": 30,
    });
    operate_ok(&host, "suspend", suspension).await;
    // A suspended person keeps their rights.
    ada.export().await;
    ada.call_ok("erase", json!({ "confirm": true })).await;
    host.advance(7 * DAY).await;

    let (again, stranger) = claimed(&host, NUMBER).await;
    assert_ne!(stranger, ada.id);
    let write = json!({ "action": "update_profile", "headline": "Engineer" });
    let refused = again.agent.call(OWNERS, write.clone()).await;
    refused.assert_refused(403, "identity_suspended");
    assert!(!refused.text.contains(why), "{}", refused.text);
    let traces = [ada.id.as_str()];
    wait_until("no trace is left", async || host.database().texts_found(&traces).is_empty()).await;
    host.advance(24 * DAY).await;
    assert_eq!(again.agent.call(OWNERS, write).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_frees_somebody_else_who_has_the_number_of_a_suspended_person() {
    let host = host(&[RIGHTS]).await;
    let ada = Ada::new(&host).await;
    let suspension = json!({
        "owner_id": ada.id, "reason": "scam", "explanation": "Asked for money.", "ground": "rules",
        "basis": "The page safety-and-fairness",
    });
    operate_ok(&host, "suspend", suspension).await;
    ada.call_ok("erase", json!({ "confirm": true })).await;
    host.advance(7 * DAY).await;

    let (stranger, stranger_id) = claimed(&host, NUMBER).await;
    let write = json!({ "action": "update_profile", "headline": "Engineer" });
    let refused = stranger.agent.call(OWNERS, write.clone()).await;
    refused.assert_refused(403, "identity_suspended");
    let conflict = &refused.body["conflict"];
    let (reason, until) =
        (conflict["reason"].as_str().unwrap(), conflict["until"].as_str().unwrap());
    for part in [&until[..10], "provider", &*stranger_id] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
    let url = format!("{}/people/{stranger_id}/kept-suspension", host.admin_url);
    for lifted in [true, false] {
        let answer = Reply::read(host.operator.delete(&url).send().await.unwrap()).await;
        assert_eq!(answer.body["lifted"], lifted, "{}", answer.text);
    }
    assert_eq!(stranger.agent.call(OWNERS, write).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_kept_of_a_number_is_forgotten_after_three_months() {
    let host = host(&[RIGHTS]).await;
    let ada = Ada::new(&host).await;
    let numbers = "SELECT d.id FROM documents d JOIN collections c ON c.id = d.collection
                   WHERE c.name = 'numbers' AND d.body IS NOT NULL";
    assert_eq!(host.database().texts(numbers).await.len(), 1);
    ada.call_ok("erase", json!({ "confirm": true })).await;
    host.advance(8 * DAY).await;
    assert_eq!(host.database().texts(numbers).await.len(), 1);
    host.advance(90 * DAY).await;
    assert!(host.database().texts(numbers).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_schedules_an_erasure_that_the_person_can_cancel() {
    let host = host(&[RIGHTS]).await;
    let ada = Ada::new(&host).await;
    let live = format!("{}/capabilities/{RIGHTS}/schedule_erasure", host.admin_url);
    let url = format!("{live}?test_mode=true");
    let body = json!({ "owner_id": ada.id });
    let refused = Reply::read(host.operator.post(live).json(&body).send().await.unwrap()).await;
    refused.assert_refused(409, "owner_in_test_mode");
    let scheduled = Reply::read(host.operator.post(url).json(&body).send().await.unwrap()).await;
    assert_eq!(scheduled.body["result"]["requested_by"], "operator", "{}", scheduled.text);
    assert_eq!(events(&ada.second).await, ["data_erasure.scheduled"]);
    let cancelled = ada.second.agent.result(RIGHTS, json!({ "action": "cancel" })).await;
    assert_eq!(cancelled["state"], "cancelled");
    host.advance(8 * DAY).await;
    assert_eq!(export_by_operator(&host, &ada.id).await.status, 200);
}
