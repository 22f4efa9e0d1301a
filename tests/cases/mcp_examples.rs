//! The programs and configurations in examples/mcp, run and read as their readers do.

use crate::{
    cases::{clients::run_program_file, plugins::shipped},
    harness::{Host, Options, oauth},
};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};

const ENDPOINT: &str = "http://127.0.0.1:8080/mcp";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mcp")
}

/// Runs a program, and checks the result that it prints in its last line.
async fn succeeds(language: &str, program: &str) {
    let host = shipped().await;
    let printed = run_program_file(&host, language, &folder().join(program)).await;
    let printed_json: Value = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
    let capabilities = host.get("/v1/capabilities").await.body;
    assert_eq!(printed_json["tools"], capabilities["capabilities"].as_array().unwrap().len());
    assert!(printed_json["read"].as_str().unwrap().contains("claim"), "{printed_json}");
    assert_eq!(
        (&printed_json["refused"], &printed_json["written"]),
        (&json!("phone_binding_required"), &json!("Ada"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_in_python_reads_is_claimed_and_writes() {
    succeeds("python3", "agent.py").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_in_javascript_reads_is_claimed_and_writes() {
    succeeds("node", "agent.mjs").await;
}

/// Every configuration is JSON that names the endpoint of a host that has just been started, and every
/// client has one with a token and one without.
#[test]
fn configurations_name_the_endpoint() {
    let files = fs::read_dir(folder().join("configurations")).unwrap();
    let mut names: Vec<String> = files
        .map(|file| {
            let path = file.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let read: Value = serde_json::from_str(&text).unwrap();
            let servers = read.get("mcpServers").or_else(|| read.get("servers")).unwrap();
            let server = &servers["portolan"];
            let arguments = server["args"].as_array().into_iter().flatten();
            assert!(
                arguments.chain([&server["url"]]).any(|argument| argument == ENDPOINT),
                "{name}"
            );
            assert_eq!(text.contains("Authorization"), name.contains(".token."), "{name}");
            name.replace(".token", "")
        })
        .collect();
    names.sort();
    let clients = ["claude-code", "claude-desktop", "cursor", "generic", "vscode"];
    let twice = clients.iter().flat_map(|name| [format!("{name}.json"), format!("{name}.json")]);
    assert_eq!(names, twice.collect::<Vec<_>>());
}

/// Editors can register with the example's settings, and not without them.
#[tokio::test]
async fn editors_can_register() {
    let settings = fs::read_to_string(folder().join("portolan.toml")).unwrap();
    let known = Host::start(Options::default().configuration(&settings)).await;
    let unknown = Host::start(Options::default()).await;
    for addresses in [
        &[
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "https://www.cursor.com/agents/mcp/oauth/callback",
            "http://localhost:8787/callback",
        ][..],
        &[
            "https://insiders.vscode.dev/redirect",
            "https://vscode.dev/redirect",
            "http://127.0.0.1/",
            "http://127.0.0.1:33418/",
        ],
        &["https://claude.ai/api/mcp/auth_callback"],
    ] {
        let metadata = json!({
            "client_name": "An editor", "redirect_uris": addresses,
            "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        });
        assert_eq!(oauth::register(&known, metadata.clone()).await.status, 201, "{addresses:?}");
        let refused = oauth::register(&unknown, metadata).await;
        assert_eq!(refused.status, 400);
        assert_eq!(refused.body["error"], "invalid_redirect_uri");
    }
}
