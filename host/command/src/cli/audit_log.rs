//! `portolan audit export` and `portolan audit verify`: the sealed audit log.

use crate::cli::client::{Operator, block_on};
use anyhow::Context as _;
use clap::Args;
use portolan_store::{AuditLine, AuditReport, AuditVerifier};
use portolan_vocabulary::Timestamp;
use serde_json::Value;
use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Arguments of `portolan audit export`.
#[derive(Debug, Args)]
pub(super) struct Export {
    #[command(flatten)]
    operator: Operator,
    /// Only rows from this time on: 30m, 12h, 7d, or a time such as 2026-11-21T18:30:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_instant)]
    since: Option<Timestamp>,
    /// The form of the export: a line of JSON for each key, checkpoint and row
    #[arg(long, default_value = "jsonl", value_parser = ["jsonl"])]
    format: String,
}

/// Arguments of `portolan audit verify`.
#[derive(Debug, Args)]
pub(super) struct Verify {
    #[command(flatten)]
    operator: Operator,
    /// Verify this export instead of the log of a running host
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Trust only this public key, as /.well-known/audit-keys.json shows it [default: those of the log]
    #[arg(long, value_name = "KEY")]
    key: Vec<String>,
}

impl Export {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(async move {
            let print = |line: Value| {
                line!("{line}");
                Ok(())
            };
            for_each_line(&self.operator, self.since, print).await?;
            Ok(ExitCode::SUCCESS)
        })
    }
}

impl Verify {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let mut verifier = AuditVerifier::new(self.key);
        match &self.from {
            Some(file) => add_file(&mut verifier, file)?,
            None => block_on(for_each_line(&self.operator, None, |line| {
                verifier.add(serde_json::from_value(line)?);
                Ok(())
            }))?,
        }
        Ok(print(&verifier.finish()))
    }
}

/// Calls a function with each line of an export of a running host.
async fn for_each_line(
    operator: &Operator,
    since: Option<Timestamp>,
    mut take: impl FnMut(Value) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let since: Vec<_> = since.map(|since| ("since", since.to_string())).into_iter().collect();
    let mut next: Vec<(&str, String)> = Vec::new();
    loop {
        let mut page = operator.get("/audit/export", &[since.clone(), next].concat()).await?;
        if let Some(Value::Array(lines)) = page.get_mut("lines").map(Value::take) {
            lines.into_iter().try_for_each(&mut take)?;
        }
        let parameter = |name: &'static str| match page.get("next")?.get(name)? {
            Value::String(text) => Some((name, text.clone())),
            number => Some((name, number.to_string())),
        };
        next = ["node", "number", "seq"].into_iter().filter_map(parameter).collect();
        if next.is_empty() {
            return Ok(());
        }
    }
}

fn add_file(verifier: &mut AuditVerifier, file: &Path) -> anyhow::Result<()> {
    let name = || file.display().to_string();
    let lines = BufReader::new(File::open(file).with_context(name)?).lines();
    for (number, line) in (1..).zip(lines) {
        let line: AuditLine =
            serde_json::from_str(&line.with_context(name)?).with_context(|| {
                format!("{} line {number} is no line of `portolan audit export`", name())
            })?;
        verifier.add(line);
    }
    Ok(())
}

/// Prints what a verification has found: a line for each fault, or one line if there is none.
fn print(report: &AuditReport) -> ExitCode {
    for fault in &report.faults {
        line!("{fault}");
    }
    let AuditReport { nodes, checkpoints, rows, erased, expired, unsigned, waiting, .. } = report;
    if report.faults.is_empty() {
        line!(
            "the audit log is whole: {rows} rows in {checkpoints} checkpoints of {nodes} nodes ({erased} of erased people, {expired} expired, {waiting} not sealed yet, {unsigned} of an earlier version)"
        );
    }
    match report.faults.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Parses an instant, or a duration before now.
pub(super) fn parse_instant(text: &str) -> Result<Timestamp, String> {
    const UNITS: [(char, u64); 4] = [('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400)];
    let millis_ago = UNITS.iter().find_map(|(unit, seconds)| {
        let count: u64 = text.strip_suffix(*unit)?.parse().ok()?;
        count.checked_mul(seconds * 1000)
    });
    match millis_ago {
        Some(millis_ago) => {
            Ok(Timestamp::from_millis(Timestamp::now().as_millis().saturating_sub(millis_ago)))
        }
        None => text
            .parse()
            .map_err(|_| "write 30m, 12h, 7d, or a time such as 2026-11-21T18:30:00Z".to_owned()),
    }
}
