//! `portolan documents`.

use crate::cli::client::{Operator, block_on, text};
use anyhow::Context as _;
use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::Value;
use std::{path::PathBuf, process::ExitCode};

/// Arguments of `portolan documents`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Documents {
    #[command(flatten)]
    operator: Operator,
    /// Print the host's answer as JSON
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print a document in quarantine as JSON
    Show(DocumentArguments),
    /// Replace a document in quarantine with a corrected one
    ///
    /// The file has the document alone, as JSON in the form of the version that serves. It must satisfy the
    /// collection's indexes and name no undeclared person.
    Repair {
        #[command(flatten)]
        arguments: DocumentArguments,
        /// A file with the corrected document
        file: PathBuf,
        /// Only check the document, and change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Delete a document in quarantine; it cannot be undone
    Drop {
        #[command(flatten)]
        arguments: DocumentArguments,
        /// Confirm the deletion
        #[arg(long, required = true)]
        yes: bool,
    },
}

/// A document.
#[derive(Debug, Args)]
struct DocumentArguments {
    /// The capability's id, such as agent_listings
    capability: String,
    /// The collection
    collection: String,
    /// The document's id
    id: String,
    /// A document of test mode
    #[arg(long)]
    test_mode: bool,
    #[command(flatten)]
    operator: Operator,
}

impl DocumentArguments {
    fn query(&self) -> [(&'static str, String); 4] {
        [
            ("capability", self.capability.clone()),
            ("collection", self.collection.clone()),
            ("id", self.id.clone()),
            ("test_mode", self.test_mode.to_string()),
        ]
    }
}

impl Documents {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(async {
            match &self.command {
                None => {
                    let answer = self.operator.get("/documents", &[]).await?;
                    match self.json {
                        true => line!("{answer:#}"),
                        false => print(&answer),
                    }
                }
                Some(Command::Show(arguments)) => {
                    let document =
                        arguments.operator.get("/documents/document", &arguments.query()).await?;
                    line!("{document:#}");
                }
                Some(Command::Repair { arguments, file, dry_run }) => {
                    let cannot_read = || format!("cannot read {}", file.display());
                    let text = std::fs::read_to_string(file).with_context(cannot_read)?;
                    let document: Value = serde_json::from_str(&text)
                        .with_context(|| format!("{} is not JSON", file.display()))?;
                    let mut query = arguments.query().to_vec();
                    query.extend(dry_run.then(|| ("dry_run", "true".to_owned())));
                    arguments
                        .operator
                        .request(Method::PUT, "/documents/document", |request| {
                            request.query(&query).json(&document)
                        })
                        .await?;
                    match dry_run {
                        true => line!("the document can replace {}", arguments.id),
                        false => line!("{} is repaired and serves again", arguments.id),
                    }
                }
                Some(Command::Drop { arguments, .. }) => {
                    let path = "/documents/document";
                    arguments.operator.send(Method::DELETE, path, &arguments.query()).await?;
                    line!("{} is deleted", arguments.id);
                }
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

fn print(answer: &Value) {
    let documents = answer.get("documents").and_then(Value::as_array);
    let documents: Vec<&Value> = documents.into_iter().flatten().collect();
    if documents.is_empty() {
        line!("no document is in quarantine");
        return;
    }
    for document in documents {
        let is_true = |name: &str| document.get(name) == Some(&Value::Bool(true));
        line!(
            "{} {} {}{}",
            text(document, "capability"),
            text(document, "collection"),
            text(document, "id"),
            if is_true("test_mode") { " (test mode)" } else { "" }
        );
        let reason = match is_true("removed") {
            true => "could not be migrated",
            false => "cannot be read",
        };
        line!(
            "  {reason} since {}: {} (version {})",
            text(document, "quarantined_at"),
            text(document, "reason"),
            text(document, "version")
        );
    }
}
