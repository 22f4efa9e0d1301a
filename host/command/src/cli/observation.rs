//! `portolan problems`, `calls`, `traces`, `callers`, `webhooks`, `sources` and `settings`: what a running host tells
//! its operator about itself.

use crate::cli::client::{Operator, block_on, text};
use clap::Args;
use serde_json::Value;
use std::process::ExitCode;
use url::form_urlencoded::byte_serialize;

/// Arguments of each of these commands.
#[derive(Debug, Args)]
pub(super) struct Look {
    #[command(flatten)]
    operator: Operator,
    /// Print the host's answer as JSON
    #[arg(long)]
    json: bool,
}

/// A resource that a command requests, and how it prints the answer.
pub(super) struct Subject {
    path: &'static str,
    print: fn(&Value),
}

pub(super) const PROBLEMS: Subject = Subject { path: "/problems", print: print_problems };
pub(super) const CALLS: Subject = Subject { path: "/calls", print: print_calls };
pub(super) const CALLERS: Subject = Subject { path: "/callers", print: print_callers };
pub(super) const WEBHOOKS: Subject = Subject { path: "/webhooks", print: print_webhooks };
pub(super) const SOURCES: Subject = Subject { path: "/sources", print: print_sources };
pub(super) const SETTINGS: Subject = Subject { path: "/settings", print: print_settings };

impl Look {
    pub(super) fn run(self, subject: &Subject) -> anyhow::Result<ExitCode> {
        self.print(subject.path, &[], subject.print)
    }

    fn print(
        self,
        path: &str,
        query: &[(&str, String)],
        print: fn(&Value),
    ) -> anyhow::Result<ExitCode> {
        let answer = block_on(self.operator.get(path, query))?;
        if self.json {
            line!("{answer:#}");
        } else {
            print(&answer);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Arguments of `portolan traces`.
#[derive(Debug, Args)]
pub(super) struct Traces {
    /// A trace's id, or the id of one of its requests (`meta.request_id`), to see its spans
    id: Option<String>,
    /// Print the slowest first, instead of the latest
    #[arg(long, conflicts_with = "id")]
    slowest: bool,
    /// Print only traces with an error
    #[arg(long, conflicts_with = "id")]
    failed: bool,
    #[command(flatten)]
    look: Look,
}

impl Traces {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let Self { id, slowest, failed, look } = self;
        if let Some(id) = id {
            let id: String = byte_serialize(id.as_bytes()).collect();
            return look.print(&format!("/traces/{id}"), &[], print_trace);
        }
        let order = if slowest { "slowest" } else { "latest" };
        let query = [("order", order.to_owned()), ("failed", failed.to_string())];
        look.print("/traces", &query, print_traces)
    }
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn print_problems(answer: &Value) {
    if list(answer, "problems").next().is_none() {
        line!("nothing is wrong");
    }
    for problem in list(answer, "problems") {
        let (severity, part) = (text(problem, "severity"), text(problem, "part"));
        line!("{severity}: {part}: {}", text(problem, "problem"));
        line!("  to fix it: {}", text(problem, "fix"));
    }
}

fn print_calls(answer: &Value) {
    if list(answer, "actions").next().is_none() {
        line!("no action has run in the last 15 minutes");
    }
    for action in list(answer, "actions") {
        let name = format!("{}.{}", text(action, "capability"), text(action, "action"));
        line!(
            "{name:<44} {:>8} calls {:>6} failed   p50 {:>8} ms   p99 {:>8} ms   longest {:>8} ms",
            text(action, "calls"),
            text(action, "failed"),
            text(action, "p50_ms"),
            text(action, "p99_ms"),
            text(action, "longest_ms")
        );
    }
    for refusal in list(answer, "refusals") {
        line!("refused: {:<32} {:>8}", text(refusal, "code"), text(refusal, "count"));
    }
}

fn print_traces(answer: &Value) {
    if list(answer, "traces").next().is_none() {
        line!("no such trace is kept");
    }
    for trace in list(answer, "traces") {
        line!(
            "{} {} {:>10} ms {:>4} spans  {}  {}",
            text(trace, "trace_id"),
            text(trace, "began_at"),
            text(trace, "duration_ms"),
            text(trace, "spans"),
            text(trace, "name"),
            text(trace, "error")
        );
    }
}

fn print_trace(answer: &Value) {
    line!("trace {}", text(answer, "trace_id"));
    line!("request {}", text(answer, "request_id"));
    line!("began {}", text(answer, "began_at"));
    for span in list(answer, "tree") {
        let depth = span.get("depth").and_then(Value::as_u64).unwrap_or_default();
        let name = format!("{}{}", "  ".repeat(depth as usize), text(span, "name"));
        let error = span.get("attributes").map_or_else(String::new, |own| text(own, "error.type"));
        line!(
            "{:>10} ms {:>10} ms  {name}  {error}",
            text(span, "began_ms"),
            text(span, "duration_ms")
        );
    }
}

fn print_callers(answer: &Value) {
    if answer.get("limited") == Some(&Value::Bool(false)) {
        line!("there are no limits (rate_limits = \"off\"), so nothing is counted");
    } else if list(answer, "accounts").next().is_none() {
        line!("nobody has used anything of the limits");
    }
    for account in list(answer, "accounts") {
        let (kind, refused) = (text(account, "kind"), text(account, "refused"));
        line!("{:<44} {kind:<8} {refused:>8} refused", text(account, "account"));
        for rate in list(account, "rates") {
            line!(
                "  {:<32} {:>8} of {:>8} in {} s, {} refused",
                text(rate, "limit"),
                text(rate, "used"),
                text(rate, "allowed"),
                text(rate, "window_s"),
                text(rate, "refused")
            );
        }
    }
}

fn print_webhooks(answer: &Value) {
    if list(answer, "failing").next().is_none() {
        line!("no webhook fails");
    }
    for webhook in list(answer, "failing") {
        line!(
            "{} of {}: {}, failing since {}: {}",
            text(webhook, "id"),
            text(webhook, "agent_id"),
            text(webhook, "state"),
            text(webhook, "failing_since"),
            text(webhook, "last_error")
        );
    }
}

fn print_sources(answer: &Value) {
    if list(answer, "cities").all(|city| list(city, "sources").next().is_none()) {
        line!("no source is named");
    }
    for city in list(answer, "cities") {
        for source in list(city, "sources") {
            let state = match source.get("failing_since") {
                None | Some(Value::Null) => "read".to_owned(),
                Some(_) => format!("failing since {}", text(source, "failing_since")),
            };
            line!(
                "{:<40} {:>8} records, last read {}, {state}",
                text(source, "id"),
                text(source, "record_count"),
                text(source, "checked_at")
            );
        }
    }
}

fn print_settings(answer: &Value) {
    for setting in list(answer, "settings") {
        line!("{} = {}", text(setting, "name"), text(setting, "value"));
    }
}
