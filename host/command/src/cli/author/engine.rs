//! `portolan engine`.

use super::{build, sdk};
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Arguments of `portolan engine`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Engine {
    /// The language of the sources that it runs, which is the ending of their files
    #[arg(value_name = "LANGUAGE")]
    language: SourceLanguage,
    /// The file for the engine: .engines/LANGUAGE.wasm in a catalog folder [default:
    /// catalog/.engines/LANGUAGE.wasm]
    #[arg(short, long, value_name = "OUT.wasm")]
    output: Option<PathBuf>,
    /// A folder with the SDKs, such as a checkout of Portolan [default: the SDKs in this binary]
    #[arg(long, value_name = "FOLDER")]
    sdk: Option<PathBuf>,
}

/// A language for which there is an engine.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum SourceLanguage {
    /// JavaScript
    Js,
    /// Python
    Py,
}

impl SourceLanguage {
    /// Returns the ending of the language's files.
    const fn ending(self) -> &'static str {
        match self {
            Self::Js => "js",
            Self::Py => "py",
        }
    }

    /// Makes the language's engine.
    fn make(self, sdk: &Path) -> anyhow::Result<Vec<u8>> {
        match self {
            Self::Js => build::javascript_engine(sdk),
            Self::Py => build::python_engine(sdk),
        }
    }
}

impl Engine {
    pub(in crate::cli) fn run(self) -> anyhow::Result<ExitCode> {
        let (sdk, ending) = (sdk::folder(self.sdk.as_deref())?, self.language.ending());
        let output = self.output.unwrap_or_else(|| file_in(Path::new("catalog"), self.language));
        if let Some(folder) = output.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot create {}", folder.display()))?;
        }
        build::write_by_rename(&output, &self.language.make(&sdk)?)?;
        line!("made {}, which runs the sources (*.{ending}) of that catalog", output.display());
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the file of a language's engine in a catalog.
fn file_in(catalog: &Path, language: SourceLanguage) -> PathBuf {
    catalog.join(".engines").join(format!("{}.wasm", language.ending()))
}
