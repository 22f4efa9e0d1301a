//! Builds a project in Python: the SDK checks its declaration, and componentize-py makes the component. A project
//! that is a single module can also run as a source.

use super::{project::Project, tool::Tool};
use crate::cli::author::sdk;
use anyhow::Context as _;
use portolan_sandbox::with_source;
use std::{env, ffi::OsString, fs, path::Path, time::Duration};
use toml::{Table, Value};

const PYTHON: Tool = Tool {
    name: "python3",
    install: "see https://www.python.org",
    time_limit: Duration::from_secs(30),
};
const COMPONENTIZE: Tool = Tool {
    name: "componentize-py",
    install: "pip install componentize-py==0.25.1",
    time_limit: Duration::from_secs(180),
};
/// The main module of a project.
const MODULE: &str = "app";
/// The main module of the engine.
const ENGINE: &str = "portolan_sdk.engine";
/// The world of a project that names no other.
const WORLD: &str = "capability";

pub(super) fn build(project: &Project) -> anyhow::Result<Vec<u8>> {
    let (worlds, folder) = (worlds(project)?, project.folder.canonicalize()?);
    check(&folder, &project.sdk, "check")?;
    componentize(&folder, &project.sdk, &worlds, MODULE, &project.scratch()?.canonicalize()?)
}

/// Builds a project without componentize-py if the engine can run it: one module that needs no package and no
/// interface that an operator grants.
pub(super) fn build_source(project: &Project) -> anyhow::Result<Vec<u8>> {
    let folder = project.folder.canonicalize()?;
    let lacking = check(&folder, &project.sdk, "check-source")?;
    if !lacking.is_empty() || worlds(project)? != [WORLD] {
        let modules = String::from_utf8_lossy(&lacking).replace('\n', ", ");
        let reason = match modules.as_str() {
            "" => "pyproject.toml names other worlds".to_owned(),
            modules => format!("{MODULE}.py imports {modules}"),
        };
        line!("building a component, which takes about 10 s: {reason}, which a source cannot use");
        return build(project);
    }
    let file = format!("{MODULE}.py");
    let text = fs::read_to_string(folder.join(&file))?;
    Ok(with_source(&kept_engine(&project.sdk)?, &file, &text))
}

/// Returns the engine, which is made once for the SDKs in this binary.
fn kept_engine(sdk: &Path) -> anyhow::Result<Vec<u8>> {
    sdk::made_once(sdk, "engine.py.wasm", || {
        line!("making the engine that runs projects in Python; this takes about 10 s once");
        engine(sdk)
    })
}

/// Makes the engine that runs sources.
pub(in crate::cli::author) fn engine(sdk: &Path) -> anyhow::Result<Vec<u8>> {
    let scratch = tempfile::tempdir()?;
    componentize(scratch.path(), sdk, &["engine".to_owned()], ENGINE, scratch.path())
}

/// Runs a command of the SDK on the main module, and returns its output. The faults that it finds are on standard
/// error.
fn check(folder: &Path, sdk: &Path, command: &str) -> anyhow::Result<Vec<u8>> {
    let mut check = PYTHON.command(folder);
    check
        .current_dir(folder)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PYTHONPATH", python_path(&sdk.join("sdk/python"))?);
    check.args(["-m", "portolan_sdk", command]).arg(format!("{MODULE}.py"));
    PYTHON.output(&mut check)
}

/// Makes a component of a module of a folder.
fn componentize(
    folder: &Path,
    sdk: &Path,
    worlds: &[String],
    module: &str,
    scratch: &Path,
) -> anyhow::Result<Vec<u8>> {
    let component = scratch.join("component.wasm");
    let mut componentize = COMPONENTIZE.command(folder);
    componentize.current_dir(folder).args(["--quiet", "--wit-path"]).arg(sdk.join("wit"));
    for world in worlds {
        componentize.args(["--world", world]);
    }
    componentize.args(["componentize", module, "--python-path", ".", "--python-path"]);
    componentize.arg(sdk.join("sdk/python")).arg("--output").arg(&component);
    COMPONENTIZE.run(&mut componentize)?;
    Ok(fs::read(component)?)
}

/// Returns the `PYTHONPATH` of the check: the SDK, then the folders of the user's own `PYTHONPATH`.
fn python_path(sdk: &Path) -> anyhow::Result<OsString> {
    let user_path = env::var_os("PYTHONPATH").unwrap_or_default();
    let user_path = env::split_paths(&user_path).filter(|path| !path.as_os_str().is_empty());
    Ok(env::join_paths([sdk.to_owned()].into_iter().chain(user_path))?)
}

/// Returns the worlds of the contract whose interfaces the component imports: those of `[tool.portolan]` in
/// pyproject.toml, such as `worlds = ["lookup-capability"]`, or the default.
fn worlds(project: &Project) -> anyhow::Result<Vec<String>> {
    let file = project.folder.join("pyproject.toml");
    let default_worlds = || vec![WORLD.to_owned()];
    let Ok(text) = fs::read_to_string(&file) else { return Ok(default_worlds()) };
    let table: Table = text.parse().with_context(|| file.display().to_string())?;
    let configured = table.get("tool").and_then(|tool| tool.get("portolan")?.get("worlds"));
    Ok(match configured.and_then(Value::as_array) {
        Some(worlds) => worlds.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        None => default_worlds(),
    })
}
