//! The official conformance suite against the host with the suite's fixtures, in both revisions. Tests that
//! need no fixtures also run against the unchanged host, in `cases/clients.rs`.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

/// A host process that is killed when the test ends.
struct Host(Child);

impl Drop for Host {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_portolan-conformance"))
}

/// Starts a host in the folder, and returns its address.
fn start_host(folder: &Path) -> (Host, String) {
    fs::write(folder.join("portolan.toml"), "rate_limits = \"off\"\n").unwrap();
    let mut child = Command::new(program())
        .args(["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(File::create(folder.join("log")).unwrap())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(|line| line.unwrap());
    let url = lines.find_map(|line| Some(line.trim().strip_prefix("agents:")?.trim().to_owned()));
    // Further output must be read, or the host blocks.
    std::thread::spawn(move || lines.for_each(drop));
    (Host(child), url.unwrap_or_else(|| panic!("the host has not started")))
}

/// Returns the folder into which `cargo xtask clients` installs.
fn clients_folder() -> PathBuf {
    let made = Command::new(env!("CARGO")).args(["xtask", "clients"]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    program().parent().unwrap().parent().unwrap().join("clients")
}

fn run_suite(revision: &str) {
    let folder = TempDir::new().unwrap();
    let (_host, url) = start_host(folder.path());
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("../clients");
    let installed = clients_folder();
    std::os::unix::fs::symlink(installed.join("node_modules"), folder.path().join("node_modules"))
        .unwrap();
    for name in ["conformance.mjs", "endpoint.mjs"] {
        fs::copy(clients.join(name), folder.path().join(name)).unwrap();
    }
    let run = Command::new("node")
        .args(["conformance.mjs", &url, revision])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let text = [run.stdout, run.stderr].concat();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&text));
}

#[test]
fn the_suite_passes_in_the_modern_revision() {
    run_suite("2026-07-28");
}

#[test]
fn the_suite_passes_in_the_older_revision() {
    run_suite("2025-11-25");
}
