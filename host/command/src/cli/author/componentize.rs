//! `portolan componentize`.

use anyhow::Context as _;
use clap::Args;
use std::{path::PathBuf, process::ExitCode};

/// Arguments of `portolan componentize`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Componentize {
    /// The core module, built for wasm32-unknown-unknown
    #[arg(value_name = "CORE.wasm")]
    module: PathBuf,
    /// The file for the component
    #[arg(short, long, value_name = "OUT.wasm")]
    output: PathBuf,
}

impl Componentize {
    pub(in crate::cli) fn run(self) -> anyhow::Result<ExitCode> {
        let Self { module, output } = self;
        let name = module.display();
        let core = std::fs::read(&module).with_context(|| format!("cannot read {name}"))?;
        let component = portolan_componentize::componentize(&core)
            .with_context(|| format!("{name} cannot be made a component"))?;
        std::fs::write(&output, &component)
            .with_context(|| format!("cannot write {}", output.display()))?;
        line!("wrote {} ({} bytes)", output.display(), component.len());
        Ok(ExitCode::SUCCESS)
    }
}
