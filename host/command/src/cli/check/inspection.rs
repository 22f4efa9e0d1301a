//! The inspection of a component, as a host with the same settings would load it.

use crate::{cli::cache::compile_cache, config::Config};
use anyhow::Context as _;
use portolan_catalog::{Inspection, inspect, is_source, read};
use portolan_sandbox::{Backtraces, Sandbox, SandboxOptions};
use std::{path::Path, sync::Arc};

/// Loads a component like a host with these settings, in a temporary folder.
pub(in crate::cli) async fn inspect_file(
    file: &Path,
    config: &Config,
) -> anyhow::Result<Inspection> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let bytes = match is_source(&name) {
        true => read_source(file, &name, config)?,
        false => std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?,
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

/// Reads a source with the engine that is beside it, as in a catalog folder.
fn read_source(file: &Path, name: &str, config: &Config) -> anyhow::Result<Vec<u8>> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    read(folder.unwrap_or(Path::new(".")), name, config.limits.component_bytes).map_err(|error| {
        anyhow::anyhow!("{}: {error}\n  to fix it: {}", file.display(), error.fix())
    })
}
