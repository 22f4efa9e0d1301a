//! Operators with tokens of their own, and requests with them.

use crate::harness::{Host, Reply, command};
use portolan_http::OperatorRoute;
use reqwest::Method;
use serde_json::Value;
use std::process::Stdio;

/// The person in the paths of routes. Nothing is stored about them.
pub const NOBODY: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";

/// Returns a path of a route, with names that nothing has for what the route is about.
pub fn path_of(route: &OperatorRoute) -> String {
    let path = route.path.replace("{owner_id}", NOBODY).replace("{name}", "nobody");
    let path = path
        .replace("{agent_id}", "agt_01JZX8Q4M2N6P7R8S9T0V1W2X3")
        .replace("{request_id}", "req_none")
        .replace("{id}", "absent")
        .replace("{action}", "nothing");
    let query = match route.path {
        "/documents/document" => "?capability=absent&collection=none&id=x",
        "/dead-letters/replay" | "/dead-letters/drop" => "?ids=all",
        "/catalog/publish" => "?file=absent.wasm",
        "/catalog/{id}/release/share" => "?share=5",
        "/operators" if route.method == Method::POST => "?name=nobody&role=read&days=0",
        _ => "",
    };
    format!("{path}{query}")
}

/// Runs `portolan` in the folder of a host, with these variables. Returns whether it succeeded, its output and
/// its errors.
pub fn run(
    host: &Host,
    environment: &[(&str, &str)],
    arguments: &[&str],
) -> (bool, String, String) {
    let mut command = command(host.folder.path());
    let environment = environment.iter().copied();
    let output = command.envs(environment).args(arguments).stderr(Stdio::piped()).output().unwrap();
    let [out, error] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (output.status.success(), out, error)
}

impl Host {
    /// Sends a request to the operator's address, with this token if there is one.
    pub async fn send_as(&self, token: Option<&str>, method: &Method, path: &str) -> Reply {
        let mut request = self.client.request(method.clone(), format!("{}{path}", self.admin_url));
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        Reply::read(request.send().await.unwrap()).await
    }

    /// Adds an operator, and returns the token.
    pub async fn add_operator(&self, name: &str, role: &str) -> String {
        let path = format!("/operators?name={name}&role={role}");
        let reply = self.operator.post(format!("{}{path}", self.admin_url)).send().await.unwrap();
        let reply = Reply::read(reply).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.body["token"].as_str().unwrap().to_owned()
    }

    /// Returns the rows of the audit log for what an operator has done, the newest first.
    pub async fn rows_of_operator(&self, name: &str) -> Vec<Value> {
        let reply = self.operate(&format!("/audit?limit=1000&operator={name}")).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.body["entries"].as_array().unwrap().clone()
    }
}
