//! Abuses of the token endpoint: secrets, assertions, keys and documents of clients.

use crate::{
    abuse::{
        attacker::{Attacker, FORM, all_answered, permitted, until_refused},
        cost::{Bound, Cost},
        row::{LIVE, Row},
        scene::{Pace, REQUESTS, Scene},
    },
    harness::{Options, Reply, join_all, server::Server},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ed25519_dalek::{SigningKey, pkcs8::EncodePrivateKey as _};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Instant;

/// The token requests of one address in a minute.
const TOKEN_REQUESTS: usize = 300;
const JWT_BEARER: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

pub fn options() -> Options {
    let reachable = format!("{LIVE}reachable_networks = [\"127.0.0.0/8\"]\n");
    Options::with(&["svc_whoami", "svc_phone_binding"]).configuration(&reachable)
}

pub const ROWS: &[Row] = &[
    Row {
        name: "secrets of a client guessed",
        abuse: "sends wrong secrets of one client as often as it may",
        before: "3,829 a second, no trace",
        outcome: "`slow_down` after five; two rows of the audit log a minute",
        bound: Bound::new(5, 10),
        attack: |scene| Box::pin(secrets_of_one(scene)),
    },
    Row {
        name: "secrets of many clients guessed",
        abuse: "sends secrets of clients that do not exist",
        before: "3,829 a second, no trace",
        outcome: "429 after 300 a minute; two rows of the audit log a minute",
        bound: Bound::new(5, 60),
        attack: |scene| Box::pin(secrets_of_many(scene)),
    },
    Row {
        name: "tokens without end",
        abuse: "requests tokens of five agents",
        before: "–",
        outcome: "429 after 300 a minute; nothing is stored",
        bound: Bound::new(5, 60),
        attack: |scene| Box::pin(tokens(scene)),
    },
    Row {
        name: "tokens issued and revoked",
        abuse: "requests a token and revokes it, again and again",
        before: "5,635 pairs in 5 s",
        outcome: "429 after 150 pairs a minute",
        bound: Bound::new(25, 120),
        attack: |scene| Box::pin(revocations(scene)),
    },
    Row {
        name: "tokens described",
        abuse: "asks about tokens that do not exist",
        before: "–",
        outcome: "`active: false`; 429 after 60 a minute",
        bound: Bound::new(5, 60),
        attack: |scene| Box::pin(introspections(scene)),
    },
    Row {
        name: "assertions with a new jti",
        abuse: "proves five clients by assertions that were never used",
        before: "9.5 GB an hour",
        outcome: "429 after 300 a minute; a used assertion is stored for its life",
        bound: Bound::new(25, 120),
        attack: |scene| Box::pin(assertions(scene)),
    },
    Row {
        name: "assertions again",
        abuse: "sends one assertion again and again",
        before: "–",
        outcome: "`invalid_client` from the second time on",
        bound: Bound::new(5, 120),
        attack: |scene| Box::pin(replayed_assertion(scene)),
    },
    Row {
        name: "large assertions",
        abuse: "sends assertions of 200 KB, forged with other algorithms",
        before: "–",
        outcome: "`invalid_client`",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(large_assertions(scene)),
    },
    Row {
        name: "large forms",
        abuse: "sends forms of 250 KB with tens of thousands of parameters",
        before: "1,399 s of CPU",
        outcome: "400",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(large_forms(scene)),
    },
    Row {
        name: "keys at changing addresses",
        abuse: "changes the jwks_uri of a client and requests a token, so that the host reads the keys",
        before: "2,109 connections in 5 s",
        outcome: "429 after 30 changes",
        bound: Bound::new(5, 30).outgoing(60),
        attack: |scene| Box::pin(changing_keys(scene)),
    },
    Row {
        name: "keys at a server that never answers",
        abuse: "has the host wait for keys at many addresses at once",
        before: "–",
        outcome: "each wait ends after five seconds; others are answered",
        bound: Bound::new(5, 30).outgoing(30).held(30),
        attack: |scene| Box::pin(silent_keys(scene)),
    },
    Row {
        name: "documents of clients",
        abuse: "names ever new addresses as its client_id",
        before: "–",
        outcome: "429 after 30",
        bound: Bound::new(5, 30).outgoing(60),
        attack: |scene| Box::pin(client_documents(scene)),
    },
];

async fn request_token(attacker: &Attacker<'_>, id: &str, secret: &str) -> Reply {
    let form = [("grant_type", "client_credentials"), ("client_id", id), ("client_secret", secret)];
    attacker.post_form("/oauth/token", &form).await
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value}"))
}

async fn secrets_of_one(scene: &Scene<'_>) -> Cost {
    let (owner, attacker) = (scene.attacker(), scene.attacker());
    let agent = owner.register().await;
    let mut guessed = 0;
    let attack = async || {
        let guess = async |_| request_token(&attacker, text(&agent, "client_id"), "wrong").await;
        guessed += until_refused(TOKEN_REQUESTS, guess).await;
    };
    let cost = scene.measure(Pace::EACH_MINUTE, attack).await;
    assert!(guessed < 30, "{guessed} secrets were compared");
    // The client itself is not locked out.
    owner.token(&agent).await;
    cost
}

