//! Builds a project in JavaScript or TypeScript: esbuild bundles it with the SDK, and componentize-qjs makes
//! the component.

use super::{Project, tool::Tool};
use anyhow::Context as _;
use std::path::PathBuf;

const ESBUILD: Tool = Tool { name: "esbuild", install: "npm install -g esbuild@0.28" };
const COMPONENTIZE: Tool =
    Tool { name: "componentize-qjs", install: "npm install -g componentize-qjs@0.4.5" };
/// The files that a project can begin with, the first of which is taken.
const ENTRIES: [&str; 4] = ["index.ts", "index.js", "src/index.ts", "src/index.js"];

pub(super) fn build(project: &Project, release: bool) -> anyhow::Result<Vec<u8>> {
    let scratch = project.scratch()?;
    let (bundle, component) = (scratch.join("bundle.js"), scratch.join("component.wasm"));
    let sdk = project.sdk.join("sdk/js");
    let mut esbuild = ESBUILD.command(&project.folder);
    esbuild
        .arg(entry(project)?)
        .args(["--bundle", "--format=esm", "--platform=neutral", "--target=es2023"])
        .args(["--external:portolan:*", "--log-level=warning"])
        .arg(format!("--alias:@portolan/sdk={}", sdk.join("src/index.js").display()))
        .arg(format!("--outfile={}", bundle.display()))
        .arg(if release { "--minify-whitespace" } else { "--sourcemap=inline" });
    ESBUILD.run(&mut esbuild)?;
    let mut componentize = COMPONENTIZE.command(&project.folder);
    componentize.arg("--sync").arg("--wit").arg(project.sdk.join("wit"));
    componentize.args(["--world", "capability", "--js"]).arg(bundle).arg("--output").arg(&component);
    COMPONENTIZE.run(&mut componentize)?;
    Ok(std::fs::read(component)?)
}

fn entry(project: &Project) -> anyhow::Result<PathBuf> {
    let mut entries = ENTRIES.iter().map(|name| project.folder.join(name));
    let entry = entries.find(|path| path.is_file());
    entry.with_context(|| {
        let folder = project.folder.display();
        format!("{folder} has none of {}; write the capability in one of them", ENTRIES.join(", "))
    })
}
