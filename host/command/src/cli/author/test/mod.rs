//! `portolan test`: runs the cases of a capability in the sandbox, each on a database of its own.
//!
//! - `case`: a case as it is written
//! - `files`: the files of cases
//! - `hints`: what an author can overlook although every case passes
//! - `pattern`: the comparison of an expected part with the actual one
//! - `stubs`: the answers of other capabilities
//! - `runner`: the host that a case runs on
//! - `steps`: whether the next steps of answers lead to an action
//! - `recorded`: a case that is made of a recorded call
//! - `verdict`: the actual outcome of a case, and its differences from the expected one
//! - `junit`: the verdicts as a file for other programs

mod case;
mod files;
mod hints;
mod junit;
mod pattern;
mod recorded;
mod runner;
mod steps;
mod stubs;
mod verdict;

use super::{
    build::{Project, Purpose, build, check_types},
    log,
};
use crate::cli::{
    check::{read_component, report},
    client::{Operator, block_on},
};
use anyhow::Context as _;
use clap::Args;
use files::CaseFile;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use runner::CaseRunner;
use serde_json::Value;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};
use verdict::Verdict;

/// The maximum number of cases that run concurrently.
const MAX_CONCURRENT_CASES: usize = 4;

/// Arguments of `portolan test`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Test {
    /// A component, or the folder of a project, which is built first
    #[arg(value_name = "FILE.wasm or FOLDER", default_value = ".")]
    target: PathBuf,
    /// The folder of the cases [default: cases, beside the component or in the project]
    #[arg(long, value_name = "FOLDER")]
    cases: Option<PathBuf>,
    /// Run only cases whose name contains this text
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Write the actual outcome into the cases that expect another one
    #[arg(long)]
    update: bool,
    /// Write the results to a file in the format of JUnit
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// A folder with the SDKs, such as a checkout of Portolan [default: the SDKs in this binary]
    #[arg(long, value_name = "FOLDER")]
    sdk: Option<PathBuf>,
    /// Make a case of a recorded call of a running host, and run nothing; it needs the role admin
    #[arg(long, value_name = "REQUEST_ID")]
    from_call: Option<String>,
    #[command(flatten)]
    operator: Operator,
}

impl Test {
    pub(in crate::cli) fn run(self) -> anyhow::Result<ExitCode> {
        if !self.target.exists() {
            read_component(&self.target)?;
        }
        let cases = self.cases.clone().unwrap_or_else(|| self.folder().join("cases"));
        if let Some(request_id) = &self.from_call {
            let file = block_on(recorded::write_case(&self.operator, request_id, &cases))?;
            line!(
                "wrote {}; it has personal data of the call: replace it before you keep the case",
                file.display()
            );
            return Ok(ExitCode::SUCCESS);
        }
        let mut files = files::read(&cases)?;
        let component = self.component()?;
        log::write_log();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let verdicts = runtime.block_on(run(&component, &files, self.only.as_deref()))?;
        // The tasks that still run belong to hosts that are no longer needed.
        runtime.shutdown_background();
        let Some((verdicts, elapsed_ms)) = verdicts else { return Ok(ExitCode::FAILURE) };
        anyhow::ensure!(!verdicts.is_empty(), "no case in {} has this name", cases.display());
        if let Some(file) = &self.junit {
            junit::write(file, &verdicts)?;
        }
        if self.update {
            return update(&mut files, &verdicts);
        }
        Ok(summarize(&verdicts, elapsed_ms))
    }

    /// Returns the folder of the component or of the project.
    fn folder(&self) -> &Path {
        match self.target.is_dir() {
            true => &self.target,
            false => self.target.parent().unwrap_or(Path::new("")),
        }
    }

    /// Returns the component, which is built if the target is a project.
    fn component(&self) -> anyhow::Result<PathBuf> {
        let target = &self.target;
        if !target.is_dir() {
            return Ok(target.clone());
        }
        let project = Project::open(target, self.sdk.as_deref())?;
        let component = project.scratch()?.join("tested.wasm");
        build(&project, Purpose::Trial, &component)?;
        if let Err(error) = check_types(&project) {
            line!("note  {error}");
        }
        Ok(component)
    }
}

/// Runs the cases in their order and prints the outcome of each. If a host would refuse the component, prints
/// why and returns `None`.
async fn run(
    component: &Path,
    files: &[CaseFile],
    only: Option<&str>,
) -> anyhow::Result<Option<(Vec<Verdict>, u128)>> {
    let runner = match CaseRunner::open(component).await? {
        Ok(runner) => runner,
        Err(inspection) => {
            report(&inspection);
            return Ok(None);
        }
    };
    let started = Instant::now();
    let cases = files.iter().flat_map(CaseFile::cases);
    let selected = cases.filter(|(_, case)| only.is_none_or(|text| case.name.contains(text)));
    let running = stream::iter(selected.map(|(location, case)| runner.run(location, case)));
    let mut running = running.buffered(MAX_CONCURRENT_CASES);
    let mut verdicts = Vec::new();
    while let Some(verdict) = running.try_next().await? {
        print(&verdict);
        verdicts.push(verdict);
    }
    let elapsed_ms = started.elapsed().as_millis();
    let foreign: BTreeSet<_> =
        verdicts.iter().filter_map(|verdict| verdict.foreign_step.as_ref()).collect();
    for capability in foreign {
        line!("note  a next step leads to the capability {capability}; a host must serve it too");
    }
    if only.is_none() {
        for hint in runner.hints.for_documents(documents(files, &verdicts)) {
            line!("note  {hint}");
        }
    }
    Ok(Some((verdicts, elapsed_ms)))
}

/// Returns the documents of all cases, before and after the calls, with the collections that they are in.
fn documents<'a>(
    files: &'a [CaseFile],
    verdicts: &'a [Verdict],
) -> impl Iterator<Item = (&'a str, &'a Value)> + Clone {
    let before = files.iter().flat_map(CaseFile::documents);
    let after = verdicts.iter().filter_map(|verdict| verdict.actual.get("after")?.as_object());
    let after = after.flatten().flat_map(|(name, documents)| {
        documents.as_array().into_iter().flatten().map(move |document| (name.as_str(), document))
    });
    before.chain(after)
}

fn print(verdict: &Verdict) {
    let (name, location) = (&verdict.name, &verdict.location);
    if verdict.passed() {
        line!("ok    {name}");
        return;
    }
    line!("FAIL  {name} ({location})");
    for difference in &verdict.differences {
        line!("{}", difference.to_string().trim_end());
    }
}

fn summarize(verdicts: &[Verdict], elapsed_ms: u128) -> ExitCode {
    let passed = verdicts.iter().filter(|verdict| verdict.passed()).count();
    let failed = verdicts.len() - passed;
    line!("{passed} passed, {failed} failed in {elapsed_ms} ms");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Writes the actual outcome into the cases that have failed.
fn update(files: &mut [CaseFile], verdicts: &[Verdict]) -> anyhow::Result<ExitCode> {
    let mut changed = 0;
    for verdict in verdicts.iter().filter(|verdict| !verdict.passed()) {
        let file = files.get_mut(verdict.location.file).context("the case is in a file")?;
        file.record(verdict.location.index, &verdict.actual);
        changed += 1;
    }
    for file in files {
        file.write()?;
    }
    line!("{changed} cases are updated; read them before you keep them");
    Ok(ExitCode::SUCCESS)
}
