//! Decisions of operators are in the audit log, with their names.

use crate::{
    cases::recordings::{ALL, recorded},
    harness::{
        Host, Options, Reply, component,
        operators::{NOBODY, run},
        patched,
        publishing::version,
    },
};
use portolan_http::operator_routes;
use reqwest::Method;
use serde_json::{Value, json};
use std::{collections::BTreeSet, process::Command};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_socket_names_the_system_user() {
    let host = Host::with(&["notes"]).await;
    let ask = |flags: &str| {
        let output = Command::new("id").arg(flags).output().unwrap();
        let name = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        output.status.success().then_some(name)
    };
    let user = ask("-un").unwrap_or_else(|| format!("uid {}", ask("-u").unwrap()));
    let input = r#"{"id":"one","title":"t","body":""}"#;
    let (succeeded, _, error) =
        run(&host, &[], &["run", "notes", "add_internal", "--input", input]);
    assert!(succeeded, "{error}");
    let (succeeded, shown, error) =
        run(&host, &[], &["audit", "--operator", &format!("socket:{user}")]);
    assert!(succeeded, "{error}");
    let [line] = shown.lines().collect::<Vec<_>>()[..] else { panic!("{shown}") };
    assert!(line.contains("notes.add_internal"), "{line}");
    assert!(line.contains(&format!("operator:socket:{user}")), "{line}");
    assert_eq!(host.rows_of_operator("operator.token").await, Vec::<Value>::new());
}

