//! `portolan describe`.

use crate::{
    cli::{check, client::block_on},
    config::{Config, FILE, Flags},
};
use clap::Args;
use portolan_catalog::Reference;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Arguments of `portolan describe`.
#[derive(Debug, Args)]
pub(super) struct Describe {
    /// The component
    #[arg(value_name = "FILE.wasm")]
    file: PathBuf,
}

impl Describe {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(async {
            let config = Config::load(Path::new(FILE), &Flags::default())?;
            let inspection = check::inspect_file(&self.file, &config).await?;
            let Ok(capability) = &inspection.capability else {
                return Ok(check::report(&inspection));
            };
            line!("{}", Reference(capability).to_string().trim_end());
            Ok(ExitCode::SUCCESS)
        })
    }
}
