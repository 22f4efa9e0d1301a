//! `portolan build`: from the source of a project to its component.

mod javascript;
mod project;
mod python;
mod rust;
mod tool;

pub(super) use javascript::engine as javascript_engine;
pub(super) use project::Project;
pub(super) use python::engine as python_engine;

use super::{
    engine::{self, SourceLanguage},
    language::Language,
};
use anyhow::Context as _;
use clap::Args;
use std::{
    io::ErrorKind,
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

impl Build {
    pub(in crate::cli) fn run(self) -> anyhow::Result<ExitCode> {
        let started = Instant::now();
        let project = Project::open(&self.project.folder, self.project.sdk.as_deref())?;
        let output = match self.output {
            Some(output) => output,
            None => project.default_output()?,
        };
        build(&project, self.release, &output)?;
        let (size, time) = (std::fs::metadata(&output)?.len(), started.elapsed().as_millis());
        line!("built {} ({size} bytes) in {time} ms", output.display());
        Ok(ExitCode::SUCCESS)
    }
}

/// Builds the component and writes it by a rename, so that a host that watches the folder sees whole files.
/// What the tools of the language write to standard error is shown; their standard output is not.
pub(super) fn build(project: &Project, release: bool, output: &Path) -> anyhow::Result<()> {
    put_in_place(output, &component(project, release)?)
}

fn component(project: &Project, release: bool) -> anyhow::Result<Vec<u8>> {
    match project.language {
        Language::Rust => rust::build(project, release),
        Language::Js | Language::Ts => javascript::build(project, release),
        Language::Python => python::build(project),
    }
}

/// Builds a project for a catalog as fast as possible, and returns the name of its file there: `dev.wasm`, or for
/// a project in Python that the engine can run, `dev.py`.
pub(super) fn build_for(catalog: &Path, project: &Project) -> anyhow::Result<&'static str> {
    const COMPONENT: &str = "dev.wasm";
    const SOURCE: &str = "dev.py";
    let source = match project.language {
        Language::Python => python::source(project)?,
        Language::Rust | Language::Js | Language::Ts => None,
    };
    let (content, file, other) = match source {
        Some(text) => {
            engine::install(catalog, SourceLanguage::Py, &project.sdk)?;
            (text.into_bytes(), SOURCE, COMPONENT)
        }
        None => (component(project, false)?, COMPONENT, SOURCE),
    };
    // There is a file of the other kind if a change made a source of the project, or a component.
    match std::fs::remove_file(catalog.join(other)) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
        _ => put_in_place(&catalog.join(file), &content)?,
    }
    Ok(file)
}

/// Writes a component or a source by a rename.
pub(super) fn put_in_place(output: &Path, content: &[u8]) -> anyhow::Result<()> {
    let unfinished = output.with_extension("unfinished");
    std::fs::write(&unfinished, content)
        .and_then(|()| std::fs::rename(&unfinished, output))
        .with_context(|| format!("cannot write {}", output.display()))
}
