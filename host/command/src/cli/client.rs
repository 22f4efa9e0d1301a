//! Requests to a running host.

use anyhow::Context as _;
use clap::Args;
use serde_json::Value;

/// Runs a future to its end on a runtime of one thread.
pub(super) fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(future)
}

/// Makes an HTTP client for requests to a running host.
pub(super) fn client() -> anyhow::Result<reqwest::Client> {
    // An error means that a provider is installed already.
    let _chosen = rustls::crypto::ring::default_provider().install_default();
    Ok(reqwest::Client::builder().build()?)
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
    let Ok(mut url) = reqwest::Url::parse(url) else { return "the given address".to_owned() };
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

/// The operator's address of a running host.
#[derive(Debug, Args)]
pub(super) struct Operator {
    /// The host's address for its operator
    #[arg(
        long,
        value_name = "URL",
        env = "PORTOLAN_ADMIN_URL",
        hide_env_values = true,
        default_value = "http://127.0.0.1:8081"
    )]
    admin_url: String,
}

impl Operator {
    pub(super) async fn get(&self, path: &str, query: &[(&str, String)]) -> anyhow::Result<Value> {
        self.send(reqwest::Method::GET, path, query).await
    }

    pub(super) async fn send(
        &self,
        method: reqwest::Method,
        path: &str,
        query: &[(&str, String)],
    ) -> anyhow::Result<Value> {
        self.answer(self.request(method, path)?.query(query)).await
    }

    pub(super) fn request(
        &self,
        method: reqwest::Method,
        path: &str,
    ) -> anyhow::Result<reqwest::RequestBuilder> {
        let url = self.admin_url.trim_end_matches('/');
        Ok(client()?.request(method, format!("{url}{path}")))
    }

    pub(super) async fn answer(&self, request: reqwest::RequestBuilder) -> anyhow::Result<Value> {
        let url = without_password(&self.admin_url);
        let response = request.send().await.with_context(|| {
            format!("no host answers at {url}; start one with `portolan serve`, or give its address with --admin-url")
        })?;
        let succeeded = response.status().is_success();
        let answer: Value = response.json().await.context("the answer is not JSON")?;
        let conflict =
            answer.get("conflict").map(|conflict| format!(" {conflict}")).unwrap_or_default();
        anyhow::ensure!(
            succeeded,
            "the host refused the request ({}): {}{conflict}",
            text(&answer, "error_code"),
            text(&answer, "message")
        );
        Ok(answer)
    }
}

/// Returns a member of an object as a text of one line.
pub(super) fn text(value: &Value, name: &str) -> String {
    match value.get(name) {
        Some(Value::String(text)) => text.clone(),
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
}
