//! `portolan build`: from the source of a project to its component.

mod javascript;
mod python;
mod rust;
mod tool;

use super::{language::Language, sdk};
use anyhow::Context as _;
use clap::Args;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

/// Arguments of `portolan build`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Build {
    #[command(flatten)]
    project: ProjectFlags,
    /// Build the component small and fast, without what debugging needs
    #[arg(long)]
    release: bool,
    /// The file for the component [default: the name of the project, in its folder]
    #[arg(short, long, value_name = "OUT.wasm")]
    output: Option<PathBuf>,
}

/// Where a project and the SDKs are.
#[derive(Debug, Args)]
pub(in crate::cli) struct ProjectFlags {
    /// The folder of the project
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(super) folder: PathBuf,
    /// A folder with the SDKs, such as a checkout of Portolan [default: the SDKs in this binary]
    #[arg(long, value_name = "FOLDER")]
    pub(super) sdk: Option<PathBuf>,
}

/// A project that can be built.
#[derive(Debug, Clone)]
pub(super) struct Project {
    folder: PathBuf,
    language: Language,
    sdk: PathBuf,
}

impl Build {
    pub(in crate::cli) fn run(self) -> anyhow::Result<ExitCode> {
        let started = Instant::now();
        let project = Project::open(&self.project.folder, self.project.sdk.as_deref())?;
        let output = match self.output {
            Some(output) => output,
            None => project.default_output()?,
        };
        project.build(self.release, &output)?;
        let (size, time) = (std::fs::metadata(&output)?.len(), started.elapsed().as_millis());
        line!("built {} ({size} bytes) in {time} ms", output.display());
        Ok(ExitCode::SUCCESS)
    }
}

impl Project {
    /// Recognises the project in a folder, and links the SDKs into it.
    pub(super) fn open(folder: &Path, sdk: Option<&Path>) -> anyhow::Result<Self> {
        let language = Language::of(folder)?;
        let sdk = sdk::folder(sdk)?;
        sdk::link(folder, &sdk)?;
        Ok(Self { folder: folder.to_owned(), language, sdk })
    }

    /// Builds the component and writes it by a rename, so that a host that watches the folder sees whole
    /// files. What the tools of the language print goes to standard error.
    pub(super) fn build(&self, release: bool, output: &Path) -> anyhow::Result<()> {
        let component = match self.language {
            Language::Rust => rust::build(self, release)?,
            Language::Js | Language::Ts => javascript::build(self)?,
            Language::Python => python::build(self)?,
        };
        let unfinished = output.with_extension("unfinished");
        std::fs::write(&unfinished, component)
            .and_then(|()| std::fs::rename(&unfinished, output))
            .with_context(|| format!("cannot write {}", output.display()))
    }

    /// Returns the folder with its source.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the file of the component: the name of the folder, in it.
    pub(super) fn default_output(&self) -> anyhow::Result<PathBuf> {
        let folder = self.folder.canonicalize()?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(self.folder.join(format!("{name}.wasm")))
    }

    /// Returns a folder for what is made on the way to the component.
    pub(super) fn scratch(&self) -> anyhow::Result<PathBuf> {
        let folder = self.folder.join(".portolan/build");
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(folder)
    }
}
