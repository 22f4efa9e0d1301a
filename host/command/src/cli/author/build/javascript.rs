//! Builds a project in JavaScript or TypeScript by the SDK's own program, which needs Node.js, esbuild and
//! componentize-qjs, and says what is missing.

use super::{project::Project, tool::Tool};
use crate::cli::author::language::Language;
use anyhow::Context as _;
use std::{ffi::OsStr, path::Path, time::Duration};

const NODE: Tool =
    Tool { name: "node", install: "see https://nodejs.org", time_limit: Duration::from_secs(180) };

const TSC: Tool = Tool {
    name: "tsc",
    install: "npm install --save-dev typescript",
    time_limit: Duration::from_secs(180),
};

/// Returns whether the types of a project cannot be checked, because it has no compiler of TypeScript.
pub(super) fn lacks_type_check(project: &Project) -> bool {
    project.language == Language::Ts && !project.folder.join("node_modules/.bin/tsc").exists()
}

/// Checks the types of a project in TypeScript that has the compiler, and prints what it finds.
pub(in crate::cli::author) fn check_types(project: &Project) -> anyhow::Result<()> {
    if project.language != Language::Ts || lacks_type_check(project) {
        return Ok(());
    }
    let mut tsc = TSC.command(&project.folder);
    tsc.current_dir(&project.folder).args(["--noEmit", "--pretty", "false"]);
    let checked = tsc.output().context("tsc cannot be run")?;
    if checked.status.success() {
        return Ok(());
    }
    line!("{}", String::from_utf8_lossy(&checked.stdout).trim_end());
    anyhow::bail!("the types do not fit, as tsc says above; correct them, or tsconfig.json")
}

/// The command with which a project gets the compiler of TypeScript.
pub(super) const INSTALL_TYPE_CHECK: &str = TSC.install;

/// A build that is not for release takes the smaller engine, which is compiled in two thirds of the time.
pub(super) fn build(project: &Project, release: bool) -> anyhow::Result<Vec<u8>> {
    let mut options = vec![project.folder.as_os_str()];
    if !release {
        options.push("--quick".as_ref());
    }
    run(&project.folder, &project.sdk, &options, &project.scratch()?)
}

/// Makes the engine that runs sources.
pub(in crate::cli::author) fn engine(sdk: &Path) -> anyhow::Result<Vec<u8>> {
    let scratch = tempfile::tempdir()?;
    run(Path::new("."), sdk, &["--engine".as_ref()], scratch.path())
}

/// Runs the SDK's program and returns the component. `project` is where its tools are looked for first.
fn run(project: &Path, sdk: &Path, options: &[&OsStr], scratch: &Path) -> anyhow::Result<Vec<u8>> {
    let component = scratch.join("component.wasm");
    let mut node = NODE.command(project);
    node.arg(sdk.join("sdk/js/build.mjs")).args(options);
    node.arg("--wit").arg(sdk.join("wit")).arg("--output").arg(&component);
    NODE.run(&mut node)?;
    Ok(std::fs::read(component)?)
}
