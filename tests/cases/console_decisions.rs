//! Decisions that operators make in the console: incidents, files of people, agents, and documents in quarantine.

use crate::harness::{
    Agent, Host, Options, component,
    console::{Browser, form_token},
    media::{file, options, read},
    operators::run,
    relationships::Person,
};
use scraper::{Html, Selector};
use serde_json::{Value, json};

const INCIDENTS: &str = "/console/incidents";

fn found(page: &str, selector: &str) -> Vec<String> {
    let selector = Selector::parse(selector).unwrap();
    Html::parse_document(page).select(&selector).map(|element| element.text().collect()).collect()
}

async fn signed_in(host: &Host, name: &str, role: &str) -> Browser {
    Browser::signed_in(host, &host.add_operator(name, role).await).await
}

async fn actions_of(host: &Host, name: &str) -> Vec<String> {
    let rows = host.rows_of_operator(name).await;
    rows.iter().map(|row| row["action"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_incident_is_written_changed_and_ended_from_the_console() {
    let host = Host::with(&["notes"]).await;
    let browser = signed_in(&host, "ada", "operate").await;
    let opening = [
        ("title", "Searches are <b>slow</b>"),
        ("text", "We look into it.\r\nWait."),
        ("state", "investigating"),
    ];
    let page = browser.press_with(INCIDENTS, "Put it on the status page", &opening).await;
    assert!(page.contains("The incident is on the status page."), "{page}");
    assert!(page.contains("Searches are &#60;b&#62;slow") && !page.contains("<b>slow"), "{page}");
    let status = host.fetch("/status", &[]).await.json();
    let incident = &status["incidents"][0];
    assert_eq!(incident["updates"][0]["text"], "We look into it.\nWait.");
    let id = incident["id"].as_str().unwrap();

    let update = [("state", "identified"), ("text", "An index is missing.")];
    let page = browser.press_with(INCIDENTS, &format!("Add the update to {id}"), &update).await;
    assert!(page.contains("The update is on the status page."), "{page}");
    assert_eq!(host.fetch("/status", &[]).await.json()["incidents"][0]["state"], "identified");
    let end = [("text", "Done.")];
    let page = browser.press_with(INCIDENTS, &format!("End {id}"), &end).await;
    assert!(page.contains("The incident has ended.") && page.contains(">Resolved</span>"));
    assert!(!page.contains("/decisions/update_incident"), "what has ended stays: {page}");
    assert_eq!(host.fetch("/status", &[]).await.json()["incidents"][0]["state"], "resolved");
    // The command tells the same.
    let (succeeded, shown, error) = run(&host, &[], &["incidents", "list"]);
    assert!(succeeded && shown.contains(id) && shown.contains("resolved"), "{shown}{error}");

    let maintenance = [
        ("title", "A new disk"),
        ("text", "The host is away for an hour."),
        ("state", "planned"),
        ("starts_at", "2099-12-01T22:00:00Z"),
        ("ends_at", "2099-12-01T23:00:00Z"),
    ];
    let page = browser.press_with(INCIDENTS, "Put it on the status page", &maintenance).await;
    assert!(page.contains("2099-12-01 22:00:00"), "{page}");
    let opened = "operator:open_incident";
    let expected = [opened, "operator:resolve_incident", "operator:update_incident", opened];
    assert_eq!(actions_of(&host, "ada").await, expected);
    // What the route refuses is a page with the reason, and nothing is told.
    let token = form_token(&browser.get(INCIDENTS).await);
    let fields = [("form_token", token.as_str()), ("title", "x"), ("text", "")];
    let reply = browser.submit("/console/decisions/open_incident", &fields).await;
    assert_eq!(reply.status, 400, "{}", reply.text);

    let reader = signed_in(&host, "ben", "read").await;
    let page = reader.page(INCIDENTS).await;
    assert!(page.contains("A new disk") && !page.contains("_incident\""), "{page}");
    let token = form_token(&reader.get(INCIDENTS).await);
    let fields = [("form_token", token.as_str()), ("title", "x"), ("text", "y")];
    let reply = reader.submit("/console/decisions/open_incident", &fields).await;
    assert_eq!(reply.status, 403, "{}", reply.text);
    let forged = [("form_token", "x"), ("title", "x"), ("text", "y")];
    let reply = browser.submit("/console/decisions/open_incident", &forged).await;
    assert_eq!(reply.status, 400, "{}", reply.text);
    let told = host.fetch("/status", &[]).await.json();
    assert_eq!(told["incidents"].as_array().unwrap().len(), 2, "{told:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_picture_is_hidden_and_shown_again_from_the_console() {
    let host = Host::start(options()).await;
    let ada = Person::new(&host).await;
    let picture = ada.upload(&host, "picture", file("text.png"), json!({})).await;
    assert_eq!(read(&host, &picture["url"]).await.status(), 200);
    let browser = signed_in(&host, "cleo", "operate").await;
    let path = "/console/reports?test_mode=true";
    let id = [("media_id", picture["media_id"].as_str().unwrap())];
    let page = browser.press_with(path, "Hide this file", &id).await;
    assert!(page.contains("The file is hidden"), "{page}");
    assert_eq!(read(&host, &picture["url"]).await.status(), 404);
    let page = browser.press_with(path, "Show this file again", &id).await;
    assert!(page.contains("The file is shown again."), "{page}");
    let again = ada.media("get", json!({ "media_id": picture["media_id"] })).await;
    assert_eq!(read(&host, &again["url"]).await.status(), 200);

    // A report about a file has the buttons beside it.
    let ben = Person::new(&host).await;
    ben.create_report(id[0].1, "spam").await;
    let button = format!("Hide {} from everybody but its person", id[0].1);
    browser.press(path, &button).await;
    assert_eq!(read(&host, &again["url"]).await.status(), 404);
    let actions = actions_of(&host, "cleo").await;
    let decided: Vec<_> = actions.iter().filter(|action| *action != "waiting").collect();
    assert_eq!(decided, ["hide", "reinstate", "hide"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_is_revoked_by_the_command_and_from_the_console() {
    let host = Host::start(Options::with(&["notes"]).configuration("rate_limits = \"on\"\n")).await;
    let get = json!({ "action": "get", "id": "none" });
    let mut agents: Vec<(String, Agent<'_>)> = Vec::new();
    for _ in 0..3 {
        let registered = host.register().await;
        let token = host.token_of(&registered, "svc.read").await;
        let id = registered["agent_id"].as_str().unwrap().to_owned();
        let agent = Agent { host: &host, token };
        agent.call("notes", get.clone()).await.assert_refused(404, "note_not_found");
        agents.push((id, agent));
    }
    let [(first, one), (second, two), (third, three)] = &agents[..] else { panic!() };
    let command = ["agents", "revoke", first];
    let (succeeded, _, error) = run(&host, &[], &command);
    assert!(!succeeded && error.contains("--yes"), "{error}");
    let confirmed = ["agents", "revoke", first, "--yes"];
    for told in ["is revoked", "was revoked before"] {
        let (succeeded, shown, error) = run(&host, &[], &confirmed);
        assert!(succeeded && shown.contains(told), "{shown}{error}");
    }
    one.call("notes", get.clone()).await.assert_refused(401, "client_revoked");
    for absent in ["agt_01JZX8Q4M2N6P7R8S9T0V1W2X3", "own_01JZX8Q4M2N6P7R8S9T0V1W2X3"] {
        let (succeeded, _, error) = run(&host, &[], &["agents", "revoke", absent, "--yes"]);
        assert!(!succeeded && error.contains("agent"), "{error}");
    }

    let browser = signed_in(&host, "ada", "operate").await;
    let callers = "/console/callers";
    let page = browser.press(callers, &format!("Revoke {second}")).await;
    assert!(page.contains("The agent is revoked."), "{page}");
    two.call("notes", get.clone()).await.assert_refused(401, "client_revoked");
    let id = [("agent_id", third.as_str())];
    browser.press_with(callers, "Revoke this agent", &id).await;
    three.call("notes", get.clone()).await.assert_refused(401, "client_revoked");
    let rows = host.rows_of_operator("ada").await;
    let told: Vec<_> = rows.iter().map(|row| (&row["action"], &row["agent_id"])).collect();
    let action = json!("operator:revoke_agent");
    assert_eq!(told, [(&action, &json!(third)), (&action, &json!(second))]);
    let reader = signed_in(&host, "ben", "read").await;
    assert!(!reader.page(callers).await.contains("revoke_agent"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_in_quarantine_is_checked_and_replaced_from_the_console() {
    let host = Host::with(&["library"]).await;
    let agent = host.claimed_agent().await;
    for index in 0..9 {
        let (id, title) = (format!("book_{index}"), if index == 0 { "broken" } else { "fine" });
        let put = json!({ "action": "put", "id": id, "title": title, "code": id });
        agent.result("library", put).await;
    }
    host.drop_in("library.wasm", &component("library_next"));
    host.wait_for_version("library", "2.0.0").await;
    let browser = signed_in(&host, "ada", "operate").await;
    let page = browser.page("/console/events").await;
    assert!(page.contains(">Correct book_0</a>"), "{page}");
    let path = "/console/document?capability=library&collection=books&id=book_0&test_mode=false";
    let reply = browser.get(path).await;
    let stored: Value = serde_json::from_str(&found(&reply.text, "textarea")[0]).unwrap();
    assert_eq!(stored["title"], "broken");
    let token = form_token(&reply);
    let fields = |document: &'static str| {
        [
            ("form_token", token.as_str()),
            ("capability", "library"),
            ("collection", "books"),
            ("id", "book_0"),
            ("test_mode", "false"),
            ("document", document),
        ]
    };
    // The code of the second one belongs to another document.
    for (document, problem) in [
        ("{\"name\": </textarea><b>", "It is not JSON"),
        (r#"{"name":"Mended","code":"book_1"}"#, "unique"),
    ] {
        let reply = browser.submit("/console/document", &fields(document)).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        let told = found(&reply.text, "#problem").concat();
        assert!(told.contains(problem), "{told}");
        assert_eq!(found(&reply.text, "textarea"), [document], "what was typed is still there");
        assert!(!reply.text.contains("Replace the document"), "{}", reply.text);
    }
    let mended = r#"{"name":"Mended","code":"book_0"}"#;
    let reply = browser.submit("/console/document", &fields(mended)).await;
    assert!(reply.text.contains("can replace the stored one"), "{}", reply.text);
    assert!(reply.text.contains("Replace the document"), "{}", reply.text);
    assert!(actions_of(&host, "ada").await.is_empty(), "a check decides nothing");
    // The command checks too.
    let corrected = host.folder.path().join("corrected.json");
    std::fs::write(&corrected, mended).unwrap();
    let file = corrected.to_str().unwrap();
    let check = ["documents", "repair", "library", "books", "book_0", file, "--dry-run"];
    let (succeeded, shown, error) = run(&host, &[], &check);
    assert!(succeeded && shown.contains("the document can replace book_0"), "{shown}{error}");
    let listed = host.operate("/documents").await.body;
    assert_eq!(listed["documents"].as_array().unwrap().len(), 1, "{listed:#}");

    let reply = browser.submit("/console/decisions/repair_document", &fields(mended)).await;
    assert_eq!(reply.header("location"), "/console/events?done=repair_document");
    assert_eq!(host.operate("/documents").await.body["documents"], json!([]));
    assert_eq!(actions_of(&host, "ada").await, ["operator:repair_document"]);
    let reader = signed_in(&host, "ben", "read").await;
    assert_eq!(reader.get(path).await.status, 403);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_catalog_shows_which_publishers_reach_which() {
    let host = Host::with(&["agent_listings", "listing_taxonomy", "notes"]).await;
    let browser = signed_in(&host, "ada", "read").await;
    let page = browser.page("/console/catalog").await;
    let columns = found(&page, "#reach th");
    assert_eq!(columns.first().map(String::as_str), Some("Calls of"), "{columns:?}");
    let calls = found(&page, "#reach li code");
    assert!(calls.contains(&"agent_listings → listing_taxonomy".to_owned()), "{calls:?}");
    assert!(columns.contains(&"to not loaded".to_owned()), "{columns:?}");
}
