//! Abuses of the registration of agents and clients.

use crate::{
    abuse::{
        attacker::{Attacker, BINDING, JSON, all_answered, bind, until_refused},
        cost::{Bound, Cost},
        row::Row,
        scene::{Pace, REQUESTS, Scene},
    },
    harness::join_all,
};
use reqwest::Method;
use serde_json::{Value, json};

pub const ROWS: &[Row] = &[
    Row {
        name: "agents without end",
        abuse: "registers agents until each is refused",
        before: "–",
        outcome: "`rate_limited` after 30, then one in two minutes",
        bound: Bound::new(5, 10).held(60),
        attack: |scene| Box::pin(agents(scene)),
    },
    Row {
        name: "agents of a whole network",
        abuse: "registers agents from eight addresses of one /24",
        before: "–",
        outcome: "`rate_limited` for the network after 120",
        bound: Bound::new(5, 20).held(240),
        attack: |scene| Box::pin(agents_of_a_network(scene)),
    },
    Row {
        name: "large clients",
        abuse: "registers clients with the longest metadata that are accepted",
        before: "–",
        outcome: "429 after 30",
        bound: Bound::new(5, 20).held(60),
        attack: |scene| Box::pin(large_clients(scene)),
    },
    Row {
        name: "clients with 360 keys",
        abuse: "registers clients with more keys than one can need",
        before: "320 ms of CPU for each assertion",
        outcome: "`invalid_client_metadata`",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(many_keys(scene)),
    },
    Row {
        name: "parallel changes",
        abuse: "sends 40 changes of one registration at once, again and again",
        before: "9,126 of 10,961 answered 500",
        outcome: "200, 429 or 503, never 500",
        bound: Bound::new(5, 10),
        attack: |scene| Box::pin(parallel_changes(scene)),
    },
    Row {
        name: "large and deep registrations",
        abuse: "sends registrations that are too large, too deep or no JSON",
        before: "–",
        outcome: "400 or 413",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(malformed(scene)),
    },
    Row {
        name: "deceiving names",
        abuse: "registers agents and clients under names that pass for the host or for others",
        before: "“Portolan Support” in a text message",
        outcome: "`validation_failed`, `invalid_client_metadata`",
        bound: Bound::new(5, 10),
        attack: |scene| Box::pin(names(scene)),
    },
    Row {
        name: "test mode",
        abuse: "registers agents of test mode and claims agents with its code",
        before: "1.6 GB an hour",
        outcome: "`not_permitted`; the code is wrong",
        bound: Bound::new(5, 10).messages(1),
        attack: |scene| Box::pin(test_mode(scene)),
    },
    Row {
        name: "registration tokens guessed",
        abuse: "reads, changes and deletes another's client with guessed tokens",
        before: "–",
        outcome: "401; the client stays",
        bound: Bound::new(5, 120),
        attack: |scene| Box::pin(guessed_tokens(scene)),
    },
];

async fn agents(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let mut made = 0;
    let cost = scene
        .measure(Pace::HOURLY, async || {
            made += until_refused(100, async |_| attacker.try_to_register().await).await;
        })
        .await;
    assert!((30..=60).contains(&made), "{made}");
    cost.holding(made as u64)
}

async fn agents_of_a_network(scene: &Scene<'_>) -> Cost {
    let attackers = scene.attackers(8);
    let mut made = 0;
    let cost = scene
        .measure(Pace::HOURLY, async || {
            for attacker in &attackers {
                made += until_refused(100, async |_| attacker.try_to_register().await).await;
            }
        })
        .await;
    cost.holding(made as u64)
}

/// The metadata of a client of which people let act for them.
fn metadata(more: &Value) -> Value {
    let mut metadata = json!({
        "client_name": "An editor",
        "redirect_uris": ["http://127.0.0.1/callback"],
        "token_endpoint_auth_method": "none",
    });
    for (name, value) in more.as_object().unwrap() {
        metadata[name] = value.clone();
    }
    metadata
}

async fn large_clients(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    // The longest addresses that are accepted.
    let accepted = async |length: usize| {
        let address = |number: usize| format!("http://127.0.0.1/{number}{}", "x".repeat(length));
        let addresses: Vec<String> = (0..10).map(address).collect();
        let body = metadata(&json!({ "redirect_uris": addresses }));
        (attacker.post("/oauth/register", &body).await.status, body)
    };
    let mut largest = metadata(&json!({}));
    for length in [5_000, 2_000, 1_000, 400] {
        let (status, body) = accepted(length).await;
        if status == 201 {
            largest = body;
            break;
        }
    }
    let mut made = 1;
    let cost = scene
        .measure(Pace::HOURLY, async || {
            let register = async |_| attacker.post("/oauth/register", &largest).await;
            made += until_refused(100, register).await;
        })
        .await;
    cost.holding(made as u64)
}

