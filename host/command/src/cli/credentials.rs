//! The agents with which `portolan call` calls, and the files in which their credentials are kept.

use crate::cli::client::{text, unreachable_host};
use anyhow::{Context as _, bail};
use reqwest::Client;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

/// The file that the installer writes.
const INSTALLED: &str = "credentials.json";
/// The number of the test person who claims agents of test mode; no message is sent to it.
const TEST_PHONE: &str = "+14155550100";

/// A client's id, with its secret or its key.
struct Credentials {
    client_id: String,
    secret: String,
}

/// The content of a file with credentials.
#[derive(Serialize, Deserialize)]
struct CredentialsFile {
    base_url: String,
    client_id: String,
    client_key: String,
}

/// Returns the token of the agent that the installer of this host has registered, or else of a new anonymous
/// agent.
pub(super) async fn live_token(client: &Client, url: &str) -> anyhow::Result<String> {
    let installed = file(INSTALLED).and_then(|file| Credentials::read(&file, url));
    match installed {
        Some(credentials) => credentials.token(client, url).await,
        None => Credentials::register(client, url, "live").await?.token(client, url).await,
    }
}

/// Returns the token of an agent of test mode, which is registered once and kept, and claimed by a test person if
/// `claimed`.
pub(super) async fn test_token(
    client: &Client,
    url: &str,
    claimed: bool,
) -> anyhow::Result<String> {
    let file = file(if claimed { "claimed-test-agent.json" } else { "test-agent.json" });
    let kept = file.as_deref().and_then(|file| Credentials::read(file, url));
    if let Some(credentials) = kept
        && let Ok(token) = credentials.token(client, url).await
    {
        return Ok(token);
    }
    let credentials = Credentials::register(client, url, "test").await?;
    let token = credentials.token(client, url).await?;
    if claimed {
        claim(client, url, &token).await?;
    }
    if let Some(file) = file {
        credentials.keep(&file, url)?;
    }
    Ok(token)
}

/// Claims an agent of test mode for the test person, by the code that such an agent is told.
async fn claim(client: &Client, url: &str, token: &str) -> anyhow::Result<()> {
    let call = async |body: Value| -> anyhow::Result<Value> {
        let request = client.post(format!("{url}/v1/capabilities/svc.phone-binding/call"));
        let answer = request.bearer_auth(token).json(&body).send().await;
        let answer: Value = answer.with_context(|| unreachable_host(url))?.json().await?;
        match answer.get("result") {
            Some(result) => Ok(result.clone()),
            None => bail!("the agent cannot be claimed: {}", text(&answer, "message")),
        }
    };
    let bound = call(json!({ "action": "bind", "phone": TEST_PHONE })).await?;
    call(json!({ "action": "verify", "code": bound.get("test_code") })).await?;
    Ok(())
}

/// Returns the path of a file in the user's folder for configurations, if there is such a folder.
fn file(name: &str) -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?;
    Some(folder.join("portolan").join(name))
}

impl Credentials {
    /// Returns the credentials of a file, if it has those of this host.
    fn read(file: &Path, url: &str) -> Option<Self> {
        let file: CredentialsFile = serde_json::from_str(&fs::read_to_string(file).ok()?).ok()?;
        let is_for_host = file.base_url.trim_end_matches('/') == url;
        is_for_host.then_some(Self { client_id: file.client_id, secret: file.client_key })
    }

    /// Writes the credentials to a file that only this user can read.
    fn keep(&self, file: &Path, url: &str) -> anyhow::Result<()> {
        let Self { client_id, secret } = self;
        let content = CredentialsFile {
            base_url: url.to_owned(),
            client_id: client_id.clone(),
            client_key: secret.clone(),
        };
        let write = || -> anyhow::Result<()> {
            let folder = file.parent().unwrap_or(Path::new("."));
            fs::create_dir_all(folder)?;
            let mut unfinished = tempfile::NamedTempFile::new_in(folder)?;
            unfinished.write_all(&serde_json::to_vec_pretty(&content)?)?;
            unfinished.persist(file)?;
            Ok(())
        };
        write().with_context(|| format!("cannot write {}", file.display()))
    }

    /// Registers an anonymous agent of a mode and returns its credentials.
    async fn register(client: &Client, url: &str, mode: &str) -> anyhow::Result<Self> {
        let registered: Value = client
            .post(format!("{url}/v1/agents/register"))
            .json(&json!({ "type": "anonymous", "agent_name": "command line", "mode": mode }))
            .send()
            .await
            .with_context(|| unreachable_host(url))?
            .json()
            .await?;
        let field = |name: &str| registered.get(name).and_then(Value::as_str).map(str::to_owned);
        match (field("client_id"), field("client_secret")) {
            (Some(client_id), Some(secret)) => Ok(Self { client_id, secret }),
            _ => bail!("the host did not register an agent: {}", text(&registered, "message")),
        }
    }

    async fn token(&self, client: &Client, url: &str) -> anyhow::Result<String> {
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
