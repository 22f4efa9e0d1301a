//! `portolan recordings`, `portolan replay` and `portolan rehearse`.

use crate::cli::{
    check,
    client::{Operator, block_on, text},
};
use clap::Args;
use reqwest::Method;
use serde_json::Value;
use std::{path::PathBuf, process::ExitCode};

/// The exit status if something differs from the record. Errors have the status 1.
const DIFFERS: u8 = 2;

/// Arguments of `portolan recordings`.
#[derive(Debug, Args)]
pub(super) struct Recordings {
    /// Only calls in which this capability ran
    #[arg(long, value_name = "ID")]
    capability: Option<String>,
    /// Only calls that failed through no fault of their caller
    #[arg(long)]
    failed: bool,
    /// The maximum number of recordings
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: u32,
    #[command(flatten)]
    operator: Operator,
    /// Print the host's answer as JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `portolan replay`.
#[derive(Debug, Args)]
pub(super) struct Replay {
    /// The request id of a recorded call, as answers, the log and `portolan recordings` name it
    #[arg(value_name = "REQUEST_ID")]
    request_id: String,
    /// Run this version of the capability instead of the recorded one
    #[arg(long, value_name = "FILE.wasm")]
    component: Option<PathBuf>,
    /// Show texts and numbers too, which can be personal data; it needs the role admin and is audited
    #[arg(long)]
    whole: bool,
    #[command(flatten)]
    operator: Operator,
    /// Print the host's answer as JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `portolan rehearse`.
#[derive(Debug, Args)]
pub(super) struct Rehearse {
    /// The version to try
    #[arg(value_name = "FILE.wasm")]
    component: PathBuf,
    /// The maximum number of recorded calls, the newest first
    #[arg(long, value_name = "NUMBER", default_value_t = 1000)]
    limit: u32,
    #[command(flatten)]
    operator: Operator,
    /// Print the host's answer as JSON
    #[arg(long)]
    json: bool,
}

impl Recordings {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let mut query = vec![("limit", self.limit.to_string())];
        query.extend(self.capability.map(|id| ("capability", id)));
        if self.failed {
            query.push(("failed", "true".to_owned()));
        }
        let answer = block_on(self.operator.get("/recordings", &query))?;
        if self.json {
            line!("{answer:#}");
            return Ok(ExitCode::SUCCESS);
        }
        for recording in list(&answer, "recordings") {
            let member = |name| text(recording, name);
            line!(
                "{}  {}  {}.{} {}  {}",
                member("request_id"),
                member("at"),
                member("capability"),
                member("action"),
                member("version"),
                member("outcome"),
            );
        }
        let stored =
            |name: &str| answer.pointer(&format!("/stored/{name}")).and_then(Value::as_u64);
        line!(
            "{} recordings, {} KiB; {} of the calls without a failure are kept, for {} days",
            stored("calls").unwrap_or(0),
            stored("bytes").unwrap_or(0) >> 10,
            text(&answer, "share"),
            text(&answer, "days")
        );
        Ok(ExitCode::SUCCESS)
    }
}

impl Replay {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let component = self.component.as_deref().map(check::read_component).transpose()?;
        let whole = if self.whole { "/whole" } else { "" };
        let path = format!("/recordings/{}{whole}/replay", self.request_id);
        let answer =
            block_on(self.operator.request(Method::POST, &path, |request| {
                request.body(component.unwrap_or_default())
            }))?;
        if self.json {
            line!("{answer:#}");
        } else {
            print_call(&answer);
        }
        let is_same = answer.get("same").and_then(Value::as_bool).unwrap_or(false);
        Ok(if is_same { ExitCode::SUCCESS } else { ExitCode::from(DIFFERS) })
    }
}

impl Rehearse {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let component = check::read_component(&self.component)?;
        let query = [("limit", self.limit.to_string())];
        let answer = block_on(async {
            // A host that refuses the operator closes the connection while a component is still being sent. A request
            // without a body shows its answer first.
            self.operator.get("/recordings", &[("limit", "1".to_owned())]).await?;
            let add_content =
                |request: reqwest::RequestBuilder| request.query(&query).body(component);
            self.operator.request(Method::POST, "/rehearsals", add_content).await
        })?;
        if self.json {
            line!("{answer:#}");
        } else {
            print_rehearsal(&answer);
        }
        let has_passed = answer.get("passed").and_then(Value::as_bool).unwrap_or(false);
        Ok(if has_passed { ExitCode::SUCCESS } else { ExitCode::from(DIFFERS) })
    }
}

