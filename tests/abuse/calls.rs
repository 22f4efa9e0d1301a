//! Abuses of calls: their bodies, their rates, and what they store.

use crate::{
    abuse::{
        attacker::{all_answered, until_refused},
        cost::{Bound, Cost},
        row::Row,
        scene::{Pace, REQUESTS, Scene},
    },
    harness::{
        Reply,
        oauth::{signer, text},
    },
};
use serde_json::{Value, json};

/// The calls of the unclaimed agents of one address in a minute.
pub const CALLS: usize = 600;
/// The agents that together use up the calls of their address.
pub const AGENTS: usize = 10;

pub const ROWS: &[Row] = &[
    Row {
        name: "large bodies",
        abuse: "sends bodies above the limit",
        before: "–",
        outcome: "`payload_too_large`",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(large_bodies(scene)),
    },
    Row {
        name: "deep bodies",
        abuse: "sends JSON of 200,000 levels",
        before: "–",
        outcome: "`validation_failed`",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(deep_bodies(scene)),
    },
    Row {
        name: "unknown capabilities",
        abuse: "calls capabilities and actions that do not exist",
        before: "–",
        outcome: "`unknown_capability`, `unknown_action`; 429 after 3000 requests a minute",
        bound: Bound::new(5, 200),
        attack: |scene| Box::pin(unknown(scene)),
    },
    Row {
        name: "writes without a claim",
        abuse: "writes with an agent that nobody has claimed",
        before: "–",
        outcome: "`phone_binding_required`",
        bound: Bound::new(5, 200),
        attack: |scene| Box::pin(unclaimed_writes(scene)),
    },
    Row {
        name: "tokens that are not valid",
        abuse: "calls with forged, expired and revoked tokens",
        before: "no trace",
        outcome: "401; two rows of the audit log a minute for each kind",
        bound: Bound::new(5, 200),
        attack: |scene| Box::pin(invalid_tokens(scene)),
    },
    Row {
        name: "searches",
        abuse: "searches listings, the map and the questions with ten agents",
        before: "–",
        outcome: "429 after 600 a minute",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(searches(scene)),
    },
    Row {
        name: "forged cursors",
        abuse: "pages with cursors that no answer had",
        before: "–",
        outcome: "400; 429 after 600 a minute",
        bound: Bound::new(5, 200),
        attack: |scene| Box::pin(cursors(scene)),
    },
    Row {
        name: "idempotency keys",
        abuse: "repeats a write under ever new keys, so that each answer is stored",
        before: "–",
        outcome: "429 after 20 writes a minute",
        bound: Bound::new(25, 60),
        attack: |scene| Box::pin(keys(scene)),
    },
    Row {
        name: "dry runs",
        abuse: "has the longest listings checked and not stored",
        before: "–",
        outcome: "429 after 20 writes a minute; nothing is stored",
        bound: Bound::new(5, 120),
        attack: |scene| Box::pin(dry_runs(scene)),
    },
    Row {
        name: "listings without end",
        abuse: "stores the longest drafts as one person",
        before: "–",
        outcome: "429 after 20 writes a minute, or a limit of the capability",
        bound: Bound::new(50, 120),
        attack: |scene| Box::pin(listings(scene)),
    },
    Row {
        name: "calendars without end",
        abuse: "imports calendar files of 250 KB as one person",
        before: "–",
        outcome: "`block_limit_reached`, or 429 after 20 writes a minute",
        bound: Bound::new(50, 300),
        attack: |scene| Box::pin(calendars(scene)),
    },
    Row {
        name: "others' ids",
        abuse: "reads and changes listings, conversations and pairings of others by their ids",
        before: "555 calls, none of use",
        outcome: "404 or 403, as for ids of nobody",
        bound: Bound::new(5, 60),
        attack: |scene| Box::pin(others(scene)),
    },
    Row {
        name: "a suspended person",
        abuse: "writes on after the operator has suspended the person",
        before: "–",
        outcome: "`identity_suspended`",
        bound: Bound::new(5, 60).messages(1),
        attack: |scene| Box::pin(suspended(scene)),
    },
];

async fn large_bodies(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 30;
    let attacker = scene.attacker();
    let token = attacker.agent().await;
    let body = json!({ "action": "search", "query": "x".repeat(300 << 10) }).to_string();
    let send = async |_| attacker.call_raw(&token, "faq_search", body.clone()).await;
    let pace = Pace::minutes(2).sampling(SENT, REQUESTS);
    scene.measure(pace, async || all_answered(SENT, &[413], send).await).await
}

async fn deep_bodies(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 30;
    let attacker = scene.attacker();
    let token = attacker.agent().await;
    let body = format!("{{\"action\":\"search\",\"query\":{}", "[".repeat(200_000));
    let send = async |_| attacker.call_raw(&token, "faq_search", body.clone()).await;
    let pace = Pace::minutes(2).sampling(SENT, REQUESTS);
    scene.measure(pace, async || all_answered(SENT, &[400], send).await).await
}

