//! `portolan operator-token`: the token for the operator's address.

use crate::cli::client::{Operator, block_on, text};
use clap::{Args, Subcommand};
use reqwest::Method;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct OperatorToken {
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Make a new token and print it; the previous one is refused from now on
    ///
    /// The token is also written to operator.token in the data folder. A token of the configuration
    /// (operator_token, PORTOLAN_OPERATOR_TOKEN) is changed there instead.
    Rotate(Operator),
}

impl OperatorToken {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let TokenCommand::Rotate(operator) = self.command;
        block_on(async move {
            let answer = operator.send(Method::POST, "/token/rotate", &[]).await?;
            line!("{}", text(&answer, "token"));
            Ok(ExitCode::SUCCESS)
        })
    }
}
