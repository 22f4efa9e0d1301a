//! The comparison of a component with the version before it.

use super::{inspection::inspect_file, report::print_problems};
use crate::{cli::client::client, config::Config};
use anyhow::{Context as _, bail};
use portolan_catalog::{Capability, find_breaking_changes, published_version, stored_conflicts};
use portolan_vocabulary::Descriptor;
use serde_json::Value;
use std::path::Path;

/// Prints what breaks callers and what does not fit stored documents. Returns whether a host may load the
/// component in place of the other version.
pub(super) async fn compare(
    capability: &Capability,
    other: &str,
    config: &Config,
) -> anyhow::Result<bool> {
    let new = &capability.descriptor;
    let is_host = other.starts_with("http://") || other.starts_with("https://");
    let old = if is_host {
        fetch_served(new, other.trim_end_matches('/')).await?
    } else {
        inspect_descriptor(Path::new(other), config).await?
    };
    anyhow::ensure!(
        old.id == new.id,
        "{other} is the capability {}; name an earlier version of {}",
        old.id,
        new.id
    );
    line!("against {other}: {} {}", old.id, old.version);
    if is_host {
        line!(
            "  a host does not publish collections and kinds of errors; compare them with a file"
        );
    }
    let breaking = find_breaking_changes(&old, new);
    let conflicts = stored_conflicts(&old, new);
    let is_announced = major(new) > major(&old);
    if !breaking.is_empty() {
        line!(
            "breaking for callers{}:",
            if is_announced { ", as the new major version says" } else { "" }
        );
        print_problems(&breaking);
    }
    if !conflicts.is_empty() {
        line!("does not fit stored documents:");
        print_problems(&conflicts);
    }
    if breaking.is_empty() && conflicts.is_empty() {
        line!("compatible");
    } else if !breaking.is_empty() && !is_announced {
        line!(
            "not announced: the change is breaking and the version is {}\n  to fix it: publish it as {}.0.0",
            new.version,
            major(&old) + 1
        );
    }
    Ok(conflicts.is_empty() && (breaking.is_empty() || is_announced))
}

async fn inspect_descriptor(file: &Path, config: &Config) -> anyhow::Result<Descriptor> {
    match inspect_file(file, config).await?.capability {
        Ok(capability) => Ok(capability.descriptor),
        Err(error) => anyhow::bail!(
            "{} cannot be compared: {error}; to fix it: {}",
            file.display(),
            error.fix()
        ),
    }
}

/// Reads what a host publishes about the version that it serves.
async fn fetch_served(candidate: &Descriptor, url: &str) -> anyhow::Result<Descriptor> {
    let client = client()?;
    let fetch = async |path: String| -> anyhow::Result<Value> {
        let answer = client.get(format!("{url}{path}")).send().await;
        let answer = answer.map_err(|_unreachable| {
            anyhow::anyhow!("no host answers at {url}; give --against a running host, or a file")
        })?;
        answer.json().await.context("the answer is not JSON")
    };
    let id = &candidate.id;
    let mut page = fetch("/v1/capabilities".to_owned()).await?;
    let entry = loop {
        let entries = page.get("capabilities").and_then(Value::as_array);
        let mut entries = entries.into_iter().flatten();
        let is_candidate = |entry: &&Value| entry.get("id").is_some_and(|known| *known == **id);
        if let Some(entry) = entries.find(is_candidate) {
            break entry.clone();
        }
        let Some(cursor) = page.get("next_cursor").and_then(Value::as_str) else {
            bail!("the host does not serve {id}; there is nothing to compare");
        };
        page = fetch(format!("/v1/capabilities?cursor={cursor}")).await?;
    };
    let schema = fetch(format!("/v1/capabilities/{id}/schema")).await?;
    Ok(published_version(&entry, &schema, candidate))
}

/// Returns the major version, the first number, or 0 if it is not a number.
fn major(descriptor: &Descriptor) -> u64 {
    let first = descriptor.version.split('.').next();
    first.and_then(|number| number.parse().ok()).unwrap_or_default()
}