async fn many_keys(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 60;
    let attacker = scene.attacker();
    let key = json!({ "kty": "EC", "crv": "P-384", "x": "A".repeat(64), "y": "A".repeat(64) });
    let body = metadata(&json!({
        "grant_types": ["client_credentials"],
        "token_endpoint_auth_method": "private_key_jwt",
        "jwks": { "keys": vec![key; 360] },
    }));
    let pace = Pace::minutes(2).sampling(SENT, REQUESTS);
    let window = async || {
        let register = async |_| attacker.post("/oauth/register", &body).await;
        all_answered(SENT, &[400], register).await;
    };
    scene.measure(pace, window).await
}

async fn parallel_changes(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let client = attacker.post("/oauth/register", &metadata(&json!({}))).await.body;
    let path = format!("/oauth/register/{}", client["client_id"].as_str().unwrap());
    let token = client["registration_access_token"].as_str().unwrap();
    let changes = async || {
        let change = |number: usize| {
            let body = metadata(&json!({ "client_name": format!("Editor {number}") })).to_string();
            attacker.send_as(token, Method::PUT, &path, Some(body))
        };
        for reply in join_all((0..40).map(change)).await {
            assert!([200, 429, 503].contains(&reply.status.as_u16()), "{}", reply.text);
        }
    };
    scene.measure(Pace::HOURLY, changes).await
}

async fn malformed(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 40;
    let attacker = scene.attacker();
    let deep = format!("{{\"type\":{}", "[".repeat(200_000));
    let wide = json!({ "type": "anonymous", "agent_name": "x".repeat(200_000) }).to_string();
    let large = " ".repeat(300 << 10);
    let bodies = [deep, wide, large, "not JSON".to_owned()];
    let send = async |number: usize| {
        let path = ["/v1/agents/register", "/oauth/register"][number / 4 % 2];
        attacker.send(Method::POST, path, &[JSON], Some(bodies[number % 4].clone())).await
    };
    let pace = Pace::minutes(2).sampling(SENT, REQUESTS);
    scene.measure(pace, async || all_answered(SENT, &[400, 413], send).await).await
}

/// Names that deceive readers.
const NAMES: [&str; 12] = [
    "Portolan Support",
    "Portolan Support \u{2713}",
    "p0rtolan",
    "P o r t o l a n",
    "Pοrtolan",
    "\u{0397}arbour Fund",
    "Official assistant",
    "Ａdmin",
    "Moderator",
    "a\u{202e}nimda",
    "\u{3164}",
    "\u{200b}",
];

async fn names(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let attempt = async || {
        for name in NAMES {
            let agent = json!({ "type": "anonymous", "agent_name": name });
            let reply = attacker.post("/v1/agents/register", &agent).await;
            assert_eq!(reply.body["error_code"], "validation_failed", "{name}: {}", reply.text);
            let client = metadata(&json!({ "client_name": name }));
            let reply = attacker.post("/oauth/register", &client).await;
            assert_eq!(reply.body["error"], "invalid_client_metadata", "{name}: {}", reply.text);
        }
    };
    scene.measure(Pace::ONCE, attempt).await
}

async fn test_mode(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let attempt = async || {
        let body = json!({ "type": "anonymous", "mode": "test" });
        let reply = attacker.post("/v1/agents/register", &body).await;
        reply.assert_refused(403, "not_permitted");
        let token = attacker.agent().await;
        attacker.result(&token, BINDING, &bind("+12015550190")).await;
        let verify = json!({ "action": "verify", "code": "424242" });
        let reply = attacker.call(&token, BINDING, &verify).await;
        reply.assert_refused(422, "code_invalid");
    };
    scene.measure(Pace::ONCE, attempt).await
}

async fn guessed_tokens(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 300;
    let [owner, attacker] = <[Attacker<'_>; 2]>::try_from(scene.attackers(2)).ok().unwrap();
    let client = owner.post("/oauth/register", &metadata(&json!({}))).await.body;
    let path = format!("/oauth/register/{}", client["client_id"].as_str().unwrap());
    let guess = async |number: usize| {
        let method = [Method::GET, Method::DELETE][number % 2].clone();
        attacker.send_as(&format!("svc_rat_{number:043}"), method, &path, None).await
    };
    let pace = Pace::minutes(3).sampling(SENT, REQUESTS);
    let cost = scene.measure(pace, async || all_answered(SENT, &[401], guess).await).await;
    let token = client["registration_access_token"].as_str().unwrap();
    assert_eq!(owner.send_as(token, Method::GET, &path, None).await.status, 200);
    cost
}
