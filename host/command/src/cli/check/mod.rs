//! `portolan check`.

mod against;

use crate::{
    cli::{cache::compile_cache, client::block_on},
    config::{Config, FILE, Flags},
};
use anyhow::Context as _;
use clap::Args;
use portolan_catalog::{
    Capability, Inspection, Permission, Problem, inspect, lint, tool_tokens, undeclared_people,
};
use portolan_sandbox::{Backtraces, ImportKind, Sandbox, SandboxOptions};
use portolan_vocabulary::{Invocation, Publisher};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

/// Arguments of `portolan check`.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// The component
    #[arg(value_name = "FILE.wasm")]
    file: PathBuf,
    /// Also require what agents need to understand it: descriptions, examples, errors that occur
    #[arg(long)]
    strict: bool,
    /// Compare with the version that a running host serves, or with another file
    #[arg(long, value_name = "URL or FILE.wasm")]
    against: Option<String>,
    /// The settings of the host that it is for: limits, trusted keys and grants
    /// [default: portolan.toml in this folder]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Check {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(self.check())
    }

    async fn check(self) -> anyhow::Result<ExitCode> {
        let config = self.settings()?;
        let inspection = inspect_file(&self.file, &config).await?;
        line!("{}", self.file.display());
        line!("  size      {} bytes", inspection.size);
        line!("  digest    {}", inspection.digest);
        if let Some(time) = inspection.compiled_in {
            line!("  compiled  in {} ms", time.as_millis());
        }
        let fit = report(&inspection);
        let Ok(capability) = &inspection.capability else { return Ok(fit) };
        granted(capability, &config);
        let mut accepted = true;
        if self.strict {
            accepted &= strict(capability);
        }
        if let Some(other) = &self.against {
            accepted &= against::compare(capability, other, &config).await?;
        }
        Ok(if accepted { fit } else { ExitCode::FAILURE })
    }

    fn settings(&self) -> anyhow::Result<Config> {
        let file = self.config.as_deref().unwrap_or(Path::new(FILE));
        anyhow::ensure!(
            self.config.is_none() || file.is_file(),
            "{} is not a file; name the portolan.toml of the host with --config",
            file.display()
        );
        Ok(Config::load(file, &Flags::default())?)
    }
}

/// Loads a component like a host with these settings, in a temporary folder.
pub(super) async fn inspect_file(file: &Path, config: &Config) -> anyhow::Result<Inspection> {
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let scratch = tempfile::tempdir()?;
    let sandbox = Sandbox::new(SandboxOptions {
        limits: config.limits.clone(),
        artifacts: scratch.path().to_owned(),
        compiler: std::env::current_exe()?,
        backtraces: Backtraces::Source,
        compile_cache: compile_cache(),
    })?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Ok(inspect(&Arc::new(sandbox), &config.trust, &name, bytes).await)
}

/// Prints which of what the component asks for the settings permit.
fn granted(capability: &Capability, config: &Config) {
    let descriptor = &capability.descriptor;
    let imports = capability.prepared.imports().iter();
    let interfaces = imports.filter_map(|import| match import.kind {
        ImportKind::Sensitive(grant) => Some(Permission::Interface(grant)),
        _ => None,
    });
    let invokes = descriptor.invokes.iter().cloned().map(Permission::Invoke);
    let events = descriptor.subscriptions.iter();
    let events = events.map(|one| Permission::Subscribe(one.event_type.clone()));
    let permitted = config.grants.0.get(&*capability.id);
    for asked in interfaces.chain(invokes).chain(events) {
        if permitted.is_some_and(|permitted| permitted.contains(&asked)) {
            line!("  granted   {asked}");
        } else {
            line!("  no grant  {asked}");
        }
    }
}

/// Prints what agents would not understand. Returns whether nothing was found.
fn strict(capability: &Capability) -> bool {
    line!("  tool      about {} tokens", tool_tokens(capability));
    let found = lint(capability);
    if !found.is_empty() {
        line!("not ready for agents (--strict):");
        problems(&found);
    }
    found.is_empty()
}

pub(super) fn report(inspection: &Inspection) -> ExitCode {
    match &inspection.capability {
        Ok(capability) => {
            describe(capability);
            permissions(capability);
            let undeclared = undeclared_people(&capability.descriptor);
            if undeclared.is_empty() {
                line!("fit for a catalog");
                return ExitCode::SUCCESS;
            }
            line!("not fit for a catalog: it does not declare whose data its documents are");
            problems(&undeclared);
            ExitCode::FAILURE
        }
        Err(error) => {
            line!(
                "not fit for a catalog: {error} ({})\n  to fix it: {}",
                error.reason(),
                error.fix()
            );
            problems(error.problems());
            ExitCode::FAILURE
        }
    }
}

fn problems(problems: &[Problem]) {
    for problem in problems {
        line!("  - {}: {}\n    to fix it: {}", problem.at, problem.problem, problem.fix);
    }
}

fn describe(capability: &Capability) {
    let descriptor = &capability.descriptor;
    line!("  id        {} {}", descriptor.id, descriptor.version);
    line!("  publisher {}", capability.publisher);
    line!("  title     {}", descriptor.title);
    line!("  summary   {}", descriptor.summary);
    for action in &capability.actions {
        let action = &action.descriptor;
        line!("  action    {:<20} {:<9} {}", action.name, action.access.name(), action.title);
    }
    for role in &descriptor.roles {
        line!("  role      {role} (takes effect if [roles] of portolan.toml assigns it)");
    }
    for prompt in &descriptor.prompts {
        line!("  prompt    {:<20} {}", prompt.name, prompt.title);
    }
    for import in capability.prepared.imports() {
        line!("  imports   {}", import.name);
    }
}

/// Prints what the component may reach, and what the operator has to permit.
fn permissions(capability: &Capability) {
    let descriptor = &capability.descriptor;
    for Invocation { capability, action } in &descriptor.invokes {
        line!("  invokes   {capability}.{action}");
    }
    for published in &descriptor.publishes {
        let kind = if published.sensitive { "sensitive" } else { "public" };
        line!("  publishes {} ({kind})", published.event_type);
    }
    for subscription in &descriptor.subscriptions {
        line!("  receives  {}", subscription.event_type);
    }
    for action in capability.actions.iter().map(|action| &action.descriptor) {
        if !action.callers.is_empty() {
            line!("  callers   of {}: {}", action.name, action.callers.join(", "));
        }
    }
    for annotation in &descriptor.annotations {
        line!("  annotated {} {} (unknown to this host)", annotation.at, annotation.key);
    }
    let imports = capability.prepared.imports().iter();
    let sensitive: Vec<_> = imports
        .filter_map(|import| match import.kind {
            ImportKind::Sensitive(grant) => Some(grant.to_string()),
            _ => None,
        })
        .collect();
    if !sensitive.is_empty() && capability.publisher != Publisher::Host {
        line!(
            "  needs     `portolan catalog approve {}`, which permits: {}",
            capability.id,
            sensitive.join(", ")
        );
    }
    if !descriptor.invokes.is_empty() || !descriptor.subscriptions.is_empty() {
        line!(
            "  a host asks its operator about calls of other publishers' capabilities and about their sensitive events"
        );
    }
}
