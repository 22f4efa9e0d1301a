//! Operators with tokens of their own: their roles, the ends of their tokens, and the wait after wrong ones.

use crate::harness::{
    Host, Options, PATIENCE, Reply,
    operators::{NOBODY, path_of, run},
    postgres,
};
use portolan_http::{OperatorRoute, operator_routes};
use portolan_vocabulary::{OPERATOR_ROLES, OperatorRole};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const HOUR: Duration = Duration::from_secs(3600);
const BEHIND_A_PROXY: &str = "trusted_proxies = [\"127.0.0.1/32\"]\n";

async fn status_of(host: &Host, token: &str) -> Reply {
    host.send_as(Some(token), &Method::GET, "/status").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_role_may_do_what_the_table_says() {
    let host = Host::with(&[]).await;
    let mut operators = vec![(None, None)];
    for row in OPERATOR_ROLES {
        let token = host.add_operator(&format!("{}.er", row.name), row.name).await;
        operators.push((Some(row.role), Some(token)));
    }
    for route in operator_routes() {
        for (role, token) in &operators {
            let path = path_of(&route);
            let reply = host.send_as(token.as_deref(), &route.method, &path).await;
            let what = format!("{} {path} as {role:?}: {}", route.method, reply.text);
            match (route.role, role) {
                (None, _) => assert_eq!(reply.status, 200, "{what}"),
                (Some(_), None) => {
                    assert_eq!(reply.status, 401, "{what}");
                    let challenge = reply.header("www-authenticate");
                    assert_eq!(challenge, "Bearer realm=\"operator\"", "{what}");
                }
                (Some(needed), Some(held)) if *held < needed => {
                    assert_eq!(reply.status, 403, "{what}");
                    assert_eq!(reply.body["error_code"], "not_permitted", "{what}");
                    let conflict = json!({ "kind": "role", "required": needed, "held": held });
                    assert_eq!(reply.body["conflict"], conflict, "{what}");
                    let message = reply.body["message"].as_str().unwrap();
                    assert!(message.contains(&format!("needs the role {needed}")), "{what}");
                }
                (Some(_), Some(_)) => {
                    assert!(![401, 403, 405, 500].contains(&reply.status.as_u16()), "{what}");
                    assert!(!reply.text.contains("There is nothing at this path."), "{what}");
                }
            }
        }
    }
    // A path that is no route is none for each of them, and nothing else passes for a route.
    let reader = operators[1].1.as_deref();
    for path in ["/nothing", "/audit/", "//audit", "/people/", "/Operators"] {
        let reply = host.send_as(reader, &Method::GET, path).await;
        assert_eq!(reply.status, 404, "{path}: {}", reply.text);
        assert_eq!(host.send_as(None, &Method::GET, path).await.status, 401, "{path}");
    }
    assert_eq!(host.send_as(reader, &Method::HEAD, "/audit").await.status, 200);
    let person = format!("/people/{NOBODY}");
    assert_eq!(host.send_as(reader, &Method::HEAD, &person).await.status, 403);
    host.send_as(reader, &Method::PUT, "/audit").await.assert_refused(405, "method_not_allowed");
}

#[test]
fn the_documentation_has_each_route_and_role() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let text = std::fs::read_to_string(format!("{folder}/../../docs/operations.md")).unwrap();
    let start = |route: &OperatorRoute| {
        let role = route.role.map_or("none", OperatorRole::name);
        let row = route.decision.map(|decision| format!("`{decision}`")).unwrap_or_default();
        format!("| `{} {}` | {role} | {row} |", route.method, route.path)
    };
    let table =
        text.lines().skip_while(|line| *line != "| request | role | row | answer |").skip(2);
    let lines: Vec<&str> = table.take_while(|line| line.starts_with('|')).collect();
    let routes = operator_routes();
    assert_eq!(lines.len(), routes.len());
    for (line, route) in lines.iter().zip(&routes) {
        assert!(line.starts_with(&start(route)), "{line} is not\n{}", start(route));
    }
    for row in OPERATOR_ROLES {
        let line = format!("| `{}` | {} |", row.name, row.purpose);
        assert!(text.contains(&line), "docs/operations.md needs the line\n{line}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_ends_by_itself_and_by_renewal_and_removal() {
    let host = Host::with(&[]).await;
    let admin = host.add_operator("root.of.all", "admin").await;
    let post = async |path: &str| host.send_as(Some(&admin), &Method::POST, path).await;
    for query in [
        "name=ada&role=read&days=0",
        "name=ada&role=read&days=366",
        "name=ada&role=owner",
        "name=Ada&role=read",
        "name=operator.token&role=read",
        "name=socket:root&role=read",
        "name=ada",
    ] {
        post(&format!("/operators?{query}")).await.assert_refused(400, "validation_failed");
    }
    let added = post("/operators?name=ada&role=operate&days=1").await;
    assert_eq!(added.status, 200, "{}", added.text);
    let first = added.body["token"].as_str().unwrap().to_owned();
    assert!(first.starts_with("ptl_op_") && first.len() == "ptl_op_".len() + 43, "{}", added.text);
    let again = post("/operators?name=ada&role=admin").await;
    again.assert_refused(409, "invalid_transition");
    assert!(host.database().texts_found(&[&first]).is_empty());

    let list = async || {
        let operators = host.operate("/operators").await.body["operators"].clone();
        let is_ada = |row: &&Value| row["name"] == "ada";
        operators.as_array().unwrap().iter().find(is_ada).cloned()
    };
    let row = list().await.unwrap();
    assert_eq!((&row["role"], &row["made_by"]), (&json!("operate"), &json!("root.of.all")));
    assert_eq!((&row["expired"], &row["last_used_on"]), (&json!(false), &json!(null)));
    assert!(row.get("token").is_none() && row.get("token_hash").is_none(), "{row:#}");
    assert_eq!(status_of(&host, &first).await.status, 200);
    assert_eq!(list().await.unwrap()["last_used_on"], host.clock.now().day());

    host.advance(25 * HOUR).await;
    let expired = status_of(&host, &first).await;
    expired.assert_refused(401, "token_expired");
    assert!(expired.text.contains("portolan operators renew ada"), "{}", expired.text);
    assert_eq!(list().await.unwrap()["expired"], true);

    let renewed = post("/operators/ada/renew?days=2").await;
    let second = renewed.body["token"].as_str().unwrap().to_owned();
    assert_eq!(status_of(&host, &second).await.status, 200);
    // The role is the one before, and the token before is no longer one.
    let people = format!("/people/{NOBODY}");
    let refused = host.send_as(Some(&second), &Method::GET, &people).await;
    assert_eq!(refused.body["conflict"]["held"], "operate", "{}", refused.text);
    status_of(&host, &first).await.assert_refused(401, "authentication_required");
    host.advance(25 * HOUR).await;
    assert_eq!(status_of(&host, &second).await.status, 200);
    assert_eq!(list().await.unwrap()["last_used_on"], host.clock.now().day());

    let removed = host.send_as(Some(&admin), &Method::DELETE, "/operators/ada").await;
    assert_eq!(removed.status, 200, "{}", removed.text);
    status_of(&host, &second).await.assert_refused(401, "authentication_required");
    assert_eq!(list().await, None);
    post("/operators/ada/renew").await.assert_refused(404, "not_found");
    let again = host.send_as(Some(&admin), &Method::DELETE, "/operators/ada").await;
    again.assert_refused(404, "not_found");
    // Without a number, a token ends after 90 days.
    host.advance(87 * 24 * HOUR).await;
    assert_eq!(status_of(&host, &admin).await.status, 200);
    host.advance(24 * HOUR).await;
    status_of(&host, &admin).await.assert_refused(401, "token_expired");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_removed_operator_is_refused_on_every_node() {
    let url = postgres::database().await;
    let one = Host::start(Options::with(&[]).postgres(&url)).await;
    let other = Host::start(Options::with(&[]).postgres(&url)).await;
    let token = one.add_operator("ada", "operate").await;
    for host in [&one, &other] {
        assert_eq!(status_of(host, &token).await.status, 200);
    }
    let removing = one.operator.delete(format!("{}/operators/ada", one.admin_url));
    assert_eq!(removing.send().await.unwrap().status(), 200);
    let removed_at = Instant::now();
    status_of(&one, &token).await.assert_refused(401, "authentication_required");
    while status_of(&other, &token).await.status == 200 {
        assert!(removed_at.elapsed() < PATIENCE, "the other node still takes the token");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(other.rows_of_operator("operator.token").await.len() >= 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_database_is_away_a_known_token_opens_the_metrics_only() {
    let mut server = postgres::Server::start(100);
    let options = Options::with(&[]).postgres(&server.database().await);
    let host = Host::start(options).await;
    let removed = host.add_operator("bo", "admin").await;
    let token = host.add_operator("prometheus", "read").await;
    let metrics = async |token: &str| host.send_as(Some(token), &Method::GET, "/metrics").await;
    assert_eq!(metrics(&removed).await.status, 200);
    let removing = host.operator.delete(format!("{}/operators/bo", host.admin_url));
    assert_eq!(removing.send().await.unwrap().status(), 200);
    let before = metrics(&token).await;
    assert!(before.text.contains("portolan_database_up 1"), "{}", before.text);

    server.kill();
    // Until then, the tokens count as just read.
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let known = metrics(&token).await;
    assert_eq!(known.status, 200, "{}", known.text);
    assert!(known.text.contains("portolan_database_up 0"), "{}", known.text);
    for path in ["/status", "/problems", "/audit", "/metrics/"] {
        let reply = host.send_as(Some(&token), &Method::GET, path).await;
        reply.assert_refused(503, "dependency_unavailable");
    }
    let posted = host.send_as(Some(&token), &Method::POST, "/metrics").await;
    posted.assert_refused(503, "dependency_unavailable");
    metrics(&removed).await.assert_refused(401, "authentication_required");
    metrics("ptl_op_x").await.assert_refused(401, "authentication_required");
    host.clock.advance(91 * 24 * HOUR);
    metrics(&token).await.assert_refused(401, "token_expired");
    server.start_again();
    server.ready().await;
}

/// Waits until these many rows have this outcome of a refused operator, and returns their counts, the oldest
/// first.
async fn refusals(host: &Host, outcome: &str, rows: usize) -> Vec<u64> {
    let (started, socket) = (Instant::now(), host.folder.path().join("data/operator.sock"));
    let client = reqwest::Client::builder().unix_socket(socket).build().unwrap();
    let url =
        format!("http://localhost/audit?limit=1000&action=auth:operator_refused&outcome={outcome}");
    loop {
        let reply = Reply::read(client.get(&url).send().await.unwrap()).await;
        let found = reply.body["entries"].as_array().unwrap();
        if found.len() >= rows {
            assert!(found.iter().all(|row| row["address"] == "127.0.0.1"), "{}", reply.text);
            return found.iter().rev().map(|row| row["count"].as_u64().unwrap()).collect();
        }
        assert!(started.elapsed() < PATIENCE, "{rows} rows of {outcome}: {}", reply.text);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_tokens_have_to_wait_and_the_socket_does_not() {
    let host = Host::start(Options::with(&[]).configuration(BEHIND_A_PROXY)).await;
    let token = host.add_operator("ada", "admin").await;
    for number in 0..5 {
        let wrong = format!("ptl_op_{number}");
        status_of(&host, &wrong).await.assert_refused(401, "authentication_required");
    }
    // From this address, each token has to wait now: a wrong one, Ada's, and that of the host.
    for _ in 0..10 {
        let reply = status_of(&host, "ptl_op_x").await;
        reply.assert_refused(429, "rate_limited");
        assert_eq!(reply.header("retry-after"), "1");
    }
    status_of(&host, &token).await.assert_refused(429, "rate_limited");
    host.operate("/status").await.assert_refused(429, "rate_limited");
    // The socket does not wait, another address does not, and a probe needs no token.
    let (succeeded, _, error) = run(&host, &[], &["catalog"]);
    assert!(succeeded, "{error}");
    let elsewhere = host.operator.get(format!("{}/status", host.admin_url));
    let elsewhere = elsewhere.header("x-forwarded-for", "192.0.2.7").send().await.unwrap();
    assert_eq!(elsewhere.status(), 200);
    assert_eq!(host.send_as(None, &Method::GET, "/readyz").await.status, 200);

    assert_eq!(refusals(&host, "token_invalid", 1).await, [1]);
    assert_eq!(refusals(&host, "slow_down", 1).await, [1]);
    host.advance(Duration::from_secs(61)).await;
    assert_eq!(refusals(&host, "token_invalid", 2).await, [1, 4]);
    assert_eq!(refusals(&host, "slow_down", 2).await, [1, 11]);
    // The right token ends the count.
    assert_eq!(status_of(&host, &token).await.status, 200);
    for _ in 0..5 {
        assert_eq!(status_of(&host, "ptl_op_x").await.status, 401);
    }
    assert_eq!(status_of(&host, "ptl_op_x").await.header("retry-after"), "1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_adds_renews_and_removes_operators() {
    let host = Host::with(&["notes"]).await;
    let (_, shown, _) = run(&host, &[], &["operators"]);
    assert!(shown.contains("no operator has a token of their own"), "{shown}");
    let (succeeded, token, error) = run(&host, &[], &["operators", "add", "ada", "--role", "read"]);
    assert!(succeeded && error.contains("the token of ada, for 90 days"), "{error}");
    let (succeeded, _, error) = run(&host, &[], &["operators", "add", "bo", "--role", "owner"]);
    assert!(!succeeded && error.contains("read, operate, admin"), "{error}");

    let elsewhere = |token: &str, arguments: &[&str]| {
        let environment = [("PORTOLAN_OPERATOR_TOKEN", token.trim())];
        run(&host, &environment, &[arguments, &["--admin-url", &host.admin_url]].concat())
    };
    let (succeeded, shown, error) = elsewhere(&token, &["catalog"]);
    assert!(succeeded && shown.contains("notes"), "{error}");
    let (succeeded, _, error) = elsewhere(&token, &["timers", "notes", "--drop"]);
    assert!(
        !succeeded && error.contains("This needs the role operate, and yours is read."),
        "{error}"
    );

    let (_, renewed, error) = run(&host, &[], &["operators", "renew", "ada", "--days", "7"]);
    assert!(error.contains("for 7 days") && renewed != token, "{error}");
    let (succeeded, _, error) = elsewhere(&token, &["catalog"]);
    assert!(!succeeded && error.contains("no operator's token"), "{error}");
    assert!(elsewhere(&renewed, &["catalog"]).0);
    let (_, shown, _) = run(&host, &[], &["operators"]);
    let today = host.clock.now().day();
    for part in
        ["ada ", " read ", "made by socket:", "expires at", &format!("last used on {today}")]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let (_, shown, _) = run(&host, &[], &["operators", "--json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["operators"][0]["name"], "ada", "{shown:#}");
    let (succeeded, shown, error) = run(&host, &[], &["operators", "remove", "ada"]);
    assert!(succeeded && shown.contains("ada is removed"), "{error}");
    assert!(!elsewhere(&renewed, &["catalog"]).0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_routes_have_no_page_and_take_no_cookie() {
    let host = Host::with(&[]).await;
    let token = host.add_operator("ada", "admin").await;
    for route in operator_routes().iter().filter(|route| route.method == Method::GET) {
        let path = path_of(route);
        let reply = host.send_as(Some(&token), &Method::GET, &path).await;
        let media_type = reply.header("content-type");
        assert!(!media_type.contains("html") && !media_type.is_empty(), "{path}: {media_type}");
        assert_eq!(reply.header("set-cookie"), "", "{path}");
    }
    let cookie =
        format!("token={token}; operator={token}; session={token}; portolan_console={token}");
    let request = host.client.get(format!("{}/audit", host.admin_url)).header("cookie", cookie);
    let reply = Reply::read(request.send().await.unwrap()).await;
    reply.assert_refused(401, "authentication_required");
}
