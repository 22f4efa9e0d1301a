//! `portolan agents`.

use crate::cli::client::{Operator, block_on};
use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::json;
use std::process::ExitCode;

/// Arguments of `portolan agents`.
#[derive(Debug, Args)]
pub(super) struct Agents {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Revoke an agent for good, such as one that abuses the host
    ///
    /// Its tokens, webhooks and inbox end, and its person is not told. The person and their other agents go on:
    /// to stop a person, suspend them.
    Revoke {
        /// The agent's id: `agt_` and a ULID
        agent_id: String,
        /// Confirm the revocation; it cannot be undone
        #[arg(long, required = true)]
        yes: bool,
        #[command(flatten)]
        operator: Operator,
    },
}

impl Agents {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(async {
            let Action::Revoke { agent_id, operator, .. } = &self.action;
            // Another path would be another decision, such as the erasure of a person.
            let is_id = agent_id.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_');
            anyhow::ensure!(is_id, "{agent_id:?} is no id of an agent: agt_ and a ULID");
            let path = format!("/agents/{agent_id}");
            let answer = operator.send(Method::DELETE, &path, &[]).await?;
            match answer.get("revoked") == Some(&json!(true)) {
                true => line!("{agent_id} is revoked"),
                false => line!("{agent_id} was revoked before"),
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
