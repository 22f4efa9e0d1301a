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
    /// Show the keys that verify tokens, the newest first
    List(Operator),
    /// Make a new key, which signs tokens from now on
    ///
    /// Tokens of the previous key stay valid until they expire. Other nodes on the same database use
    /// the new key within half a minute.
    Rotate(Operator),
}

impl Keys {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(async move {
            let (answer, newest) = match self.command {
                KeysCommand::List(operator) => {
                    (operator.get("/keys", &[]).await?, "signs tokens (the newest key)")
                }
                KeysCommand::Rotate(operator) => {
                    let post = reqwest::Method::POST;
                    (
                        operator.send(post, "/keys/rotate", &[]).await?,
                        "signs tokens from now on (new)",
                    )
                }
            };
            let keys = answer.get("keys").and_then(Value::as_array);
            for (index, key) in keys.into_iter().flatten().enumerate() {
                let role = if index == 0 { newest } else { "verifies tokens until they expire" };
                line!("{}  {role}", text(key, "kid"));
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
