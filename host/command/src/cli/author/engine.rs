//! `portolan engine`.

use super::{build, sdk};
use crate::cli::cache;
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
pub(super) enum SourceLanguage {
    /// JavaScript
    Js,
    /// Python
    Py,
}

impl SourceLanguage {
    /// Returns the ending of the language's files.
    pub(super) const fn ending(self) -> &'static str {
        match self {
            Self::Js => "js",
            Self::Py => "py",
        }
    }

    /// Returns the language's name in messages.
    const fn name(self) -> &'static str {
        match self {
            Self::Js => "JavaScript",
            Self::Py => "Python",
        }
    }

    /// Returns the language's engine. That of the SDKs in this binary is made once and kept beside them.
    pub(super) fn engine(self, sdk: &Path) -> anyhow::Result<Vec<u8>> {
        let kept = file_in(sdk, self);
        if let Ok(engine) = fs::read(&kept) {
            return Ok(engine);
        }
        line!("making the engine that runs sources in {}", self.name());
        let engine = self.make(sdk)?;
        if sdk.starts_with(cache::folder()?) {
            write(&kept, &engine)?;
        }
        Ok(engine)
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
        write(&output, &self.language.make(&sdk)?)?;
        line!("made {}, which runs the sources (*.{ending}) of that catalog", output.display());
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the file of a language's engine in a catalog, or among the SDKs.
fn file_in(catalog: &Path, language: SourceLanguage) -> PathBuf {
    catalog.join(".engines").join(format!("{}.wasm", language.ending()))
}

/// Writes an engine, and the folder that it is in.
fn write(file: &Path, engine: &[u8]) -> anyhow::Result<()> {
    let created = file.parent().map_or(Ok(()), fs::create_dir_all);
    created.with_context(|| format!("cannot create the folder of {}", file.display()))?;
    build::write_by_rename(file, engine)
}
