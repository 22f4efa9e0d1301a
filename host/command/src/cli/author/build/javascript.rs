//! Builds a project in JavaScript or TypeScript by the SDK's own program, which needs Node.js, esbuild and
//! componentize-qjs, and says what is missing.

use super::{project::Project, tool::Tool};

const NODE: Tool = Tool { name: "node", install: "see https://nodejs.org" };

pub(super) fn build(project: &Project) -> anyhow::Result<Vec<u8>> {
    let component = project.scratch()?.join("component.wasm");
    let mut node = NODE.command(&project.folder);
    node.arg(project.sdk.join("sdk/js/build.mjs"))
        .arg(&project.folder)
        .arg("--wit")
        .arg(project.sdk.join("wit"))
        .arg("--output")
        .arg(&component);
    NODE.run(&mut node)?;
    Ok(std::fs::read(component)?)
}
