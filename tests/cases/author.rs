//! The commands for authors of capabilities.

use crate::cases::clients::clients_folder;
use crate::harness::{binary, command, component, guests};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tempfile::TempDir;

/// A book that is on the shelf before a case runs.
const BOOK: &str = r#"{"$id": "book_1", "title": "Solaris", "author": "Stanisław Lem", "isbn": "9780156027601", "deposit": 0}"#;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs the binary in a folder, with a cache that all tests share and without a network.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    author_command(folder, arguments).output().unwrap()
}

fn author_command(folder: &Path, arguments: &[&str]) -> Command {
    let target = binary().parent().unwrap().parent().unwrap();
    let mut command = command(folder);
    let variables = ["HOME", "CARGO_HOME", "RUSTUP_HOME"];
    command
        .args(arguments)
        .envs(variables.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
        .env("XDG_CACHE_HOME", target.join("author-cache"))
        .env("CARGO_TARGET_DIR", target.join("author-target"))
        .env("CARGO_NET_OFFLINE", "true")
        .stderr(std::process::Stdio::piped());
    command
}

fn environment(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn succeeds(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}{}", stdout(&output), stderr(&output));
    stdout(&output)
}

/// Runs a command that must fail, and returns its standard output and standard error.
fn fails(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert_eq!(
        output.status.code(),
        Some(1),
        "{arguments:?}: {}{}",
        stdout(&output),
        stderr(&output)
    );
    stdout(&output) + &stderr(&output)
}

fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn wit_writes_the_contract() {
    let folder = TempDir::new().unwrap();
    assert_contains(&succeeds(folder.path(), &["wit", "contract"]), &["files to contract"]);
    let mut count = 0;
    for entry in fs::read_dir(workspace().join("wit")).unwrap() {
        let path = entry.unwrap().path();
        let written = folder.path().join("contract").join(path.file_name().unwrap());
        assert_eq!(fs::read(written).unwrap(), fs::read(&path).unwrap(), "{}", path.display());
        count += 1;
    }
    assert_eq!(fs::read_dir(folder.path().join("contract")).unwrap().count(), count);
}

#[test]
fn componentize_makes_the_same_component_as_the_build() {
    let folder = TempDir::new().unwrap();
    let wanted = component("greeter");
    let core = guests().join("../wasm32-unknown-unknown/guest/greeter.wasm");
    let core = core.to_str().unwrap();
    succeeds(folder.path(), &["componentize", core, "-o", "made.wasm"]);
    assert_eq!(fs::read(folder.path().join("made.wasm")).unwrap(), wanted);
    let again = fails(folder.path(), &["componentize", "made.wasm", "-o", "again.wasm"]);
    assert_contains(&again, &["made.wasm cannot be made a component", "a component already"]);
    assert!(!folder.path().join("again.wasm").exists());
}

#[test]
fn a_component_with_an_unknown_import_is_refused_before_it_is_compiled() {
    let folder = TempDir::new().unwrap();
    // The compiler would refuse this function, which does not return its result.
    let text = r#"(component
        (import "wasi:http/outgoing-handler@0.2.0" (instance))
        (core module $m (func (export "f") (result i32)))
        (core instance $i (instantiate $m))
        (func $f (result u32) (canon lift (core func $i "f")))
        (export "describe" (func $f))
        (export "call" (func $f)))"#;
    fs::write(folder.path().join("web.wasm"), wat::parse_str(text).unwrap()).unwrap();
    let refused = fails(folder.path(), &["check", "web.wasm"]);
    assert_contains(
        &refused,
        &[
            "imports wasi:http/outgoing-handler@0.2.0 which this host does not offer (unknown_import)",
            "this host offers no outgoing HTTP",
        ],
    );
    assert!(!refused.contains("compiled"), "{refused}");
}

#[test]
fn new_creates_a_project_in_each_language() {
    let folder = TempDir::new().unwrap();
    for (language, source) in
        [("rust", "src/lib.rs"), ("js", "index.js"), ("ts", "index.ts"), ("python", "app.py")]
    {
        let name = format!("lending_{language}");
        succeeds(folder.path(), &["new", &name, "--lang", language]);
        let project = folder.path().join(&name);
        let text = fs::read_to_string(project.join(source)).unwrap();
        assert!(text.contains(&name) && !text.contains("bookshelf"), "{text}");
        for file in ["README.md", ".gitignore", "cases/borrow.json", ".portolan/sdk/wit/world.wit"]
        {
            assert!(project.join(file).exists(), "{language}: {file}");
        }
        let again = fails(folder.path(), &["new", &name, "--lang", language]);
        assert_contains(&again, &[&name, "is not empty"]);
    }
    for name in ["Lending", "2nd", "a-b", "a b", "svc.own"] {
        let refused = fails(folder.path(), &["new", name, "--lang", "rust"]);
        assert_contains(&refused, &["lower-case letters, digits and _"]);
    }
}

