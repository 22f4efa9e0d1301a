//! The guides, the errors, the snippets and the trials of the reference.

use crate::{
    cases::{clients::run_program_file, plugins::shipped},
    harness::{Host, Options},
};
use portolan_vocabulary::ErrorCode;
use scraper::{Html, Selector};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
};

const BROWSER: (&str, &str) = ("accept", "text/html");
const GUIDES: [&str; 7] = ["api", "feeds", "glossary", "map", "mcp", "operations", "plugin-guide"];

async fn page(host: &Host, path: &str) -> Html {
    let answer = host.fetch(path, &[BROWSER]).await;
    assert_eq!(answer.status, 200, "{path}");
    Html::parse_document(str::from_utf8(&answer.bytes).unwrap())
}

fn found(html: &Html, selector: &str) -> Vec<String> {
    let selector = Selector::parse(selector).unwrap();
    html.select(&selector).map(|element| element.text().collect()).collect()
}

fn attributes(html: &Html, selector: &str, name: &str) -> Vec<String> {
    let selector = Selector::parse(selector).unwrap();
    let found = html.select(&selector).filter_map(|element| element.attr(name));
    found.map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_link_of_the_guides_leads_somewhere() {
    let host = shipped().await;
    let list = page(&host, "/docs").await;
    let listed: BTreeSet<_> = attributes(&list, ".doors a", "href").into_iter().collect();
    let mut pages: BTreeMap<String, Html> = BTreeMap::new();
    for name in GUIDES {
        let path = format!("/docs/guides/{name}");
        assert!(listed.contains(&path), "{path} is not in the list: {listed:?}");
        pages.insert(path.clone(), page(&host, &path).await);
    }
    let mut count = 0;
    for (path, html) in &pages {
        assert_eq!(found(html, "h1").len(), 1, "{path}");
        assert!(found(html, ".guide").concat().len() > 1000, "{path}");
        let ids = attributes(html, "[id]", "id");
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "an id is there twice");
        for link in attributes(html, "a", "href") {
            let (target, fragment) = link.split_once('#').unwrap_or((&link, ""));
            let target = if target.is_empty() { path } else { target };
            if target.starts_with("https://") || target == "/account" {
                continue;
            }
            assert!(target.starts_with('/'), "{link} of {path}");
            match pages.get(target) {
                Some(html) if !fragment.is_empty() => {
                    let ids = attributes(html, "[id]", "id");
                    assert!(ids.iter().any(|id| id == fragment), "{link} of {path}");
                }
                _ => assert_eq!(host.fetch(target, &[BROWSER]).await.status, 200, "{link}"),
            }
            count += 1;
        }
        for element in ["script", "style", "img", "[style]", "[onclick]"] {
            assert_eq!(found(html, element).len(), 0, "{element} on {path}");
        }
    }
    assert!(count > 100, "only {count} links");
    // Examples are requests to this host.
    let api = found(&pages["/docs/guides/api"], "pre").concat();
    assert!(api.contains(&host.url) && !api.contains("http://127.0.0.1:8080/"), "{api}");
    assert_eq!(host.fetch("/docs/guides/nothing", &[BROWSER]).await.status, 404);
    assert_eq!(host.fetch("/docs/guides/..%2FREADME", &[BROWSER]).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_error_code_has_an_anchor_and_advice() {
    let host = Host::with(&["notes"]).await;
    let html = page(&host, "/docs/errors").await;
    let ids = attributes(&html, "tr[id]", "id");
    let names: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(ids, names);
    let advice = found(&html, "tbody td:last-child");
    assert!(advice.iter().all(|text| text.len() > 10 && !text.contains('`')), "{advice:?}");
    // A failure leads a person to its row.
    let answer = host.fetch("/nowhere", &[BROWSER]).await;
    let failure = Html::parse_document(str::from_utf8(&answer.bytes).unwrap());
    let links = attributes(&failure, ".facts a", "href");
    assert_eq!(links, ["/docs/errors#not_found"]);
    let front = attributes(&page(&host, "/").await, "a", "href");
    for wanted in ["/docs/errors", "/docs/connect", "/status", "/docs/guides/api"] {
        assert!(front.iter().any(|link| link == wanted), "{wanted}: {front:?}");
    }
}

/// Returns the names in a list of a transition.
fn names(transition: &Value, list: &str) -> Vec<String> {
    let names = transition[list].as_array().unwrap().iter();
    names.map(|name| name.as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_machine_is_drawn_with_an_arrow_for_each_change() {
    let host = Host::with(&["agent_listings"]).await;
    let schema = host.fetch("/v1/capabilities/agent_listings/schema", &[]).await.json();
    let [machine] = &schema["x-state-machines"].as_array().unwrap()[..] else { panic!("one") };
    let (mut changes, mut actions) = (BTreeSet::new(), BTreeSet::new());
    for transition in machine["transitions"].as_array().unwrap() {
        actions.insert(transition["action"].as_str().unwrap());
        let (mut from, to) = (names(transition, "from"), names(transition, "to"));
        if from.is_empty() {
            from.push("new".to_owned());
        }
        for start in from {
            let ends = if to.is_empty() { vec![start.clone()] } else { to.clone() };
            changes.extend(ends.into_iter().map(|end| (start.clone(), end)));
        }
    }
    let html = page(&host, "/docs/agent_listings").await;
    assert_eq!(attributes(&html, ".states svg", "role"), ["img"]);
    let drawn: BTreeSet<String> = found(&html, ".states .state").into_iter().collect();
    let mut declared: BTreeSet<String> = names(machine, "states").into_iter().collect();
    declared.insert("new".to_owned());
    assert_eq!(drawn, declared);
    for part in ["line", "head"] {
        let count = attributes(&html, &format!(".states path.{part}"), "d").len();
        assert_eq!(count, changes.len(), "{part}");
    }
    let texts = found(&html, ".states text:not(.state)").join(" ");
    let missing: Vec<_> = actions.iter().filter(|action| !texts.contains(**action)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    // The table below says the same to those who do not see the drawing.
    assert!(found(&html, ".states + table td code").len() >= actions.len());
    assert_eq!(attributes(&html, "[style]", "style"), Vec::<String>::new());
}

/// Asserts that a program finds no fault in a file with this text.
fn assert_parses(program: &[&str], name: &str, text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let output = Command::new(program[0]).args(&program[1..]).arg(&path).output().unwrap();
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_snippet_of_the_shipped_capabilities_parses() {
    let host = shipped().await;
    let catalog = host.fetch("/v1/capabilities", &[]).await.json();
    let (mut python, mut script) = (String::new(), String::new());
    for entry in catalog["capabilities"].as_array().unwrap() {
        let html = page(&host, &format!("/docs/{}", entry["id"].as_str().unwrap())).await;
        let actions = entry["actions"].as_array().unwrap().len();
        let snippets = found(&html, ".action details pre");
        assert_eq!(snippets.len(), 2 * actions, "{}", entry["id"]);
        for pair in snippets.chunks(2) {
            python += &format!("{}\n\n", pair[0]);
            // Each is a module of its own; as one, they must not declare their names twice.
            let body = pair[1].replace("export {};", "");
            script += &format!("async () => {{\n{body}\n}};\n");
        }
        for input in found(&html, "form.try textarea") {
            assert!(serde_json::from_str::<Value>(&input).unwrap().is_object(), "{input}");
        }
    }
    assert!(python.len() > 10_000);
    assert_parses(&["python3", "-m", "py_compile"], "calls.py", &python);
    assert_parses(&["node", "--check"], "calls.mjs", &script);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_snippets_work_when_they_are_pasted() {
    let host = Host::with(&["faq_search"]).await;
    let agent = host.agent().await;
    let html = page(&host, "/docs/faq_search").await;
    let snippets = found(&html, ".action details pre");
    for (program, flags, text) in [
        ("python3", &["-c"][..], &snippets[0]),
        ("node", &["--input-type=module", "-e"], &snippets[1]),
    ] {
        let mut command = Command::new(program);
        let output = command.args(flags).arg(text).env("TOKEN", &agent.token).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && printed.contains("items"), "{output:?}\n{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_client_of_mcp_is_connected_by_a_valid_text() {
    let host = Host::with(&[]).await;
    let html = page(&host, "/docs/connect").await;
    let text = |id: &str| found(&html, &format!("#{id} pre")).pop().unwrap();
    let address = format!("{}/mcp", host.url);
    let json = |id: &str| serde_json::from_str::<Value>(&text(id)).unwrap();
    assert_eq!(json("cursor")["mcpServers"]["portolan"]["url"], address);
    assert_eq!(json("vs-code")["servers"]["portolan"]["url"], address);
    assert_eq!(json("claude-desktop")["mcpServers"]["portolan"]["args"][2], address);
    let codex: toml::Table = text("codex").parse().unwrap();
    assert_eq!(codex["mcp_servers"]["portolan"]["url"].as_str(), Some(&*address));
    assert_eq!(text("chatgpt"), address);
    assert_parses(&["sh", "-n"], "claude-code.sh", &text("claude-code"));
    assert!(text("claude-code").contains(&address));
}

async fn run_in_browser(host: &Host, program: &str) {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients");
    run_program_file(host, "node", &programs.join(program)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn actions_are_tried_in_a_browser() {
    run_in_browser(&Host::with(&["faq_search", "ledger", "notes"]).await, "try.mjs").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_is_told_when_it_has_tried_too_often() {
    let limits = "rate_limits = \"on\"\n[limits]\nregistrations_per_hour = 1\n";
    let options = Options::with(&["faq_search"]).configuration(limits);
    run_in_browser(&Host::start(options).await, "try_limits.mjs").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_can_read_the_pages_of_failures() {
    let limits = "rate_limits = \"on\"\n[limits]\npage_work_ms_per_hour = 30\n";
    let host = Host::start(Options::default().configuration(limits)).await;
    run_in_browser(&host, "failures.mjs").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_can_read_the_public_pages() {
    run_in_browser(&shipped().await, "site.mjs").await;
}
