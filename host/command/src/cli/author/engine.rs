//! `portolan engine`.

use super::{build, sdk};
use clap::{Args, ValueEnum};
use std::{path::PathBuf, process::ExitCode};

/// Arguments of `portolan engine`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Engine {
    /// The language of the sources that it runs, which is the ending of their files
    #[arg(value_name = "LANGUAGE")]
    language: EngineLanguage,
    /// The file for the engine: .engines/LANGUAGE.wasm in the catalog folder
    #[arg(short, long, value_name = "OUT.wasm", default_value = "catalog/.engines/js.wasm")]
    output: PathBuf,
    /// A folder with the SDKs, such as a checkout of Portolan [default: the SDKs in this binary]
    #[arg(long, value_name = "FOLDER")]
    sdk: Option<PathBuf>,
}

/// A language for which there is an engine.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum EngineLanguage {
    /// JavaScript
    Js,
}

impl Engine {
    pub(in crate::cli) fn run(self) -> anyhow::Result<ExitCode> {
        let sdk = sdk::folder(self.sdk.as_deref())?;
        if let Some(folder) = self.output.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let engine = match self.language {
            EngineLanguage::Js => build::javascript_engine(&sdk)?,
        };
        build::put_in_place(&self.output, engine)?;
        line!("made {}, which runs the sources (*.js) of that catalog", self.output.display());
        Ok(ExitCode::SUCCESS)
    }
}
