//! Abuses that use up the run time of an address.

use crate::{
    abuse::{
        attacker::all_answered,
        calls::{AGENTS, CALLS},
        cost::{Bound, Cost},
        row::{LIVE, Row},
        scene::{Pace, REQUESTS, Scene},
    },
    harness::Options,
};
use portolan_vocabulary::Limits;
use serde_json::{Value, json};

/// The host gives this part of the run time of production.
const RUN_TIME_PART: u64 = 100;
/// The number of times that such a part can be used in an hour: all at once, and the same by the refill.
const RUN_TIME_SHARES: usize = 2 * RUN_TIME_PART as usize;

/// The host of these abuses.
pub fn options() -> Options {
    let limit = Limits::default().anonymous_run_ms_per_hour / RUN_TIME_PART;
    let limits = format!("{LIVE}[limits]\nanonymous_run_ms_per_hour = {limit}\n");
    let names = ["svc_whoami", "svc_events", "agent_listings", "content_render"];
    Options::with(&names).configuration(&limits)
}

pub const ROWS: &[Row] = &[
    Row {
        name: "bodies of many fields",
        abuse: "sends inputs with 20,000 unknown fields and long lists",
        before: "–",
        outcome: "`validation_failed`; 429 when the run time of the hour is used up, and then without reading the body",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(wide_bodies(scene)),
    },
    Row {
        name: "long calls",
        abuse: "renders 64 KB of nested markdown with ten agents",
        before: "–",
        outcome: "429 when the run time of the hour is used up",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(long_calls(scene)),
    },
];

async fn wide_bodies(scene: &Scene<'_>) -> Cost {
    let mut fields: Value = json!({ "action": "search" });
    for number in 0..20_000 {
        fields[format!("f{number}")] = json!(1);
    }
    let list = json!({ "action": "search", "q": "x", "filters": vec![json!({}); 60_000] });
    let bodies = [fields.to_string(), list.to_string()];
    until_no_run_time(scene, "agent_listings", &[400], |number| bodies[number % 2].clone()).await
}

async fn long_calls(scene: &Scene<'_>) -> Cost {
    let nested: String = (0..1_000)
        .map(|level| format!("{}- *a* [b](http://x)\n", " ".repeat(level % 60)))
        .collect();
    let quotes = format!("{}x\n", ">".repeat(30_000));
    let stars = "**a *b ".repeat(9_000);
    let render = |number: usize| {
        let markdown = [&nested, &quotes, &stars][number % 3];
        let markdown = &markdown[..markdown.len().min(65_000)];
        json!({ "action": "render", "markdown": markdown, "format": "html" }).to_string()
    };
    until_no_run_time(scene, "content_render", &[200, 400, 422, 504], render).await
}

/// Makes calls of ten agents in turn until their address has no run time left, and goes on; returns what that
/// costs in an hour.
async fn until_no_run_time(
    scene: &Scene<'_>,
    capability: &str,
    statuses: &[u16],
    body: impl Fn(usize) -> String,
) -> Cost {
    const REFUSED: usize = 50;
    let attacker = scene.attacker();
    let tokens = attacker.agents(AGENTS).await;
    let send = async |number: usize| {
        attacker.call_raw(&tokens[number % AGENTS], capability, body(number)).await
    };
    let mut refusal = Value::Null;
    let use_up = async || {
        for number in 0..CALLS {
            let reply = send(number).await;
            if reply.status == 429 {
                refusal = reply.body;
                return;
            }
            assert!(statuses.contains(&reply.status.as_u16()), "{} {}", reply.status, reply.text);
        }
    };
    let used = scene.measure(Pace::ONCE.sampling(1, RUN_TIME_SHARES), use_up).await;
    assert_eq!(refusal["conflict"]["name"], "anonymous_run_ms_per_hour", "{refusal}");
    let answers = [statuses, &[429]].concat();
    let pace = Pace::minutes(1).sampling(REFUSED, REQUESTS);
    let refused = scene.measure(pace, async || all_answered(REFUSED, &answers, send).await).await;
    Cost { cpu: used.cpu + refused.cpu, ..used }
}
