//! `portolan call`.

use crate::cli::{
    client::{PublicAddress, block_on, client, unreachable_host},
    credentials::{live_token, test_token},
};
use anyhow::Context as _;
use clap::Args;
use serde_json::Value;
use std::process::ExitCode;

/// Arguments of `portolan call`.
#[derive(Debug, Args)]
pub(super) struct Call {
    /// The capability's id, such as faq_search
    id: String,
    /// The call's body, such as '{"action":"search","query":"claim"}'; - reads standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    input: String,
    #[command(flatten)]
    host: PublicAddress,
    /// An access token; without one, the call uses the agent that the host's installer has registered,
    /// or else a new anonymous agent
    #[arg(long, env = "PORTOLAN_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// Call as an agent of test mode, which is registered once and kept; the host allows it with
    /// test_mode = "on" or --test-mode
    #[arg(long)]
    test_mode: bool,
    /// Call as an agent of test mode that a test person has claimed, so that it may write
    #[arg(long, requires = "test_mode")]
    claimed: bool,
}

impl Call {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(self.call())
    }

    async fn call(self) -> anyhow::Result<ExitCode> {
        let text = match self.input.as_str() {
            "-" => std::io::read_to_string(std::io::stdin())?,
            text => text.to_owned(),
        };
        let body: Value = serde_json::from_str(&text).context("--input is not JSON")?;
        let url = self.host.url();
        let client = client()?;
        let token = match self.token {
            _ if self.test_mode => test_token(&client, url, self.claimed).await?,
            Some(token) => token,
            None => live_token(&client, url).await?,
        };
        let response = client
            .post(format!("{url}/v1/capabilities/{}/call", self.id))
            .bearer_auth(token)
            .json(&body)
            .send()
            .await
            .with_context(|| unreachable_host(url))?;
        let succeeded = response.status().is_success();
        let answer: Value = response.json().await.context("the answer is not JSON")?;
        line!("{answer:#}");
        Ok(if succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
