//! Builds a project in Rust: cargo, then the component without unused imports.

use super::{project::Project, tool::Tool};
use crate::cli::cache;
use anyhow::Context as _;
use portolan_componentize::componentize;
use serde_json::Value;
use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

/// A first build also compiles what the project depends on.
const COMPILATION: Duration = Duration::from_secs(3600);
const CARGO: Tool =
    Tool { name: "cargo", install: "see https://rustup.rs", time_limit: COMPILATION };
const RUSTC: Tool =
    Tool { name: "rustc", install: "see https://rustup.rs", time_limit: COMPILATION };
/// The target of components that import nothing but the contract.
const TARGET: &str = "wasm32-unknown-unknown";
/// The development profile and its settings: optimised a little, so that the host has less code to
/// compile, and with the line numbers of the source.
const DEV_PROFILE: (&str, &[&str]) =
    ("portolan-dev", &[r#"inherits="dev""#, "opt-level=1", r#"debug="line-tables-only""#]);
/// The release profile and its settings: small, and without the names of functions.
const RELEASE_PROFILE: (&str, &[&str]) = (
    "portolan-release",
    &[
        r#"inherits="release""#,
        r#"opt-level="s""#,
        r#"lto="fat""#,
        "codegen-units=1",
        r#"panic="abort""#,
        r#"strip="symbols""#,
    ],
);

pub(super) fn build(project: &Project, release: bool) -> anyhow::Result<Vec<u8>> {
    let folder = &project.folder;
    ensure_target(folder)?;
    let (profile, settings) = if release { RELEASE_PROFILE } else { DEV_PROFILE };
    let mut cargo = CARGO.command(folder);
    cargo.current_dir(folder).args(["build", "--lib", "--target", TARGET, "--profile", profile]);
    cargo.arg("--message-format=json-render-diagnostics");
    share_dependencies(&mut cargo);
    for setting in settings {
        cargo.arg("--config").arg(format!("profile.{profile}.{setting}"));
    }
    let messages = CARGO.output(&mut cargo)?;
    for line in find_silent_prints(&folder.join("src")) {
        line!("note  {line}");
    }
    let module = core_module(&String::from_utf8_lossy(&messages), folder)?;
    let module =
        std::fs::read(&module).with_context(|| format!("cannot read {}", module.display()))?;
    componentize(&module).context("the built module cannot be made a component")
}

/// Makes all projects of a user compile their dependencies once, in a build folder of the cache, unless the
/// user has chosen another one. A cargo older than 1.91 ignores the variable.
fn share_dependencies(cargo: &mut Command) {
    const BUILD_FOLDER: &str = "CARGO_BUILD_BUILD_DIR";
    if let (None, Ok(cache)) = (env::var_os(BUILD_FOLDER), cache::folder()) {
        cargo.env(BUILD_FOLDER, cache.join("rust"));
    }
}

/// The macros that print to standard output or standard error, which this target does not have.
const PRINT_MACROS: [&str; 5] = ["eprintln!(", "eprint!(", "println!(", "print!(", "dbg!("];

/// Returns a sentence for each line of the source that prints.
fn find_silent_prints(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            found.extend(find_silent_prints(&path));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for (number, line) in text.lines().enumerate() {
            let is_code = !line.trim_start().starts_with("//");
            if let Some(print) = PRINT_MACROS.iter().find(|print| is_code && line.contains(*print))
            {
                let (file, print) = (path.display(), print.trim_end_matches('('));
                let line = number + 1;
                found.push(format!(
                    "{file}:{line}: {print} prints nothing here; write log::info!(…) for the operator's log"
                ));
            }
        }
    }
    found
}

/// Ensures that the compiler has the target.
fn ensure_target(folder: &Path) -> anyhow::Result<()> {
    let mut rustc = RUSTC.command(folder);
    rustc.current_dir(folder).args(["--print", "target-libdir", "--target", TARGET]);
    let libraries = RUSTC.output(&mut rustc)?;
    anyhow::ensure!(
        Path::new(String::from_utf8_lossy(&libraries).trim()).exists(),
        "the compile target {TARGET} is missing; install it: rustup target add {TARGET}"
    );
    Ok(())
}

/// Returns the module that cargo has built from the library of the project.
fn core_module(messages: &str, folder: &Path) -> anyhow::Result<PathBuf> {
    let manifest = folder.join("Cargo.toml").canonicalize()?;
    let module = |message: &str| {
        let message: Value = serde_json::from_str(message).ok()?;
        let is_own = Path::new(message.get("manifest_path")?.as_str()?) == manifest;
        let files = message.get("filenames")?.as_array()?.iter().filter_map(Value::as_str);
        files.filter(|file| is_own && file.ends_with(".wasm")).map(PathBuf::from).next()
    };
    messages.lines().find_map(module).context(
        "cargo has built no WebAssembly module; add `crate-type = [\"cdylib\"]` to [lib] in Cargo.toml",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_print_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        let text = "fn a() {\n    // println!(\"no\")\n    eprintln!(\"yes\");\n}\n";
        std::fs::write(folder.path().join("a/b.rs"), text).unwrap();
        let found = find_silent_prints(folder.path());
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("a/b.rs:3: eprintln! prints nothing here"), "{found:?}");
    }

    #[test]
    fn the_module_of_the_project_itself_is_chosen() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join("Cargo.toml");
        std::fs::write(&manifest, "").unwrap();
        let manifest = manifest.canonicalize().unwrap();
        let message = |manifest: &Path, file: &str| {
            serde_json::json!({ "manifest_path": manifest, "filenames": [file] }).to_string()
        };
        let messages = [
            message(Path::new("/other/Cargo.toml"), "/target/other.wasm"),
            message(&manifest, "/target/libshelf.rlib"),
            "no message".to_owned(),
            message(&manifest, "/target/shelf.wasm"),
        ];
        let module = core_module(&messages.join("\n"), folder.path()).unwrap();
        assert_eq!(module, Path::new("/target/shelf.wasm"));
        let error = core_module(&messages[1], folder.path()).unwrap_err();
        assert!(error.to_string().contains("crate-type"), "{error}");
    }
}
