//! `portolan call`.

use crate::cli::{block_on, client};
use anyhow::{Context as _, bail};
use clap::Args;
use serde_json::{Value, json};
use std::process::ExitCode;

/// Arguments of `portolan call`.
#[derive(Debug, Args)]
pub(super) struct Call {
    /// The capability's id, such as faq_search
    id: String,
    /// The call's body, such as '{"action":"search","query":"claim"}'; - reads standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    input: String,
    /// Where the host is
    #[arg(
        long,
        value_name = "URL",
        env = "PORTOLAN_PUBLIC_URL",
        default_value = "http://127.0.0.1:8080"
    )]
    url: String,
    /// An access token; without one, a new anonymous agent makes the call
    #[arg(long, env = "PORTOLAN_TOKEN", hide_env_values = true)]
    token: Option<String>,
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
        let url = self.url.trim_end_matches('/');
        let client = client()?;
        let token = match self.token {
            Some(token) => token,
            None => anonymous_token(&client, url).await?,
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

fn unreachable_host(url: &str) -> String {
    format!("no host answers at {url}; start one with `portolan serve`, or name it with --url")
}

async fn anonymous_token(client: &reqwest::Client, url: &str) -> anyhow::Result<String> {
    let registered: Value = client
        .post(format!("{url}/v1/agents/register"))
        .json(&json!({ "type": "anonymous", "agent_name": "portolan call" }))
        .send()
        .await
        .with_context(|| unreachable_host(url))?
        .json()
        .await?;
    if registered.get("client_id").is_none() {
        bail!("the host registers no agent: {registered}");
    }
    let field =
        |name: &str| registered.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let issued: Value = client
        .post(format!("{url}/oauth/token"))
        .form(&[
            ("grant_type", "client_credentials"),
            ("client_id", &field("client_id")),
            ("client_secret", &field("client_secret")),
        ])
        .send()
        .await?
        .json()
        .await?;
    match issued.get("access_token").and_then(Value::as_str) {
        Some(token) => Ok(token.to_owned()),
        None => bail!("the host gives no token: {issued}"),
    }
}
