//! `portolan wit`.

use super::embedded;
use clap::Args;
use std::{path::PathBuf, process::ExitCode};

/// Arguments of `portolan wit`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Wit {
    /// The folder for the package, which is created
    #[arg(value_name = "FOLDER", default_value = "wit")]
    folder: PathBuf,
}

impl Wit {
    pub(in crate::cli) fn run(self) -> anyhow::Result<ExitCode> {
        let mut count = 0;
        for (path, text) in embedded::files_below("wit") {
            embedded::write(&self.folder.join(path), text)?;
            count += 1;
        }
        line!("wrote {count} files to {}", self.folder.display());
        Ok(ExitCode::SUCCESS)
    }
}
