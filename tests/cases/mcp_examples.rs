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
    let listed = printed_json["tools"].as_u64().unwrap();
    assert!((5..=14).contains(&listed), "{printed_json}");
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

/// Editors and assistants register at a fresh host as they are known to, unless the operator forbids it.
#[tokio::test]
async fn editors_and_assistants_can_register() {
    let fresh = Host::start(Options::default()).await;
    let closed = Host::start(Options::default().configuration("known_clients = false\n")).await;
    for (client, addresses, own) in [
        ("ChatGPT", &["https://chatgpt.com/connector_platform_oauth_redirect"][..], 0),
        ("Claude", &["https://claude.ai/api/mcp/auth_callback"], 0),
        ("Claude Code (portolan)", &["http://localhost:53682/callback"], 1),
        (
            "Cursor",
            &[
                "cursor://anysphere.cursor-mcp/oauth/callback",
                "https://www.cursor.com/agents/mcp/oauth/callback",
                "http://localhost:8787/callback",
            ],
            1,
        ),
        (
            "MCP Inspector",
            &["http://localhost:6274/oauth/callback", "http://localhost:6274/oauth/callback/debug"],
            2,
        ),
        (
            "Visual Studio Code",
            &[
                "https://insiders.vscode.dev/redirect",
                "https://vscode.dev/redirect",
                "http://127.0.0.1/",
                "http://127.0.0.1:33418/",
            ],
            2,
        ),
    ] {
        let metadata = json!({
            "client_name": client, "redirect_uris": addresses, "application_type": "native",
            "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        });
        let registered = oauth::register(&fresh, metadata.clone()).await;
        assert_eq!(
            (registered.status.as_u16(), &registered.body["redirect_uris"]),
            (201, &json!(addresses))
        );
        // Addresses on the person's own machine remain.
        let registered = oauth::register(&closed, metadata).await;
        let kept = &addresses[addresses.len() - own..];
        match own {
            0 => assert_eq!(registered.body["error"], "invalid_redirect_uri", "{client}"),
            _ => assert_eq!(registered.body["redirect_uris"], json!(kept), "{client}"),
        }
    }
}
