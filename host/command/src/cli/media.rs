//! `portolan media`.

use crate::cli::client::{Operator, block_on};
use clap::{Args, Subcommand};
use reqwest::Method;
use std::process::ExitCode;

/// Arguments of `portolan media`.
#[derive(Debug, Args)]
pub(super) struct Media {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Give the folder or the bucket of files to the host's database, such as after a restore
    ///
    /// Files that no document of the database names are then removed. Keep a copy if they may be needed.
    Adopt {
        #[command(flatten)]
        operator: Operator,
    },
}

impl Media {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(async {
            let Action::Adopt { operator } = &self.action;
            operator.send(Method::POST, "/media/adopt", &[]).await?;
            line!("the files belong to the database of this host now");
            Ok(ExitCode::SUCCESS)
        })
    }
}
