//! Abuses of addresses that only those know who were given them, and of pages that everybody may read.

use crate::{
    abuse::{
        attacker::{FORM, JSON, all_answered, permitted, until_refused},
        cost::{Bound, Cost},
        row::Row,
        scene::{Pace, REQUESTS, Scene},
    },
    harness::Reply,
};
use reqwest::Method;
use std::time::Instant;

/// The pages of one address in a minute that make a call.
const PAGE_VIEWS: usize = 600;
const WEBHOOKS: &str = "/v1/agent-events/webhooks";

pub const ROWS: &[Row] = &[
    Row {
        name: "pages for readers",
        abuse: "reads the front page, the reference, the guides, the status and the pages about records without end",
        before: "–",
        outcome: "429 after 3000 requests a minute",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(pages(scene)),
    },
    Row {
        name: "metadata and forms of the feeds",
        abuse: "reads the sitemap, other metadata, the log of changes, the snapshots and other forms of the feeds without end",
        before: "–",
        outcome: "429 after 3000 requests a minute",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(metadata(scene)),
    },
    Row {
        name: "files guessed",
        abuse: "guesses the addresses of files and of uploads, and sends files to them",
        before: "–",
        outcome: "404; nothing is stored",
        bound: Bound::new(5, 200),
        attack: |scene| Box::pin(files(scene)),
    },
    Row {
        name: "published texts guessed",
        abuse: "guesses the secret addresses of busy times",
        before: "–",
        outcome: "404; 429 after 600 a minute",
        bound: Bound::new(50, 300),
        attack: |scene| Box::pin(published(scene)),
    },
    Row {
        name: "handoffs of no record",
        abuse: "begins handoffs that the map does not have",
        before: "–",
        outcome: "400, 404; 429 after 600 a minute",
        bound: Bound::new(50, 300),
        attack: |scene| Box::pin(begun_handoffs(scene)),
    },
    Row {
        name: "pages of forged handoffs",
        abuse: "opens the sign-in and the result of forged handoffs, and sends their form",
        before: "–",
        outcome: "400, 404; 429 after 600 a minute",
        bound: Bound::new(50, 300),
        attack: |scene| Box::pin(handoff_pages(scene)),
    },
    Row {
        name: "claim pages guessed",
        abuse: "guesses the links under which people claim agents",
        before: "–",
        outcome: "404; 429 after 600 a minute",
        bound: Bound::new(25, 200),
        attack: |scene| Box::pin(claims(scene)),
    },
    Row {
        name: "email links guessed",
        abuse: "guesses the links of emails, and sends their forms",
        before: "–",
        outcome: "404; 429 after 600 a minute",
        bound: Bound::new(25, 200),
        attack: |scene| Box::pin(email_links(scene)),
    },
    Row {
        name: "passkey pages guessed",
        abuse: "guesses the pages on which somebody uses a passkey, and sends answers that no page has",
        before: "–",
        outcome: "401, 400; 429 after 600 a minute",
        bound: Bound::new(25, 200),
        attack: |scene| Box::pin(passkeys(scene)),
    },
    Row {
        name: "pages of capabilities",
        abuse: "opens the pages of capabilities with guessed cookies, and sends forms that no page has",
        before: "–",
        outcome: "401, 400; 429 after 600 a minute",
        bound: Bound::new(25, 200),
        attack: |scene| Box::pin(person_pages(scene)),
    },
    Row {
        name: "webhooks without a token",
        abuse: "lists, registers, reads and deletes webhooks without a token",
        before: "–",
        outcome: "401",
        bound: Bound::new(5, 200),
        attack: |scene| Box::pin(webhooks(scene)),
    },
];

/// Reads these paths in turn as a browser does, with a part of the requests that one address may make.
async fn read(scene: &Scene<'_>, sent: usize, paths: &[String]) -> Cost {
    let attacker = scene.attacker();
    let headers = [("accept", "text/html"), ("accept-encoding", "gzip")];
    let get = async |number: usize| {
        attacker.send(Method::GET, &paths[number % paths.len()], &headers, None).await
    };
    let pace = Pace::minutes(1).sampling(sent, REQUESTS);
    scene.measure(pace, async || all_answered(sent, &[200, 308, 404], get).await).await
}

/// Returns the path of the page about the first record of a feed.
async fn page_of(scene: &Scene<'_>, page: &str, feed: &str, list: &str) -> String {
    let document = scene.attacker().get(&format!("/map/data/{feed}.json")).await.body;
    format!("/map/{page}/{}", document[list][0]["id"].as_str().unwrap())
}

async fn pages(scene: &Scene<'_>) -> Cost {
    let mut paths = vec![
        page_of(scene, "companies", "sf-live-targets", "features").await,
        page_of(scene, "roles", "sf-job-roles", "items").await,
        page_of(scene, "people", "sf-people", "items").await,
        page_of(scene, "events", "sf-events", "items").await,
    ];
    let others = [
        "/",
        "/docs",
        "/docs/errors",
        "/docs/connect",
        "/docs/guides/feeds",
        "/docs/agent_listings",
        "/status",
        "/status.atom",
        "/map/objection",
    ];
    paths.extend(others.map(str::to_owned));
    for path in &paths {
        assert_eq!(scene.attacker().get(path).await.status, 200, "{path}");
    }
    read(scene, 7 * paths.len(), &paths).await
}

