//! Honest agents at other addresses, whose ordinary calls succeed during an attack.

use crate::{
    abuse::attacker::Attacker,
    harness::{Host, Reply, join_all},
};
use reqwest::Method;
use serde_json::{Value, json};
use std::{convert::Infallible, time::Duration};

/// The network of the honest agents.
const NETWORK: u8 = 250;
/// So many agents do not exceed their own rates.
const AGENTS: usize = 32;
/// The number of agents at one address.
const HOUSEHOLD: usize = 8;
/// The pause between the visits of agents that take turns.
const PAUSE: Duration = Duration::from_millis(400);
/// The pause after a visit of all agents at once.
const LONG_PAUSE: Duration = Duration::from_secs(8);

/// An honest agent, with a connection of its own.
struct Member<'a> {
    client: Attacker<'a>,
    agent: Value,
}

/// The agents of several households.
pub struct Neighbours<'a>(Vec<Member<'a>>);

impl<'a> Neighbours<'a> {
    /// Registers the agents. Each has made its first visit, so that their connections are open.
    pub async fn new(host: &'a Host) -> Self {
        let mut members = Vec::new();
        for number in 0..AGENTS {
            let address = u8::try_from(number / HOUSEHOLD + 1).unwrap();
            let client = Attacker::new(host, NETWORK, address);
            let agent = client.register().await;
            members.push(Member { client, agent });
        }
        let neighbours = Self(members);
        join_all(neighbours.0.iter().map(Member::visit)).await;
        neighbours
    }

    /// Makes ordinary calls for ever; fails if one is refused. All agents call `at_once`, or they take turns, so
    /// that their calls need little of a processor while that of an attack is measured.
    pub async fn live(&self, at_once: bool) -> Infallible {
        loop {
            if at_once {
                join_all(self.0.iter().map(Member::visit)).await;
                tokio::time::sleep(LONG_PAUSE).await;
                continue;
            }
            for member in &self.0 {
                member.visit().await;
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

impl Member<'_> {
    /// Gets a token, and makes one call of each kind.
    async fn visit(&self) {
        let token = self.client.token(&self.agent).await;
        let expect = |what: &str, reply: &Reply| {
            assert_eq!(reply.status, 200, "an honest agent's {what}: {}", reply.text);
        };
        expect("catalog", &self.client.get("/v1/capabilities").await);
        let reply = self.client.call(&token, "svc.whoami", &json!({ "action": "get" })).await;
        // The clock may have moved beyond the end of the token.
        if reply.body["error_code"] != "token_expired" {
            expect("call", &reply);
            let inbox = "/v1/agent-events/stream?wait=0";
            let reply = self.client.send_as(&token, Method::GET, inbox, None).await;
            if reply.body["error_code"] != "token_expired" {
                expect("poll", &reply);
            }
        }
    }
}