fn print_call(answer: &Value) {
    let recording = answer.get("recording").unwrap_or(&Value::Null);
    line!(
        "{} at {}: {}",
        text(recording, "request_id"),
        text(recording, "at"),
        text(recording, "outcome")
    );
    for run in list(answer, "runs") {
        let is_recorded = run.get("same_component").and_then(Value::as_bool).unwrap_or(false);
        let version = match is_recorded {
            true => text(run, "version"),
            false => {
                format!("{} in place of {}", text(run, "version"), text(run, "recorded_version"))
            }
        };
        line!(
            "{}.{} {version}: {}",
            text(run, "capability"),
            text(run, "action"),
            sentence(&text(run, "verdict"))
        );
        print_difference(run);
        for logged in list(run, "logs") {
            line!("  log {}: {}", text(logged, "level"), text(logged, "message"));
        }
    }
}

fn print_rehearsal(answer: &Value) {
    line!(
        "{} {}: {} runs of {} recorded calls",
        text(answer, "capability"),
        text(answer, "version"),
        text(answer, "runs"),
        text(answer, "calls")
    );
    let verdicts = answer.get("verdicts").and_then(Value::as_object);
    for (verdict, count) in verdicts.into_iter().flatten() {
        if count.as_u64().is_some_and(|count| count > 0) {
            line!("  {count:>6}  {}", sentence(verdict));
        }
    }
    if answer.get("complete").and_then(Value::as_bool) == Some(false) {
        line!("  it has ended after two minutes: give a smaller --limit");
    }
    let count = |pointer: &str| answer.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    if count("/runs") == 0 {
        line!("  nothing was tried: there is no recorded call of this capability that can be read");
    } else if count("/runs") == count("/verdicts/unrepeatable") {
        line!("  nothing was compared: the recorded version repeats none of these runs");
    }
    for run in list(answer, "changes") {
        line!(
            "{} {}: {}",
            text(run, "request_id"),
            text(run, "action"),
            sentence(&text(run, "verdict"))
        );
        print_difference(run);
    }
}

/// Prints what differs between a recorded run and its replay.
fn print_difference(run: &Value) {
    let (recorded, replayed) = (run.get("recorded"), run.get("replayed"));
    if recorded == replayed {
        line!("  answer    {}", ending(replayed, &text(run, "code")));
    } else {
        line!("  recorded  {}", ending(recorded, &text(run, "recorded_code")));
        line!("  now       {}", ending(replayed, &text(run, "code")));
    }
    if let Some(divergence) = run.get("divergence").filter(|divergence| !divergence.is_null()) {
        let arguments = divergence.get("arguments").cloned().unwrap_or_default();
        line!("  asks what was not recorded: {} {arguments}", text(divergence, "function"));
    }
    for (name, sign) in [("missing_effects", "-"), ("new_effects", "+")] {
        for effect in list(run, name) {
            let arguments = effect.get("arguments").cloned().unwrap_or_default();
            line!("  {sign} {} {arguments}", text(effect, "function"));
        }
    }
}

/// Returns how a run has ended. `code` is the code of a refusal.
fn ending(ending: Option<&Value>, code: &str) -> String {
    let Some((kind, parts)) =
        ending.and_then(Value::as_object).and_then(|ending| ending.iter().next())
    else {
        return "-".to_owned();
    };
    match kind.as_str() {
        "success" => parts.get("output").cloned().unwrap_or_default().to_string(),
        "refused" => format!("{code}: {}", text(parts, "message")),
        _ => format!("{}: {}", text(parts, "reason"), text(parts, "text")),
    }
}

/// Returns what a verdict means.
fn sentence(verdict: &str) -> &str {
    match verdict {
        "same" => "the same bytes",
        "fixed" => "it has an answer now",
        "answer_differs" => "the answer differs",
        "refusal_differs" => "the refusal differs",
        "effects_differ" => "the answer is the same, what is written or published differs",
        "trapped" => "it fails now",
        "diverged" => "it asks what was not recorded",
        "unrepeatable" => "the recorded version does not repeat it either",
        other => other,
    }
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}
