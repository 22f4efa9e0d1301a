//! `portolan dev`.

use crate::{
    cases::author_mistakes::path_with_tools,
    cases::clients::clients_folder,
    harness::{binary, component},
};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(300);

struct Running {
    child: Child,
    keys: ChildStdin,
    lines: mpsc::Receiver<String>,
    seen: Vec<String>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _waited = self.child.wait();
    }
}

impl Running {
    fn start(project: &Path, temporary: &Path) -> Self {
        Self::run(project, temporary, &[])
    }

    /// Starts with the components of a folder beside the project.
    fn start_with(project: &Path, temporary: &Path, components: &Path) -> Self {
        Self::run(project, temporary, &["--with", components.to_str().unwrap()])
    }

    fn run(project: &Path, temporary: &Path, arguments: &[&str]) -> Self {
        let target = binary().parent().unwrap().parent().unwrap();
        let mut child = Command::new(binary())
            .args(["dev", project.to_str().unwrap()])
            .args(arguments)
            .env("XDG_CACHE_HOME", target.join("author-cache"))
            .env("CARGO_TARGET_DIR", target.join("author-target"))
            .env("CARGO_NET_OFFLINE", "true")
            .env("PATH", path_with_tools())
            .env("PYTHONPATH", clients_folder().join("python"))
            .env("TMPDIR", temporary)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = mpsc::channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let keys = child.stdin.take().unwrap();
        Self { child, keys, lines, seen: Vec::new() }
    }

    /// Waits for a line with this text, and returns it.
    fn line(&mut self, text: &str) -> String {
        let until = Instant::now() + PATIENCE;
        while let Ok(line) =
            self.lines.recv_timeout(until.saturating_duration_since(Instant::now()))
        {
            self.seen.push(line.clone());
            if line.contains(text) {
                return line;
            }
        }
        panic!("no line has {text}: {:#?}", self.seen)
    }

    fn key(&mut self, key: &str) {
        writeln!(self.keys, "{key}").unwrap();
    }
}

/// Creates a project in a folder, and returns its own.
fn new_project(folder: &Path, language: &str) -> PathBuf {
    let mut new = Command::new(binary());
    let new = new.args(["new", "lending", "--lang", language]).current_dir(folder);
    assert!(new.status().unwrap().success());
    folder.join("lending")
}

/// A module that needs no package runs as a source, so that nothing is built after a change.
#[test]
fn a_project_in_python_is_served_again_without_a_build() {
    let folder = TempDir::new().unwrap();
    let project = new_project(folder.path(), "python");
    let with = folder.path().join("with");
    fs::create_dir(&with).unwrap();
    fs::write(with.join("agent_credits.wasm"), component("agent_credits")).unwrap();
    let mut running = Running::start_with(&project, folder.path(), &with);
    // The project's invocations are permitted.
    running.line("serving lending 1.0.0");
    let curl = running.line("curl -s");
    let source = project.join("app.py");
    let text = fs::read_to_string(&source).unwrap();
    fs::write(&source, text.replace("import random", "import left_pad")).unwrap();
    running.line("not built");
    let changed = text.replacen("app = App(", "app = App(version=\"1.0.1\", ", 1);
    let changed = changed.replace("Lends books", "Lends many books");
    fs::write(&source, changed).unwrap();
    running.line("serving lending 1.0.1");
    let called = Command::new("sh").args(["-c", &curl]).output().unwrap();
    let answer = String::from_utf8_lossy(&called.stdout).into_owned();
    assert!(answer.contains("request_id"), "{answer}");
    running.key("q");
    assert!(running.child.wait().unwrap().success());
    assert!(!project.join(".portolan/build/component.wasm").exists());
}

#[test]
fn a_project_in_javascript_is_served_and_served_again_after_a_change() {
    let folder = TempDir::new().unwrap();
    let project = new_project(folder.path(), "js");
    let with = folder.path().join("with");
    fs::create_dir(&with).unwrap();
    fs::write(with.join("agent_credits.wasm"), component("agent_credits")).unwrap();
    let mut running = Running::start_with(&project, folder.path(), &with);
    running.line("serving lending 1.0.0");
    let curl = running.line("curl -s");
    let over_mcp = running.line("/mcp -H");
    let called = Command::new("sh").args(["-c", &curl]).output().unwrap();
    let added: Value = serde_json::from_slice(&called.stdout).unwrap();
    assert!(added["result"]["id"].is_string(), "{added}");
    let called = Command::new("sh").args(["-c", &over_mcp]).output().unwrap();
    let answer = String::from_utf8_lossy(&called.stdout).into_owned();
    assert!(answer.contains("structuredContent"), "{answer}");
    let source = project.join("index.js");
    let text = fs::read_to_string(&source).unwrap();
    fs::write(&source, format!("{text}\nconst broken = (")).unwrap();
    running.line("not built");
    let (old, new) = ("version: \"1.0.0\"", "version: \"1.0.1\"");
    assert!(text.contains(old), "{text}");
    fs::write(&source, text.replacen(old, new, 1)).unwrap();
    running.line("serving lending 1.0.1");
    running.key("q");
    assert!(running.child.wait().unwrap().success());
}

#[test]
fn a_project_is_served_and_served_again_after_a_change() {
    let folder = TempDir::new().unwrap();
    let project = new_project(folder.path(), "rust");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::copy(workspace.join("Cargo.lock"), project.join("Cargo.lock")).unwrap();
    let temporary = folder.path().join("tmp");
    fs::create_dir(&temporary).unwrap();

    let mut running = Running::start(&project, &temporary);
    running.line("serving lending");
    let curl = running.line("curl -s");
    let over_mcp = running.line("/mcp -H");
    let called = Command::new("sh").args(["-c", &curl]).output().unwrap();
    let answer = String::from_utf8_lossy(&called.stdout).into_owned();
    assert!(answer.contains("request_id") || answer.contains("error_code"), "{answer}");
    let first = running.line(" lending.");
    running.key("r");
    let again = running.line(" lending.");
    assert_eq!(first.split(' ').nth(1), again.split(' ').nth(1));
    let called = Command::new("sh").args(["-c", &over_mcp]).output().unwrap();
    let answer = String::from_utf8_lossy(&called.stdout).into_owned();
    assert!(answer.contains("structuredContent"), "{answer}");
    running.line(" lending.");

    let source = project.join("src/lib.rs");
    let text = fs::read_to_string(&source).unwrap();
    fs::write(&source, format!("{text}\nfn broken(")).unwrap();
    running.line("not built");
    fs::write(&source, text.replace("1.0.0", "1.0.1")).unwrap();
    running.line("serving lending");
    running.key("t");
    running.line("no timer is pending");

    running.key("q");
    assert!(running.child.wait().unwrap().success());
    let left = fs::read_dir(&temporary).unwrap();
    let left: Vec<_> = left.flatten().map(|entry| entry.file_name()).collect();
    assert!(
        !left.iter().any(|name| name.to_string_lossy().starts_with("portolan-dev")),
        "{left:?}"
    );
}
