//! `portolan operators`.

use crate::cli::client::{Operator, block_on, text};
use clap::{Args, Subcommand};
use portolan_vocabulary::OPERATOR_ROLES;
use reqwest::Method;
use serde_json::Value;
use std::process::ExitCode;

/// Arguments of `portolan operators`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Operators {
    #[command(flatten)]
    operator: Operator,
    /// Print the host's answer as JSON
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    command: Option<OperatorsCommand>,
}

#[derive(Debug, Subcommand)]
enum OperatorsCommand {
    /// Add an operator, and print the token, which is shown once
    ///
    /// The operator sets it as PORTOLAN_OPERATOR_TOKEN, or sends it as a bearer token.
    Add {
        /// The name, as the audit log shows it: 1 to 64 of a-z, 0-9, ., _, @ and -
        name: String,
        /// The role of the operator
        #[arg(long, value_parser = OPERATOR_ROLES.map(|row| row.name))]
        role: String,
        #[command(flatten)]
        life: Life,
    },
    /// Replace the token of an operator, and print the new one; the one before ends at once
    Renew {
        /// The name of the operator
        name: String,
        #[command(flatten)]
        life: Life,
    },
    /// Remove an operator, whose token ends at once
    Remove {
        /// The name of the operator
        name: String,
        #[command(flatten)]
        operator: Operator,
    },
}

#[derive(Debug, Args)]
struct Life {
    /// The days after which the token ends, at most 365 [default: 90]
    #[arg(long, value_name = "DAYS")]
    days: Option<u32>,
    #[command(flatten)]
    operator: Operator,
}

impl Operators {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(async {
            match self.command {
                None => {
                    let answer = self.operator.get("/operators", &[]).await?;
                    match self.json {
                        true => line!("{answer:#}"),
                        false => print(&answer),
                    }
                }
                Some(OperatorsCommand::Add { name, role, life }) => {
                    life.print_token("/operators", vec![("name", name), ("role", role)]).await?;
                }
                Some(OperatorsCommand::Renew { name, life }) => {
                    life.print_token(&format!("/operators/{name}/renew"), Vec::new()).await?;
                }
                Some(OperatorsCommand::Remove { name, operator }) => {
                    let path = format!("/operators/{name}");
                    operator.send(Method::DELETE, &path, &[]).await?;
                    line!("{name} is removed");
                }
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

impl Life {
    /// Requests a token and prints it alone; its explanation goes to standard error.
    async fn print_token(
        &self,
        path: &str,
        mut query: Vec<(&'static str, String)>,
    ) -> anyhow::Result<()> {
        query.extend(self.days.map(|days| ("days", days.to_string())));
        let answer = self.operator.send(Method::POST, path, &query).await?;
        let (name, days) = (text(&answer, "name"), text(&answer, "days"));
        eprintln!("the token of {name}, for {days} days; it is not shown again:");
        line!("{}", text(&answer, "token"));
        Ok(())
    }
}

fn print(answer: &Value) {
    let operators = answer.get("operators").and_then(Value::as_array);
    for operator in operators.into_iter().flatten() {
        let is_expired = operator.get("expired").is_some_and(|expired| expired == true);
        line!(
            "{:<24} {:<8} made by {} at {}, {} at {}, last used on {}",
            text(operator, "name"),
            text(operator, "role"),
            text(operator, "made_by"),
            text(operator, "created_at"),
            if is_expired { "expired" } else { "expires" },
            text(operator, "expires_at"),
            text(operator, "last_used_on"),
        );
    }
    if operators.is_none_or(Vec::is_empty) {
        line!("no operator has a token of their own; `portolan operators add` makes one");
    }
}
