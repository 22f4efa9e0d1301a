//! Every example of the plugin guide is compiled, executed, or compared with what the host prints.

use crate::{
    cases::clients::clients_folder,
    harness::{Host, binary, command, component},
};
use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use tempfile::TempDir;

/// An example: the heading that it is below, its language, and its text.
struct Example {
    heading: String,
    language: String,
    text: String,
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn examples() -> Vec<Example> {
    let guide = fs::read_to_string(workspace().join("docs/plugin-guide.md")).unwrap();
    let (mut examples, mut heading, mut open) = (Vec::new(), String::new(), None::<Example>);
    for line in guide.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => {
                let (heading, language) = (heading.clone(), language.to_owned());
                open = Some(Example { heading, language, text: String::new() });
            }
            (Some(_), Some(_)) => examples.extend(open.take()),
            (Some(example), None) => {
                example.text += line;
                example.text.push('\n');
            }
            (None, None) if line.starts_with('#') => {
                line.trim_start_matches(['#', ' ']).clone_into(&mut heading);
            }
            (None, None) => {}
        }
    }
    examples
}

/// Returns the examples in a language. Their number is asserted, because another example needs
/// another test.
fn in_language(language: &str, count: usize) -> Vec<Example> {
    let found = examples().into_iter().filter(|example| example.language == language);
    let found: Vec<_> = found.collect();
    assert_eq!(found.len(), count, "the examples in {language:?}");
    found
}

fn run_ok(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = output.output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{command:?}: {text}");
    text
}

/// Gives a command the PATH to `portolan` and the compilers of the tests, and the
/// caches of other tests.
fn with_tools(command: &mut Command) -> &mut Command {
    let target = binary().parent().unwrap().parent().unwrap();
    let own = [binary().parent().unwrap().to_owned(), clients_folder().join("node_modules/.bin")];
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(own.into_iter().chain(env::split_paths(&path))).unwrap();
    let variables = ["HOME", "CARGO_HOME", "RUSTUP_HOME"];
    let variables = variables.iter().filter_map(|name| Some((name, env::var_os(name)?)));
    let variables: Vec<(&&str, OsString)> = variables.collect();
    command
        .envs(variables)
        .env("PATH", path)
        .env("XDG_CACHE_HOME", target.join("author-cache"))
        .env("CARGO_TARGET_DIR", target.join("author-target"))
        .env("CARGO_NET_OFFLINE", "true")
}

#[test]
fn every_language_of_an_example_has_a_test() {
    let tested = ["rust", "toml", "sh", "json", ""];
    for Example { language, heading, .. } in examples() {
        assert!(tested.contains(&&*language), "{heading}: {language}");
    }
}

/// The code around the examples in Rust is in `tests/guide/lib.rs`; the manifest
/// is that of the guide.
#[test]
fn the_examples_in_rust_compile_and_their_test_passes() {
    let mut examples = in_language("rust", 12);
    let frame = fs::read_to_string(workspace().join("tests/guide/lib.rs")).unwrap();
    let mut source = String::new();
    for line in frame.lines() {
        match line.trim_start().strip_prefix("// guide: ") {
            Some(heading) => {
                let next = examples.iter().position(|example| example.heading == heading);
                source += &examples.remove(next.unwrap_or_else(|| panic!("{heading}"))).text;
            }
            None => source += &format!("{line}\n"),
        }
    }
    let left: Vec<_> = examples.iter().map(|example| &example.heading).collect();
    assert!(left.is_empty(), "examples without a place in tests/guide/lib.rs: {left:?}");

    let manifest = in_language("toml", 1).remove(0).text;
    let sdk = workspace().join("sdk/rust").canonicalize().unwrap();
    let written = "portolan-sdk = { path = \"../portolan/sdk/rust\" }";
    assert!(manifest.contains(written), "{manifest}");
    let found = format!("portolan-sdk = {{ path = {sdk:?} }}");
    let tested = format!("portolan-sdk = {{ path = {sdk:?}, features = [\"test\"] }}");
    let manifest = manifest.replace(written, &found);
    let manifest = format!("{manifest}\n[dev-dependencies]\n{tested}\n[workspace]\n");
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/lib.rs"), source).unwrap();
    fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    fs::copy(workspace().join("Cargo.lock"), folder.path().join("Cargo.lock")).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    let cargo = cargo.args(["test", "--lib"]).current_dir(folder.path());
    let printed = run_ok(with_tools(cargo));
    assert!(printed.contains("2 passed; 0 failed"), "{printed}");
}

