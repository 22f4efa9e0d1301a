//! The operator's console: who gets in, until when, and what the pages show and do.

use crate::{
    cases::reports,
    harness::{
        Host, Options,
        console::{Browser, form_token},
        feeds::{INDEX_PATH, PUBLIC_URL, edition, publish},
        operators::run,
        publishing::{publish_ok, version, wait_for_arrivals},
        relationships::Person,
    },
};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

const PAGES: [&str; 10] = [
    "/console",
    "/console/catalog",
    "/console/calls",
    "/console/events",
    "/console/reports",
    "/console/incidents",
    "/console/callers",
    "/console/feeds",
    "/console/audit",
    "/console/settings",
];

fn host_token(host: &Host) -> String {
    let file = host.folder.path().join("data/operator.token");
    std::fs::read_to_string(file).unwrap().trim().to_owned()
}

/// Asserts that the browser is led to the sign-in.
async fn assert_signed_out(browser: &Browser) {
    for path in PAGES {
        let reply = browser.get(path).await;
        assert_eq!(
            (reply.status.as_u16(), reply.header("location")),
            (303, "/console/sign-in"),
            "{path}"
        );
    }
    assert_eq!(browser.get("/console/live/overview").await.status, 303);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_signs_in_with_a_token_and_out_again() {
    let host = Host::with(&["notes"]).await;
    let browser = Browser::new(&host);
    assert_eq!(browser.get("/").await.header("location"), "/console");
    assert_signed_out(&browser).await;
    let agent = host.claimed_agent().await;
    for token in ["", "x", &agent.token] {
        let reply = browser.sign_in(token).await;
        assert_eq!(reply.status, 403, "{}", reply.text);
        assert!(reply.text.contains("This is no operator") && !reply.text.contains(&agent.token));
    }
    let before = browser.cookie().unwrap();
    let token = host_token(&host);
    let reply = browser.sign_in(&token).await;
    assert_eq!((reply.status.as_u16(), reply.header("location")), (303, "/console"));
    let set = reply.header("set-cookie");
    for part in ["HttpOnly", "SameSite=Strict", "Path=/console"] {
        assert!(set.contains(part), "{set}");
    }
    assert!(!set.contains(&token) && !set.contains("Expires") && !set.contains("Secure"), "{set}");
    let session = browser.cookie().unwrap();
    assert_ne!(session, before, "a cookie from before the sign-in is no session");
    for path in PAGES {
        let reply = browser.get(path).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.text);
        let policy = reply.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(reply.header("cache-control"), "no-store");
        assert!(reply.text.contains("operator.token"), "{path}: who has signed in");
        assert!(!reply.text.contains(&token), "{path}");
    }
    // The session opens nothing but the console.
    for path in ["/audit", "/catalog"] {
        browser.get(path).await.assert_refused(401, "authentication_required");
    }
    assert_eq!(browser.get("/console/nothing").await.status, 404);
    browser.press("/console", "Sign out").await;
    assert_signed_out(&browser).await;
    browser.set_cookie(&session);
    assert_signed_out(&browser).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_with_its_token_and_after_a_day_of_work() {
    let host = Host::start_at_fixed_time(Options::with(&[])).await;
    let shared = Browser::signed_in(&host, &host_token(&host)).await;
    let ada_token = host.add_operator("ada", "operate").await;
    let ada = Browser::signed_in(&host, &ada_token).await;
    let ben = Browser::signed_in(&host, &host.add_operator("ben", "read").await).await;
    let cleo = Browser::signed_in(&host, &host.add_operator("cleo", "read").await).await;
    assert!(ada.page("/console").await.contains("ada"));
    // The renewal and the removal of a token, and the rotation of that of the host.
    let (succeeded, _, error) = run(&host, &[], &["operators", "renew", "ada"]);
    assert!(succeeded, "{error}");
    assert_signed_out(&ada).await;
    assert_eq!(ada.sign_in(&ada_token).await.status, 403);
    let (succeeded, _, error) = run(&host, &[], &["operators", "remove", "ben"]);
    assert!(succeeded, "{error}");
    assert_signed_out(&ben).await;
    let (succeeded, _, error) = run(&host, &[], &["operator-token", "rotate"]);
    assert!(succeeded, "{error}");
    assert_signed_out(&shared).await;
    cleo.page("/console").await;
    host.clock.advance(Duration::from_secs(8 * 3600));
    assert_signed_out(&cleo).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_tokens_make_the_address_wait() {
    let host = Host::with(&[]).await;
    let browser = Browser::new(&host);
    let mut statuses = Vec::new();
    for _ in 0..8 {
        statuses.push(browser.sign_in("wrong").await.status.as_u16());
    }
    assert_eq!(statuses.first(), Some(&403));
    assert_eq!(statuses.last(), Some(&429), "{statuses:?}");
    assert_eq!(browser.sign_in(&host_token(&host)).await.status, 429);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_other_origins_cannot_use_a_session() {
    let options = Options::with(&["template"]).configuration("[grants]");
    let host = Host::start(options).await;
    let browser = Browser::signed_in(&host, &host_token(&host)).await;
    let page = browser.get("/console/catalog").await;
    let token = form_token(&page);
    let drop_timers = "/console/decisions/drop_timers";
    let fields = [("form_token", token.as_str()), ("id", "template_000")];
    for header in [
        ("host", "attacker.example:8081"),
        ("origin", "https://attacker.example"),
        ("origin", "null"),
        ("origin", host.url.as_str()),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        for path in PAGES.into_iter().chain(["/", "/console/sign-in", "/console/live/calls"]) {
            let reply = browser.send(Method::GET, path, &[header], &[]).await;
            assert_eq!(reply.status, 403, "{path} {header:?}");
            assert!(reply.header("content-type").starts_with("text/html"), "{path}");
            assert_eq!(reply.header("access-control-allow-origin"), "");
        }
        let reply = browser.send(Method::POST, drop_timers, &[header], &fields).await;
        assert_eq!(reply.status, 403, "{header:?}");
        let reply = browser.send(Method::POST, "/console/sign-out", &[header], &fields).await;
        assert_eq!(reply.status, 403, "{header:?}");
    }
    // A form needs the token of this session.
    let other = Browser::signed_in(&host, &host_token(&host)).await;
    let foreign = form_token(&other.get("/console").await);
    for wrong in ["", "x", foreign.as_str()] {
        let fields = [("form_token", wrong), ("id", "template_000")];
        for path in [drop_timers, "/console/sign-out", "/console/sign-in"] {
            assert_eq!(browser.submit(path, &fields).await.status, 400, "{path}");
        }
    }
    assert_eq!(browser.get(drop_timers).await.status, 405);
    assert_eq!(host.rows_of_operator("operator.token").await, Vec::<Value>::new());
    assert_eq!(browser.submit(drop_timers, &fields).await.status, 303);
    assert_eq!(host.rows_of_operator("operator.token").await[0]["action"], "operator:drop_timers");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_sees_no_button_that_it_may_not_use() {
    let options = Options::with(&["notes", "texter"]).configuration("[grants]");
    let host = Host::start(options).await;
    host.wait_for_refusal("texter.wasm").await;
    for (role, has_reports) in [("read", false), ("operate", true)] {
        let browser = Browser::signed_in(&host, &host.add_operator(role, role).await).await;
        let page = browser.page("/console/catalog").await;
        assert!(
            page.contains("pending_approval") && !page.contains("/decisions/approve"),
            "{role}"
        );
        assert_eq!(page.contains("href=\"/console/reports\""), has_reports, "{role}");
        let events = browser.page("/console/events").await;
        assert_eq!(
            events.contains("Your role is <code>read</code>; they need"),
            !has_reports,
            "{role}"
        );
        let status = browser.get("/console/reports").await.status;
        assert_eq!(status, if has_reports { 200 } else { 403 }, "{role}");
        // A form that the page does not have changes nothing.
        let token = form_token(&browser.get("/console").await);
        let fields = [("form_token", token.as_str()), ("id", "texter"), ("ids", "all")];
        let reply = browser.submit("/console/decisions/approve", &fields).await;
        assert_eq!(reply.status, 403, "{role}: {}", reply.text);
        assert!(reply.text.contains("This needs the role admin"), "{}", reply.text);
        for decision in ["replay", "drop_dead_letter"] {
            let path = format!("/console/decisions/{decision}");
            let status = browser.submit(&path, &fields).await.status;
            assert_eq!(status, if has_reports { 303 } else { 403 }, "{role} {decision}");
        }
    }
    assert!(host.rows_of_operator("read").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_approves_a_component_and_rolls_a_version_back() {
    let options = Options::with(&["template", "texter"]).configuration("[grants]");
    let host = Host::start(options).await;
    host.wait_for_refusal("texter.wasm").await;
    let browser = Browser::signed_in(&host, &host.add_operator("ada", "admin").await).await;
    let page = browser.page("/console/catalog").await;
    assert!(page.contains("<code>sms</code>"), "it says what the component asks for: {page}");
    let page = browser.press("/console/catalog", "Approve texter with all permissions above").await;
    assert!(page.contains("The component is approved."), "{page}");
    host.wait_for("texter", |status| {
        !status["loaded"].to_string().contains("\"missing\"")
            && status["loaded"].to_string().contains("\"texter\"")
    })
    .await;

    wait_for_arrivals(&host, "template_000", 1).await;
    publish_ok(&host, "template.wasm", version("1.3.0")).await;
    let page = browser.page("/console/catalog/template_000").await;
    assert!(page.contains("Serving: <bdi>1.3.0</bdi>"), "{page}");
    let page = browser.press("/console/catalog/template_000", "Roll back to 1.2.0").await;
    assert!(
        page.contains("The chosen version is now the desired one")
            && page.contains("Serving: <bdi>1.2.0</bdi>"),
        "{page}"
    );
    let rows = host.rows_of_operator("ada").await;
    let actions: Vec<_> = rows.iter().map(|row| row["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["operator:rollback", "operator:approve"]);
    // A refusal of the route is a page with the reason.
    let token = form_token(&browser.get("/console").await);
    let fields = [("form_token", token.as_str()), ("id", "template_000"), ("to", "7.0.0")];
    let reply = browser.submit("/console/decisions/rollback", &fields).await;
    assert_eq!(reply.status, 404, "{}", reply.text);
    // The audit page finds both by the name.
    let page = browser.page("/console/audit?operator=ada").await;
    assert!(page.contains("operator:rollback") && page.contains("operator:approve"), "{page}");
    let page = browser.page("/console/audit?operator=ada&action=operator:approve").await;
    assert!(
        !page.contains("operator:rollback</code>") && page.contains("operator:approve"),
        "{page}"
    );
    let page = browser.page("/console/audit?verify=day").await;
    assert!(page.contains("is whole"), "{page}");
    assert_eq!(browser.get("/console/audit?since=yesterday").await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_found_from_the_console_alone() {
    let configuration = format!(
        "public_url = \"{PUBLIC_URL}\"\nrate_limits = \"on\"\ntrusted_proxies = [\"127.0.0.0/8\"]\n[limits]\nregistrations_per_hour = 3\n"
    );
    let options = Options::with(&["notes", "misbehaves"]).configuration(&configuration);
    let host = Host::start(options).await;
    let browser = Browser::signed_in(&host, &host.add_operator("ada", "read").await).await;
    // A refused component, whose name is not a part of the page.
    host.drop_in("<img src=x>.wasm", b"not a component");
    host.wait_for_refusal("<img src=x>.wasm").await;
    for path in ["/console", "/console/catalog"] {
        let page = browser.page(path).await;
        assert!(page.contains("&#60;img src=x&#62;.wasm") && !page.contains("<img"), "{page}");
        assert!(page.contains("To fix it"), "{page}");
    }
    // The slowest action.
    let agent = host.claimed_agent().await;
    for _ in 0..3 {
        agent.call("notes", json!({ "action": "get", "id": "none" })).await;
    }
    agent.call("misbehaves", json!({ "action": "loops_forever" })).await;
    let page = browser.page("/console/calls").await;
    let actions = page.split("Actions, the slowest first").nth(1).unwrap();
    let at = |text: &str| actions.find(text).unwrap_or_else(|| panic!("no {text}: {actions}"));
    assert!(at("<code>misbehaves</code>") < at("<code>notes</code>"), "{actions}");
    assert!(actions.contains("capability_timeout"), "{actions}");
    assert!(browser.page("/console").await.contains("<code>misbehaves.loops_forever</code>"));
    // An address that registers again and again.
    for _ in 0..5 {
        let headers = [("content-type", "application/json"), ("x-forwarded-for", "203.0.113.9")];
        let body = json!({ "type": "anonymous" }).to_string();
        host.send(Method::POST, "/v1/agents/register", &headers, Some(body)).await;
    }
    let page = browser.page("/console/callers").await;
    let first = page.split("<li>").find(|entry| entry.contains("refused</span>")).unwrap();
    assert!(first.contains("203.0.113.9/32") && first.contains("registrations_per_hour"), "{page}");
    // A source that cannot be read.
    let mut files = edition("CC0-1.0");
    let index = files.get_mut("agent-index.json").unwrap();
    let mut changed: Value = serde_json::from_slice(index).unwrap();
    changed["sources"][0]["failing_since"] = changed["_meta"]["generated_at"].clone();
    let source = changed["sources"][0]["id"].as_str().unwrap().to_owned();
    *index = changed.to_string().into_bytes();
    publish(&host.folder.path().join("data/feeds"), &files, 2);
    host.wait_for_feeds("the feeds", |status| !status["in_force"].is_null()).await;
    let page = browser.page("/console/feeds").await;
    let row = page.split("<tr>").find(|row| row.contains("failing</span>"));
    assert!(row.is_some_and(|row| row.contains(&source)), "{page}");
    assert!(browser.page("/console").await.contains("that cannot be read: 1"));
    assert_eq!(host.get(INDEX_PATH).await.status, 200);
    // The commands tell the same.
    for (command, part) in [
        ("problems", "that cannot be read: 1"),
        ("calls", "misbehaves.loops_forever"),
        ("callers", "203.0.113.9/32"),
        ("sources", "failing since 20"),
        ("settings", "limits.registrations_per_hour = 3"),
        ("webhooks", "no webhook fails"),
    ] {
        let (succeeded, shown, error) = run(&host, &[], &[command]);
        assert!(succeeded && shown.contains(part), "{command}: {shown}{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_not_among_the_settings() {
    let secret = "a-token-of-the-configuration-0123456789";
    let configuration = format!("operator_token = \"{secret}\"\n");
    let host = Host::start(Options::with(&[]).configuration(&configuration)).await;
    let browser = Browser::signed_in(&host, secret).await;
    let page = browser.page("/console/settings").await;
    assert!(page.contains("set, and not shown") && page.contains("call_wall_time_ms"), "{page}");
    assert!(!page.contains(secret), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_are_reviewed_and_decided_from_the_console() {
    let host = reports::host(&[]).await;
    let (ada, ben) = (Person::new(&host).await, Person::new(&host).await);
    let id = ada.create_report(&ben.id, "abuse").await;
    let browser = Browser::signed_in(&host, &host.add_operator("cleo", "operate").await).await;
    let path = "/console/reports?test_mode=true";
    let page = browser.page(path).await;
    assert!(page.contains(&id) && page.contains("See for yourself."), "{page}");
    let note = [("note", "<b>looked at</b>")];
    let begin = format!("Begin the review of {id}, and notify the reporter");
    browser.press_with(path, &begin, &note).await;
    let page = browser.page(path).await;
    assert!(page.contains("&#60;b&#62;looked at"), "{page}");
    let decision = [("outcome", "dismissed"), ("explanation", "It was looked at with care.")];
    browser.press_with(path, &format!("Decide {id}"), &decision).await;
    assert!(!browser.page(path).await.contains(&id));
    let page = browser.page("/console/reports?test_mode=true&state=dismissed").await;
    assert!(page.contains(&id) && page.contains("It was looked at with care."), "{page}");
    // A person whom nobody has reported is suspended, and then reinstated.
    assert!(browser.page(path).await.contains("<option>steers_agents</option>"));
    let suspension = [
        ("owner_id", ada.id.as_str()),
        ("reason", "abuse"),
        ("explanation", "It was looked at with care."),
        ("ground", "rules"),
        ("basis", "The page safety-and-fairness"),
    ];
    let done = browser.press_with(path, "Suspend this person", &suspension).await;
    assert!(done.contains("The person is suspended."), "{done}");
    let actioned = "/console/reports?test_mode=true&state=actioned";
    let done = browser.press(actioned, "End the suspension now").await;
    assert!(done.contains("The suspension has ended."), "{done}");
    let rows = host.rows_of_operator("cleo").await;
    let made = |action: &str| rows.iter().any(|row| row["action"] == action);
    assert!(["triage", "decide", "suspend", "reinstate"].into_iter().all(made), "{rows:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_live_page_is_sent_again_when_it_has_changed() {
    let host = Host::with(&["notes"]).await;
    let browser = Browser::signed_in(&host, &host_token(&host)).await;
    let url = format!("{}/console/live/calls", host.admin_url);
    let cookie = format!("portolan_console={}", browser.cookie().unwrap());
    let mut response = host.client.get(url).header("cookie", &cookie).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut read = async |wanted: &str| {
        let mut text = String::new();
        while !text.contains(wanted) {
            let chunk = tokio::time::timeout(Duration::from_secs(30), response.chunk());
            text += &String::from_utf8_lossy(&chunk.await.unwrap().unwrap().unwrap());
        }
    };
    read("No action has run.").await;
    let agent = host.agent().await;
    agent.call("notes", json!({ "action": "get", "id": "none" })).await;
    read("<code>notes</code>").await;
    // The stream ends with the session.
    browser.press("/console", "Sign out").await;
    let ended = tokio::time::timeout(Duration::from_secs(30), async {
        while response.chunk().await.unwrap().is_some() {}
    });
    ended.await.unwrap();
}
