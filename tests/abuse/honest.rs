//! Honest agents at another address, whose ordinary calls succeed during an attack.

use crate::{
    abuse::attacker::Attacker,
    harness::{Host, Reply},
};
use reqwest::Method;
use serde_json::{Value, json};
use std::{convert::Infallible, time::Duration};

/// The network of the honest agents.
const NETWORK: u8 = 250;
/// Several agents take turns, so that none exceeds its own rates.
const AGENTS: usize = 10;
const PAUSE: Duration = Duration::from_millis(400);
/// A token is renewed when it is this old, by the clock of the host.
const RENEWAL: Duration = Duration::from_secs(1800);

/// Agents that one household runs.
pub struct Household<'a> {
    client: Attacker<'a>,
    agents: Vec<Value>,
}

impl<'a> Household<'a> {
    pub async fn new(host: &'a Host) -> Self {
        let client = Attacker::new(host, NETWORK, 1);
        let mut agents = Vec::new();
        for _ in 0..AGENTS {
            agents.push(client.register().await);
        }
        Self { client, agents }
    }

    /// Makes ordinary calls for ever; fails if one is refused.
    pub async fn live(&self) -> Infallible {
        loop {
            for agent in &self.agents {
                let token = self.client.token(agent).await;
                let renew_at = self.client.host.clock.now().plus(RENEWAL);
                for _ in 0..3 {
                    if self.client.host.clock.now() > renew_at {
                        break;
                    }
                    self.visit(&token).await;
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    /// Makes one call of each kind.
    async fn visit(&self, token: &str) {
        let expect = |what: &str, reply: &Reply| {
            assert_eq!(reply.status, 200, "an honest agent's {what}: {}", reply.text);
        };
        expect("catalog", &self.client.get("/v1/capabilities").await);
        let reply = self.client.call(token, "svc.whoami", &json!({ "action": "get" })).await;
        // The clock may have moved beyond the end of the token since the last look at it.
        if reply.body["error_code"] != "token_expired" {
            expect("call", &reply);
            let inbox = "/v1/agent-events/stream?wait=0";
            let reply = self.client.send_as(token, Method::GET, inbox, None).await;
            if reply.body["error_code"] != "token_expired" {
                expect("poll", &reply);
            }
        }
    }
}
