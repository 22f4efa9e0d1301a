//! Abuses of the public documents: the catalog, descriptions, feeds, the map and handoffs.

use crate::{
    abuse::{
        attacker::{all_answered, until_refused},
        cost::{Bound, Cost},
        row::{LIVE, Row},
        scene::{Pace, REQUESTS, Scene},
    },
    cases::plugins::names,
    harness::{
        Options,
        feeds::{DOCUMENTS, city},
    },
};
use reqwest::Method;

pub fn options() -> Options {
    let names = names();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let feeds = format!("{LIVE}feeds_dir = {:?}\n", city().join("feeds"));
    Options::with(&names).configuration(&feeds)
}

pub const ROWS: &[Row] = &[
    Row {
        name: "the catalog",
        abuse: "reads the catalog and the schemas without end",
        before: "–",
        outcome: "429 after 3000 requests a minute",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(catalog(scene)),
    },
    Row {
        name: "the catalog, compressed",
        abuse: "reads the OpenAPI document and the catalog, each time compressed",
        before: "–",
        outcome: "429 after 3000 requests a minute",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(compressed(scene)),
    },
    Row {
        name: "conditional requests",
        abuse: "asks whether documents have changed, with lists of a thousand entity tags",
        before: "–",
        outcome: "200 or 304",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(conditional(scene)),
    },
    Row {
        name: "discovery",
        abuse: "reads llms.txt, auth.md, keys, metadata and the installer without end",
        before: "–",
        outcome: "429 after 3000 requests a minute",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(discovery(scene)),
    },
    Row {
        name: "feeds",
        abuse: "reads the documents of the feeds, which are not counted",
        before: "–",
        outcome: "answered from memory",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(feeds(scene)),
    },
    Row {
        name: "the map",
        abuse: "reads the page of the map and its files, which are not counted",
        before: "–",
        outcome: "answered from memory",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(map(scene)),
    },
    Row {
        name: "unknown paths and methods",
        abuse: "sends requests to paths and with methods that do not exist",
        before: "–",
        outcome: "404, 405; 429 after 3000 a minute",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(unknown_paths(scene)),
    },
    Row {
        name: "forged handoffs",
        abuse: "opens forged addresses of handoffs",
        before: "–",
        outcome: "400; 429 after 600 a minute",
        bound: Bound::new(5, 200),
        attack: |scene| Box::pin(handoffs(scene)),
    },
    Row {
        name: "a forged X-Forwarded-For",
        abuse: "names another address in each request, without a proxy in front",
        before: "–",
        outcome: "429 as without the header",
        bound: Bound::new(5, 10).held(60),
        attack: |scene| Box::pin(forwarded(scene)),
    },
    Row {
        name: "requests after the refusal",
        abuse: "goes on with a thousand requests a second after the limit",
        before: "–",
        outcome: "429 for each",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(refused(scene)),
    },
];

/// Reads these paths in turn, with a part of the requests that one address may make.
async fn read(scene: &Scene<'_>, pace: Pace, sent: usize, paths: &[&str], coding: &str) -> Cost {
    let attacker = scene.attacker();
    let headers = [("accept-encoding", coding)];
    let get = async |number: usize| {
        let path = paths[number % paths.len()];
        attacker.send(Method::GET, path, &headers, None).await
    };
    scene.measure(pace, async || all_answered(sent, &[200], get).await).await
}

async fn catalog(scene: &Scene<'_>) -> Cost {
    let paths = ["/v1/capabilities", "/openapi.json", "/v1/capabilities/agent_listings/schema"];
    read(scene, Pace::minutes(1).sampling(90, REQUESTS), 90, &paths, "identity").await
}

async fn compressed(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 24;
    let paths = ["/openapi.json", "/v1/capabilities"];
    let pace = Pace::minutes(1).sampling(SENT, REQUESTS);
    // A document is compressed for its first request only.
    let first = scene.attacker();
    for path in paths {
        let reply = first.send(Method::GET, path, &[("accept-encoding", "br")], None).await;
        assert_eq!(reply.header("content-encoding"), "br");
    }
    let brotli = read(scene, pace, SENT, &paths, "br").await;
    let gzip = read(scene, pace, SENT, &paths, "gzip").await;
    if brotli.cpu > gzip.cpu { brotli } else { gzip }
}

