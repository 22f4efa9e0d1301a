//! Requests to a running host.

use crate::config::OperatorConfig;
use anyhow::Context as _;
use clap::Args;
use portolan_http::{SOCKET_FILE, TOKEN_FILE};
use portolan_vocabulary::one_line;
use reqwest::{Client, ClientBuilder, Method, RequestBuilder, Response, Url};
use serde_json::Value;
use std::{fmt, io::Write as _, net::IpAddr, path::PathBuf};
use tokio::net::UnixStream;

/// Runs a future to its end on a runtime of one thread.
pub(super) fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(future)
}

/// Makes an HTTP client for requests to a running host.
pub(super) fn client() -> anyhow::Result<Client> {
    Ok(client_builder().build()?)
}

fn client_builder() -> ClientBuilder {
    // An error means that a crypto provider is installed already.
    let _chosen = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
}

/// Returns the message about a host that does not answer.
pub(super) fn unreachable_host(url: &str) -> String {
    let url = without_password(url);
    format!(
        "no host answers at {url}; start one with `portolan serve`, or give its address with --url"
    )
}

/// Returns a URL as errors may show it: without a user name and a password.
fn without_password(url: &str) -> String {
    let Ok(mut url) = Url::parse(url) else { return "the given address".to_owned() };
    // This fails only for a URL without a host.
    match url.set_username("").and_then(|()| url.set_password(None)) {
        Ok(()) => url.to_string(),
        Err(()) => "the given address".to_owned(),
    }
}

/// The address of a running host for agents.
#[derive(Debug, Args)]
pub(super) struct PublicAddress {
    /// Address of the host
    #[arg(
        long,
        value_name = "URL",
        env = "PORTOLAN_PUBLIC_URL",
        hide_env_values = true,
        default_value = "http://127.0.0.1:8080"
    )]
    url: String,
}

impl PublicAddress {
    /// Returns the address without a slash at the end.
    pub(super) fn url(&self) -> &str {
        self.url.trim_end_matches('/')
    }
}

/// A running host, as its operator reaches it.
#[derive(Debug, Args)]
pub(super) struct Operator {
    /// Address for the operator of a host elsewhere, with its token in PORTOLAN_OPERATOR_TOKEN
    /// [default: the socket in the data folder]
    #[arg(long, value_name = "URL", env = "PORTOLAN_ADMIN_URL", hide_env_values = true)]
    admin_url: Option<String>,
    /// Data folder of a host on this machine [default: data]
    #[arg(long, value_name = "FOLDER", conflicts_with = "admin_url")]
    data_dir: Option<PathBuf>,
    /// The operator's address of a host on this machine, if the command has a flag for it.
    #[arg(skip)]
    admin_listen: Option<String>,
}

/// The refusal of a request by a host that runs.
#[derive(Debug)]
pub(super) struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

/// A connection to a running host: its client, its URL and its token.
struct Route {
    client: Client,
    /// Without a trailing slash.
    url: String,
    /// `None` at the socket, which needs no token, or if there is no token.
    token: Option<String>,
    /// The name of the host in errors.
    name: String,
}

impl Operator {
    /// Returns the host at the given address, or the one on this machine that `serve` with these flags starts.
    pub(super) fn at(
        admin_url: Option<String>,
        data_dir: Option<PathBuf>,
        admin_listen: Option<String>,
    ) -> Self {
        Self { admin_url, data_dir, admin_listen }
    }

