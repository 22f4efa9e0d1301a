//! Components in other languages are built, loaded and called: C, Go, JavaScript, Python.
//!
//! The guests are in tests/toolchains, the compilers in the target folder. A built component is
//! kept in the target folder under the digest of its sources and its compilers' versions.

use crate::{
    cases::clients::clients_folder,
    harness::{Host, Options, binary, command},
};
use portolan_vocabulary::Digest;
use serde_json::json;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};
use tempfile::TempDir;

/// A guest: its id, its folder, and how it is built.
struct Guest {
    id: &'static str,
    folder: &'static str,
    build: fn(&Path, &Path),
    /// Whether building or compiling it takes so long that only the long form of the tests does it.
    slow: bool,
}

const GUESTS: [Guest; 5] = [
    Guest { id: "c_greeter", folder: "c", build: c, slow: false },
    Guest { id: "go_greeter", folder: "go", build: go, slow: false },
    Guest { id: "js_greeter", folder: "javascript", build: quickjs, slow: false },
    Guest { id: "js_greeter", folder: "javascript", build: spidermonkey, slow: true },
    Guest { id: "python_greeter", folder: "python", build: python, slow: true },
];

fn is_full() -> bool {
    env::var_os("PORTOLAN_TEST_FULL").is_some()
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn target() -> &'static Path {
    binary().parent().unwrap().parent().unwrap()
}

/// Returns the folder of the compilers; the first call installs them.
fn toolchains() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let full: &[&str] = if is_full() { &["--full"] } else { &[] };
        let mut made = Command::new(env!("CARGO"));
        let made = made.args(["xtask", "toolchains"]).args(full).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        target().join("toolchains")
    })
}

fn succeeds(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let printed = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&printed));
}

fn componentize(module: &Path, component: &Path) {
    let mut componentize = command(module.parent().unwrap());
    componentize.arg("componentize").arg(module).arg("-o").arg(component);
    succeeds(&mut componentize);
}

/// Builds a component in C without a C library, so that it imports only the contract.
fn c(source: &Path, component: &Path) {
    let module = source.join("core.wasm");
    let arguments = ["cc", "--target=wasm32-freestanding", "-O2", "-Wall", "-Wextra", "-Werror"];
    let mut zig = Command::new(toolchains().join("python/ziglang/zig"));
    zig.args(arguments).args(["-nostdlib", "-Wl,--no-entry", "greeter.c", "-o", "core.wasm"]);
    succeeds(zig.current_dir(source).env("ZIG_GLOBAL_CACHE_DIR", target().join("toolchains/zig")));
    componentize(&module, component);
}

/// Builds a component with the usual compiler of Go, for WASI 0.1.
fn go(source: &Path, component: &Path) {
    let module = source.join("core.wasm");
    let mut go = Command::new(toolchains().join("python/go/bin/go"));
    go.args(["build", "-buildmode=c-shared", "-trimpath", "-o", "core.wasm", "."]);
    go.env("GOOS", "wasip1").env("GOARCH", "wasm").env("GOTOOLCHAIN", "local");
    go.env("GOPROXY", "off").env("GOCACHE", target().join("toolchains/go-cache"));
    succeeds(go.current_dir(source));
    componentize(&module, component);
}

fn quickjs(source: &Path, component: &Path) {
    let mut tool = Command::new(clients_folder().join("node_modules/.bin/componentize-qjs"));
    tool.args(["--sync", "--stub-wasi", "--world", "capability", "--js", "greeter.js", "--wit"]);
    tool.arg(workspace().join("wit")).arg("-o").arg(component);
    succeeds(tool.current_dir(source));
}

fn spidermonkey(source: &Path, component: &Path) {
    let _installed = toolchains();
    let program = target().join("toolchains-full/node_modules/.bin/componentize-js");
    let mut tool = Command::new(program);
    tool.args(["greeter.js", "--world-name", "capability", "-d", "http", "-d", "fetch-event"]);
    tool.arg("--wit").arg(workspace().join("wit")).arg("-o").arg(component);
    succeeds(tool.current_dir(source));
}

