//! Access tokens, which are renewed after a test has moved the time beyond their expiry.

use crate::harness::{Host, Reply};
use portolan_vocabulary::Timestamp;
use serde_json::Value;
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// How long before its expiry a token is renewed.
const MARGIN: Duration = Duration::from_secs(60);

/// The tokens of clients with a secret, keyed by the first token that each client got.
#[derive(Default)]
pub(super) struct Tokens(Mutex<HashMap<String, Token>>);

#[derive(Clone)]
struct Token {
    client_id: String,
    client_secret: String,
    scope: String,
    current: String,
    expires_at: Timestamp,
}

impl Host {
    /// Requests an access token of a registered agent.
    pub async fn token_of(&self, agent: &Value, scope: &str) -> String {
        let text = |name: &str| agent[name].as_str().unwrap().to_owned();
        let token = self.request_token(text("client_id"), text("client_secret"), scope).await;
        let first = token.current.clone();
        self.store_token(&first, token);
        first
    }

    /// Returns the current token for the token that a client got first, renewed if it expires soon
    /// or has expired. A token that `token_of` did not return stays as it is.
    pub async fn current_token(&self, token: &str) -> String {
        let stored =
            self.tokens.0.lock().unwrap_or_else(PoisonError::into_inner).get(token).cloned();
        let Some(stored) = stored else { return token.to_owned() };
        if self.clock.now().plus(MARGIN) < stored.expires_at {
            return stored.current;
        }
        let renewed =
            self.request_token(stored.client_id, stored.client_secret, &stored.scope).await;
        let current = renewed.current.clone();
        self.store_token(token, renewed);
        current
    }

    fn store_token(&self, first: &str, token: Token) {
        let mut stored = self.tokens.0.lock().unwrap_or_else(PoisonError::into_inner);
        stored.insert(first.to_owned(), token);
    }

    async fn request_token(&self, client_id: String, client_secret: String, scope: &str) -> Token {
        let form = [
            ("grant_type", "client_credentials"),
            ("client_id", &client_id),
            ("client_secret", &client_secret),
            ("scope", scope),
        ];
        let request = self.client.post(format!("{}/oauth/token", self.url)).form(&form);
        let reply = Reply::read(request.send().await.unwrap()).await;
        assert_eq!(reply.status, 200, "{}", reply.body);
        let life = Duration::from_secs(reply.body["expires_in"].as_u64().unwrap());
        let current = reply.body["access_token"].as_str().unwrap().to_owned();
        let expires_at = self.clock.now().plus(life);
        Token { client_id, client_secret, scope: scope.to_owned(), current, expires_at }
    }
}
