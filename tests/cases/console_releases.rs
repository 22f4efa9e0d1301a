//! The console's buttons for a release: its share, its end in favour of either version, and who sees them.

use crate::harness::{
    Host, Options,
    console::{Browser, form_token},
    releases::{agent_of, mutant, price, release, shared},
};
use serde_json::json;

const CATALOG: &str = "/console/catalog";
const PAGE: &str = "/console/catalog/mutant";
const PATIENT: &str = "[limits]\ncall_wall_time_ms = 30000\n";

async fn host() -> Host {
    Host::start(Options::with(&["mutant"]).configuration(PATIENT)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_is_shown_shared_taken_back_and_given_to_all_from_the_console() {
    let host = host().await;
    let agent = agent_of(&host, "own_person").await;
    let browser = Browser::signed_in(&host, &host.add_operator("ada", "admin").await).await;
    assert!(!browser.page(PAGE).await.contains("/decisions/promote_release"));
    let begun = shared(&host, 5, mutant(2)).await;
    let version = begun["version"].as_str().unwrap();
    host.wait_for("release", |status| status["releases"][0]["state"] == "given").await;
    let page = browser.page(CATALOG).await;
    assert!(page.contains("to 5 % of the callers") && page.contains(">given</span>"), "{page}");
    let page = browser.page(PAGE).await;
    assert!(page.contains("to 5 % of the callers") && page.contains(">running</span>"), "{page}");

    let page = browser.press_with(PAGE, "Change the share", &[("share", "40")]).await;
    let changed = "The share of callers is changed.";
    assert!(page.contains(changed) && page.contains("to 40 % of the callers"), "{page}");
    assert_eq!(release(&host, "mutant").await["share"], 40);

    let reason = [("reason", "<b>too dear</b>")];
    let page = browser.press_with(PAGE, &format!("Take {version} back"), &reason).await;
    assert!(page.contains("All callers get the served version again."), "{page}");
    assert!(page.contains("&#60;b&#62;too dear") && page.contains(">aborted</span>"), "{page}");
    assert!(!page.contains("/decisions/promote_release"), "{page}");
    assert_eq!(release(&host, "mutant").await["state"], "aborted");
    host.wait_for("end of the release", |status| status["releases"] == json!([])).await;
    assert!(!browser.page(CATALOG).await.contains("of the callers"));
    assert_eq!(price(&agent).await, 250);

    shared(&host, 5, mutant(1)).await;
    let page = browser.press(PAGE, &format!("Give {version} to all callers")).await;
    assert!(page.contains("All callers get the version now."), "{page}");
    assert!(page.contains(">promoted</span>"), "{page}");
    assert_eq!(release(&host, "mutant").await["state"], "promoted");
    assert_eq!(price(&agent).await, 255);

    let rows = host.rows_of_operator("ada").await;
    let actions: Vec<_> = rows.iter().map(|row| row["action"].as_str().unwrap()).collect();
    let expected = ["operator:promote_release", "operator:abort_release", "operator:share_release"];
    assert_eq!(actions, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_only_reads_has_no_button_for_a_release() {
    let host = host().await;
    let begun = shared(&host, 5, mutant(1)).await;
    let button = "/console/decisions/promote_release";
    let operating = Browser::signed_in(&host, &host.add_operator("ben", "operate").await).await;
    assert!(operating.page(PAGE).await.contains(button));
    let browser = Browser::signed_in(&host, &host.add_operator("cleo", "read").await).await;
    let page = browser.page(PAGE).await;
    assert!(page.contains(">running</span>") && !page.contains("_release\""), "{page}");
    let token = form_token(&browser.get("/console").await);
    for decision in ["share_release", "promote_release", "abort_release"] {
        let fields = [("form_token", token.as_str()), ("id", "mutant"), ("share", "50")];
        let reply = browser.submit(&format!("/console/decisions/{decision}"), &fields).await;
        assert_eq!(reply.status, 403, "{decision}: {}", reply.text);
    }
    assert!(host.rows_of_operator("cleo").await.is_empty());
    let found = release(&host, "mutant").await;
    assert_eq!((&found["state"], &found["share"]), (&json!("running"), &begun["share"]));
}
