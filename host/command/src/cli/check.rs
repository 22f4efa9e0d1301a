//! `portolan check`.

use crate::cli::client::block_on;
use anyhow::Context as _;
use clap::Args;
use portolan_catalog::{Capability, Inspection, inspect};
use portolan_sandbox::{Grant, ImportKind, Sandbox, SandboxOptions};
use portolan_vocabulary::Limits;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

/// Arguments of `portolan check`.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// The component
    #[arg(value_name = "FILE.wasm")]
    file: PathBuf,
}

impl Check {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(self.check())
    }

    async fn check(self) -> anyhow::Result<ExitCode> {
        let inspection = inspect_file(&self.file).await?;
        line!("{}", self.file.display());
        line!("  size      {} bytes", inspection.size);
        line!("  digest    {}", inspection.digest);
        if let Some(time) = inspection.compiled_in {
            line!("  compiled  in {} ms", time.as_millis());
        }
        Ok(report(&self.file, &inspection))
    }
}

/// Loads a component like a host, in a temporary folder.
pub(super) async fn inspect_file(file: &Path) -> anyhow::Result<Inspection> {
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let scratch = tempfile::tempdir()?;
    let sandbox = Sandbox::new(SandboxOptions {
        limits: Limits::default(),
        artifacts: scratch.path().to_owned(),
        compiler: std::env::current_exe()?,
    })?;
    Ok(inspect(&Arc::new(sandbox), bytes).await)
}

pub(super) fn report(file: &Path, inspection: &Inspection) -> ExitCode {
    match &inspection.capability {
        Ok(capability) => {
            describe(capability);
            grants(file, capability);
            line!("fit for a catalog");
            ExitCode::SUCCESS
        }
        Err(error) => {
            line!(
                "not fit for a catalog: {error} ({})\n  to fix it: {}",
                error.reason(),
                error.fix()
            );
            for problem in error.problems() {
                line!("  - {}: {}\n    to fix it: {}", problem.at, problem.problem, problem.fix);
            }
            ExitCode::FAILURE
        }
    }
}

fn describe(capability: &Capability) {
    let descriptor = &capability.descriptor;
    line!("  id        {} {}", descriptor.id, descriptor.version);
    line!("  title     {}", descriptor.title);
    line!("  summary   {}", descriptor.summary);
    for action in &capability.actions {
        let action = &action.descriptor;
        line!("  action    {:<20} {:<9} {}", action.name, action.access.name(), action.title);
    }
    for role in &descriptor.roles {
        line!("  role      {role} (takes effect if [roles] of portolan.toml assigns it)");
    }
    for prompt in &descriptor.prompts {
        line!("  prompt    {:<20} {}", prompt.name, prompt.title);
    }
    for import in capability.prepared.imports() {
        line!("  imports   {}", import.name);
    }
}

fn grants(file: &Path, capability: &Capability) {
    let needed: Vec<Grant> = capability
        .prepared
        .imports()
        .iter()
        .filter_map(|import| match import.kind {
            ImportKind::Sensitive(grant) => Some(grant),
            _ => None,
        })
        .collect();
    if !needed.is_empty() {
        let names: Vec<_> = needed.iter().map(|grant| format!("\"{grant}\"")).collect();
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        line!(
            "  needs     a grant, in the table [grants] of portolan.toml: \"{stem}\" = [{}]",
            names.join(", ")
        );
    }
}