async fn unknown(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 200;
    let attacker = scene.attacker();
    let token = attacker.agent().await;
    let send = async |number: usize| {
        let capability = ["faq_search", "no_such", "svc.no_such", "a%2fb"][number % 4];
        let body = json!({ "action": format!("no_such_{number}") });
        attacker.call(&token, capability, &body).await
    };
    let pace = Pace::minutes(2).sampling(SENT, REQUESTS);
    scene.measure(pace, async || all_answered(SENT, &[400, 404], send).await).await
}

fn profile(number: usize) -> Value {
    json!({ "action": "update_profile", "headline": format!("Engineer {number}") })
}

async fn unclaimed_writes(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 200;
    let attacker = scene.attacker();
    let token = attacker.agent().await;
    let send = async |number: usize| attacker.call(&token, "owners", &profile(number)).await;
    let pace = Pace::minutes(2).sampling(SENT, REQUESTS);
    scene.measure(pace, async || all_answered(SENT, &[403], send).await).await
}

async fn invalid_tokens(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 200;
    let attacker = scene.attacker();
    let agent = attacker.register().await;
    let revoked = attacker.token(&agent).await;
    let form = [
        ("token", revoked.as_str()),
        ("client_id", text(&agent, "client_id")),
        ("client_secret", text(&agent, "client_secret")),
    ];
    assert_eq!(attacker.post_form("/oauth/revoke", &form).await.status, 200);
    let sign = signer(scene.host).await;
    let now = scene.host.clock.now().as_secs();
    let expired = sign(
        "at+jwt",
        &json!({
            "iss": scene.host.url, "aud": scene.host.url, "sub": agent["agent_id"],
            "client_id": agent["client_id"], "scope": "svc.read", "iat": now - 7_200,
            "exp": now - 3_600, "jti": "tok_made_by_hand",
        }),
    );
    let send = async |number: usize| {
        let forged = format!("{}{number:08}", &expired[..expired.len() - 8]);
        let token = [&revoked, &expired, &forged][number % 3];
        attacker.call(token, "svc.whoami", &json!({ "action": "get" })).await
    };
    let pace = Pace::minutes(3).sampling(SENT, REQUESTS);
    scene.measure(pace, async || all_answered(SENT, &[401], send).await).await
}

