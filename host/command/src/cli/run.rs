//! `portolan run`.

use crate::cli::client::{Operator, block_on};
use anyhow::Context as _;
use clap::Args;
use reqwest::{Method, RequestBuilder};
use serde_json::Value;
use std::process::ExitCode;

/// Arguments of `portolan run`.
#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    operator: Operator,
    /// The capability's id, such as agent_listings
    capability: String,
    /// One of its actions of access `internal`: `portolan check` lists them
    action: String,
    /// The action's input, such as '{"listing_id":"lst_…"}'; - reads standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    input: String,
    /// Run the action in test mode, which has data of its own
    #[arg(long)]
    test_mode: bool,
}

impl Run {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(async {
            let text = match self.input.as_str() {
                "-" => std::io::read_to_string(std::io::stdin())?,
                text => text.to_owned(),
            };
            let input: Value = serde_json::from_str(&text).context("--input is not JSON")?;
            let path = format!("/capabilities/{}/{}", self.capability, self.action);
            let test_mode = [("test_mode", self.test_mode)];
            let add_content = |request: RequestBuilder| request.query(&test_mode).json(&input);
            let answer = self.operator.request(Method::POST, &path, add_content).await?;
            line!("{:#}", answer.get("result").unwrap_or(&Value::Null));
            Ok(ExitCode::SUCCESS)
        })
    }
}
