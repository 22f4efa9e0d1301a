//! `portolan incidents`.

use crate::cli::client::{Operator, block_on, text};
use clap::{Args, Subcommand};
use portolan_vocabulary::INCIDENT_STATES;
use reqwest::Method;
use serde_json::{Map, Value, json};
use std::process::ExitCode;

/// Arguments of `portolan incidents`.
#[derive(Debug, Args)]
pub(super) struct Incidents {
    #[command(subcommand)]
    command: IncidentsCommand,
}

#[derive(Debug, Subcommand)]
enum IncidentsCommand {
    /// Show the incidents that are open or were opened in the last 90 days
    List {
        /// Print the host's answer as JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        operator: Operator,
    },
    /// Tell the public about an incident or about planned maintenance, and print its id
    Open {
        /// The title, of at most 120 characters
        title: String,
        #[command(flatten)]
        notice: Notice,
        /// How far the work is
        #[arg(long, default_value = "investigating", value_parser = INCIDENT_STATES.map(|row| row.name))]
        state: String,
        /// When planned maintenance starts, such as 2026-12-01T22:00:00Z; with `--state planned`
        #[arg(long, value_name = "TIME", requires = "until")]
        from: Option<String>,
        /// When planned maintenance ends; with `--state planned`
        #[arg(long, value_name = "TIME", requires = "from")]
        until: Option<String>,
    },
    /// Add an update to an open incident
    Update {
        /// The id: `inc_` and a ULID
        id: String,
        #[command(flatten)]
        notice: Notice,
        /// How far the work is now
        #[arg(long, value_parser = INCIDENT_STATES.map(|row| row.name))]
        state: String,
    },
    /// End an incident
    Resolve {
        /// The id: `inc_` and a ULID
        id: String,
        /// The text for the public about its end
        #[arg(long)]
        text: String,
        #[command(flatten)]
        operator: Operator,
    },
}

#[derive(Debug, Args)]
struct Notice {
    /// The text for the public, of at most 2000 characters
    #[arg(long)]
    text: String,
    #[command(flatten)]
    operator: Operator,
}

impl Incidents {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(async {
            match self.command {
                IncidentsCommand::List { json, operator } => {
                    let answer = operator.get("/incidents", &[]).await?;
                    match json {
                        true => line!("{answer:#}"),
                        false => print(&answer),
                    }
                }
                IncidentsCommand::Open { title, notice, state, from, until } => {
                    let mut fields = notice.fields(&state);
                    fields.insert("title".to_owned(), json!(title));
                    for (name, time) in [("starts_at", from), ("ends_at", until)] {
                        fields.extend(time.map(|time| (name.to_owned(), json!(time))));
                    }
                    let answer = post(&notice.operator, "/incidents", fields).await?;
                    line!("{}", text(&answer, "id"));
                }
                IncidentsCommand::Update { id, notice, state } => {
                    let path = format!("/incidents/{id}/update");
                    let answer = post(&notice.operator, &path, notice.fields(&state)).await?;
                    line!("{id} is {}", text(&answer, "state"));
                }
                IncidentsCommand::Resolve { id, text, operator } => {
                    let path = format!("/incidents/{id}/resolve");
                    let fields = Map::from_iter([("text".to_owned(), json!(text))]);
                    post(&operator, &path, fields).await?;
                    line!("{id} is resolved");
                }
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

impl Notice {
    fn fields(&self, state: &str) -> Map<String, Value> {
        let fields = [("state", state), ("text", self.text.as_str())];
        fields.map(|(name, value)| (name.to_owned(), json!(value))).into_iter().collect()
    }
}

async fn post(
    operator: &Operator,
    path: &str,
    fields: Map<String, Value>,
) -> anyhow::Result<Value> {
    operator.request(Method::POST, path, |request| request.json(&fields)).await
}

fn print(answer: &Value) {
    let incidents = answer.get("incidents").and_then(Value::as_array);
    for incident in incidents.into_iter().flatten() {
        line!(
            "{} {:<13} opened at {}: {}",
            text(incident, "id"),
            text(incident, "state"),
            text(incident, "opened_at"),
            text(incident, "title"),
        );
    }
    if incidents.is_none_or(Vec::is_empty) {
        line!("no incident was opened in the last 90 days; `portolan incidents open` opens one");
    }
}