/// Creates a project in Rust with the versions of dependencies that are on this machine.
fn project(folder: &TempDir) -> PathBuf {
    project_named(folder, "lending")
}

fn project_named(folder: &TempDir, name: &str) -> PathBuf {
    succeeds(folder.path(), &["new", name, "--lang", "rust"]);
    let project = folder.path().join(name);
    fs::copy(workspace().join("Cargo.lock"), project.join("Cargo.lock")).unwrap();
    project
}

#[test]
fn a_new_project_in_rust_is_built_and_passes_its_cases() {
    let folder = TempDir::new().unwrap();
    let project = project(&folder);
    let tested = succeeds(&project, &["test", "--junit", "results.xml"]);
    assert_contains(&tested, &["ok    a book is borrowed for 14 days", "40 passed, 0 failed"]);
    let results = fs::read_to_string(project.join("results.xml")).unwrap();
    assert_contains(&results, &["tests=\"40\"", "failures=\"0\"", "name=\"a book is added\""]);
    assert_contains(&succeeds(&project, &["build", "--release"]), &["built ./lending.wasm"]);
    let checked = succeeds(&project, &["check", "lending.wasm"]);
    assert_contains(&checked, &["id        lending 1.0.0", "fit for a catalog"]);
    assert!(!checked.contains("wasi:"), "{checked}");

    let source = project.join("src/lib.rs");
    let text = fs::read_to_string(&source).unwrap();
    let line = text.lines().position(|line| line.contains("timers::cancel")).unwrap() + 1;
    fs::write(&source, text.replace("timers::cancel", "timers::forget")).unwrap();
    let wrong = fails(&project, &["build"]);
    assert_contains(&wrong, &[&format!("src/lib.rs:{line}:"), "forget", "cargo failed"]);

    // A panic three functions deep names three lines of the source.
    let (before, functions) = ("        let due_at = LOANS.get(&id)?.map(", "fn notify(");
    assert_contains(&text, &[before, functions]);
    let deep = "fn deeper(id: &str) {\n    deepest(id);\n}\n\nfn deepest(id: &str) {\n    assert!(id.is_empty(), \"no way back\");\n}\n\nfn notify(";
    let deep = text.replacen(functions, deep, 1);
    let deep = deep.replacen(before, &format!("        deeper(&id);\n{before}"), 1);
    fs::write(&source, &deep).unwrap();
    let trapped = fails(&project, &["test", "--only", "a book on the shelf is not due"]);
    assert_contains(&trapped, &["no way back"]);
    for part in ["deeper(&id);", "deepest(id);", "assert!(id.is_empty()"] {
        let line = deep.lines().position(|line| line.contains(part)).unwrap() + 1;
        assert_contains(&trapped, &[&format!("src/lib.rs:{line}:")]);
    }
}

#[test]
fn projects_in_rust_share_their_dependencies() {
    let folder = TempDir::new().unwrap();
    let compiled = |name| {
        let project = project_named(&folder, name);
        let mut build = author_command(&project, &["build"]);
        let output = build.env_remove("CARGO_TARGET_DIR").output().unwrap();
        assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
        assert!(project.join(format!("{name}.wasm")).exists());
        stderr(&output).lines().filter(|line| line.contains("Compiling ")).count()
    };
    compiled("first");
    assert_eq!(compiled("second"), 1);
}

#[test]
fn new_projects_in_other_languages_pass_the_same_cases() {
    let (clients, folder) = (clients_folder(), TempDir::new().unwrap());
    let programs = ["node_modules/.bin", "python/bin"].map(|programs| clients.join(programs));
    let path = environment("PATH");
    let path = programs.into_iter().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(path).unwrap();
    for language in ["js", "ts", "python"] {
        let name = format!("lending_{language}");
        succeeds(folder.path(), &["new", &name, "--lang", language]);
        let mut test = author_command(&folder.path().join(&name), &["test"]);
        let tested = test.env("PATH", &path).env("PYTHONPATH", clients.join("python")).output();
        let tested = tested.unwrap();
        assert!(tested.status.success(), "{language}: {}{}", stdout(&tested), stderr(&tested));
        assert_contains(&stdout(&tested), &["40 passed, 0 failed"]);
    }
}

