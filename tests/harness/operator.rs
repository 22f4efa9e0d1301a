//! What the operator does with a running host.

use crate::harness::{Host, Reply};
use serde_json::Value;

impl Host {
    /// Runs an internal action as the operator, and answers its output.
    pub async fn operate(&self, capability: &str, action: &str, input: Value) -> Value {
        let url = format!("{}/capabilities/{capability}/{action}", self.admin_url);
        let reply = Reply::read(self.client.post(url).json(&input).send().await.unwrap()).await;
        assert_eq!(reply.status, 200, "{capability} {action}: {}", reply.text);
        reply.body["result"].clone()
    }
}
