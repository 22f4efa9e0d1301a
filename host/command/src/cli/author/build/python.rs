//! Builds a project in Python: the SDK checks its declaration, and componentize-py makes the component.

use super::{project::Project, tool::Tool};
use anyhow::Context as _;
use std::{env, ffi::OsString, fs, path::Path};
use toml::{Table, Value};

const PYTHON: Tool = Tool { name: "python3", install: "see https://www.python.org" };
const COMPONENTIZE: Tool =
    Tool { name: "componentize-py", install: "pip install componentize-py==0.25.1" };
/// The main module of a project.
const MODULE: &str = "app";
/// The world of a project that names no other.
const WORLD: &str = "capability";

pub(super) fn build(project: &Project) -> anyhow::Result<Vec<u8>> {
    let worlds = worlds(project)?;
    let folder = project.folder.canonicalize()?;
    let sdk = project.sdk.join("sdk/python");
    let mut check = PYTHON.command(&folder);
    check
        .current_dir(&folder)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PYTHONPATH", python_path(&sdk)?);
    check.args(["-m", "portolan_sdk", "check"]).arg(format!("{MODULE}.py"));
    PYTHON.run(&mut check)?;
    let component = project.scratch()?.canonicalize()?.join("component.wasm");
    let mut componentize = COMPONENTIZE.command(&folder);
    componentize.current_dir(&folder).args(["--quiet", "--wit-path"]).arg(project.sdk.join("wit"));
    for world in &worlds {
        componentize.args(["--world", world]);
    }
    componentize.args(["componentize", MODULE, "--python-path", ".", "--python-path"]).arg(sdk);
    componentize.arg("--output").arg(&component);
    COMPONENTIZE.run(&mut componentize)?;
    Ok(fs::read(component)?)
}

/// Returns the `PYTHONPATH` of the check: the SDK, then the folders of the user's own `PYTHONPATH`.
fn python_path(sdk: &Path) -> anyhow::Result<OsString> {
    let given = env::var_os("PYTHONPATH").unwrap_or_default();
    let given = env::split_paths(&given).filter(|path| !path.as_os_str().is_empty());
    Ok(env::join_paths([sdk.to_owned()].into_iter().chain(given))?)
}

/// Returns the worlds of the contract whose interfaces the component imports: those of `[tool.portolan]` in
/// pyproject.toml, such as `worlds = ["lookup-capability"]`, or the default.
fn worlds(project: &Project) -> anyhow::Result<Vec<String>> {
    let file = project.folder.join("pyproject.toml");
    let usual = || vec![WORLD.to_owned()];
    let Ok(text) = fs::read_to_string(&file) else { return Ok(usual()) };
    let table: Table = text.parse().with_context(|| file.display().to_string())?;
    let named = table.get("tool").and_then(|tool| tool.get("portolan")?.get("worlds"));
    Ok(match named.and_then(Value::as_array) {
        Some(worlds) => worlds.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        None => usual(),
    })
}
