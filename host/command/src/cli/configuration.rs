//! `portolan config`.

use crate::config::{Config, FILE, Flags, Origins, unknown_variables};
use clap::{Args, Subcommand};
use serde_json::json;
use std::{path::Path, process::ExitCode};

/// Subcommands of `portolan config`. The flags are those of `serve`.
#[derive(Debug, Subcommand)]
pub(super) enum Configuration {
    /// Check the configuration as `serve` would; every fault has its fix
    Check(Flags),
    /// Show every setting in force with where it comes from; secrets are not shown
    Dump(Dump),
}

/// Arguments of `portolan config dump`.
#[derive(Debug, Args)]
pub(super) struct Dump {
    #[command(flatten)]
    flags: Flags,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Configuration {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let file = Path::new(FILE);
        match self {
            Self::Check(flags) => {
                Config::load(file, &flags)?;
                for name in unknown_variables() {
                    line!("warning: {name} is no setting, and is ignored");
                }
                match file.exists() {
                    true => line!("the configuration is valid ({FILE})"),
                    false => {
                        line!("the configuration is valid (there is no {FILE} in this folder)")
                    }
                }
            }
            Self::Dump(Dump { flags, json: as_json }) => {
                let (config, origins) = (Config::load(file, &flags)?, Origins::read(file, &flags));
                let rows: Vec<_> = config
                    .shown
                    .iter()
                    .map(|setting| (&setting.name, &setting.value, origins.of(&setting.name)))
                    .collect();
                if as_json {
                    let row = |(name, value, origin): &(&String, &String, &str)| json!({ "name": name, "value": value, "from": origin });
                    line!("{:#}", json!(rows.iter().map(row).collect::<Vec<_>>()));
                } else {
                    for (name, value, origin) in rows {
                        line!("{name} = {value}  # {origin}");
                    }
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