/// Makes calls of ten agents in turn, a part of those that their address may make.
async fn calls_of_all(
    scene: &Scene<'_>,
    sent: usize,
    statuses: &[u16],
    body: impl Fn(usize) -> (&'static str, Value),
) -> Cost {
    let attacker = scene.attacker();
    let tokens = attacker.agents(AGENTS).await;
    let send = async |number: usize| {
        let (capability, body) = body(number);
        attacker.call(&tokens[number % AGENTS], capability, &body).await
    };
    let pace = Pace::minutes(1).sampling(sent, CALLS);
    scene.measure(pace, async || all_answered(sent, statuses, send).await).await
}

async fn searches(scene: &Scene<'_>) -> Cost {
    let words = ["room", "engineer", "a", "claim phone", "the of and to in is"];
    let search = |number: usize| {
        let words = words[number / 3 % words.len()];
        match number % 3 {
            0 => ("faq_search", json!({ "action": "search", "query": words })),
            1 => ("agent_listings", json!({ "action": "search", "q": words, "facets": true })),
            _ => ("map_search", json!({ "action": "search", "q": words, "facets": true })),
        }
    };
    calls_of_all(scene, 120, &[200], search).await
}

async fn cursors(scene: &Scene<'_>) -> Cost {
    let page = |number: usize| match number % 2 {
        0 => ("svc.events", json!({ "action": "pull", "cursor": "9".repeat(1_000) })),
        _ => ("agent_listings", json!({ "action": "search", "cursor": "A".repeat(1_000) })),
    };
    calls_of_all(scene, 120, &[400], page).await
}

async fn keys(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let token = attacker.agent().await;
    attacker.claim(&token, &scene.number()).await;
    let mut used = 0;
    let attack = async || {
        let refused = until_refused(50, async |number| {
            used += 1;
            let mut body = profile(number);
            body["idempotency_key"] = json!(format!("{used}{}", "k".repeat(240)));
            attacker.call(&token, "owners", &body).await
        });
        let written = refused.await;
        assert!(written <= 21, "{written}");
    };
    scene.measure(Pace::minutes(3), attack).await
}

/// A draft of a room with the longest description.
fn draft() -> Value {
    json!({
        "action": "create", "category": "home.let.room", "side": "offer", "title": "A room",
        "description": "Quiet street. ".repeat(570),
        "attributes": {
            "flatmates": 2, "room_area_m2": 14, "furnishing": "furnished",
            "available_from": "2027-01-01", "pets": "negotiable", "smoking": false,
        },
        "place": { "lat": 37.7599, "lng": -122.4148, "precision": "neighbourhood" },
        "compensation": { "currency": "USD", "min": 1450, "max": 1450, "unit": "MONTH" },
    })
}

async fn writes(scene: &Scene<'_>, pace: Pace, capability: &str, body: &Value) -> Cost {
    let attacker = scene.attacker();
    let token = attacker.agent().await;
    attacker.claim(&token, &scene.number()).await;
    let attack = async || {
        let written = until_refused(50, async |_| {
            let reply = attacker.call(&token, capability, body).await;
            let known = [200, 409, 429].contains(&reply.status.as_u16());
            assert!(known, "{capability}: {}", reply.text);
            reply
        });
        assert!(written.await <= 50);
    };
    scene.measure(pace, attack).await
}

async fn dry_runs(scene: &Scene<'_>) -> Cost {
    let mut body = draft();
    body["dry_run"] = json!(true);
    writes(scene, Pace::minutes(3), "agent_listings", &body).await
}

async fn listings(scene: &Scene<'_>) -> Cost {
    writes(scene, Pace::minutes(3), "agent_listings", &draft()).await
}

/// Returns a calendar file of nearly the largest size, all of whose events are new.
fn calendar_file(number: usize) -> String {
    let event = |at: usize| {
        let (day, hour) = (1 + at % 28, at / 28 % 24);
        format!(
            "BEGIN:VEVENT\r\nUID:{number}-{at}@example.com\r\nDTSTAMP:20261101T120000Z\r\n\
             DTSTART:209901{day:02}T{hour:02}0000Z\r\nDTEND:209901{day:02}T{hour:02}3000Z\r\n\
             SUMMARY:Block {at}\r\nEND:VEVENT\r\n"
        )
    };
    let events: String = (0..1_500).map(event).collect();
    format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\n{events}END:VCALENDAR\r\n")
}

async fn calendars(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let token = attacker.agent().await;
    attacker.claim(&token, &scene.number()).await;
    let mut sent = 0;
    let attack = async || {
        until_refused(50, async |_| {
            sent += 1;
            // Each file replaces what the one before has added.
            let body =
                json!({ "action": "import_ics", "ics": calendar_file(sent), "replace_all": true });
            let reply = attacker.call(&token, "calendar", &body).await;
            let known = [200, 400, 409, 429].contains(&reply.status.as_u16());
            assert!(known, "{}", reply.text);
            reply
        })
        .await;
    };
    scene.measure(Pace::minutes(1), attack).await
}

async fn others(scene: &Scene<'_>) -> Cost {
    let (owner, attacker) = (scene.attacker(), scene.attacker());
    let (own, token) = (owner.agent().await, attacker.agent().await);
    owner.claim(&own, &scene.number()).await;
    attacker.claim(&token, &scene.number()).await;
    let listing = owner.result(&own, "agent_listings", &draft()).await;
    let listing = listing["listing_id"].as_str().unwrap();
    let nobody = format!("lst_{}", "0".repeat(26));
    let attack = async || {
        for id in [listing, &nobody] {
            for action in ["get", "publish", "pause", "withdraw", "update"] {
                let mut body = json!({ "action": action, "listing_id": id });
                if action == "update" {
                    body["patch"] = json!({ "title": "Mine" });
                }
                let reply = attacker.call(&token, "agent_listings", &body).await;
                assert!(is_closed(&reply), "{action}: {}", reply.text);
            }
        }
        for (capability, action, field, prefix) in [
            ("conversations", "messages", "thread_id", "thr"),
            ("pairings", "get", "pairing_id", "prg"),
            ("thread_meetings", "get", "meeting_id", "mtg"),
            ("reports", "get", "report_id", "rpt"),
        ] {
            let body = json!({ "action": action, field: format!("{prefix}_{}", "0".repeat(26)) });
            let reply = attacker.call(&token, capability, &body).await;
            assert!(is_closed(&reply), "{capability}: {}", reply.text);
        }
    };
    scene.measure(Pace::ONCE, attack).await
}

/// Returns whether an answer says nothing but that the caller may not see or do this.
fn is_closed(reply: &Reply) -> bool {
    [400, 403, 404].contains(&reply.status.as_u16())
}

async fn suspended(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 200;
    let attacker = scene.attacker();
    let token = attacker.agent().await;
    attacker.claim(&token, &scene.number()).await;
    let me = attacker.result(&token, "owners", &json!({ "action": "me" })).await;
    let input = json!({
        "owner_id": me["owner"]["owner_id"], "reason": "scam", "explanation": "Three people asked.",
        "ground": "rules", "basis": "The page safety-and-fairness",
    });
    let url = format!("{}/capabilities/reports/suspend", scene.host.admin_url);
    let reply = scene.host.operator.post(url).json(&input).send().await.unwrap();
    assert_eq!(reply.status(), 200);
    let write = async |number: usize| attacker.call(&token, "owners", &profile(number)).await;
    scene.measure(Pace::minutes(3), async || all_answered(SENT, &[403, 429], write).await).await
}
