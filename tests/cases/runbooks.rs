//! The runbooks of docs/operations.md, followed line by line: each command succeeds, and the fault is over.

use crate::{
    cases::doctor::diagnose,
    harness::{Agent, Options, Process, component, options::binary, patched},
};
use serde_json::{Value, json};
use std::{os::unix::fs::PermissionsExt as _, path::Path, process::Command};
use tempfile::TempDir;

/// Returns a file of the workspace.
fn file(name: &str) -> String {
    let folder = env!("CARGO_MANIFEST_DIR");
    std::fs::read_to_string(format!("{folder}/../../{name}")).unwrap()
}

/// Returns the blocks of commands of a runbook. In each, `&&` joins those that need the one before.
fn blocks(runbook: &str) -> Vec<Vec<String>> {
    let text = file("docs/operations.md");
    let section = text.split_once(&format!("\n### {runbook}\n")).unwrap().1;
    let section = section.split("\n##").next().unwrap();
    let lines = |block: &str| -> Vec<String> {
        let block = block.split_once("```").unwrap().0;
        block.lines().map(|line| line.trim_end_matches(" &&").to_owned()).collect()
    };
    section.split("```sh\n").skip(1).map(lines).collect()
}

/// Returns the first block of commands of a runbook.
fn commands(runbook: &str) -> Vec<String> {
    blocks(runbook).swap_remove(0)
}

/// Returns a command of the package as one for a host of this user, whose files are all in a folder.
fn without_package(folder: &Path, line: &str) -> String {
    let folder = folder.display().to_string();
    line.replace("portolan-admin ", "portolan ")
        .replace("-o portolan -g portolan ", "")
        .replace("/opt/portolan/", &format!("{folder}/opt/"))
        .replace("/srv/", &format!("{folder}/"))
        .replace("/var/lib/portolan/", &format!("{folder}/"))
}

/// Runs a command as an operator types it.
fn shell(folder: &Path, line: &str) -> String {
    let line = &without_package(folder, line);
    let programs = std::env::var("PATH").unwrap();
    let path = format!("{}:{programs}", binary().parent().unwrap().display());
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", line]).current_dir(folder).env("PATH", path).output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{line}: {text}");
    text
}

/// Follows a runbook, with `systemctl` done by hand. Returns the host and what was printed.
fn follow(runbook: &str, host: Process) -> (Process, String) {
    let (mut running, mut folder, mut printed) = (Some(host), None, String::new());
    for line in commands(runbook) {
        match line.as_str() {
            "systemctl stop portolan" => {
                let host = running.take().unwrap();
                host.signal("TERM");
                let (status, left) = host.wait();
                assert!(status.success());
                folder = Some(left);
            }
            "systemctl start portolan" => {
                running = Some(Process::start_in(folder.take().unwrap()));
            }
            // The program of the tests is the new version.
            "apt install /opt/portolan/portolan.deb" => {}
            "systemctl reload portolan" => running.as_ref().unwrap().signal("HUP"),
            line => {
                let at = running.as_ref().map(|host| host.folder.path());
                printed +=
                    &shell(at.or(folder.as_ref().map(|folder| folder.path())).unwrap(), line);
            }
        }
    }
    (running.unwrap(), printed)
}

fn put(id: &str) -> Value {
    json!({ "action": "put", "id": id, "note": { "title": "a title", "body": "" } })
}

async fn has(agent: &Agent<'_>, id: &str) -> bool {
    agent.call("notes", json!({ "action": "get", "id": id })).await.status == 200
}

