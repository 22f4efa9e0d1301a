//! Builds a project in Python: componentize-py makes the component.

use super::{Project, tool::Tool};

const COMPONENTIZE: Tool =
    Tool { name: "componentize-py", install: "pip install componentize-py==0.25.1" };
/// The module that a project begins with.
const ENTRY: &str = "app";

pub(super) fn build(project: &Project) -> anyhow::Result<Vec<u8>> {
    let component = project.scratch()?.join("component.wasm");
    let mut componentize = COMPONENTIZE.command(&project.folder);
    componentize
        .arg("--wit-path")
        .arg(project.sdk.join("wit"))
        .args(["--world", "capability", "componentize", "--stub-wasi"])
        .arg("--python-path")
        .arg(&project.folder)
        .arg("--python-path")
        .arg(project.sdk.join("sdk/python"))
        .arg("--output")
        .arg(&component)
        .arg(ENTRY);
    COMPONENTIZE.run(&mut componentize)?;
    Ok(std::fs::read(component)?)
}
