//! The inspection of a component, as a host with the same settings would load it.

use crate::{cli::cache::compile_cache, config::Config};
use portolan_catalog::{Inspection, inspect, is_source, read};
use portolan_sandbox::{Backtraces, Sandbox, SandboxOptions};
use std::{io::ErrorKind, path::Path, sync::Arc};

/// Loads a component like a host with these settings, in a temporary folder.
pub(in crate::cli) async fn inspect_file(
    file: &Path,
    config: &Config,
) -> anyhow::Result<Inspection> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let bytes = match is_source(&name) {
        true => read_source(file, &name, config)?,
        false => read_component(file)?,
    };
    let scratch = tempfile::tempdir()?;
    let sandbox = Sandbox::new(SandboxOptions {
        limits: config.limits.clone(),
        artifacts: scratch.path().to_owned(),
        compiler: std::env::current_exe()?,
        backtraces: Backtraces::Source,
        compile_cache: compile_cache(),
    })?;
    Ok(inspect(&Arc::new(sandbox), &config.trust, &name, bytes).await)
}

/// Reads a component. Says where it was looked for, and what writes it.
pub(in crate::cli) fn read_component(file: &Path) -> anyhow::Result<Vec<u8>> {
    let name = file.display();
    if file.is_dir() {
        anyhow::bail!(
            "{name} is a folder, not a component; `portolan build {name}` builds the project in it"
        );
    }
    std::fs::read(file).map_err(|error| match error.kind() {
        ErrorKind::NotFound => anyhow::anyhow!(
            "there is no file {}; name another, or build it: `portolan build FOLDER` writes FOLDER/NAME.wasm, where NAME is the folder's name",
            std::path::absolute(file).as_deref().unwrap_or(file).display()
        ),
        ErrorKind::PermissionDenied => {
            anyhow::anyhow!("{name} cannot be read; its permissions do not allow it to this user")
        }
        _ => anyhow::Error::new(error).context(format!("cannot read {name}")),
    })
}

/// Reads a source with the engine that is beside it, as in a catalog folder.
fn read_source(file: &Path, name: &str, config: &Config) -> anyhow::Result<Vec<u8>> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    read(folder.unwrap_or(Path::new(".")), name, config.limits.component_bytes).map_err(|error| {
        anyhow::anyhow!("{}: {error}\n  to fix it: {}", file.display(), error.fix())
    })
}
