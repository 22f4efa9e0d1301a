//! Builds a project in JavaScript or TypeScript by the SDK's own program, which needs Node.js, esbuild and
//! componentize-qjs, and says what is missing.

use super::{project::Project, tool::Tool};
use std::{ffi::OsStr, path::Path, time::Duration};

const NODE: Tool =
    Tool { name: "node", install: "see https://nodejs.org", time_limit: Duration::from_secs(180) };

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
