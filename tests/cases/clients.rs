//! Clients by other authors and a browser, which know nothing of this host: the programs in
//! tests/clients.

use crate::{
    cases::plugins::shipped,
    harness::{Host, Options, binary},
};
use std::{
    fs::{self, File},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
    time::Duration,
};
use tokio::sync::Semaphore;

const LIMIT: Duration = Duration::from_secs(300);
/// The number of programs that run at once: a browser beside three others takes minutes.
static TURNS: Semaphore = Semaphore::const_new(2);

/// The folder of the clients' packages, which the first test that needs it installs.
pub fn clients_folder() -> &'static Path {
    static CLIENTS: OnceLock<PathBuf> = OnceLock::new();
    CLIENTS.get_or_init(|| {
        let made = Command::new(env!("CARGO")).args(["xtask", "clients"]).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        binary().parent().unwrap().parent().unwrap().join("clients")
    })
}

/// Runs one of the programs against a host of its own.
async fn run_program(language: &str, program: &str) {
    let host = Host::with(&["svc_phone_binding", "ledger", "faq_search"]).await;
    run_program_at(&host, language, program).await;
}

async fn run_program_at(host: &Host, language: &str, program: &str) {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients");
    run_program_file(host, language, &programs.join(program)).await;
}

/// Runs a program with the files beside it, and returns what it prints.
pub async fn run_program_file(host: &Host, language: &str, program: &Path) -> String {
    run_program_file_at(host, &host.url, language, program).await
}

/// Does the same as `run_program_file` at another address of the host.
pub async fn run_program_file_at(
    host: &Host,
    address: &str,
    language: &str,
    program: &Path,
) -> String {
    let installed = clients_folder();
    // Node.js looks for modules beside the program.
    let folder = host.folder.path().join("clients");
    fs::create_dir(&folder).unwrap();
    symlink(installed.join("node_modules"), folder.join("node_modules")).unwrap();
    let beside = fs::read_dir(program.parent().unwrap()).unwrap().map(|file| file.unwrap().path());
    for file in beside.filter(|path| path.is_file()) {
        fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
    }
    let output = folder.join("output");
    let written = File::create(&output).unwrap();
    let _turn = TURNS.acquire().await.unwrap();
    let mut child = tokio::process::Command::new(language)
        .arg(folder.join(program.file_name().unwrap()))
        .arg(address)
        .arg(host.folder.path().join("data/sms-outbox.jsonl"))
        .env("PYTHONPATH", installed.join("python"))
        .env("TMPDIR", &folder)
        .env("XDG_CONFIG_HOME", &folder)
        .env("XDG_CACHE_HOME", &folder)
        .stdout(written.try_clone().unwrap())
        .stderr(written)
        .kill_on_drop(true)
        .spawn()
        .unwrap_or_else(|error| panic!("{language}: {error}; run `cargo xtask clients`"));
    let ended = tokio::time::timeout(LIMIT, child.wait()).await;
    let succeeded = matches!(&ended, Ok(Ok(status)) if status.success());
    let output = String::from_utf8_lossy(&fs::read(output).unwrap()).into_owned();
    assert!(succeeded, "{}: {ended:?}\n{output}", program.display());
    output
}

#[tokio::test(flavor = "multi_thread")]
async fn oauth4webapi_completes_every_flow() {
    run_program("node", "oauth4webapi.mjs").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn openid_client_completes_every_flow() {
    run_program("node", "openid-client.mjs").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn authlib_completes_every_flow() {
    run_program("python3", "authlib_client.py").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_typescript_client_of_mcp_reads_is_claimed_and_writes() {
    run_program("node", "mcp.mjs").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_python_client_of_mcp_reads_is_claimed_and_writes() {
    run_program("python3", "mcp_client.py").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_inspector_of_mcp_finds_no_errors_in_the_tools_that_ship() {
    run_program_at(&shipped().await, "node", "inspector.mjs").await;
}

/// The part of the suite that needs no fixtures; the rest is in tests/conformance.
#[tokio::test(flavor = "multi_thread")]
async fn the_conformance_suite_of_mcp_passes_where_it_needs_no_fixtures() {
    run_program("node", "conformance.mjs").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_adds_and_uses_passkeys() {
    let options = Options::with(&["svc_phone_binding", "ledger"]);
    let options = options.configuration("public_url = \"http://portolan.test\"");
    run_program_at(&Host::start(options).await, "node", "passkey.mjs").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_works_the_pages_of_an_account() {
    run_program_at(&shipped().await, "node", "account.mjs").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_finishes_handoffs() {
    let configuration = format!("feeds_dir = {:?}", crate::harness::feeds::city().join("feeds"));
    let options = Options::with(&crate::cases::handoffs::CAPABILITIES);
    let host = Host::start(options.configuration(&configuration)).await;
    run_program_at(&host, "node", "handoff.mjs").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_works_the_page() {
    run_program("node", "browser.mjs").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_works_the_console() {
    // One component is refused, and one waits for a decision.
    let options = Options::with(&["svc_phone_binding", "ledger", "texter"]);
    let host = Host::start(
        options.configuration("rate_limits = \"on\"\n[telemetry]\nsample = 1.0\n[grants]\n"),
    )
    .await;
    host.drop_in("broken.wasm", b"not a component");
    host.wait_for_refusal("broken.wasm").await;
    let agent = host.claimed_agent().await;
    agent.call("ledger", serde_json::json!({ "action": "balance", "account": "none" })).await;
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients/console.mjs");
    run_program_file_at(&host, &host.admin_url, "node", &program).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_others_cannot_use_the_operators_address() {
    let host = Host::with(&["notes"]).await;
    let program =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients/console_hostile.mjs");
    run_program_file_at(&host, &host.admin_url, "node", &program).await;
}
