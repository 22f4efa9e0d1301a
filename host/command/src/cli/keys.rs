//! `portolan keys`: the keys that access tokens are signed with.

use crate::cli::client::{Operator, block_on, text};
use clap::{Args, Subcommand};
use serde_json::Value;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct Keys {
    #[command(subcommand)]
    command: KeysCommand,
}

#[derive(Debug, Subcommand)]
enum KeysCommand {
    /// Show the keys that tokens are verified with, the newest first
    List(Operator),
    /// Make a new key, which signs from now on
    ///
    /// Tokens of the one before are good until they expire. Other nodes on the same database take
    /// the new key over within half a minute.
    Rotate(Operator),
}

impl Keys {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(async move {
            let (answer, newest) = match self.command {
                KeysCommand::List(operator) => {
                    (operator.get("/keys", &[]).await?, "signs, and is the newest")
                }
                KeysCommand::Rotate(operator) => {
                    let post = reqwest::Method::POST;
                    (operator.send(post, "/keys/rotate", &[]).await?, "new, and signs from now on")
                }
            };
            let keys = answer.get("keys").and_then(Value::as_array);
            for (place, key) in keys.into_iter().flatten().enumerate() {
                let role = if place == 0 { newest } else { "verifies until its tokens are out" };
                line!("{}  {role}", text(key, "kid"));
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
