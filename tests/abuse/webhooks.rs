//! Abuses of webhooks: addresses that the host must not reach, and requests to strangers.

use crate::{
    abuse::{
        attacker::{Attacker, until_refused},
        cost::{Bound, Cost},
        row::{LIVE, Row},
        scene::{Pace, Scene},
    },
    harness::{
        Options, Reply,
        server::{Server, response},
        webhooks::answer_challenge,
    },
};
use serde_json::{Value, json};

const WEBHOOKS: &str = "svc.webhooks";

/// Returns options that allow the host to send webhooks to 127.0.0.0/8, where the servers of these tests
/// listen.
pub fn options() -> Options {
    let reachable = format!("{LIVE}reachable_networks = [\"127.0.0.0/8\"]\n");
    Options::with(&["svc_webhooks", "svc_events", "svc_whoami"]).configuration(&reachable)
}

pub fn closed_options() -> Options {
    Options::with(&["svc_webhooks", "svc_events", "svc_whoami"]).configuration(LIVE)
}

pub const CLOSED: &[Row] = &[
    Row {
        name: "private addresses",
        abuse: "registers webhooks to private addresses in 40 spellings",
        before: "`[::ffff:0:127.0.0.1]` accepted",
        outcome: "`url_not_allowed`; no connection",
        bound: Bound::new(5, 10),
        attack: |scene| Box::pin(private_addresses(scene)),
    },
    Row {
        name: "names of private addresses",
        abuse: "registers webhooks to names that resolve to private addresses",
        before: "–",
        outcome: "no connection",
        bound: Bound::new(5, 10),
        attack: |scene| Box::pin(private_names(scene)),
    },
];

pub const ROWS: &[Row] = &[
    Row {
        name: "webhooks without a claim",
        abuse: "registers webhooks with agents that nobody has claimed",
        before: "–",
        outcome: "`phone_binding_required`",
        bound: Bound::new(5, 10),
        attack: |scene| Box::pin(unclaimed(scene)),
    },
    Row {
        name: "challenges to a stranger",
        abuse: "has seven agents of persons send challenges to a server that never asked for any",
        before: "299 calls gave 114 POSTs",
        outcome: "`rate_limited` after 20 an hour for an agent, 120 for the server",
        bound: Bound::new(5, 60).outgoing(480),
        attack: |scene| Box::pin(challenges(scene)),
    },
    Row {
        name: "redirects",
        abuse: "answers a challenge with a redirect to the operator's address",
        before: "–",
        outcome: "the redirect is not followed",
        bound: Bound::new(5, 10).outgoing(5),
        attack: |scene| Box::pin(redirects(scene)),
    },
    Row {
        name: "the operator's port",
        abuse: "registers a webhook to the operator's address of the same machine",
        before: "reached",
        outcome: "nothing is sent",
        bound: Bound::new(5, 10),
        attack: |scene| Box::pin(operator_port(scene)),
    },
    Row {
        name: "endless answers",
        abuse: "answers a challenge with 32 MB",
        before: "–",
        outcome: "the beginning is read",
        bound: Bound::new(5, 10).outgoing(5),
        attack: |scene| Box::pin(endless(scene)),
    },
    Row {
        name: "endpoints that never answer",
        abuse: "registers five webhooks at a server that is silent",
        before: "–",
        outcome: "each request ends after 15 seconds; five for an agent",
        bound: Bound::new(5, 30).outgoing(20).held(5),
        attack: |scene| Box::pin(silent(scene)),
    },
];

async fn create(attacker: &Attacker<'_>, token: &str, url: &str) -> Reply {
    attacker.call(token, WEBHOOKS, &json!({ "action": "create", "url": url })).await
}

fn id(created: &Reply) -> Value {
    created.body["result"]["webhook"]["webhook_id"].clone()
}

async fn private_addresses(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let server = Server::with_tls(|_| None).await;
    let hosts = "127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 017700000001 0 0.0.0.0 \
        localhost. 127.0.0.1. [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:0:127.0.0.1] \
        [::127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::] [2001:0:7f00:1::] \
        [fe80::1] [fc00::1] [fd00::1] [fec0::1] [ff02::1] 10.0.0.1 10.255.255.255 172.16.0.1 \
        192.168.0.1 169.254.169.254 100.64.0.1 100.100.100.200 192.0.0.1 198.18.0.1 224.0.0.1 \
        240.0.0.1 255.255.255.255 ①②⑦.0.0.1";
    let attack = async || {
        let token = attacker.claimed("own_private").await;
        for host in hosts.split_whitespace().filter(|host| *host != "localhost.") {
            let url = format!("https://{host}:{}/", server.port);
            let reply = create(&attacker, &token, &url).await;
            assert_eq!(reply.body["error_code"], "url_not_allowed", "{host}: {}", reply.text);
        }
    };
    let cost = scene.measure(Pace::ONCE, attack).await;
    cost.sending(server.connections())
}