fn is_sound(host: &Process) {
    let diagnosis = diagnose(host.folder.path(), &[], &[]);
    assert!(diagnosis.success, "{:#}", diagnosis.found);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_is_installed_with_the_package() {
    // The package starts the service.
    let host = Process::with(&["notes"]);
    let root = host.folder.path().join("opt");
    std::fs::create_dir(&root).unwrap();
    let (host, printed) = follow("Install", host);
    assert!(printed.contains("notes"), "{printed}");
    assert!(printed.contains("the host is running and ready"), "{printed}");
    let kept = root.join("secret.keys.copy");
    let used = host.folder.path().join("data/secret.keys");
    assert_eq!(std::fs::read(&kept).unwrap(), std::fs::read(used).unwrap());
    assert_eq!(std::fs::metadata(kept).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_is_installed_with_the_program_alone() {
    let folder = TempDir::new().unwrap();
    let shipped = folder.path().join("opt/catalog");
    std::fs::create_dir_all(&shipped).unwrap();
    std::fs::write(shipped.join("greeter.wasm"), component("greeter")).unwrap();
    let mut lines = blocks("Install").swap_remove(2);
    assert_eq!(lines.pop().unwrap(), "portolan serve");
    let printed: String = lines.iter().map(|line| shell(folder.path(), line)).collect();
    assert!(printed.contains("the configuration is valid"), "{printed}");
    let host = Process::start_in(folder);
    let served = host.status().await["loaded"].clone();
    assert_eq!(served[0]["id"], "greeter", "{served:#}");
    is_sound(&host);
}

#[test]
fn the_commands_for_the_image_agree_with_its_description() {
    let all = blocks("Install");
    let [build, run, doctor] = &all[1][..] else { panic!("not three commands: {all:?}") };
    let container = file("packaging/Containerfile");
    let described = |line: &str| container.lines().any(|found| found == line);
    assert!(build.contains(" --file dist/image/Containerfile dist/image"), "{build}");
    assert!(run.contains(" --read-only ") && run.ends_with(" portolan"), "{run}");
    assert!(run.contains(" --volume portolan:/data ") && described("VOLUME /data"), "{run}");
    assert!(run.contains(" --publish 8080:8080 ") && described("EXPOSE 8080 8081"), "{run}");
    assert!(container.contains("PORTOLAN_LISTEN=0.0.0.0:8080 "), "{container}");
    let program = "/usr/bin/portolan";
    assert_eq!(*doctor, format!("docker exec portolan {program} doctor"));
    assert!(described(&format!("ENTRYPOINT [\"{program}\"]")), "{container}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_database_is_restored() {
    let host = Process::with(&["notes"]);
    host.claimed_agent().await.result("notes", put("before")).await;
    std::fs::create_dir(host.folder.path().join("opt")).unwrap();
    shell(host.folder.path(), "portolan-admin backup /opt/portolan/backup.db");
    host.claimed_agent().await.result("notes", put("after")).await;
    let (host, printed) = follow("Restore", host);
    assert!(printed.contains("the host is running and ready"), "{printed}");
    let agent = host.claimed_agent().await;
    assert!(has(&agent, "before").await && !has(&agent, "after").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_key_is_put_back() {
    let host = Process::with(&["notes"]);
    let data = host.folder.path().join("data");
    let root = host.folder.path().join("opt");
    std::fs::create_dir(&root).unwrap();
    std::fs::rename(data.join("secret.keys"), root.join("secret.keys.copy")).unwrap();
    assert!(!diagnose(host.folder.path(), &[], &[]).success);
    let (host, _) = follow("Lost key", host);
    is_sound(&host);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn compiled_components_make_room() {
    let host = Process::with(&["notes"]);
    host.claimed_agent().await.result("notes", put("kept")).await;
    let (host, printed) = follow("Full disk", host);
    assert!(printed.contains("artifacts"), "{printed}");
    assert!(has(&host.claimed_agent().await, "kept").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abusive_address_is_named_and_its_limit_lowered() {
    let configuration = "rate_limits = \"on\"\n[limits]\nregistrations_per_hour = 2\n";
    let host = Process::start(Options::with(&["notes"]).configuration(configuration));
    for _ in 0..4 {
        let body = json!({ "type": "anonymous" }).to_string();
        let headers = [("content-type", "application/json")];
        host.send(reqwest::Method::POST, "/v1/agents/register", &headers, Some(body)).await;
    }
    let (host, printed) = follow("Abusive address", host);
    assert!(
        printed.contains("127.0.0.1") && printed.contains("registrations_per_hour"),
        "{printed}"
    );
    is_sound(&host);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_component_is_rolled_back() {
    let host = Process::with(&["greeter"]);
    let version = |from: &str, to: &str| patched(&component("greeter"), &[(from, to)]);
    host.drop_in("greeter.wasm", &version("Hello, ", "Howdy, "));
    let agent = host.claimed_agent().await;
    let greet = json!({ "action": "greet", "name": "Ada" });
    let greeting = async |wanted: &str| {
        let started = std::time::Instant::now();
        while !agent.call("greeter", greet.clone()).await.text.contains(wanted) {
            assert!(started.elapsed() < crate::harness::PATIENCE, "never {wanted}");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    greeting("Howdy, ").await;
    drop(agent);
    let (host, printed) = follow("Bad component", host);
    assert!(printed.contains("greeter"), "{printed}");
    let agent = host.claimed_agent().await;
    assert!(agent.call("greeter", greet.clone()).await.text.contains("Hello, "));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_database_is_looked_at_and_a_host_upgraded() {
    let host = Process::with(&["notes"]);
    host.claimed_agent().await.result("notes", put("kept")).await;
    let (host, printed) = follow("Slow database", host);
    assert!(printed.contains("notes.put"), "{printed}");
    let (host, printed) = follow("Upgrade", host);
    assert!(printed.contains("the schema is up to date"), "{printed}");
    assert!(has(&host.claimed_agent().await, "kept").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_call_is_replayed_and_a_version_rehearsed() {
    let configuration = "[recording]\nshare = 1.0\n";
    let options = Options::with(&["greeter", "misbehaves"]).configuration(configuration);
    let host = Process::start(options);
    let agent = host.claimed_agent().await;
    agent.result("greeter", json!({ "action": "greet", "name": "Ada" })).await;
    let failed = agent.call("misbehaves", json!({ "action": "panics" })).await;
    let id = failed.header("request-id").to_owned();
    drop(agent);
    let folder = host.folder.path();
    let started = std::time::Instant::now();
    while !shell(folder, "portolan recordings --failed").contains(&id) {
        assert!(started.elapsed() < crate::harness::PATIENCE);
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let lines = commands("Find out why a call failed");
    let replace = |line: &String| shell(folder, &line.replace("REQUEST_ID", &id));
    let printed: String = lines.iter().map(replace).collect();
    assert!(printed.contains("the same bytes") && printed.contains("trapped"), "{printed}");
    std::fs::write(folder.join("greeter.wasm"), component("greeter")).unwrap();
    let (host, printed) = follow("Try a version before people meet it", host);
    assert!(printed.contains("the same bytes"), "{printed}");
    let next = patched(&component("greeter"), &[("1.2.0", "1.3.0")]);
    std::fs::write(host.folder.path().join("greeter.wasm"), next).unwrap();
    let (host, printed) = follow("Give a version to a share of callers first", host);
    assert!(printed.contains("greeter 1.3.0 serves in place of 1.2.0"), "{printed}");
    host.wait_for_version("greeter", "1.3.0").await;
}