/// Puts documents of `library` into quarantine: `bad` and `worse`.
async fn quarantine_documents(host: &Host) {
    let agent = host.claimed_agent().await;
    let names = ["bad", "worse", "a", "b", "c", "d", "e", "f", "g", "h"];
    for (index, id) in names.iter().enumerate() {
        let title = if index < 2 { "broken" } else { "fine" };
        let put = json!({ "action": "put", "id": id, "title": title, "code": id });
        agent.result("library", put).await;
    }
    host.drop_in("library.wasm", &component("library_next"));
    host.wait_for_version("library", "2.0.0").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_decision_is_in_the_audit_log_with_its_operator() {
    let components = ["greeter", "library", "notes", "template", "texter"];
    let host =
        Host::start(Options::with(&components).configuration(&format!("{ALL}[grants]"))).await;
    quarantine_documents(&host).await;
    host.drop_in("another.wasm", &patched(&component("greeter"), &[("Hello, ", "Howdy, ")]));
    host.wait_for_refusal("another.wasm").await;
    host.wait_for_refusal("texter.wasm").await;
    let registered = host.register().await;
    host.claim_for(registered["agent_id"].as_str().unwrap(), NOBODY).await;

    let agent = host.register().await["agent_id"].take();
    let agent = format!("/agents/{}", agent.as_str().unwrap());

    let token = host.add_operator("ada", "admin").await;
    let mended = json!({ "name": "Mended", "code": "bad" }).to_string().into_bytes();
    let note = json!({ "id": "one", "title": "t", "body": "" }).to_string().into_bytes();
    let [bad, worse] = ["bad", "worse"]
        .map(|id| format!("/documents/document?capability=library&collection=books&id={id}"));
    let person = format!("/people/{NOBODY}");
    let passkeys = format!("{person}/passkeys");
    let suspension = format!("{person}/kept-suspension");
    let (post, put, delete) = (Method::POST, Method::PUT, Method::DELETE);
    let empty = Vec::new;
    let opening = json!({ "title": "Slow", "text": "We look." });
    let opened = host.operator.post(format!("{}/incidents", host.admin_url)).json(&opening);
    let opened = Reply::read(opened.send().await.unwrap()).await.body["id"].take();
    let incident = format!("/incidents/{}", opened.as_str().unwrap());
    let [update_incident, resolve_incident] =
        ["update", "resolve"].map(|decision| format!("{incident}/{decision}"));
    let update = json!({ "state": "identified", "text": "Found." }).to_string().into_bytes();
    let resolution = json!({ "text": "Done." }).to_string().into_bytes();
    let recording = recorded(&host, "capability=library", 1).await[0]["request_id"].take();
    let recording = format!("/recordings/{}", recording.as_str().unwrap());
    let [replay, whole, replay_whole] =
        ["replay", "whole", "whole/replay"].map(|part| format!("{recording}/{part}"));
    // The request of each decision, then the action of its row, its capability, and what it is about.
    let decisions = [
        (
            &post,
            "/catalog/publish?file=template.wasm",
            version("1.3.0"),
            "operator:publish template_000 1.3.0",
        ),
        (&post, "/catalog/template_000/rollback", empty(), "operator:rollback template_000 1.2.0"),
        (
            &post,
            "/catalog/publish?file=template.wasm&share=5",
            version("1.4.0"),
            "operator:publish template_000 1.4.0",
        ),
        (
            &post,
            "/catalog/template_000/release/share?share=25",
            empty(),
            "operator:share_release template_000 1.4.0",
        ),
        (
            &post,
            "/catalog/template_000/release/abort",
            empty(),
            "operator:abort_release template_000 1.4.0",
        ),
        (
            &post,
            "/catalog/publish?file=template.wasm&share=50",
            version("1.5.0"),
            "operator:publish template_000 1.5.0",
        ),
        (
            &post,
            "/catalog/template_000/release/promote",
            empty(),
            "operator:promote_release template_000 1.5.0",
        ),
        (&put, &*bad, mended, "operator:repair_document library "),
        (&delete, &*worse, empty(), "operator:drop_document library "),
        (&post, "/timers/notes/drop", empty(), "operator:drop_timers notes "),
        (&post, "/dead-letters/replay?ids=7,8", empty(), "operator:replay :host 7,8"),
        (&post, "/dead-letters/drop?ids=7,8", empty(), "operator:drop_dead_letters :host 7,8"),
        (
            &post,
            "/incidents",
            opening.to_string().into_bytes(),
            "operator:open_incident :host INCIDENT",
        ),
        (&post, &*update_incident, update, "operator:update_incident :host INCIDENT"),
        (&post, &*resolve_incident, resolution, "operator:resolve_incident :host INCIDENT"),
        (&post, &*replay, empty(), "operator:replay_call :host RECORDING"),
        (&post, "/rehearsals", component("notes"), "operator:rehearse :host notes"),
        (&Method::GET, &*whole, empty(), "operator:show_recording :host RECORDING"),
        (&post, &*replay_whole, empty(), "operator:replay_whole_call :host RECORDING"),
        (&delete, &*agent, empty(), "operator:revoke_agent :host "),
        (&post, "/capabilities/notes/add_internal", note, "add_internal notes 1.0.0"),
        (&post, "/catalog/texter/approve", empty(), "operator:approve texter unsigned:texter"),
        (&post, "/catalog/greeter/adopt", empty(), "operator:adopt greeter unsigned:another"),
        (&Method::GET, &*person, empty(), "operator:export_person :host "),
        (&delete, &*passkeys, empty(), "operator:remove_passkeys :host "),
        (&delete, &*suspension, empty(), "operator:lift_suspension :host "),
        (&delete, &*person, empty(), "operator:erase_person :host "),
        (&post, "/media/adopt", empty(), "operator:adopt_files :host "),
        (&post, "/keys/rotate", empty(), "auth:key_rotated :host "),
        (&post, "/operators?name=bo&role=read", empty(), "operator:add_operator :host bo read"),
        (&post, "/operators/bo/renew", empty(), "operator:renew_operator :host bo"),
        (&delete, "/operators/bo", empty(), "operator:remove_operator :host bo"),
        (&post, "/token/rotate", empty(), "operator:rotate_token :host "),
    ];
    for (method, path, body, expected) in &decisions {
        let url = format!("{}{path}", host.admin_url);
        let request = host.client.request((*method).clone(), url).bearer_auth(&token);
        let request = request.header("content-type", "application/json").body(body.clone());
        let reply = Reply::read(request.send().await.unwrap()).await;
        assert_eq!(reply.status, 200, "{method} {path}: {}", reply.text);
        let audit = "/audit?limit=1&operator=ada";
        let row = host.send_as(Some(&token), &Method::GET, audit).await.body["entries"][0].take();
        let [action, capability, about] =
            ["action", "capability", "version"].map(|name| row[name].as_str().unwrap());
        let about = match about {
            incident if incident.starts_with("inc_") => "INCIDENT",
            request if request.starts_with("req_") => "RECORDING",
            about => about,
        };
        assert_eq!(format!("{action} {capability} {about}"), *expected, "{row:#}");
        assert_eq!((&row["outcome"], &row["via"]), (&json!("ok"), &json!(["operator:ada"])));
    }
    let (succeeded, shown, error) = run(&host, &[], &["audit", "--operator", "ada"]);
    assert!(succeeded, "{error}");
    assert_eq!(shown.lines().count(), decisions.len(), "{shown}");
    assert!(shown.lines().all(|line| line.contains("operator:ada")), "{shown}");
    assert!(!shown.contains(NOBODY), "an erased person is in the audit log: {shown}");

    let made: BTreeSet<&str> =
        decisions.iter().filter_map(|decision| decision.3.split(' ').next()).collect();
    let table: BTreeSet<&str> = operator_routes()
        .iter()
        .filter_map(|route| route.decision)
        .map(|action| if action == "{action}" { "add_internal" } else { action })
        .collect();
    assert_eq!(made, table, "each decision of the table is made");
    // A part of a name, or a pattern, is no name.
    for name in ["ad", "ad_", "a%", "%"] {
        let (succeeded, shown, error) = run(&host, &[], &["audit", "--operator", name]);
        assert!(succeeded && shown.is_empty(), "{name}: {shown}{error}");
    }
    let (succeeded, verified, error) = run(&host, &[], &["audit", "verify"]);
    assert!(succeeded, "{verified}{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_operator_has_looked_at_stays_known_after_an_erasure() {
    let host = Host::with(&[]).await;
    let registered = host.register().await;
    host.claim_for(registered["agent_id"].as_str().unwrap(), NOBODY).await;
    let token = host.add_operator("ada", "admin").await;
    let person = format!("/people/{NOBODY}");
    assert_eq!(host.send_as(Some(&token), &Method::GET, &person).await.status, 200);
    assert_eq!(host.rows_of_operator("ada").await[0]["owner_id"], NOBODY);
    assert_eq!(host.send_as(Some(&token), &Method::DELETE, &person).await.status, 200);
    let rows = host.rows_of_operator("ada").await;
    let told: Vec<_> = rows.iter().map(|row| (&row["action"], &row["owner_id"])).collect();
    let erased = json!("own_00000000000000000000000000");
    let (erase, export) = (json!("operator:erase_person"), json!("operator:export_person"));
    assert_eq!(told, [(&erase, &json!(null)), (&export, &erased)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_history_names_the_operator_beside_the_name_that_was_given() {
    let host = Host::with(&["template"]).await;
    let token = host.add_operator("ada", "operate").await;
    let url = format!("{}/catalog/publish?file=template.wasm&by=mallory", host.admin_url);
    let publishing = host.client.post(url).bearer_auth(&token).body(version("1.3.0"));
    assert_eq!(publishing.send().await.unwrap().status(), 200);
    let reply = host.send_as(Some(&token), &Method::POST, "/catalog/template_000/rollback").await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let history = host.operate("/catalog/template_000/history").await.body;
    assert_eq!(history["versions"][0]["decided_by"], "ada", "{history:#}");
    assert_eq!(history["versions"][1]["decided_by"], "mallory (ada)", "{history:#}");
}
