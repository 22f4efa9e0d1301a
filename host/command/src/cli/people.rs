//! `portolan people`.

use crate::cli::client::{Operator, block_on, text};
use clap::{Args, Subcommand};
use reqwest::Method;
use std::process::ExitCode;

/// Arguments of `portolan people`.
#[derive(Debug, Args)]
pub(super) struct People {
    #[command(flatten)]
    operator: Operator,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print all that is stored about a person as JSON
    Export {
        /// The owner's id: `own_` and a ULID
        owner_id: String,
    },
    /// Remove the passkeys of a person who has lost them, so that the phone number is enough again
    RemovePasskeys {
        /// The owner's id: `own_` and a ULID
        owner_id: String,
        /// Confirm that it is the person who asks
        #[arg(long, required = true)]
        yes: bool,
    },
    /// Delete or redact all that is stored about a person; it cannot be undone
    Erase {
        /// The owner's id: `own_` and a ULID
        owner_id: String,
        /// Confirm the erasure
        #[arg(long, required = true)]
        yes: bool,
    },
}

impl People {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(async {
            match self.command {
                Command::Export { owner_id } => {
                    self.operator.print(&format!("/people/{owner_id}")).await?;
                }
                Command::RemovePasskeys { owner_id, .. } => {
                    let path = format!("/people/{owner_id}/passkeys");
                    let answer = self.operator.send(Method::DELETE, &path, &[]).await?;
                    line!("{owner_id}: {} passkeys removed", text(&answer, "removed"));
                }
                Command::Erase { owner_id, .. } => {
                    let path = format!("/people/{owner_id}");
                    let counts = self.operator.send(Method::DELETE, &path, &[]).await?;
                    line!(
                        "{owner_id} is erased: {} documents deleted, {} redacted, {} events emptied, {} stored answers deleted",
                        text(&counts, "deleted"),
                        text(&counts, "redacted"),
                        text(&counts, "events"),
                        text(&counts, "answers")
                    );
                }
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