#[test]
fn a_missing_tool_is_one_sentence_with_the_command_that_installs_it() {
    let folder = TempDir::new().unwrap();
    let project = project(&folder);
    let nothing = folder.path().join("nothing");
    fs::create_dir(&nothing).unwrap();
    let mut build = command(&project);
    build.arg("build").env("PATH", &nothing).env("XDG_CACHE_HOME", folder.path());
    let output = build.stderr(std::process::Stdio::piped()).output().unwrap();
    assert_eq!(stderr(&output), "portolan: rustc is missing; install it: see https://rustup.rs\n");
    let empty = fails(&nothing, &["build"]);
    assert_contains(&empty, &["has none of Cargo.toml", "portolan new NAME"]);
}

/// Runs cases of the bookshelf.
fn cases(folder: &TempDir, cases: &Value, more: &[&str]) -> Output {
    let path = folder.path();
    fs::write(path.join("bookshelf.wasm"), component("bookshelf")).unwrap();
    fs::create_dir_all(path.join("cases")).unwrap();
    fs::write(path.join("cases/all.json"), cases.to_string()).unwrap();
    run(path, &[&["test", "bookshelf.wasm"], more].concat())
}

fn book() -> Value {
    serde_json::from_str(BOOK).unwrap()
}

#[test]
fn the_bookshelf_in_rust_passes_its_cases() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("bookshelf.wasm"), component("bookshelf")).unwrap();
    let cases = workspace().join("examples/bookshelf-cases");
    let cases = cases.to_str().unwrap();
    let tested = succeeds(folder.path(), &["test", "bookshelf.wasm", "--cases", cases]);
    assert_contains(&tested, &["40 passed, 0 failed"]);
    let few =
        ["test", "bookshelf.wasm", "--cases", cases, "--only", "a missing book is not borrowed"];
    assert_contains(&succeeds(folder.path(), &few), &["1 passed, 0 failed"]);
}