async fn conditional(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 400;
    let attacker = scene.attacker();
    let tags = (0..690).map(|number| format!("W/\"{number:032}\"")).collect::<Vec<_>>().join(",");
    let paths = ["/openapi.json", "/v1/capabilities", "/map/data/sf-live-targets.json", "/map/"];
    let tags = tags.as_str();
    let get = async |number: usize| {
        let path = paths[number % paths.len()];
        attacker.send(Method::GET, path, &[("if-none-match", tags)], None).await
    };
    let pace = Pace::minutes(1).sampling(SENT, REQUESTS);
    scene.measure(pace, async || all_answered(SENT, &[200, 304], get).await).await
}

async fn discovery(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 210;
    let paths = [
        "/llms.txt",
        "/auth.md",
        "/.well-known/jwks.json",
        "/.well-known/oauth-authorization-server",
        "/.well-known/api-catalog",
        "/v1/install/install.sh",
        "/healthz",
    ];
    read(scene, Pace::minutes(1).sampling(SENT, REQUESTS), SENT, &paths, "gzip").await
}

async fn feeds(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 3_960;
    let paths = DOCUMENTS.map(|(path, ..)| path);
    read(scene, Pace::flood(SENT), SENT, &paths, "br").await
}

async fn map(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 2_400;
    read(scene, Pace::flood(SENT), SENT, &["/map/"], "br").await
}

async fn unknown_paths(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 200;
    let attacker = scene.attacker();
    let long = format!("/{}", "a/".repeat(6_000));
    let paths =
        ["/.git/config", "/admin", "/v1/../status", "/%00", "/v1/capabilities", long.as_str()];
    let methods = ["GET", "POST", "DELETE", "PATCH", "TRACE", "PROPFIND"]
        .map(|name| Method::from_bytes(name.as_bytes()).unwrap());
    let send = async |number: usize| {
        let method = methods[number / paths.len() % methods.len()].clone();
        attacker.send(method, paths[number % paths.len()], &[], None).await
    };
    let pace = Pace::minutes(2).sampling(SENT, REQUESTS);
    scene.measure(pace, async || all_answered(SENT, &[200, 400, 404, 405, 414], send).await).await
}

async fn handoffs(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let forged = ["x", "a.b", "eyJ2IjoxfQ.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"];
    let open = async |number: usize| {
        let reply = attacker.get(&format!("/handoff/{}", forged[number % forged.len()])).await;
        assert!([400, 404, 429].contains(&reply.status.as_u16()), "{}", reply.text);
        reply
    };
    let attack = async || {
        let opened = until_refused(700, open).await;
        assert!(opened <= 620, "{opened}");
    };
    scene.measure(Pace::minutes(1), attack).await
}

async fn forwarded(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let mut made = 0;
    let attack = async || {
        made += until_refused(100, async |number| {
            let other = format!("198.51.100.{}, 203.0.113.{}", number % 250, number % 200);
            let headers = [
                ("content-type", "application/json"),
                ("x-forwarded-for", other.as_str()),
                ("forwarded", "for=198.51.100.1"),
                ("x-real-ip", "198.51.100.1"),
            ];
            let body = Some("{\"type\":\"anonymous\"}".to_owned());
            attacker.send(Method::POST, "/v1/agents/register", &headers, body).await
        })
        .await;
    };
    let cost = scene.measure(Pace::HOURLY, attack).await;
    cost.holding(made as u64)
}

async fn refused(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 3_000;
    let attacker = scene.attacker();
    let request = async |_| attacker.get("/healthz").await;
    let allowed = until_refused(2 * REQUESTS, request).await;
    assert!((REQUESTS..REQUESTS + 500).contains(&allowed), "{allowed}");
    let attack = async || {
        for _ in 0..SENT {
            attacker.get("/healthz").await;
        }
    };
    scene.measure(Pace::flood(SENT), attack).await
}
