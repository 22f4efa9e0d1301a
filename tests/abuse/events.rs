//! Abuses of inboxes: polls, streams and acknowledgements.

use crate::{
    abuse::{
        attacker::{all_answered, until_refused},
        cost::{Bound, Cost},
        row::Row,
        scene::{Pace, Scene},
    },
    harness::join_all,
};
use reqwest::{Method, header::ACCEPT};
use serde_json::json;

const STREAM: &str = "/v1/agent-events/stream";

pub const ROWS: &[Row] = &[
    Row {
        name: "polls without end",
        abuse: "polls ten inboxes without waiting",
        before: "–",
        outcome: "429 after 60 a minute for an agent",
        bound: Bound::new(5, 120),
        attack: |scene| Box::pin(polls(scene)),
    },
    Row {
        name: "polls held open",
        abuse: "lets 300 polls of ten agents wait",
        before: "–",
        outcome: "one for each agent; the others are answered as superseded",
        bound: Bound::new(5, 30).held(42),
        attack: |scene| Box::pin(waiting_polls(scene)),
    },
    Row {
        name: "event streams held open",
        abuse: "opens 300 streams of ten agents",
        before: "–",
        outcome: "one for each agent; the others end",
        bound: Bound::new(5, 30).held(42),
        attack: |scene| Box::pin(streams(scene)),
    },
    Row {
        name: "acknowledgements of nothing",
        abuse: "acknowledges 500 events that do not exist in each request",
        before: "–",
        outcome: "429 after 60 a minute for an agent",
        bound: Bound::new(5, 200),
        attack: |scene| Box::pin(acknowledgements(scene)),
    },
    Row {
        name: "malformed polls",
        abuse: "polls with unknown parameters, forged cursors and thousands of types",
        before: "–",
        outcome: "400",
        bound: Bound::new(5, 120),
        attack: |scene| Box::pin(malformed_polls(scene)),
    },
];

async fn polls(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let tokens = attacker.agents(10).await;
    let attack = async || {
        for token in &tokens {
            let path = format!("{STREAM}?wait=0");
            let poll = async |_| attacker.send_as(token, Method::GET, &path, None).await;
            let polled = until_refused(100, poll).await;
            assert!(polled <= 65, "{polled}");
        }
    };
    scene.measure(Pace::minutes(2), attack).await
}

/// Sends 300 requests for the inboxes of ten agents at once, and returns how many readers wait then.
async fn held(scene: &Scene<'_>, accept: &str) -> Cost {
    let attacker = scene.attacker();
    let tokens = attacker.agents(10).await;
    let before = scene.host.waiting_readers().await;
    let mut held = 0;
    let attack = async || {
        let open = |number: usize| {
            let request = attacker.client.get(format!("{}{STREAM}?wait=50", scene.host.url));
            let request = request.bearer_auth(&tokens[number % tokens.len()]);
            request.header(ACCEPT, accept).send()
        };
        let requests = join_all((0..300).map(open));
        let most = async {
            loop {
                held = held.max(scene.host.waiting_readers().await.saturating_sub(before));
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        };
        let time = tokio::time::sleep(std::time::Duration::from_secs(2));
        tokio::select! {
            _answers = requests => {}
            () = most => {}
            () = time => {}
        }
    };
    let cost = scene.measure(Pace::ONCE, attack).await;
    cost.holding(held)
}

async fn waiting_polls(scene: &Scene<'_>) -> Cost {
    held(scene, "application/json").await
}

async fn streams(scene: &Scene<'_>) -> Cost {
    held(scene, "text/event-stream").await
}

async fn acknowledgements(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let tokens = attacker.agents(10).await;
    let ids: Vec<String> = (0..500).map(|number| format!("evt_{number:026}")).collect();
    let body = json!({ "ack_event_ids": ids }).to_string();
    let attack = async || {
        for token in &tokens {
            let send = async |_| {
                let body = Some(body.clone());
                attacker.send_as(token, Method::POST, "/v1/agent-events/ack", body).await
            };
            until_refused(20, send).await;
        }
    };
    scene.measure(Pace::minutes(1).sampling(20, 60), attack).await
}

async fn malformed_polls(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let tokens = attacker.agents(3).await;
    let types = vec!["a.b"; 6_000].join(",");
    let queries = [
        "cursor=99999999999999999999".to_owned(),
        "cursor=x".to_owned(),
        "wait=100000".to_owned(),
        "nothing=1".to_owned(),
        format!("wait=0&types={types}"),
        "limit=0&wait=0".to_owned(),
    ];
    let send = async |number: usize| {
        let path = format!("{STREAM}?{}", queries[number % queries.len()]);
        attacker.send_as(&tokens[number % tokens.len()], Method::GET, &path, None).await
    };
    let pace = Pace::minutes(2).sampling(120, 600);
    scene.measure(pace, async || all_answered(120, &[200, 400, 429], send).await).await
}