#[test]
fn a_failing_case_shows_each_difference() {
    let folder = TempDir::new().unwrap();
    let wrong = json!([
        { "name": "wrong output", "action": "borrow", "at": "2026-03-01T09:00:00Z",
          "before": { "books": [book()] }, "input": { "id": "book_1" },
          "expect": { "output": { "title": "Eden", "due_at": "$time", "more": 1 } },
          "after": { "books": [{ "$id": "book_1" }], "loans": [{ "reminded": true }] },
          "events": [{ "type": "bookshelf.due" }],
          "timers": [] },
        { "name": "wrong refusal", "action": "get", "input": { "id": "book_1" },
          "expect": { "output": { "id": "book_1" } } },
        { "name": "right", "action": "get", "input": { "id": "book_1" },
          "expect": { "error": { "code": "book_not_found" } } },
    ]);
    let output = cases(&folder, &wrong, &["--junit", "results.xml"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text = stdout(&output);
    let parts = [
        "FAIL  wrong output (cases/all.json)",
        "expect.output.title\n        expected  \"Eden\"\n        came      \"Solaris\"",
        "expect.output.more\n        expected  1\n        came      nothing",
        "after.loans[0].reminded",
        "events[0].type\n        expected  \"bookshelf.due\"\n        came      \"bookshelf.borrowed\"",
        "timers\n        expected  []\n        came      [{\"action\":\"remind\"",
        "FAIL  wrong refusal",
        "\"code\":\"book_not_found\"",
        "ok    right",
        "1 passed, 2 failed",
    ];
    assert_contains(&text, &parts);
    assert!(!text.contains("due_at\n"), "{text}");
    let results = fs::read_to_string(folder.path().join("results.xml")).unwrap();
    assert_contains(&results, &["failures=\"2\"", "<failure", "&quot;Eden&quot;"]);
}

#[test]
fn update_records_what_came_and_keeps_what_matches() {
    let folder = TempDir::new().unwrap();
    let written = json!([
        { "name": "changed", "action": "get", "before": { "books": [book()] },
          "input": { "id": "book_1" }, "expect": { "output": { "id": "$id", "title": "Eden" } } },
        { "name": "new", "action": "add", "seed": 3,
          "input": { "title": "Eden", "author": "Stanisław Lem", "isbn": "9780156278065" } },
    ]);
    let output = cases(&folder, &written, &["--update"]);
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    assert_contains(&stdout(&output), &["2 cases are updated"]);
    let recorded = fs::read_to_string(folder.path().join("cases/all.json")).unwrap();
    let recorded: Value = serde_json::from_str(&recorded).unwrap();
    assert_eq!(recorded[0]["expect"], json!({ "output": { "id": "$id", "title": "Solaris" } }));
    assert!(recorded[0].get("after").is_none());
    assert_eq!(recorded[1]["expect"]["output"]["title"], "Eden");
    assert_eq!(recorded[1]["after"]["books"][0]["$id"], recorded[1]["expect"]["output"]["id"]);
    // The seed and the time are the same, so the id is the same.
    let again = run(folder.path(), &["test", "bookshelf.wasm"]);
    assert_contains(&(stdout(&again) + &stderr(&again)), &["2 passed, 0 failed"]);
}

#[test]
fn the_seed_decides_what_is_drawn() {
    let folder = TempDir::new().unwrap();
    let draw = |name: &str, seed: u64| json!({ "name": name, "action": "random", "seed": seed });
    let output = cases(&folder, &json!([draw("a", 1), draw("b", 1), draw("c", 2)]), &["--update"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let recorded = fs::read_to_string(folder.path().join("cases/all.json")).unwrap();
    let recorded: Value = serde_json::from_str(&recorded).unwrap();
    let drawn = |case: usize| recorded[case]["expect"]["output"]["numbers"][0].as_f64().unwrap();
    assert_eq!(drawn(0).to_bits(), drawn(1).to_bits());
    assert_ne!(drawn(0).to_bits(), drawn(2).to_bits());
}

#[test]
fn nested_calls_are_answered_by_the_case_alone() {
    let folder = TempDir::new().unwrap();
    let mut dear = book();
    dear["deposit"] = 5.into();
    let borrow = |name: &str, calls: Value| {
        json!({ "name": name, "action": "borrow", "before": { "books": [dear] },
            "input": { "id": "book_1" }, "calls": calls, "expect": { "output": { "id": "book_1" } } })
    };
    let balance = |available: u32| json!({ "capability": "agent_credits", "action": "balance", "output": { "available": available } });
    let refused = json!({ "capability": "agent_credits", "action": "balance", "error": { "code": "account_frozen", "message": "It is frozen." } });
    let mut passed_on = borrow("passed on", json!([refused]));
    passed_on["expect"] =
        json!({ "error": { "code": "account_frozen", "message": "It is frozen." } });
    let all = json!([
        borrow("answered", json!([balance(5)])),
        borrow("not answered", json!([])),
        borrow("answered too often", json!([balance(5), balance(6)])),
        passed_on,
    ]);
    let output = cases(&folder, &all, &[]);
    let text = stdout(&output);
    assert_contains(
        &text,
        &[
            "ok    answered\n",
            "came      no answer for agent_credits.balance {}",
            "calls[1]\n        expected  agent_credits.balance\n        came      no such call",
            "ok    passed on",
            "2 passed, 2 failed",
        ],
    );
}

#[test]
fn a_case_that_cannot_be_read_is_named() {
    let folder = TempDir::new().unwrap();
    for (case, part) in [
        (json!({ "name": "typo", "action": "get", "expects": {} }), "unknown field `expects`"),
        (json!([{ "action": "get" }]), "number 1"),
        (
            json!({ "name": "both", "action": "get", "expect": { "output": {}, "error": {} } }),
            "either an `output` or an `error`",
        ),
        (
            json!({ "name": "nowhere", "action": "get", "before": { "shelves": [{}] }, "expect": { "output": {} } }),
            "there is no collection shelves",
        ),
    ] {
        let output = cases(&folder, &case, &[]);
        assert_eq!(output.status.code(), Some(1));
        assert_contains(&stderr(&output), &["cases/all.json", part]);
    }
    let missing = fails(folder.path(), &["test", "bookshelf.wasm", "--cases", "nowhere"]);
    assert_contains(&missing, &["cannot read the cases in nowhere", "--cases"]);
}

#[test]
fn a_component_that_is_not_fit_is_reported_and_not_tested() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("cases")).unwrap();
    fs::write(folder.path().join("cases/one.json"), r#"{"name":"x","action":"x"}"#).unwrap();
    fs::write(folder.path().join("bad.wasm"), component("describe_lies")).unwrap();
    let reported = fails(folder.path(), &["test", "bad.wasm"]);
    assert_contains(&reported, &["not fit for a catalog", "to fix it:"]);
}
