//! Abuses of the operator's address by somebody who reaches it.

use crate::{
    abuse::{
        attacker::{Attacker, all_answered},
        cost::{Bound, Cost},
        row::Row,
        scene::{Pace, Scene},
    },
    harness::Reply,
};
use portolan_http::operator_routes;
use reqwest::Method;

pub const ROWS: &[Row] = &[
    Row {
        name: "the operator's address without a token",
        abuse: "asks every route of the operator's address without a token, and with that of an agent",
        before: "every route open",
        outcome: "401 but for the probes",
        bound: Bound::new(5, 10),
        attack: |scene| Box::pin(without_token(scene)),
    },
    Row {
        name: "operators' tokens guessed",
        abuse: "guesses the tokens of operators",
        before: "not counted",
        outcome: "`rate_limited` after five; a wait of up to 15 minutes",
        bound: Bound::new(5, 30),
        attack: |scene| Box::pin(guessed_tokens(scene)),
    },
    Row {
        name: "pages that call the operator's address",
        abuse: "has the operator's browser call it from another page, and under a name that resolves to it",
        before: "302 published keys after 300 requests",
        outcome: "403; no key changes",
        bound: Bound::new(5, 10),
        attack: |scene| Box::pin(pages(scene)),
    },
];

async fn send(
    attacker: &Attacker<'_>,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
) -> Reply {
    let mut request = attacker.client.request(method, format!("{}{path}", attacker.host.admin_url));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    Reply::read(request.send().await.unwrap()).await
}

async fn without_token(scene: &Scene<'_>) -> Cost {
    let agent = scene.attacker().agent().await;
    let bearer = format!("Bearer {agent}");
    let attack = async || {
        for headers in [&[][..], &[("authorization", bearer.as_str())]] {
            for route in operator_routes().iter().filter(|route| route.role.is_some()) {
                // A new address each time, because wrong tokens have to wait.
                let attacker = scene.attacker();
                let path = crate::harness::operators::path_of(route);
                let reply = send(&attacker, route.method.clone(), &path, headers).await;
                assert_eq!(reply.status, 401, "{path}: {}", reply.text);
            }
        }
    };
    scene.measure(Pace::ONCE, attack).await
}

async fn guessed_tokens(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 30;
    let attacker = scene.attacker();
    let mut compared = 0;
    let attack = async || {
        for number in 0..SENT {
            let bearer = format!("Bearer ptl_op_{number:043}");
            let headers = [("authorization", bearer.as_str())];
            let reply = send(&attacker, Method::GET, "/status", &headers).await;
            assert!([401, 429].contains(&reply.status.as_u16()), "{}", reply.text);
            compared += usize::from(reply.status == 401);
        }
    };
    let cost = scene.measure(Pace::EACH_MINUTE, attack).await;
    assert!(compared < 30, "{compared} tokens were compared");
    assert_eq!(scene.host.operate("/status").await.status, 200);
    cost
}

async fn pages(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let keys = scene.host.operate("/keys").await.text;
    let headers = [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("host", "evil.example:8081"),
        ("sec-fetch-site", "cross-site"),
    ];
    let rotate = async |number: usize| {
        let header = headers[number % headers.len()];
        let url = format!("{}/keys/rotate", scene.host.admin_url);
        // The browser has the token, and sends it.
        let request = scene.host.operator.post(url).header(header.0, header.1);
        Reply::read(request.send().await.unwrap()).await
    };
    let cost = scene.measure(Pace::ONCE, async || all_answered(40, &[403], rotate).await).await;
    assert_eq!(send(&attacker, Method::POST, "/keys/rotate", &[headers[0]]).await.status, 403);
    assert_eq!(scene.host.operate("/keys").await.text, keys);
    cost
}