    pub(super) async fn get(&self, path: &str, query: &[(&str, String)]) -> anyhow::Result<Value> {
        self.send(Method::GET, path, query).await
    }

    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, String)],
    ) -> anyhow::Result<Value> {
        self.request(method, path, |request| request.query(query)).await
    }

    /// Sends a request to which `add_content` has added a query or a body, and returns the answer.
    pub(super) async fn request(
        &self,
        method: Method,
        path: &str,
        add_content: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> anyhow::Result<Value> {
        answer(self.send_request(method, path, add_content).await?).await
    }

    /// Prints an answer as it arrives.
    pub(super) async fn print(&self, path: &str) -> anyhow::Result<()> {
        let mut response = self.send_request(Method::GET, path, |request| request).await?;
        if !response.status().is_success() {
            return answer(response).await.map(drop);
        }
        while let Some(chunk) = response.chunk().await.context("the answer is cut off")? {
            std::io::stdout().write_all(&chunk)?;
        }
        Ok(())
    }

    async fn send_request(
        &self,
        method: Method,
        path: &str,
        add_content: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> anyhow::Result<Response> {
        let Route { client, url, token, name } = self.route().await?;
        let mut request = client.request(method, format!("{url}{path}"));
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        add_content(request).send().await.with_context(|| {
            format!("no host answers at {name}; start one with `portolan serve`, or name another with --data-dir or --admin-url")
        })
    }

    /// Returns how to reach the host: by the given address, else by the socket in the data folder if something
    /// listens there, else by the operator's address on this machine. A host that was killed leaves its socket
    /// behind, and the next one replaces it only at the end of its start.
    async fn route(&self) -> anyhow::Result<Route> {
        let config = OperatorConfig::load(self.data_dir.clone(), self.admin_listen.clone())?;
        let token_file = config.data_dir.join(TOKEN_FILE);
        let read_token_file =
            || std::fs::read_to_string(&token_file).ok().map(|text| text.trim().to_owned());
        if let Some(url) = &self.admin_url {
            // The token in the data folder is that of the host on this machine, and no other host gets it.
            let token = config.token.or_else(|| is_loopback(url).then(read_token_file).flatten());
            let url = url.trim_end_matches('/').to_owned();
            return Ok(Route { client: client()?, name: without_password(&url), url, token });
        }
        let socket = config.data_dir.join(SOCKET_FILE);
        if UnixStream::connect(&socket).await.is_ok() {
            let name = socket.display().to_string();
            let client = client_builder().unix_socket(socket).build()?;
            return Ok(Route { client, url: "http://localhost".to_owned(), token: None, name });
        }
        let url = format!("http://{}", config.admin_listen);
        let token = config.token.or_else(read_token_file);
        Ok(Route { client: client()?, name: url.clone(), url, token })
    }
}

/// Returns the answer in a response, or why the host refused the request: as `Refused`, if the response is that
/// of a host.
async fn answer(response: Response) -> anyhow::Result<Value> {
    let succeeded = response.status().is_success();
    let answer: Value = response.json().await.context("the answer is not JSON")?;
    if succeeded {
        return Ok(answer);
    }
    let reason = refusal(&answer);
    match answer.get("error_code") {
        Some(_) => Err(Refused(reason).into()),
        None => Err(anyhow::Error::msg(reason)),
    }
}

/// Returns the text of the error for a refused request: for a version, with its fix and its
/// problems, like `portolan check`.
fn refusal(answer: &Value) -> String {
    let message = text(answer, "message");
    match answer.get("conflict") {
        Some(conflict) if conflict.get("kind").is_some_and(|kind| kind == "version") => {
            let mut lines = format!("{message}\n  to fix it: {}", text(conflict, "fix"));
            let problems = conflict.get("problems").and_then(Value::as_array);
            for problem in problems.into_iter().flatten() {
                let member = |name| text(problem, name);
                let (at, description, fix) = (member("at"), member("problem"), member("fix"));
                lines.push_str(&format!("\n  - {at}: {description}\n    to fix it: {fix}"));
            }
            lines
        }
        conflict => {
            let conflict = conflict.map(|conflict| format!(" {conflict}")).unwrap_or_default();
            let code = text(answer, "error_code");
            format!("the host refused the request ({code}): {message}{conflict}")
        }
    }
}

/// Returns whether the host of an address is this machine.
fn is_loopback(url: &str) -> bool {
    let url = Url::parse(url).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Returns a member of an object as a text, or `-` if it is missing or null.
pub(super) fn text(value: &Value, name: &str) -> String {
    match value.get(name) {
        Some(Value::String(text)) => one_line(text, text.len()),
        None | Some(Value::Null) => "-".to_owned(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_a_host_without_its_password() {
        let text = unreachable_host("http://operator:hunter2@127.0.0.1:8081");
        assert!(text.contains("http://127.0.0.1:8081/"), "{text}");
        assert!(!text.contains("hunter2") && !text.contains("operator:"), "{text}");
        assert!(!without_password("operator:hunter2@host").contains("hunter2"));
    }

    #[test]
    fn the_token_of_this_machine_is_for_this_machine() {
        for url in ["http://127.0.0.1:8081", "http://localhost:8081/", "http://[::1]:8081"] {
            assert!(is_loopback(url), "{url}");
        }
        for url in ["http://127.0.0.1.attacker.example", "http://10.0.0.1:8081", "localhost:8081"] {
            assert!(!is_loopback(url), "{url}");
        }
    }
}
