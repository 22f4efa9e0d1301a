//! The credentials of this user at a registry: from flags, or from `docker login`.

use anyhow::Context as _;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use oci_client::secrets::RegistryAuth;
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    env, fs,
    io::{BufRead as _, Write as _},
    path::PathBuf,
    process::{Command, Stdio},
};

/// The variable with the password.
const PASSWORD_VARIABLE: &str = "PORTOLAN_REGISTRY_PASSWORD";
/// The user name with which a helper marks an identity token, which is not a password.
const TOKEN_USER: &str = "<token>";

/// A user name and a password, or nothing. Never printed.
pub(super) struct Credentials(Option<(String, String)>);

/// The part of Docker's `config.json` that is about credentials.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct DockerConfig {
    auths: BTreeMap<String, StoredAuth>,
    cred_helpers: BTreeMap<String, String>,
    creds_store: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct StoredAuth {
    /// A user name, a colon and a password, in base64.
    auth: Option<String>,
    username: Option<String>,
    password: Option<String>,
}

/// The answer of a helper.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct HelperAnswer {
    username: String,
    secret: String,
}

impl Credentials {
    /// Returns the credentials of a given user name, with the password from standard input or the
    /// environment.
    pub(super) fn from_username(username: &str, from_stdin: bool) -> anyhow::Result<Self> {
        let password = if from_stdin {
            let mut line = String::new();
            std::io::stdin().lock().read_line(&mut line).context("no password can be read")?;
            line.trim_end_matches(['\r', '\n']).to_owned()
        } else {
            env::var(PASSWORD_VARIABLE).map_err(|_| {
                anyhow::anyhow!(
                    "there is no password: set {PASSWORD_VARIABLE}, or add --password-stdin"
                )
            })?
        };
        Ok(Self(Some((username.to_owned(), password))))
    }

    /// Reads the credentials that `docker login` has stored for a registry, if it has stored any.
    pub(super) fn from_docker(registry: &str) -> anyhow::Result<Self> {
        let Some(path) = docker_config() else { return Ok(Self(None)) };
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self(None)),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        // The error of the parser could quote the file.
        let config: DockerConfig = serde_json::from_slice(&text)
            .map_err(|_| anyhow::anyhow!("{} is not a configuration of Docker", path.display()))?;
        config.find(registry).map(Self)
    }

    pub(super) fn into_auth(self) -> RegistryAuth {
        match self.0 {
            Some((username, password)) => RegistryAuth::Basic(username, password),
            None => RegistryAuth::Anonymous,
        }
    }
}

impl DockerConfig {
    fn find(&self, registry: &str) -> anyhow::Result<Option<(String, String)>> {
        if let Some(helper) = self.cred_helpers.get(registry) {
            return query_helper(helper, registry);
        }
        let stored = self.auths.iter().find(|(key, _)| host(key) == registry);
        if let Some((_, StoredAuth { auth, username, password })) = stored {
            if let (Some(username), Some(password)) = (username, password) {
                return Ok(Some((username.clone(), password.clone())));
            }
            if let Some(auth) = auth.as_deref().filter(|auth| !auth.is_empty()) {
                let unreadable = || {
                    format!(
                        "the credentials for {registry} in Docker's configuration cannot be read; run `docker login {registry}` again"
                    )
                };
                let pair = decode_auth(auth).with_context(unreadable)?;
                return Ok(Some(pair));
            }
        }
        match &self.creds_store {
            Some(helper) => query_helper(helper, registry),
            None => Ok(None),
        }
    }
}

/// Returns the host of a key, which may be an address with a scheme and a path.
fn host(key: &str) -> &str {
    let key = key.trim_start_matches("https://").trim_start_matches("http://");
    key.split('/').next().unwrap_or_default()
}

fn decode_auth(auth: &str) -> Option<(String, String)> {
    let text = String::from_utf8(STANDARD.decode(auth.trim()).ok()?).ok()?;
    let (username, password) = text.split_once(':')?;
    Some((username.to_owned(), password.trim_end_matches('\0').to_owned()))
}

/// Returns the credentials that a credential helper of Docker has. Returns `None` if the helper fails, as it
/// does for a registry that it does not know.
fn query_helper(helper: &str, registry: &str) -> anyhow::Result<Option<(String, String)>> {
    let program = format!("docker-credential-{helper}");
    let cannot_run = || format!("{program}, which Docker's configuration names, cannot be run");
    let mut child = Command::new(&program)
        .arg("get")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(cannot_run)?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(registry.as_bytes()).with_context(cannot_run)?;
    }
    let output = child.wait_with_output().with_context(cannot_run)?;
    if !output.status.success() {
        return Ok(None);
    }
    let answer: HelperAnswer = serde_json::from_slice(&output.stdout)
        .map_err(|_| anyhow::anyhow!("{program} gives no credentials that can be read"))?;
    anyhow::ensure!(
        answer.username != TOKEN_USER,
        "{program} has a token for {registry} instead of a password; give --username and a password"
    );
    Ok(Some((answer.username, answer.secret)))
}

/// Returns the file in which Docker keeps credentials.
fn docker_config() -> Option<PathBuf> {
    let env_path =
        |name: &str| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let folder = env_path("DOCKER_CONFIG").or_else(|| Some(env_path("HOME")?.join(".docker")))?;
    Some(folder.join("config.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_credentials_are_found_by_the_host_of_the_registry() {
        let config = r#"{"auths": {
            "https://images.example.com/v2/": {"auth": "YW5uYTpwYXNzOndvcmQ="},
            "other.example.com:5000": {"username": "bob", "password": "secret"},
            "empty.example.com": {}
        }}"#;
        let config: DockerConfig = serde_json::from_str(config).unwrap();
        let find = |registry| config.find(registry).unwrap();
        let pair = |name: &str, password: &str| Some((name.to_owned(), password.to_owned()));
        assert_eq!(find("images.example.com"), pair("anna", "pass:word"));
        assert_eq!(find("other.example.com:5000"), pair("bob", "secret"));
        assert_eq!(find("other.example.com"), None);
        assert_eq!(find("empty.example.com"), None);
    }
}
