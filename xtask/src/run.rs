//! Runs programs and reports progress.

use anyhow::{Context as _, Result, bail};
use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// The space that must be free in memory before the tests write there. They write about 300 MiB.
const MEMORY_MIB: u64 = 4096;

/// The profile of what is packaged and measured, and the name of its folder.
pub(crate) const DIST: &str = "dist";

#[expect(clippy::print_stderr, reason = "this command reports its progress")]
pub(crate) fn print_progress(text: &str) {
    eprintln!("==> {text}");
}

/// Returns the folder of the workspace for which cargo runs this program. It is read at run time,
/// because workspaces that share a target folder share this program.
pub(crate) fn workspace() -> &'static Path {
    static WORKSPACE: OnceLock<PathBuf> = OnceLock::new();
    WORKSPACE.get_or_init(|| {
        let here = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let here = here.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        here.parent().unwrap_or(&here).to_owned()
    })
}

/// Runs cargo in the workspace; an exit status other than 0 is an error.
pub(crate) fn cargo(arguments: &[&str]) -> Result<()> {
    run(&mut cargo_command(arguments))
}

pub(crate) fn cargo_command(arguments: &[&str]) -> Command {
    let mut command = Command::new(cargo_path());
    // `cargo run` sets these variables for this program. Build scripts of dependencies read them, and
    // would run again at every change between `cargo test` and `cargo xtask test`.
    for (name, _) in std::env::vars_os() {
        let is_set_by_cargo = |prefix: &str| name.to_string_lossy().starts_with(prefix);
        if is_set_by_cargo("CARGO_PKG_") || is_set_by_cargo("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    command.args(arguments);
    command
}

fn cargo_path() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// Returns the folder that the system keeps in memory, if it has room for what the tests write;
/// `None` if it has not or is missing. In memory, hundreds of databases cost no writes to a disk.
pub(crate) fn memory_folder() -> Option<&'static Path> {
    let folder = Path::new("/dev/shm");
    let output = Command::new("df").args(["--output=avail", "-BM"]).arg(folder).output().ok()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let free_mib: u64 = printed.lines().nth(1)?.trim().trim_end_matches('M').parse().ok()?;
    (free_mib >= MEMORY_MIB).then_some(folder)
}

pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command
        .current_dir(workspace())
        .status()
        .with_context(|| format!("cannot run {}", command.get_program().display()))?;
    if !status.success() {
        bail!("{} failed: {status}", command.get_program().display());
    }
    Ok(())
}

/// Replaces this process with a program, so that signals reach it.
pub(crate) fn replace(program: &Path, arguments: &[String]) -> Result<()> {
    use std::os::unix::process::CommandExt as _;
    let error = Command::new(program).args(arguments).current_dir(workspace()).exec();
    Err(error).with_context(|| format!("cannot run {}", program.display()))
}

/// Installs a compile target, if rustup has not installed it.
pub(crate) fn ensure_target(target: &str) -> Result<()> {
    let installed = Command::new("rustup")
        .args(["target", "list", "--installed"])
        .current_dir(workspace())
        .output();
    // Without rustup, the toolchain already has the target, or cargo reports what is missing.
    let Ok(installed) = installed else {
        return Ok(());
    };
    if String::from_utf8_lossy(&installed.stdout).lines().any(|line| line == target) {
        return Ok(());
    }
    print_progress(&format!("installing the compile target {target}"));
    run(Command::new("rustup").args(["target", "add", target]))
}

/// Returns the output of `cargo metadata` for the workspace.
pub(crate) fn metadata() -> Result<serde_json::Value> {
    let output = Command::new(cargo_path())
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(workspace())
        .output()?;
    if !output.status.success() {
        bail!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

pub(crate) fn target_folder() -> Result<PathBuf> {
    let metadata = metadata()?;
    let folder = metadata.get("target_directory").and_then(serde_json::Value::as_str);
    Ok(PathBuf::from(folder.context("cargo metadata names no target folder")?))
}
