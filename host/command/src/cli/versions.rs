//! `portolan publish`, `portolan history` and `portolan rollback`.

use crate::{
    cli::{
        check,
        client::{Operator, block_on, text},
        decision::{DecisionArguments, texts},
        registry::{Pulled, RegistryAccess, parse_address},
        releases,
    },
    config::{Config, FILE, Flags},
};
use clap::Args;
use reqwest::{Method, RequestBuilder};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Arguments of `portolan publish`.
#[derive(Debug, Args)]
pub(super) struct Publish {
    /// The component, or its address in a registry: oci://REGISTRY/NAME:TAG
    #[arg(value_name = "FILE.wasm")]
    component: PathBuf,
    /// The name of its file in the catalog folder: the publisher of an unsigned component
    /// [default: the file's own name]
    #[arg(long, value_name = "NAME.wasm")]
    name: Option<String>,
    /// Give it to this share of the callers, in percent, while the present version serves the others
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u64).range(1..=50))]
    share: Option<u64>,
    /// How long the share lasts, such as 30m, 1h or 2d, before it is to be decided about
    #[arg(long = "for", value_name = "TIME", requires = "share", value_parser = seconds)]
    lasts_s: Option<u64>,
    /// Give it to all callers after that time, if it had a call by then, and none of fewer than 50 failed
    #[arg(long, requires = "lasts_s")]
    promote: bool,
    #[command(flatten)]
    access: RegistryAccess,
    #[command(flatten)]
    decision: DecisionArguments,
}

/// Arguments of `portolan history`.
#[derive(Debug, Args)]
pub(super) struct History {
    /// The capability's id, such as agent_listings
    id: String,
    #[command(flatten)]
    operator: Operator,
    /// Print the host's answer as JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `portolan rollback`.
#[derive(Debug, Args)]
pub(super) struct Rollback {
    /// The capability's id, such as agent_listings
    id: String,
    /// The version to bring back, or its digest, as `portolan history` shows them
    /// [default: the version before the serving one]
    #[arg(long, value_name = "VERSION")]
    to: Option<String>,
    #[command(flatten)]
    decision: DecisionArguments,
}

impl Publish {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(self.publish())
    }

    async fn publish(self) -> anyhow::Result<ExitCode> {
        let Self { component, name, share, lasts_s, promote, access, decision } = self;
        let (content, default_name, source) = read_component(&component, &access).await?;
        // A host that refuses the operator closes the connection while a component is still being sent, and
        // its answer is lost. A request without a body shows that answer first.
        decision.operator.get("/catalog", &[]).await?;
        let mut query = vec![("file", name.unwrap_or(default_name)), ("source", source)];
        query.extend(decision.by.clone().map(|by| ("by", by)));
        query.extend(share.map(|share| ("share", share.to_string())));
        query.extend(lasts_s.map(|seconds| ("for_s", seconds.to_string())));
        if promote {
            query.push(("promote", "true".to_owned()));
        }
        let add_content = |request: RequestBuilder| request.query(&query).body(content);
        let answer =
            decision.operator.request(Method::POST, "/catalog/publish", add_content).await?;
        decision.print(&answer)
    }
}

/// Returns a component, the name of its file, and its source for the history.
async fn read_component(
    component: &Path,
    access: &RegistryAccess,
) -> anyhow::Result<(Vec<u8>, String, String)> {
    if let Some(address) = component.to_str().and_then(parse_address) {
        let limit = Config::load(Path::new(FILE), &Flags::default())?.limits.component_bytes;
        let Pulled { content, pinned, file } = access.pull(&address?, limit).await?;
        return Ok((content, file, pinned));
    }
    let content = check::read_component(component)?;
    let name = component.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let path = fs::canonicalize(component).unwrap_or_else(|_| component.to_owned());
    Ok((content, name, format!("the file {}", path.display())))
}

impl Rollback {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(async {
            let Self { id, to, decision } = self;
            let mut query: Vec<_> = to.map(|to| ("to", to)).into_iter().collect();
            query.extend(decision.by.clone().map(|by| ("by", by)));
            let path = format!("/catalog/{id}/rollback");
            let answer = decision.operator.send(Method::POST, &path, &query).await?;
            decision.print(&answer)
        })
    }
}

impl History {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(async {
            let path = format!("/catalog/{}/history", self.id);
            let history = self.operator.get(&path, &[]).await?;
            if self.json {
                line!("{history:#}");
            } else {
                print(&history);
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

fn print(history: &Value) {
    let id = text(history, "id");
    match history.get("serving").filter(|serving| !serving.is_null()) {
        Some(serving) => {
            line!("{id} {} serves at this node", text(serving, "version"));
        }
        None => line!("{id} does not serve at this node"),
    }
    let serving = history.pointer("/serving/digest");
    let desired = history.get("desired").filter(|desired| !desired.is_null());
    let mut has_marker = false;
    for entry in history.get("versions").and_then(Value::as_array).into_iter().flatten() {
        let is_serving = !has_marker && serving.is_some() && entry.get("digest") == serving;
        has_marker |= is_serving;
        line!(
            "{} {:<12} {}  {:<11} {}",
            if is_serving { "*" } else { " " },
            text(entry, "version"),
            text(entry, "at"),
            text(entry, "arrival").replace('_', " "),
            text(entry, "digest")
        );
        let mut facts = vec![format!("from {}", text(entry, "source"))];
        facts.extend(entry.get("decided_by").and_then(Value::as_str).map(|by| format!("by {by}")));
        facts.push(format!("publisher {}", text(entry, "publisher")));
        if desired.is_some() && entry.get("seq") == desired {
            facts.push("desired".to_owned());
        }
        if entry.get("state").is_some_and(|state| state == "pending_approval") {
            facts.push("waits for approval".to_owned());
        }
        if entry.get("kept").is_some_and(|kept| kept == false) {
            facts.push("content no longer kept".to_owned());
        }
        line!("    {}", facts.join(", "));
        for sentence in texts(entry, "breaking") {
            line!("    breaking: {sentence}");
        }
    }
    for release in history.get("releases").and_then(Value::as_array).into_iter().flatten() {
        releases::print(release);
    }
}

/// Parses a time, such as 90s, 30m, 1h or 2d, into seconds.
fn seconds(text: &str) -> Result<u64, String> {
    let units = [("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400)];
    let parsed = units.iter().find_map(|(unit, seconds)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(*seconds).filter(|seconds| *seconds > 0)
    });
    parsed.ok_or_else(|| "give a number with s, m, h or d, such as 30m".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit() {
        for (text, expected) in [("90s", 90), ("30m", 1_800), ("1h", 3_600), ("2d", 172_800)] {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        for text in ["", "5", "h", "0m", "1.5h", "99999999999999999999d", "1w"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
