//! `portolan call`.

use crate::cli::client::{PublicAddress, block_on, client, unreachable_host};
use anyhow::{Context as _, bail};
use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};
use std::{path::PathBuf, process::ExitCode};

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
            Some(token) => token,
            None => match Credentials::find_installed(url) {
                Some(credentials) => credentials.token(&client, url).await?,
                None => Credentials::register(&client, url).await?.token(&client, url).await?,
            },
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

/// A client's id, with its secret or its key.
struct Credentials {
    client_id: String,
    secret: String,
}

/// The content of the file that the installer writes.
#[derive(Deserialize)]
struct CredentialsFile {
    base_url: String,
    client_id: String,
    client_key: String,
}

impl Credentials {
    /// Returns the credentials that the installer of this host has stored, if it has stored any.
    fn find_installed(url: &str) -> Option<Self> {
        let folder =
            |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?;
        let text = std::fs::read_to_string(folder.join("portolan/credentials.json")).ok()?;
        let file: CredentialsFile = serde_json::from_str(&text).ok()?;
        let is_for_host = file.base_url.trim_end_matches('/') == url;
        is_for_host.then_some(Self { client_id: file.client_id, secret: file.client_key })
    }

    /// Registers an anonymous agent and returns its credentials.
    async fn register(client: &reqwest::Client, url: &str) -> anyhow::Result<Self> {
        let registered: Value = client
            .post(format!("{url}/v1/agents/register"))
            .json(&json!({ "type": "anonymous", "agent_name": "command line" }))
            .send()
            .await
            .with_context(|| unreachable_host(url))?
            .json()
            .await?;
        let field = |name: &str| registered.get(name).and_then(Value::as_str).map(str::to_owned);
        match (field("client_id"), field("client_secret")) {
            (Some(client_id), Some(secret)) => Ok(Self { client_id, secret }),
            _ => bail!("the host did not register an agent: {registered}"),
        }
    }

    async fn token(&self, client: &reqwest::Client, url: &str) -> anyhow::Result<String> {
        let form = [
            ("grant_type", "client_credentials"),
            ("client_id", &self.client_id),
            ("client_secret", &self.secret),
        ];
        let request = client.post(format!("{url}/oauth/token")).form(&form);
        let answer = request.send().await.with_context(|| unreachable_host(url))?;
        let issued: Value = answer.json().await?;
        match issued.get("access_token").and_then(Value::as_str) {
            Some(token) => Ok(token.to_owned()),
            None => bail!("the host did not issue a token: {issued}"),
        }
    }
}