async fn private_names(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let server = Server::with_tls(|_| None).await;
    let attack = async || {
        let token = attacker.claimed("own_names").await;
        for name in ["localhost", "localhost.", "LOCALHOST"] {
            let url = format!("https://{name}:{}/", server.port);
            let reply = create(&attacker, &token, &url).await;
            let status = reply.status.as_u16();
            assert!([200, 400].contains(&status), "{name}: {}", reply.text);
        }
        scene.host.wait_until_settled().await;
    };
    let cost = scene.measure(Pace::ONCE, attack).await;
    cost.sending(server.connections())
}

async fn unclaimed(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let server = Server::plain(|_| None).await;
    let url = format!("http://127.0.0.1:{}/", server.port);
    let attack = async || {
        for token in attacker.agents(5).await {
            create(&attacker, &token, &url).await.assert_refused(403, "phone_binding_required");
        }
    };
    let cost = scene.measure(Pace::ONCE, attack).await;
    cost.sending(server.connections())
}

async fn challenges(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let victim = Server::plain(|_| Some(response("404 Not Found", "", ""))).await;
    let url = format!("http://127.0.0.1:{}/", victim.port);
    let mut webhooks = Vec::new();
    for number in 0..7 {
        let token = attacker.claimed(&format!("own_sender{number}")).await;
        let created = create(&attacker, &token, &url).await;
        if created.status == 200 {
            webhooks.push((token, id(&created)));
        }
    }
    let attack = async || {
        for (token, webhook) in &webhooks {
            let verify = json!({ "action": "verify", "webhook_id": webhook });
            until_refused(30, async |_| attacker.call(token, WEBHOOKS, &verify).await).await;
        }
    };
    let cost = scene.measure(Pace::HOURLY.windows(6), attack).await;
    cost.sending(victim.requests().len())
}

async fn redirects(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let behind = Server::plain(answer_challenge).await;
    let location = format!("location: http://127.0.0.1:{}/keys/rotate\r\n", behind.port);
    let server =
        Server::plain(move |_| Some(response("307 Temporary Redirect", &location, ""))).await;
    let attack = async || {
        let token = attacker.claimed("own_redirects").await;
        let created =
            create(&attacker, &token, &format!("http://localhost:{}/", server.port)).await;
        assert_eq!(created.status, 200, "{}", created.text);
        wait_for_a_request(&server).await;
    };
    let cost = scene.measure(Pace::ONCE, attack).await;
    assert_eq!(behind.connections(), 0);
    cost.sending(server.connections())
}

async fn wait_for_a_request(server: &Server) {
    crate::harness::webhooks::wait_until(async || server.connections() > 0).await;
}

async fn operator_port(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let attack = async || {
        let token = attacker.claimed("own_operator").await;
        let url = format!("{}/keys/rotate", scene.host.admin_url);
        let created = create(&attacker, &token, &url).await;
        if created.status == 200 {
            let get = json!({ "action": "get", "webhook_id": id(&created) });
            crate::harness::webhooks::wait_until(async || {
                let webhook = attacker.result(&token, WEBHOOKS, &get).await;
                webhook["webhook"]["last_error"].is_string()
            })
            .await;
            let webhook = attacker.result(&token, WEBHOOKS, &get).await;
            let error = webhook["webhook"]["last_error"].as_str().unwrap().to_owned();
            assert!(!error.contains("answers"), "{error}");
        }
    };
    scene.measure(Pace::ONCE, attack).await
}

async fn silent(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let server = Server::plain(|_| None).await;
    let attack = async || {
        let token = attacker.claimed("own_silent").await;
        for number in 0..7 {
            let url = format!("http://localhost:{}/{number}", server.port);
            let created = create(&attacker, &token, &url).await;
            let expected = if number < 5 { 200 } else { 409 };
            assert_eq!(created.status.as_u16(), expected, "{}", created.text);
        }
        wait_for_a_request(&server).await;
        // Another agent's webhook is not kept waiting.
        let other = Server::plain(answer_challenge).await;
        let token = attacker.claimed("own_answering").await;
        create(&attacker, &token, &format!("http://localhost:{}/", other.port)).await;
        wait_for_a_request(&other).await;
    };
    let cost = scene.measure_unsettled(Pace::ONCE, attack).await;
    let held = server.connections();
    cost.sending(held).holding(held as u64)
}

async fn endless(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let body = "x".repeat(32 << 20);
    let server = Server::plain(move |_| Some(response("200 OK", "", &body))).await;
    let attack = async || {
        let token = attacker.claimed("own_endless").await;
        create(&attacker, &token, &format!("http://localhost:{}/", server.port)).await;
        wait_for_a_request(&server).await;
    };
    let cost = scene.measure(Pace::ONCE, attack).await;
    cost.sending(server.connections())
}
