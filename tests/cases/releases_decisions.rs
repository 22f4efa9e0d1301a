//! Releases begin, are promoted, aborted or replaced by decisions, and some are refused.

use crate::harness::{
    Host, Options, component,
    hostile::with_script,
    publishing::{
        breaking_version, fails, history, portolan, post, serving_version, succeeds, version,
        write_component,
    },
    releases::{counted, is_running, mutant, people, release, wait_for_release},
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, time::Duration};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_healthy_version_is_promoted_by_itself_when_its_time_is_over() {
    let host = Host::start_at_fixed_time(Options::with(&["template"])).await;
    let path = "/catalog/publish?file=template.wasm&by=ada&share=50&for_s=3600&promote=true";
    let reply = post(&host, path, version("1.3.0")).await;
    assert_eq!(
        (&reply.body["state"], &reply.body["replaced"]),
        (&json!("shared"), &json!("1.2.0"))
    );
    let mut versions = BTreeSet::new();
    for agent in people(&host, 12).await {
        versions.insert(serving_version(&agent).await.as_str().unwrap().to_owned());
    }
    assert_eq!(versions.into_iter().collect::<Vec<_>>(), ["1.2.0", "1.3.0"]);
    wait_for_release(&host, "template_000", |release| counted(release) == 12).await;
    host.wait_for_version("template_000", "1.2.0").await;
    host.advance(Duration::from_secs(3600)).await;
    host.wait_for_version("template_000", "1.3.0").await;
    let ended = wait_for_release(&host, "template_000", |release| !is_running(release)).await;
    assert_eq!(ended["state"], "promoted", "{ended:#}");
    let history = history(&host, "template_000").await;
    let newest = &history["versions"][0];
    assert_eq!((&newest["version"], &newest["arrival"]), (&json!("1.3.0"), &json!("published")));
    assert!(newest["decided_by"].as_str().unwrap().starts_with("ada"), "{newest:#}");
    let row = host.operate("/audit?capability=template_000&action=release:promoted").await.body;
    assert_eq!(row["entries"][0]["version"], "1.3.0", "{row:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_whose_time_is_over_waits_for_a_decision() {
    let host = Host::start_at_fixed_time(Options::with(&["template"])).await;
    let path = "/catalog/publish?file=template.wasm&share=5&for_s=60";
    assert_eq!(post(&host, path, version("1.3.0")).await.status, 200);
    let is_told = async || {
        let problems = host.operate("/problems").await.text;
        problems.contains("the time of the release of template_000 1.3.0 is over")
    };
    assert!(!is_told().await);
    host.advance(Duration::from_secs(60)).await;
    assert!(is_told().await);
    assert!(is_running(&release(&host, "template_000").await));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_that_nobody_has_called_is_not_promoted_by_itself() {
    let host = Host::start_at_fixed_time(Options::with(&["template"])).await;
    let path = "/catalog/publish?file=template.wasm&share=50&for_s=60&promote=true";
    assert_eq!(post(&host, path, version("1.3.0")).await.status, 200);
    assert_eq!(release(&host, "template_000").await["promotes"], true);
    host.advance(Duration::from_secs(60)).await;
    let waiting = wait_for_release(&host, "template_000", |found| found["promotes"] == false).await;
    assert!(is_running(&waiting), "{waiting:#}");
    let is_over = |status: &Value| status["releases"][0]["due_at"] == waiting["due_at"];
    host.wait_for("end of its time", is_over).await;
    let problems = host.operate("/problems").await.text;
    assert!(problems.contains("the time of the release of template_000 1.3.0 is over"));
    // It can still be promoted by hand, once.
    let promote = "/catalog/template_000/release/promote";
    let promoted = post(&host, promote, Vec::new()).await;
    assert_eq!(promoted.body["state"], "serving", "{}", promoted.text);
    assert_eq!(release(&host, "template_000").await["state"], "promoted");
    let late = post(&host, "/catalog/template_000/release/abort", Vec::new()).await;
    assert_eq!(late.body["conflict"]["reason"], "no_release", "{}", late.text);
    assert!(late.text.contains("portolan rollback template_000"), "{}", late.text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parameters_of_a_release_publish_nothing_to_everybody() {
    let host = Host::with(&["template"]).await;
    for parameters in ["for_s=3600&promote=true", "promote=true", "share=5&promote=true"] {
        let path = format!("/catalog/publish?file=template.wasm&{parameters}");
        let refused = post(&host, &path, version("1.3.0")).await;
        refused.assert_refused(400, "validation_failed");
        assert!(refused.text.contains("give `share`, 1 to 50"), "{}", refused.text);
    }
    assert_eq!(serving_version(&host.agent().await).await, "1.2.0");
    assert_eq!(host.status().await["releases"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_commands_begin_change_promote_and_abort_a_release() {
    let host = Host::with(&["template"]).await;
    let folder = host.folder.path().to_owned();
    let next = write_component(&host, "template.wasm", &version("1.3.0"));
    let begun = succeeds(&folder, &["publish", &next, "--share", "5", "--by", "ada"]).await;
    assert!(begun.contains("a share of the callers of template_000 gets 1.3.0"), "{begun}");
    let again = fails(&folder, &["publish", &next, "--share", "5"]).await;
    assert!(again.contains("release_runs") || again.contains("runs already"), "{again}");
    let shown = succeeds(&folder, &["release", "status", "template_000"]).await;
    assert!(shown.contains("to 5 % of the callers: running"), "{shown}");
    let raised = succeeds(&folder, &["release", "share", "template_000", "--share", "25"]).await;
    assert!(raised.contains("to 25 % of the callers: running"), "{raised}");
    let why = ["release", "abort", "template_000", "--reason", "too early", "--by", "bo"];
    let aborted = succeeds(&folder, &why).await;
    assert!(aborted.contains("aborted") && aborted.contains("too early"), "{aborted}");
    let nothing = fails(&folder, &["release", "promote", "template_000"]).await;
    assert!(nothing.contains("no release of template_000 runs"), "{nothing}");
    succeeds(&folder, &["publish", &next, "--share", "50"]).await;
    let promoted = succeeds(&folder, &["release", "promote", "template_000", "--by", "ada"]).await;
    assert!(promoted.contains("template_000 1.3.0 serves in place of 1.2.0"), "{promoted}");
    host.wait_for_version("template_000", "1.3.0").await;
    assert_eq!(release(&host, "template_000").await["state"], "promoted");
    let history = succeeds(&folder, &["history", "template_000"]).await;
    assert!(history.contains("release of template_000 1.3.0 to 25 %"), "{history}");
    for (action, count) in [
        ("operator:publish", 2),
        ("operator:share_release", 1),
        ("operator:abort_release", 1),
        ("operator:promote_release", 1),
    ] {
        let path = format!("/audit?capability=template_000&action={action}");
        let rows = host.operate(&path).await.body["entries"].take();
        assert_eq!(rows.as_array().unwrap().len(), count, "{action}: {rows:#}");
        assert_eq!(rows[0]["version"], "1.3.0", "{rows:#}");
    }
    for wrong in ["0", "51", "many"] {
        let refused = portolan(&folder, &["publish", &next, "--share", wrong]).await;
        assert!(!refused.succeeded, "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_publication_or_a_rollback_ends_a_release() {
    let host = Host::with(&["template"]).await;
    let path = "/catalog/publish?file=template.wasm";
    let begin = async |number: &str| {
        let reply = post(&host, &format!("{path}&share=50"), version(number)).await;
        assert_eq!(reply.body["state"], "shared", "{}", reply.text);
    };
    begin("1.3.0").await;
    assert_eq!(post(&host, path, version("1.4.0")).await.status, 200);
    assert_eq!(release(&host, "template_000").await["state"], "replaced");
    begin("1.5.0").await;
    assert_eq!(post(&host, path, version("1.5.0")).await.status, 200);
    assert_eq!(release(&host, "template_000").await["state"], "promoted");
    begin("1.6.0").await;
    let rollback = post(&host, "/catalog/template_000/rollback", Vec::new()).await;
    assert_eq!(rollback.status, 200, "{}", rollback.text);
    assert_eq!(release(&host, "template_000").await["state"], "replaced");
    assert_eq!(serving_version(&host.agent().await).await, "1.4.0");
}

/// Returns a component whose collection has these indexes.
fn shelf(version: &str, indexes: &[&str]) -> Vec<u8> {
    let index = |name: &&str| json!({ "name": name, "paths": [name] });
    let indexes: Vec<Value> = indexes.iter().map(index).collect();
    with_script(&json!({
        "id": "shelf", "version": version,
        "actions": [{ "name": "act", "operations": [] }],
        "collections": [{ "name": "things", "indexes": indexes }],
    }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_that_is_not_the_same_for_both_is_refused() {
    let mut options = Options::with(&["template", "library"]);
    options.components.push(("shelf.wasm".into(), shelf("1.0.0", &["shelf"])));
    let host = Host::start(options).await;
    for (file, content, expected) in [
        ("template.wasm", breaking_version("2.0.0"), "action bravo"),
        ("library.wasm", component("library_next"), "collections.books"),
        ("shelf.wasm", shelf("1.1.0", &["shelf", "code"]), "its indexes must be changed"),
    ] {
        let path = format!("/catalog/publish?file={file}&share=5");
        let reply = post(&host, &path, content).await;
        assert_eq!(
            (reply.status.as_u16(), &reply.body["conflict"]["reason"]),
            (409, &json!("not_for_a_share")),
            "{}",
            reply.text
        );
        assert!(reply.text.contains(expected), "{expected}: {}", reply.text);
        assert!(reply.text.contains("publish it whole"), "{}", reply.text);
        assert!(reply.text.contains("portolan rehearse"), "{}", reply.text);
    }
    let unknown = post(&host, "/catalog/publish?file=mutant.wasm&share=5", mutant(0)).await;
    assert_eq!(unknown.body["conflict"]["reason"], "nothing_serves", "{}", unknown.text);
    let wrong = post(&host, "/catalog/publish?file=template.wasm&share=51", version("1.3.0")).await;
    assert_eq!(wrong.body["conflict"]["reason"], "bad_share", "{}", wrong.text);
    assert_eq!(host.status().await["releases"], json!([]));
    assert_eq!(host.operate("/catalog/template_000/release").await.status, 404);
}