async fn secrets_of_many(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let attack = async || {
        let begun = Instant::now();
        let guess =
            async |number| request_token(&attacker, &format!("cli_{number:026}"), "wrong").await;
        let guessed = until_refused(2 * TOKEN_REQUESTS, guess).await;
        assert!(guessed <= permitted(TOKEN_REQUESTS, begun), "{guessed}");
    };
    scene.measure(Pace::minutes(3), attack).await
}

/// Registers five agents, which together use up the token requests of their address.
async fn five_agents(attacker: &Attacker<'_>) -> Vec<Value> {
    let mut agents = Vec::new();
    for _ in 0..5 {
        agents.push(attacker.register().await);
    }
    agents
}

async fn tokens(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let agents = five_agents(&attacker).await;
    let attack = async || {
        let begun = Instant::now();
        let mut issued = 0;
        for agent in &agents {
            issued += until_refused(100, async |_| attacker.try_token(agent, "").await).await;
        }
        assert!(issued <= permitted(TOKEN_REQUESTS, begun), "{issued}");
    };
    scene.measure(Pace::minutes(2), attack).await
}

async fn revocations(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let agents = five_agents(&attacker).await;
    let attack = async || {
        for agent in &agents {
            until_refused(100, async |_| {
                let issued = attacker.try_token(agent, "").await;
                if issued.status != 200 {
                    return issued;
                }
                let form = [
                    ("token", text(&issued.body, "access_token")),
                    ("client_id", text(agent, "client_id")),
                    ("client_secret", text(agent, "client_secret")),
                ];
                attacker.post_form("/oauth/revoke", &form).await
            })
            .await;
        }
    };
    scene.measure(Pace::minutes(3), attack).await
}

async fn introspections(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let agents = five_agents(&attacker).await;
    let attack = async || {
        for agent in &agents {
            until_refused(100, async |number| {
                let token = format!("{number}");
                let form = [
                    ("token", token.as_str()),
                    ("client_id", text(agent, "client_id")),
                    ("client_secret", text(agent, "client_secret")),
                ];
                attacker.post_form("/oauth/introspect", &form).await
            })
            .await;
        }
    };
    scene.measure(Pace::minutes(2), attack).await
}

/// A client that proves itself by assertions.
struct Prover<'a> {
    attacker: &'a Attacker<'a>,
    id: String,
    key: EncodingKey,
}

impl<'a> Prover<'a> {
    async fn new(attacker: &'a Attacker<'a>) -> Self {
        let key = SigningKey::from_bytes(&[7; 32]);
        let x = URL_SAFE_NO_PAD.encode(key.verifying_key().as_bytes());
        let body = json!({
            "grant_types": ["client_credentials"],
            "token_endpoint_auth_method": "private_key_jwt",
            "jwks": { "keys": [{ "kty": "OKP", "crv": "Ed25519", "kid": "one", "x": x }] },
        });
        let client = attacker.post("/oauth/register", &body).await;
        assert_eq!(client.status, 201, "{}", client.text);
        let key = EncodingKey::from_ed_der(key.to_pkcs8_der().unwrap().as_bytes());
        Self { attacker, id: text(&client.body, "client_id").to_owned(), key }
    }

    fn assertion(&self, jti: &str) -> String {
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = Some("one".to_owned());
        let expires = self.attacker.host.clock.now().as_secs() + 3_500;
        let claims = json!({
            "iss": self.id, "sub": self.id, "aud": self.attacker.host.url, "exp": expires, "jti": jti,
        });
        jsonwebtoken::encode(&header, &claims, &self.key).unwrap()
    }

    async fn prove(&self, assertion: &str) -> Reply {
        prove(self.attacker, assertion).await
    }
}

async fn prove(attacker: &Attacker<'_>, assertion: &str) -> Reply {
    let form = [
        ("grant_type", "client_credentials"),
        ("client_assertion_type", JWT_BEARER),
        ("client_assertion", assertion),
    ];
    attacker.post_form("/oauth/token", &form).await
}

async fn assertions(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let mut provers = Vec::new();
    for _ in 0..5 {
        provers.push(Prover::new(&attacker).await);
    }
    let mut used = 0;
    let attack = async || {
        for prover in &provers {
            until_refused(100, async |_| {
                used += 1;
                prover.prove(&prover.assertion(&format!("{used}"))).await
            })
            .await;
        }
    };
    scene.measure(Pace::minutes(3), attack).await
}

