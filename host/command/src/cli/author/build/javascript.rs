//! Builds a project in JavaScript or TypeScript by the SDK's own program, which needs Node.js, esbuild and
//! componentize-qjs, and says what is missing.

use super::{project::Project, tool::Tool};

const NODE: Tool = Tool { name: "node", install: "see https://nodejs.org" };

/// A build that is not for release takes the smaller engine, which is compiled in two thirds of the time.
pub(super) fn build(project: &Project, release: bool) -> anyhow::Result<Vec<u8>> {
    let component = project.scratch()?.join("component.wasm");
    let mut node = NODE.command(&project.folder);
    node.arg(project.sdk.join("sdk/js/build.mjs"))
        .arg(&project.folder)
        .arg("--wit")
        .arg(project.sdk.join("wit"))
        .arg("--output")
        .arg(&component);
    if !release {
        node.arg("--quick");
    }
    NODE.run(&mut node)?;
    Ok(std::fs::read(component)?)
}
