//! Access to the operator's address: clients with the token over TCP, this user over the socket,
//! and no page of another origin.

use crate::harness::{Host, Options, Process, Reply, command, inbox::Reader, operators::path_of};
use portolan_http::operator_routes;
use reqwest::{Client, Method, header};
use serde_json::json;
use std::{
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Output, Stdio},
};

fn run(folder: &Path, environment: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = command(folder);
    let environment = environment.iter().copied();
    command.envs(environment).stderr(Stdio::piped()).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

async fn send(client: &Client, method: &Method, url: &str, headers: &[(&str, &str)]) -> Reply {
    let mut request = client.request(method.clone(), url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    Reply::read(request.send().await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_but_the_probes_requires_the_token() {
    let host = Host::with(&["notes"]).await;
    for path in ["/startupz", "/healthz", "/readyz"] {
        let url = format!("{}{path}", host.admin_url);
        assert_eq!(send(&host.client, &Method::GET, &url, &[]).await.status, 200, "{path}");
    }
    let ready = send(&host.client, &Method::GET, &format!("{}/readyz", host.admin_url), &[]).await;
    let members: Vec<_> = ready.body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["ready", "reasons", "warnings", "checked_at", "age_s"], "nothing else");
    for route in operator_routes().iter().filter(|route| route.role.is_some()) {
        let (method, path) = (&route.method, path_of(route));
        let url = format!("{}{path}", host.admin_url);
        for authorization in ["", "Bearer", "Bearer x", "Basic cG9ydG9sYW46eA=="] {
            let reply = send(&host.client, method, &url, &[("authorization", authorization)]).await;
            reply.assert_refused(401, "authentication_required");
            assert_eq!(reply.header("www-authenticate"), "Bearer realm=\"operator\"", "{path}");
        }
        // The right token ends the count of wrong ones.
        assert_eq!(host.operate("/status").await.status, 200);
    }
    // Neither the token of an agent nor the name of a probe in a query opens a route.
    let agent = host.claimed_agent().await;
    let bearer = format!("Bearer {}", agent.token);
    let audit = format!("{}/audit?path=/healthz", host.admin_url);
    let reply = send(&host.client, &Method::GET, &audit, &[("authorization", &bearer)]).await;
    reply.assert_refused(401, "authentication_required");
    assert_eq!(host.operate("/audit").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_cannot_use_the_address_even_with_the_token() {
    let host = Host::with(&["notes"]).await;
    for route in operator_routes() {
        let (method, url) = (&route.method, format!("{}{}", host.admin_url, path_of(&route)));
        for header in [
            ("host", "attacker.example:8081"),
            ("origin", "https://attacker.example"),
            ("origin", "null"),
            ("origin", host.url.as_str()),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            let reply = send(&host.operator, method, &url, &[header]).await;
            reply.assert_refused(403, "not_permitted");
            assert_eq!(reply.header(header::ACCESS_CONTROL_ALLOW_ORIGIN.as_str()), "");
        }
    }
    // The preflight of a page gets no permission either.
    let preflight = [
        ("origin", "https://attacker.example"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization"),
    ];
    let url = format!("{}/keys/rotate", host.admin_url);
    let reply = send(&host.client, &Method::OPTIONS, &url, &preflight).await;
    reply.assert_refused(403, "not_permitted");
    let own = [("origin", host.admin_url.as_str()), ("sec-fetch-site", "same-origin")];
    assert_eq!(send(&host.operator, &Method::POST, &url, &own).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_names_of_the_address_are_configured() {
    let configuration = "operator_hosts = [\"portolan.internal\"]\n";
    let host = Host::start(Options::with(&["notes"]).configuration(configuration)).await;
    let url = format!("{}/catalog", host.admin_url);
    for (name, status) in [
        ("portolan.internal:8081", 200),
        ("localhost:1", 200),
        ("[::1]:8081", 200),
        ("portolan", 403),
    ] {
        let reply = send(&host.operator, &Method::GET, &url, &[("host", name)]).await;
        assert_eq!(reply.status.as_u16(), status, "{name}: {}", reply.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_needs_no_token_on_the_host_of_its_user() {
    let host = Host::with(&["notes"]).await;
    let folder = host.folder.path();
    let data = folder.join("data");
    for name in ["operator.sock", "operator.token"] {
        let mode = std::fs::metadata(data.join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let output = run(folder, &[], &["catalog"]);
    assert!(text(&output.stdout).contains("notes"), "{}", text(&output.stderr));
    // From another folder, the command finds the socket through the data folder.
    let elsewhere = tempfile::TempDir::new().unwrap();
    let output = run(elsewhere.path(), &[], &["catalog", "--data-dir", data.to_str().unwrap()]);
    assert!(text(&output.stdout).contains("notes"), "{}", text(&output.stderr));
    // Over TCP, the command uses the token in the data folder or the environment.
    let address = ["catalog", "--admin-url", &host.admin_url];
    let output = run(folder, &[], &address);
    assert!(text(&output.stdout).contains("notes"), "{}", text(&output.stderr));
    let output = run(elsewhere.path(), &[], &address);
    assert!(text(&output.stderr).contains("operator.token"), "{}", text(&output.stderr));
    let token = std::fs::read_to_string(data.join("operator.token")).unwrap();
    let output = run(elsewhere.path(), &[("PORTOLAN_OPERATOR_TOKEN", token.trim())], &address);
    assert!(text(&output.stdout).contains("notes"), "{}", text(&output.stderr));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotated_token_is_refused_at_once() {
    let host = Host::with(&["notes"]).await;
    let folder = host.folder.path();
    let output = run(folder, &[], &["operator-token", "rotate"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let token = text(&output.stdout);
    host.operate("/catalog").await.assert_refused(401, "authentication_required");
    let url = format!("{}/catalog", host.admin_url);
    let bearer = format!("Bearer {}", token.trim());
    let reply = send(&host.client, &Method::GET, &url, &[("authorization", &bearer)]).await;
    assert_eq!(reply.status, 200);
    let kept = std::fs::read_to_string(folder.join("data/operator.token")).unwrap();
    assert_eq!(kept, token);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configured_token_is_changed_in_the_configuration() {
    let token = "a-token-of-the-configuration-0123456789";
    let configuration = format!("operator_token = \"{token}\"\n");
    let host = Host::start(Options::with(&["notes"]).configuration(&configuration)).await;
    assert!(!host.folder.path().join("data/operator.token").exists());
    let url = format!("{}/token/rotate", host.admin_url);
    let bearer = format!("Bearer {token}");
    let reply = send(&host.client, &Method::POST, &url, &[("authorization", &bearer)]).await;
    reply.assert_refused(409, "invalid_transition");
    assert!(reply.text.contains("PORTOLAN_OPERATOR_TOKEN"), "{}", reply.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_never_reach_the_operators_address() {
    let configuration = "reachable_networks = [\"127.0.0.0/8\", \"::1/128\"]\n";
    let options = Options::with(&["herald", "svc_events", "svc_webhooks"]);
    let host = Host::start(options.configuration(configuration)).await;
    let reader = Reader::claimed(&host).await;
    let port = host.admin_url.rsplit(':').next().unwrap();
    for name in ["127.0.0.1", "localhost", "[::1]", "127.1", "host.internal"] {
        let url = format!("http://{name}:{port}/keys/rotate");
        let create = json!({ "action": "create", "url": url });
        reader.agent.call("svc.webhooks", create).await.assert_refused(400, "url_not_allowed");
    }
    // The same address with the port for agents is allowed.
    let create = json!({ "action": "create", "url": format!("{}/in", host.url) });
    assert_eq!(reader.agent.call("svc.webhooks", create).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_host_does_not_take_the_socket_of_the_first() {
    let host = Process::with(&["notes"]);
    let folder = host.folder.path();
    let other = folder.join("other");
    std::fs::create_dir(&other).unwrap();
    let database = format!("sqlite://{}", other.join("portolan.db").display());
    let data = folder.join("data");
    let second = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--admin-listen",
        "127.0.0.1:0",
        "--data-dir",
        data.to_str().unwrap(),
        "--database-url",
        &database,
    ];
    let output = run(&other, &[], &second);
    assert!(!output.status.success());
    let message = text(&output.stderr);
    assert!(message.contains("another host answers at"), "{message}");
    let output = run(folder, &[], &["catalog"]);
    assert!(text(&output.stdout).contains("notes"), "{}", text(&output.stderr));

    // After a crash, the next host takes the place of the socket that was left behind.
    host.signal("KILL");
    let (_, folder) = host.wait();
    assert!(folder.path().join("data/operator.sock").exists());
    let again = Process::start_in(folder);
    let output = run(again.folder.path(), &[], &["catalog"]);
    assert!(text(&output.stdout).contains("notes"), "{}", text(&output.stderr));
    // A host that stops removes its socket.
    again.signal("TERM");
    let (status, folder) = again.wait();
    assert!(status.success());
    assert!(!folder.path().join("data/operator.sock").exists());
}
