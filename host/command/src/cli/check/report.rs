//! The report of `portolan check` about a component.

use portolan_catalog::{Capability, Inspection, Problem, undeclared_people};
use portolan_sandbox::ImportKind;
use portolan_vocabulary::{Invocation, KNOWN_ANNOTATIONS, Publisher};
use std::process::ExitCode;

pub(in crate::cli) fn report(inspection: &Inspection) -> ExitCode {
    match &inspection.capability {
        Ok(capability) => {
            print_description(capability);
            print_permissions(capability);
            let undeclared = undeclared_people(&capability.descriptor);
            if undeclared.is_empty() {
                line!("fit for a catalog");
                return ExitCode::SUCCESS;
            }
            line!(
                "not fit for a catalog: some collections do not declare which paths of their documents name people"
            );
            print_problems(&undeclared);
            ExitCode::FAILURE
        }
        Err(error) => {
            line!(
                "not fit for a catalog: {error} ({})\n  to fix it: {}",
                error.reason(),
                error.fix()
            );
            print_problems(error.problems());
            ExitCode::FAILURE
        }
    }
}

/// Prints the problems, each with its fix.
pub(super) fn print_problems(problems: &[Problem]) {
    for problem in problems {
        line!("  - {}: {}\n    to fix it: {}", problem.at, problem.problem, problem.fix);
    }
}

fn print_description(capability: &Capability) {
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
fn print_permissions(capability: &Capability) {
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
        let is_known = KNOWN_ANNOTATIONS.contains(&annotation.key.as_str());
        let known = if is_known { "" } else { " (unknown to this host)" };
        line!("  annotated {} {}{known}", annotation.at, annotation.key);
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
