//! `portolan build`: from the source of a project to its component.

mod javascript;
mod project;
mod python;
mod rust;
mod tool;

pub(super) use javascript::{check_types, engine as javascript_engine};
pub(super) use project::Project;
pub(super) use python::engine as python_engine;
pub(super) use tool::end_running;

use super::language::Language;
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

/// The purpose of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To be tried at once, with the lines of the source.
    Trial,
    /// To be copied, with the lines of the source.
    Debug,
    /// To be small and fast.
    Release,
}

/// The folders of a project and of the SDKs.
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
        let purpose = if self.release { Purpose::Release } else { Purpose::Debug };
        check_types(&project)?;
        if javascript::lacks_type_check(&project) {
            line!(
                "note  the types are not checked; install the compiler in the project: {}",
                javascript::INSTALL_TYPE_CHECK
            );
        }
        build(&project, purpose, &output)?;
        let (size, time) = (std::fs::metadata(&output)?.len(), started.elapsed().as_millis());
        line!("built {} ({size} bytes) in {time} ms", output.display());
        Ok(ExitCode::SUCCESS)
    }
}

/// Builds the component and writes it by a rename, so that a host that watches the folder sees whole files.
/// The tools' standard error is shown; their standard output is not.
pub(super) fn build(project: &Project, purpose: Purpose, output: &Path) -> anyhow::Result<()> {
    write_by_rename(output, &component(project, purpose)?)
}

fn component(project: &Project, purpose: Purpose) -> anyhow::Result<Vec<u8>> {
    let release = purpose == Purpose::Release;
    match (project.language, purpose) {
        (Language::Rust, _) => rust::build(project, release),
        (Language::Js | Language::Ts, _) => javascript::build(project, release),
        (Language::Python, Purpose::Trial) => python::build_source(project),
        (Language::Python, _) => python::build(project),
    }
}

/// Writes a component by a rename.
pub(super) fn write_by_rename(output: &Path, component: &[u8]) -> anyhow::Result<()> {
    let unfinished = output.with_extension("unfinished");
    std::fs::write(&unfinished, component)
        .and_then(|()| std::fs::rename(&unfinished, output))
        .with_context(|| format!("cannot write {}", output.display()))
}