async fn metadata(scene: &Scene<'_>) -> Cost {
    let paths = [
        "/robots.txt",
        "/sitemap.xml",
        "/.well-known/audit-keys.json",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource/mcp/all",
        "/v1/install/install.ps1",
        "/oauth/passkey.js",
        "/map",
        "/map/settings.json",
        "/map/assets/none",
        "/map/basemap.pmtiles",
        "/assets/none",
        "/map/data/changes.json?limit=1000",
        "/map/data/changes.ndjson",
        "/map/data/sf-people.csv",
        "/map/data/sf-live-targets.ndjson",
        "/map/data/parts/none",
        "/map/data/snapshots.json",
        "/map/data/snapshots/2026-01-01/sf-people.json",
    ];
    read(scene, 5 * paths.len(), &paths.map(str::to_owned)).await
}

async fn files(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 200;
    let attacker = scene.attacker();
    let key = "0".repeat(64);
    let send = async |number: usize| {
        let file = format!("/media/{number:064x}?blob=blob_{number:026}");
        match number % 4 {
            0 => attacker.get(&file).await,
            1 => attacker.get(&format!("{file}&until=9999999999&key={key}")).await,
            2 => attacker.get("/media/none?blob=x").await,
            _ => {
                let path = format!("/media/uploads/blob_{number:026}.{key}");
                attacker.send(Method::PUT, &path, &[], Some("x".repeat(10_000))).await
            }
        }
    };
    let pace = Pace::minutes(2).sampling(SENT, REQUESTS);
    scene.measure(pace, async || all_answered(SENT, &[404], send).await).await
}

/// Sends guesses until one is refused as too many. None finds anything.
async fn guessed(scene: &Scene<'_>, guess: impl AsyncFn(usize) -> Reply) -> Cost {
    let attack = async || {
        let begun = Instant::now();
        let checked = async |number: usize| {
            let reply = guess(number).await;
            assert!(reply.status.is_client_error(), "{} {}", reply.status, reply.text);
            reply
        };
        let sent = until_refused(2 * PAGE_VIEWS, checked).await;
        assert!(sent <= permitted(PAGE_VIEWS, begun), "{sent}");
    };
    scene.measure(Pace::minutes(1), attack).await
}

async fn published(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    guessed(scene, async |number: usize| {
        attacker.get(&format!("/published/calendar/{number:043}")).await
    })
    .await
}

async fn begun_handoffs(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    guessed(scene, async |number: usize| {
        attacker.get(&format!("/map/handoffs/none_{number}/tgt_{number:026}")).await
    })
    .await
}

async fn handoff_pages(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    guessed(scene, async |number: usize| {
        let page = format!("/handoff/{number:010}.{}", "A".repeat(43));
        match number % 3 {
            0 => attacker.get(&format!("{page}/sign-in")).await,
            1 => attacker.get(&format!("{page}/result?made=x&proof=x")).await,
            _ => attacker.send(Method::POST, &page, &[FORM], Some("step=send".to_owned())).await,
        }
    })
    .await
}

async fn claims(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    guessed(scene, async |number: usize| attacker.get(&format!("/claim/{number:043}")).await).await
}

async fn email_links(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    guessed(scene, async |number: usize| {
        let path = format!("/email/{number:022}");
        match number % 2 {
            0 => attacker.get(&path).await,
            _ => {
                let form = Some("List-Unsubscribe=One-Click".to_owned());
                attacker.send(Method::POST, &path, &[FORM], form).await
            }
        }
    })
    .await
}

async fn passkeys(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    guessed(scene, async |number: usize| match number % 2 {
        0 => attacker.get(&format!("/passkey?ceremony={number:043}")).await,
        _ => {
            let form = format!("step=answer&ceremony={number:043}&credential=x&form_token=x");
            attacker.send(Method::POST, "/passkey", &[FORM], Some(form)).await
        }
    })
    .await
}

async fn person_pages(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    guessed(scene, async |number: usize| {
        let cookie = format!("portolan_session={number:043}");
        let headers = [("cookie", cookie.as_str()), FORM];
        let (method, form) = match number % 2 {
            0 => (Method::GET, None),
            _ => (Method::POST, Some("action=deactivate&form_token=x".to_owned())),
        };
        attacker.send(method, "/account/owners", &headers, form).await
    })
    .await
}

async fn webhooks(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 200;
    let attacker = scene.attacker();
    let one = format!("{WEBHOOKS}/whk_00000000000000000000000000");
    let requests = [
        (Method::GET, WEBHOOKS),
        (Method::POST, WEBHOOKS),
        (Method::GET, one.as_str()),
        (Method::DELETE, one.as_str()),
    ];
    let send = async |number: usize| {
        let (method, path) = requests[number % requests.len()].clone();
        let body = (method == Method::POST).then(|| "{\"url\":\"https://a.example/\"}".to_owned());
        attacker.send(method, path, &[JSON], body).await
    };
    let pace = Pace::minutes(2).sampling(SENT, REQUESTS);
    scene.measure(pace, async || all_answered(SENT, &[401], send).await).await
}