fn python(source: &Path, component: &Path) {
    let packages = clients_folder().join("python");
    let mut tool = Command::new(packages.join("bin/componentize-py"));
    tool.args(["--quiet", "--world", "capability", "--wit-path"]).arg(workspace().join("wit"));
    tool.args(["componentize", "greeter", "--python-path", ".", "--output"]).arg(component);
    succeeds(tool.current_dir(source).env("PYTHONPATH", &packages));
}

/// Returns the component of a guest, which is built if its sources or its compilers'
/// versions have changed.
fn build_guest(guest: &Guest) -> Vec<u8> {
    let source = workspace().join("tests/toolchains").join(guest.folder);
    let pinned = ["tests/toolchains", "tests/toolchains/full", "tests/clients", "wit"];
    let mut files: Vec<_> =
        pinned.iter().flat_map(|folder| files(&workspace().join(folder))).collect();
    files.extend(self::files(&source));
    files.push(workspace().join("host/componentize/src/preview1/adapter.wat"));
    let content: Vec<u8> = files.iter().flat_map(|file| fs::read(file).unwrap()).collect();
    let kind = if guest.slow { "slow" } else { "fast" };
    let name = format!("{}-{kind}-{}.wasm", guest.id, Digest::of(&content).hex());
    let kept = target().join("toolchain-guests").join(name);
    if let Ok(component) = fs::read(&kept) {
        return component;
    }
    let folder = TempDir::new().unwrap();
    for file in self::files(&source) {
        fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    let component = folder.path().join("component.wasm");
    (guest.build)(folder.path(), &component);
    let component = fs::read(component).unwrap();
    fs::create_dir_all(kept.parent().unwrap()).unwrap();
    let unfinished = kept.with_extension("unfinished");
    fs::write(&unfinished, &component).unwrap();
    fs::rename(unfinished, kept).unwrap();
    component
}

/// Returns the files of a folder, without its subfolders; of `tests/clients`, only
/// those that pin versions.
fn files(folder: &Path) -> Vec<PathBuf> {
    let is_read = |path: &PathBuf| {
        let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        path.is_file()
            && (folder.ends_with("clients") == matches!(&*extension, "json" | "txt")
                || !folder.ends_with("clients"))
    };
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(is_read).collect();
    files.sort();
    files
}

async fn is_loaded_and_answers(guest: &Guest) {
    let component = build_guest(guest);
    let mut options = Options::with(&[]);
    options.components.push((format!("{}.wasm", guest.id), component));
    let host = Host::start(options).await;
    assert_eq!(host.status().await["refused"], json!([]));
    let agent = host.agent().await;
    let called = host.clock.now().as_millis();
    let greeted = agent.result(guest.id, json!({ "action": "greet", "name": "Ada" })).await;
    assert_eq!(greeted["text"], "Hello, Ada!");
    assert!(greeted["at"].as_u64().unwrap() >= called, "{greeted}");
    agent
        .call(guest.id, json!({ "action": "greet", "name": "HAL" }))
        .await
        .assert_refused(403, "robot_refused");
    agent
        .call(guest.id, json!({ "action": "greet", "name": "panic" }))
        .await
        .assert_refused(500, "capability_trapped");
    agent
        .call(guest.id, json!({ "action": "greet", "name": 1 }))
        .await
        .assert_refused(400, "validation_failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn components_in_c_go_and_javascript_are_loaded_and_answer() {
    for guest in GUESTS.iter().filter(|guest| !guest.slow) {
        is_loaded_and_answers(guest).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn components_of_slow_compilers_are_loaded_and_answer() {
    for guest in GUESTS.iter().filter(|guest| guest.slow && is_full()) {
        is_loaded_and_answers(guest).await;
    }
}