async fn replayed_assertion(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let prover = Prover::new(&attacker).await;
    let assertion = prover.assertion("once");
    assert_eq!(prover.prove(&assertion).await.status, 200);
    let attack = async || {
        let again = async |_| {
            let reply = prover.prove(&assertion).await;
            assert_ne!(reply.status, 200);
            reply
        };
        until_refused(TOKEN_REQUESTS + 50, again).await;
    };
    scene.measure(Pace::minutes(2), attack).await
}

async fn large_assertions(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 30;
    let attacker = scene.attacker();
    let prover = Prover::new(&attacker).await;
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let claims = json!({ "iss": prover.id, "sub": prover.id, "more": "x".repeat(140_000) });
    let forged = ["none", "HS256", "RS256", "EdDSA"].map(|algorithm| {
        let header = part(&json!({ "alg": algorithm, "typ": "JWT", "kid": "one" }));
        format!("{header}.{}.{}", part(&claims), "A".repeat(86))
    });
    let pace = Pace::minutes(1).sampling(SENT, TOKEN_REQUESTS);
    let send = async |number: usize| prove(&attacker, &forged[number % forged.len()]).await;
    scene.measure(pace, async || all_answered(SENT, &[400, 401, 429], send).await).await
}

async fn large_forms(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 30;
    let attacker = scene.attacker();
    let parameters: Vec<String> = (0..24_000).map(|number| format!("p{number}=%41")).collect();
    let form = parameters.join("&");
    let pace = Pace::minutes(1).sampling(SENT, REQUESTS);
    let send = async |number: usize| {
        let path = ["/oauth/token", "/oauth/revoke", "/oauth/introspect"][number % 3];
        attacker.send(Method::POST, path, &[FORM], Some(form.clone())).await
    };
    scene.measure(pace, async || all_answered(SENT, &[400, 401, 429], send).await).await
}

/// Registers a client whose keys are at this address, and returns the registration.
async fn client_with_keys_at(attacker: &Attacker<'_>, uri: &str) -> Value {
    let body = json!({
        "grant_types": ["client_credentials"],
        "token_endpoint_auth_method": "private_key_jwt",
        "jwks_uri": uri,
    });
    let client = attacker.post("/oauth/register", &body).await;
    assert_eq!(client.status, 201, "{}", client.text);
    client.body
}

/// Returns an assertion for which the host reads the keys of the client.
fn unsigned_assertion(client_id: &str) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let header = part(&json!({ "alg": "EdDSA", "typ": "JWT", "kid": "one" }));
    let claims = part(&json!({ "iss": client_id, "sub": client_id }));
    format!("{header}.{claims}.{}", "A".repeat(86))
}

async fn changing_keys(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let server = Server::with_tls(|_| None).await;
    let keys = |number: usize| format!("https://127.0.0.1:{}/{number}", server.port);
    let client = client_with_keys_at(&attacker, &keys(0)).await;
    let path = format!("/oauth/register/{}", text(&client, "client_id"));
    let assertion = unsigned_assertion(text(&client, "client_id"));
    let mut changes = 0;
    let attack = async || {
        until_refused(100, async |_| {
            changes += 1;
            let body = json!({
                "grant_types": ["client_credentials"],
                "token_endpoint_auth_method": "private_key_jwt",
                "jwks_uri": keys(changes),
            });
            let token = text(&client, "registration_access_token");
            let changed = attacker.send_as(token, Method::PUT, &path, Some(body.to_string())).await;
            prove(&attacker, &assertion).await;
            changed
        })
        .await;
    };
    let cost = scene.measure(Pace::HOURLY, attack).await;
    cost.sending(server.connections())
}

async fn silent_keys(scene: &Scene<'_>) -> Cost {
    const CLIENTS: usize = 30;
    let attacker = scene.attacker();
    // It reads a handshake as a request that never ends.
    let server = Server::plain(|_| None).await;
    let mut clients = Vec::new();
    for number in 0..CLIENTS {
        let uri = format!("https://127.0.0.1:{}/{number}", server.port);
        clients.push(client_with_keys_at(&attacker, &uri).await);
    }
    let attack = async || {
        let ask = async |client: &Value| {
            prove(&attacker, &unsigned_assertion(text(client, "client_id"))).await
        };
        for reply in join_all(clients.iter().map(ask)).await {
            assert!([401, 503].contains(&reply.status.as_u16()), "{}", reply.text);
        }
    };
    let cost = scene.measure(Pace::ONCE, attack).await;
    cost.sending(server.connections()).holding(CLIENTS as u64)
}

async fn client_documents(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let server = Server::with_tls(|_| None).await;
    let mut named = 0;
    let attack = async || {
        until_refused(100, async |_| {
            named += 1;
            let id = format!("https://127.0.0.1:{}/{named}.json", server.port);
            let form =
                [("grant_type", "refresh_token"), ("client_id", &*id), ("refresh_token", "x")];
            attacker.post_form("/oauth/token", &form).await
        })
        .await;
    };
    let cost = scene.measure(Pace::HOURLY, attack).await;
    cost.sending(server.connections())
}
