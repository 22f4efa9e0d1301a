//! `portolan check`.

mod against;
mod inspection;
mod report;

pub(super) use inspection::{inspect_file, read_component};
pub(super) use report::report;

use crate::{
    cli::client::block_on,
    config::{Config, FILE, Flags},
};
use clap::Args;
use portolan_catalog::{Capability, Permission, lint, tool_tokens};
use portolan_sandbox::ImportKind;
use report::print_problems;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Arguments of `portolan check`.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// The component
    #[arg(value_name = "FILE.wasm")]
    file: PathBuf,
    /// Also require what agents need to understand it: descriptions, examples, errors that occur
    #[arg(long)]
    strict: bool,
    /// Compare with the version that a running host serves, or with another file
    #[arg(long, value_name = "URL or FILE.wasm")]
    against: Option<String>,
    /// The settings of the host that it is for: limits, trusted keys and grants
    /// [default: portolan.toml in this folder]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Check {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(self.check())
    }

    async fn check(self) -> anyhow::Result<ExitCode> {
        let config = self.load_config()?;
        let inspection = inspect_file(&self.file, &config).await?;
        line!("{}", self.file.display());
        line!("  size      {} bytes", inspection.size);
        line!("  digest    {}", inspection.digest);
        if let Some(time) = inspection.compiled_in {
            line!("  compiled  in {} ms", time.as_millis());
        }
        let exit_code = report(&inspection);
        let Ok(capability) = &inspection.capability else { return Ok(exit_code) };
        print_grants(capability, &config);
        let mut is_accepted = true;
        if self.strict {
            is_accepted &= print_lint(capability);
        }
        if let Some(other) = &self.against {
            is_accepted &= against::compare(capability, other, &config).await?;
        }
        Ok(if is_accepted { exit_code } else { ExitCode::FAILURE })
    }

    fn load_config(&self) -> anyhow::Result<Config> {
        let file = self.config.as_deref().unwrap_or(Path::new(FILE));
        anyhow::ensure!(
            self.config.is_none() || file.is_file(),
            "{} is not a file; name the portolan.toml of the host with --config",
            file.display()
        );
        Ok(Config::load(file, &Flags::default())?)
    }
}

/// Prints each permission that the component needs, and whether the settings grant it.
fn print_grants(capability: &Capability, config: &Config) {
    let descriptor = &capability.descriptor;
    let imports = capability.prepared.imports().iter();
    let interfaces = imports.filter_map(|import| match import.kind {
        ImportKind::Sensitive(grant) => Some(Permission::Interface(grant)),
        _ => None,
    });
    let invokes = descriptor.invokes.iter().cloned().map(Permission::Invoke);
    let events = descriptor.subscriptions.iter();
    let events = events.map(|subscription| Permission::Subscribe(subscription.event_type.clone()));
    let granted = config.grants.0.get(&*capability.id);
    for permission in interfaces.chain(invokes).chain(events) {
        if granted.is_some_and(|granted| granted.contains(&permission)) {
            line!("  granted   {permission}");
        } else {
            line!("  no grant  {permission}");
        }
    }
}

/// Prints what agents would not understand. Returns whether nothing was found.
fn print_lint(capability: &Capability) -> bool {
    for tool in &capability.tools {
        let hint = match (tool.read_only, tool.destructive) {
            (true, _) => "reads",
            (false, true) => "destructive",
            (false, false) => "writes",
        };
        let tokens = tool_tokens(capability, tool);
        line!("  tool      {} ({hint}; about {tokens} tokens)", tool.name);
    }
    let found = lint(capability);
    if !found.is_empty() {
        line!("not ready for agents (--strict):");
        print_problems(&found);
    }
    found.is_empty()
}
