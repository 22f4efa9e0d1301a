//! Rollbacks to earlier versions that are kept.

use crate::harness::{
    Host, Options, component,
    publishing::{
        arrivals, fails, history, post, publish_ok, serving_version, succeeds, version,
        wait_for_arrivals,
    },
};
use serde_json::json;
use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_takes_a_second_at_most_and_no_call_fails() {
    let host = Host::with(&["template"]).await;
    wait_for_arrivals(&host, "template_000", 1).await;
    for number in ["1.3.0", "1.4.0"] {
        publish_ok(&host, "template.wasm", version(number)).await;
    }
    let folder = host.folder.path().to_owned();
    let stop = AtomicBool::new(false);
    let calls = async {
        let (agent, mut count) = (host.agent().await, 0);
        while !stop.load(Ordering::Relaxed) {
            serving_version(&agent).await;
            count += 1;
        }
        count
    };
    let operator = async {
        let agent = host.agent().await;
        assert_eq!(serving_version(&agent).await, "1.4.0");
        let started = Instant::now();
        let reply = post(&host, "/catalog/template_000/rollback", Vec::new()).await;
        let serving = serving_version(&agent).await;
        let took = started.elapsed();
        assert_eq!((reply.status.as_u16(), &reply.body["state"]), (200, &json!("serving")));
        assert_eq!((&reply.body["replaced"], serving), (&json!("1.4.0"), json!("1.3.0")));
        assert!(took < Duration::from_secs(1), "{took:?}");
        // A second rollback by the command goes one version further back; then it
        // goes to a named version.
        let output = succeeds(&folder, &["rollback", "template_000"]).await;
        assert!(output.contains("template_000 1.2.0 serves in place of 1.3.0"), "{output}");
        assert_eq!(serving_version(&agent).await, "1.2.0");
        let error = fails(&folder, &["rollback", "template_000"]).await;
        assert!(error.contains("no version before the serving one"), "{error}");
        let error = fails(&folder, &["rollback", "template_000", "--to", "7.0.0"]).await;
        assert!(error.contains("has no version 7.0.0"), "{error}");
        succeeds(&folder, &["rollback", "template_000", "--to", "1.4.0"]).await;
        assert_eq!(serving_version(&agent).await, "1.4.0");
        stop.store(true, Ordering::Relaxed);
    };
    let (count, ()) = tokio::join!(calls, operator);
    assert!(count > 10, "{count}");
    let history = arrivals(&host, "template_000").await;
    let back = |number: &str| (number.to_owned(), "rolled_back".to_owned());
    assert_eq!(history[..3], [back("1.4.0"), back("1.2.0"), back("1.3.0")]);
    let audit = host.operate("/audit?capability=template_000&action=operator:rollback").await.body;
    assert_eq!(audit["entries"].as_array().unwrap().len(), 3, "{audit:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_to_a_version_that_documents_do_not_fit_is_refused() {
    let host = Host::with(&["library"]).await;
    let agent = host.claimed_agent().await;
    let fill = |from: u32| json!({ "action": "fill", "from": from, "count": 3 });
    agent.result("library", fill(0)).await;
    wait_for_arrivals(&host, "library", 1).await;
    let answer = publish_ok(&host, "library.wasm", component("library_next")).await;
    assert_eq!((&answer["state"], &answer["version"]), (&json!("serving"), &json!("2.0.0")));
    // Nothing was written since the migration, so the documents of the first form are used again.
    let reply = post(&host, "/catalog/library/rollback", Vec::new()).await;
    assert_eq!(reply.body["version"], "1.0.0", "{}", reply.text);
    publish_ok(&host, "library.wasm", component("library_next")).await;
    agent.result("library", fill(10)).await;
    host.database().execute("UPDATE documents SET updated_at = 0 WHERE id = 'book_00000011'").await;
    let reply = post(&host, "/catalog/library/rollback", Vec::new()).await;
    reply.assert_refused(400, "validation_failed");
    assert_eq!(reply.body["conflict"]["reason"], "documents_of_other_version", "{}", reply.text);
    let book = json!({ "action": "get", "id": "book_00000011" });
    assert_eq!(agent.result("library", book).await["text"], "Title 11");
    assert_eq!(arrivals(&host, "library").await[0], ("2.0.0".into(), "published".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_content_in_the_database_is_not_served() {
    let host = Host::with(&["template"]).await;
    wait_for_arrivals(&host, "template_000", 1).await;
    publish_ok(&host, "template.wasm", version("1.3.0")).await;
    let damage = "UPDATE component_contents SET content = substr(content, 2)";
    host.database().execute(damage).await;
    let reply = post(&host, "/catalog/template_000/rollback", Vec::new()).await;
    assert_eq!(reply.body["conflict"]["reason"], "content_missing", "{}", reply.text);
    host.wait_for_version("template_000", "1.3.0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn old_contents_are_removed_and_the_desired_one_stays() {
    let keep = "[publish]\nkeep = 2\n";
    let host = Host::start(Options::with(&["template"]).configuration(keep)).await;
    wait_for_arrivals(&host, "template_000", 1).await;
    publish_ok(&host, "template.wasm", version("1.3.0")).await;
    for (index, number) in ["1.4.0", "1.5.0", "1.6.0"].iter().enumerate() {
        host.drop_in("template.wasm", &version(number));
        host.wait_for_version("template_000", number).await;
        wait_for_arrivals(&host, "template_000", 3 + index).await;
    }
    let history = history(&host, "template_000").await;
    let kept = |number: &str| {
        let entries = history["versions"].as_array().unwrap();
        let entry = entries.iter().find(|entry| entry["version"] == number).unwrap();
        entry["kept"].as_bool().unwrap()
    };
    let expected = [("1.2.0", false), ("1.3.0", true), ("1.4.0", false), ("1.5.0", true)];
    assert_eq!(expected.map(|(number, _)| (number, kept(number))), expected);
    let reply = post(&host, "/catalog/template_000/rollback?to=1.2.0", Vec::new()).await;
    reply.assert_refused(409, "invalid_transition");
    assert_eq!(reply.body["conflict"]["reason"], "not_kept", "{}", reply.text);
}