#[test]
fn the_first_commands_make_a_capability_that_is_ready_for_agents() {
    let folder = TempDir::new().unwrap();
    let first = in_language("sh", 3).remove(0);
    assert_eq!(first.heading, "In five minutes");
    let mut shell = Command::new("sh");
    let shell = shell.args(["-e", "-c", &first.text]).current_dir(folder.path());
    let printed = run_ok(with_tools(shell));
    assert!(printed.contains("40 passed, 0 failed"), "{printed}");
    assert!(printed.contains("fit for a catalog") && !printed.contains("note  "), "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_is_copied_into_the_catalog_is_served() {
    let host = Host::with(&["agent_credits"]).await;
    let folder = host.folder.path().to_owned();
    fs::copy(workspace().join("examples/bookshelf-js/index.js"), folder.join("index.js")).unwrap();
    let commands = in_language("sh", 3).remove(1);
    assert_eq!(commands.heading, "A source instead of a component");
    let copied = tokio::task::spawn_blocking(move || {
        let mut shell = Command::new("sh");
        run_ok(with_tools(shell.args(["-e", "-c", &commands.text]).current_dir(folder)))
    });
    copied.await.unwrap();
    // It calls a capability of another publisher.
    assert_eq!(host.wait_for_refusal("bookshelf.js").await["reason"], "pending_approval");
    host.decide("bookshelf", "approve").await;
    host.wait_for_version("bookshelf", "1.0.0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_that_is_copied_into_the_catalog_is_called() {
    let host = Host::with(&[]).await;
    let folder = host.folder.path().to_owned();
    fs::write(folder.join("greeter.wasm"), component("greeter")).unwrap();
    let commands = in_language("sh", 3).remove(2).text;
    let (copied, called) = commands.split_at(commands.find("portolan call").unwrap());
    let run = |script: String| {
        let (folder, url) = (folder.clone(), host.url.clone());
        tokio::task::spawn_blocking(move || {
            let mut shell = Command::new("sh");
            let shell = shell.args(["-e", "-c", &script]).current_dir(folder);
            run_ok(with_tools(shell).env("PORTOLAN_PUBLIC_URL", url))
        })
    };
    let checked = run(copied.to_owned()).await.unwrap();
    // The guide's output of the check, without the lines that differ between builds.
    let shown = in_language("", 1).remove(0).text;
    for line in shown.lines().filter(|line| !line.contains("digest") && !line.contains("size")) {
        // In the guide, the greeter is in its first version.
        let line = &line.replace("greeter 1.0.0", "greeter 1.2.0");
        assert!(line.contains("compiled") || checked.contains(line.as_str()), "{line}: {checked}");
    }
    host.wait_for_version("greeter", "1.2.0").await;
    let answer = run(called.to_owned()).await.unwrap();
    assert!(answer.contains("Hello, Ada!"), "{answer}");
}

#[test]
fn the_case_passes() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("bookshelf.wasm"), component("bookshelf")).unwrap();
    fs::create_dir(folder.path().join("cases")).unwrap();
    let case = in_language("json", 1).remove(0).text;
    fs::write(folder.path().join("cases/one.json"), case).unwrap();
    let mut test = command(folder.path());
    let printed = run_ok(with_tools(test.args(["test", "bookshelf.wasm"])));
    assert!(printed.contains("1 passed, 0 failed"), "{printed}");
}
