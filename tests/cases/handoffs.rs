//! The way from a record of the map to a draft in the capability API.

use crate::{
    cases::{
        owner_verification::{Company, PROOF, challenge_text, check_and_wait, start_action},
        signal_verification::{ADA, BEN, person},
        social_org::wait_for_event,
    },
    harness::{
        Agent, Host, Options, Reply,
        feeds::{city, edition, publish},
    },
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, Mac as _};
use portolan_feeds::publish::documents;
use portolan_vocabulary::Keyring;
use reqwest::header::ACCEPT;
use scraper::{Html, Selector};
use serde_json::{Value, json};
use sha2::Sha256;

pub const CAPABILITIES: [&str; 14] = [
    "handoff_resolve",
    "agent_listings",
    "applications",
    "conversations",
    "owner_verification",
    "pairings",
    "listing_taxonomy",
    "owners",
    "social_permissions",
    "social_relationships",
    "social_org",
    "content_render",
    "agent_credits",
    "svc_phone_binding",
];

async fn host() -> Host {
    let configuration = format!("feeds_dir = {:?}", city().join("feeds"));
    Host::start(Options::with(&CAPABILITIES).configuration(&configuration)).await
}

fn items(file: &str, list: &str) -> Vec<Value> {
    let files = documents(&city().join("feeds")).unwrap();
    let mut document: Value = serde_json::from_slice(&files[file]).unwrap();
    serde_json::from_value(document[list].take()).unwrap()
}

/// Returns the contract for an intent and a record from which it can start.
pub fn contract(intent: &str) -> (Value, Value) {
    let contracts = items("hi-handoff-manifest.json", "items");
    let contract = contracts.into_iter().find(|contract| contract["intent"] == intent).unwrap();
    let records = match contract["from"]["feed"].as_str().unwrap() {
        "targets" => items("sf-live-targets.json", "features"),
        "signals" => items("live-signal-feed.json", "items"),
        "roles" => items("sf-job-roles.json", "items"),
        _ => items("sf-people.json", "items"),
    };
    let fits = |record: &Value| {
        let named = [&record["handoff_ids"], &record["properties"]["handoff_ids"]];
        let named = named.into_iter().find_map(Value::as_array);
        named.is_none_or(|ids| ids.contains(&contract["id"]))
    };
    let record = records.into_iter().find(fits).unwrap();
    (contract, record)
}

async fn resolve(agent: &Agent<'_>, intent: &str) -> Reply {
    let (contract, record) = contract(intent);
    let body =
        json!({ "action": "resolve", "handoff_id": contract["id"], "record_id": record["id"] });
    agent.call("handoff_resolve", body).await
}

async fn token(agent: &Agent<'_>, intent: &str) -> String {
    resolve(agent, intent).await.body["result"]["token"].as_str().unwrap().to_owned()
}

/// Requests the page of a handoff as a browser does.
async fn page(host: &Host, token: &str) -> Reply {
    let request = host.client.get(format!("{}/handoff/{token}", host.url));
    Reply::read(request.header(ACCEPT, "text/html,*/*;q=0.8").send().await.unwrap()).await
}

fn text(page: &Reply) -> String {
    let html = Html::parse_document(&page.text);
    html.select(&Selector::parse("main").unwrap()).next().unwrap().text().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_becomes_an_application_of_a_person_who_has_claimed_the_agent() {
    let host = host().await;
    let nobody = host.test_agent().await;
    let (contract, role) = contract("apply_to_role");
    let resolved = resolve(&nobody, "apply_to_role").await;
    assert_eq!(resolved.body["next"]["capability"], "svc.phone-binding", "{:#}", resolved.body);
    let result = &resolved.body["result"];
    let token = result["token"].as_str().unwrap();
    assert_eq!(result["url"], format!("{}/handoff/{token}", host.url));
    assert_eq!(result["consent_text"], contract["consent_text"]);
    assert_eq!(result["draft"]["input"], json!({ "action": "apply", "role_id": role["id"] }));

    // The token contains ids, an instant and a number, but nothing about a person.
    let payload = URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap()).unwrap();
    let payload: Value = serde_json::from_slice(&payload).unwrap();
    let fields: Vec<&str> = payload.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, ["v", "hof", "record_id", "feed_etag", "nonce", "exp"]);
    assert_eq!((&payload["hof"], &payload["record_id"]), (&contract["id"], &role["id"]));

    let of_token = |action: &str| json!({ "action": action, "token": token });
    let redeem = || nobody.call("handoff_resolve", of_token("redeem"));
    redeem().await.assert_refused(403, "phone_binding_required");
    // The page of an address of test mode is served, but live agents cannot use its token.
    assert_eq!(page(&host, token).await.status, 200);
    let live = host.agent().await.call("handoff_resolve", of_token("preview")).await;
    live.assert_refused(400, "handoff_signature_invalid");
    nobody.claim("+14155550100").await;
    let previewed = nobody.result("handoff_resolve", of_token("preview")).await;
    assert_eq!(previewed["draft"], result["draft"]);
    let redeemed = redeem().await;
    assert_eq!(redeemed.status, 200, "{:#}", redeemed.body);
    assert_eq!(redeemed.body["result"]["draft"], result["draft"]);
    redeem().await.assert_refused(409, "handoff_used");
    nobody.call("handoff_resolve", of_token("preview")).await.assert_refused(409, "handoff_used");
    assert_eq!(page(&host, token).await.status, 409);

    // The next step of the answer, with the fields that only the person can give.
    let next = &redeemed.body["next"];
    assert_eq!(next["missing"], json!(["profile"]));
    let mut body = next["input"].clone();
    body["profile"] = json!({ "headline": "Engineer", "skills": ["Rust"] });
    let sent = nobody.result(next["capability"].as_str().unwrap(), body).await;
    assert_eq!((&sent["state"], &sent["role_id"]), (&json!("waiting"), &role["id"]));
    assert_eq!(
        (&sent["target_id"], &sent["recipient_unclaimed"]),
        (&role["target_id"], &json!(true))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_contract_starts_at_a_record_and_leads_to_a_loaded_capability() {
    let host = host().await;
    let agent = host.agent().await;
    let listed = agent.result("handoff_resolve", json!({ "action": "list" })).await;
    let contracts = items("hi-handoff-manifest.json", "items");
    assert_eq!(listed["items"].as_array().unwrap().len(), contracts.len());
    for contract in listed["items"].as_array().unwrap() {
        let there = CAPABILITIES.contains(&contract["to"]["capability"].as_str().unwrap());
        assert_eq!(contract["available"], there, "{contract}");
        let reply = resolve(&agent, contract["intent"].as_str().unwrap()).await;
        if !there {
            reply.assert_refused(503, "handoff_unavailable");
            continue;
        }
        let draft = &reply.body["result"]["draft"];
        assert_eq!(draft["capability"], contract["to"]["capability"], "{:#}", reply.body);
        assert_eq!(draft["input"]["action"], contract["to"]["action"]);
        assert!(!draft["input"].to_string().contains("{{"), "{draft}");
    }
    let of_roles =
        agent.result("handoff_resolve", json!({ "action": "list", "feed": "roles" })).await;
    let of_roles = of_roles["items"].as_array().unwrap();
    assert!(
        !of_roles.is_empty() && of_roles.iter().all(|contract| contract["from"]["feed"] == "roles")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handoff_that_does_not_fit_its_record_is_refused() {
    let host = host().await;
    let agent = host.agent().await;
    let ((apply, _), (company, target)) = (contract("apply_to_role"), contract("contact_company"));
    let signals = items("live-signal-feed.json", "items");
    let hiring = signals.iter().find(|signal| signal["kind"] == "hiring").unwrap();
    let (pitch, _) = contract("pitch_investor");
    for (handoff, record, status, code) in [
        (&apply["id"], &target["id"], 404, "record_not_found"),
        (&company["id"], &json!("tgt_0000000000000000000000000Z"), 404, "record_not_found"),
        (&json!("hof_0000000000000000000000000Z"), &target["id"], 404, "handoff_unknown"),
        (&pitch["id"], &hiring["id"], 422, "handoff_unfit"),
    ] {
        let body = json!({ "action": "resolve", "handoff_id": handoff, "record_id": record });
        agent.call("handoff_resolve", body).await.assert_refused(status, code);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_and_expired_addresses_have_different_errors() {
    let (host, other) = (host().await, host().await);
    let (agent, stranger) = (host.agent().await, other.agent().await);
    let genuine = token(&agent, "contact_company").await;
    let foreign = token(&stranger, "contact_company").await;
    let (payload, mac) = genuine.split_once('.').unwrap();
    let changed = |text: &str| {
        let last = if text.starts_with('A') { "B" } else { "A" };
        format!("{last}{}", &text[1..])
    };
    let forged = [
        format!("{}.{mac}", changed(payload)),
        format!("{payload}.{}", changed(mac)),
        format!("{payload}."),
        payload.to_owned(),
        format!("{}.{mac}", URL_SAFE_NO_PAD.encode("{}")),
        foreign,
        "x".to_owned(),
    ];
    for token in forged {
        let body = json!({ "action": "preview", "token": token });
        agent.call("handoff_resolve", body).await.assert_refused(400, "handoff_signature_invalid");
        let shown = page(&host, &token).await;
        assert_eq!(shown.status, 400, "{token}");
        assert!(text(&shown).contains("not made by this host"), "{}", shown.text);
        assert!(!shown.text.contains("<form"), "{}", shown.text);
    }
    // A token signed with the host's own key, as if it had been made a quarter of an hour ago.
    let keys = std::fs::read_to_string(host.folder.path().join("data/secret.keys")).unwrap();
    let keys = Keyring::parse(&keys).unwrap();
    let key = keys.derive(&format!("{} of handoff_resolve", Keyring::MAC))[0];
    let mut claims: Value =
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap();
    let sign = |claims: &Value| {
        let payload = URL_SAFE_NO_PAD.encode(claims.to_string());
        let mut mac = <Hmac<Sha256> as hmac::Mac>::new_from_slice(&key).unwrap();
        mac.update(format!("{}\n{payload}", host.url).as_bytes());
        format!("{payload}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
    };
    let body = |token: &str| json!({ "action": "preview", "token": token });
    assert_eq!(agent.call("handoff_resolve", body(&sign(&claims))).await.status, 200);
    claims["exp"] = json!(claims["exp"].as_u64().unwrap() - 900);
    let expired = sign(&claims);
    agent.call("handoff_resolve", body(&expired)).await.assert_refused(410, "handoff_expired");
    assert_eq!(page(&host, &expired).await.status, 410);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_of_an_address_shows_the_draft_and_changes_nothing() {
    let host = host().await;
    let agent = host.claimed_agent().await;
    let resolved = resolve(&agent, "contact_company").await;
    let result = &resolved.body["result"];
    let token = result["token"].as_str().unwrap();
    let rows = "SELECT CAST((SELECT count(*) FROM documents) AS TEXT) || ' ' || CAST((SELECT count(*) FROM audit) AS TEXT)";
    let count = async || host.database().texts(rows).await;
    let before = count().await;
    for _ in 0..3 {
        let shown = page(&host, token).await;
        assert_eq!(shown.status, 200);
        for (name, value) in [
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("content-type", "text/html; charset=utf-8"),
            ("x-frame-options", "DENY"),
        ] {
            assert_eq!(shown.header(name), value);
        }
        assert!(shown.header("content-security-policy").contains("default-src 'none'"));
        let text = text(&shown);
        for part in ["title", "consent_text"] {
            assert!(text.contains(result[part].as_str().unwrap()), "{part}: {text}");
        }
        assert!(text.contains(result["draft"]["input"]["target_id"].as_str().unwrap()), "{text}");
        assert!(text.contains("svc.phone-binding") && text.contains("redeem"), "{text}");
    }
    let read = host.get(&format!("/handoff/{token}")).await;
    assert_eq!((read.status.as_u16(), read.header("content-type")), (200, "application/json"));
    assert_eq!(read.header("referrer-policy"), "no-referrer");
    assert_eq!(read.body["draft"], result["draft"]);
    assert_eq!(count().await, before);
    let body = json!({ "action": "redeem", "token": token });
    assert_eq!(agent.call("handoff_resolve", body).await.status, 200);
    assert_eq!(page(&host, token).await.status, 409);
    host.get(&format!("/handoff/{token}")).await.assert_refused(409, "handoff_used");
    // A form of no page of this browser is refused.
    let foreign = host.client.post(format!("{}/handoff/{token}", host.url)).send().await.unwrap();
    assert_eq!(foreign.status(), 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_stays_valid_after_the_next_publication_and_says_so() {
    let host = Host::start(Options::with(&CAPABILITIES)).await;
    let folder = host.folder.path().join("data/feeds");
    std::fs::create_dir_all(&folder).unwrap();
    publish(&folder, &edition("one"), 21);
    let before =
        host.wait_for_feeds("feeds in force", |status| !status["in_force"].is_null()).await;
    let agent = host.agent().await;
    let token = token(&agent, "meet_founder").await;
    let preview = json!({ "action": "preview", "token": token });
    assert_eq!(agent.result("handoff_resolve", preview.clone()).await["published_since"], false);
    publish(&folder, &edition("two"), 22);
    host.wait_for_feeds("the next feeds", |status| status["in_force"] != before["in_force"]).await;
    assert_eq!(agent.result("handoff_resolve", preview).await["published_since"], true);
}

/// Follows a handoff from a record to its end, in at most three calls: resolve, redeem, and the call
/// itself. Of contracts without a claim, `resolve` names the call already.
async fn follow(agent: &Agent<'_>, intent: &str, record_id: &str, fields: Value) -> Reply {
    let contracts = items("hi-handoff-manifest.json", "items");
    let contract = contracts.iter().find(|contract| contract["intent"] == intent).unwrap();
    let resolve =
        json!({ "action": "resolve", "handoff_id": contract["id"], "record_id": record_id });
    let resolved = agent.call("handoff_resolve", resolve).await;
    assert_eq!(resolved.status, 200, "{intent}: {}", resolved.text);
    let call = async |next: &Value, fields: &Value| {
        let mut body = next["input"].clone();
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        agent.call(next["capability"].as_str().unwrap(), body).await
    };
    let mut reply = call(&resolved.body["next"], &json!({})).await;
    if contract["requires"]["claimed"] == true {
        assert_eq!(reply.status, 200, "{intent}: {}", reply.text);
        let next = reply.body["next"].clone();
        let missing = contract["missing"].as_array().unwrap().iter();
        assert!(missing.clone().all(|name| fields.get(name.as_str().unwrap()).is_some()));
        reply = call(&next, &fields).await;
    }
    reply
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_the_nine_handoffs_ends_where_it_says_within_three_calls() {
    let mut company = Company::new().await;
    let names = [&CAPABILITIES[..], &["reports", "signal_verification"]].concat();
    let options = company.options_of(&names, "reachable_networks = [\"127.0.0.0/8\"]");
    let host = Host::start(options).await;
    let ((ada, _), (ben, _)) = (person(&host, ADA).await, person(&host, BEN).await);

    // Ben speaks for a company with an open role and a listed founder, and for an investor.
    let (roles, people) = (items("sf-job-roles.json", "items"), items("sf-people.json", "items"));
    let of = |role: &Value| people.iter().find(|person| person["target_id"] == role["target_id"]);
    let (role, founder) = roles.iter().find_map(|role| Some((role, of(role)?))).unwrap();
    let signals = items("live-signal-feed.json", "items");
    let investor = |signal: &Value| {
        let investors = signal["funding"]["investors"].as_array()?.iter();
        let ids = investors.filter_map(|investor| investor["target_id"].as_str());
        ids.map(str::to_owned).next()
    };
    let (signal, fund) =
        signals.iter().find_map(|signal| Some((signal, investor(signal)?))).unwrap();
    let target = role["target_id"].as_str().unwrap();
    for target_id in [target, &fund] {
        company.switch_target(target_id);
        let begun = ben.agent.result(PROOF, start_action(target_id, "dns_txt")).await;
        company.set_record(&[challenge_text(&begun)]);
        assert_eq!(check_and_wait(&ben.agent, &begun).await["state"], "verified");
    }

    let message = || json!({ "message": "Shall we talk about robots?" });
    let text = |record: &Value| record["id"].as_str().unwrap().to_owned();
    for (intent, record_id, fields, about) in [
        (
            "apply_to_role",
            text(role),
            json!({ "profile": { "headline": "Engineer" } }),
            ("role_id", text(role)),
        ),
        ("contact_company", target.to_owned(), message(), ("target_id", target.to_owned())),
        ("meet_founder", text(founder), message(), ("person_id", text(founder))),
        ("offer_service", target.to_owned(), message(), ("target_id", target.to_owned())),
        ("pitch_investor", text(signal), message(), ("target_id", fund.clone())),
    ] {
        let sent = follow(&ada.agent, intent, &record_id, fields).await;
        assert_eq!(sent.status, 200, "{intent}: {}", sent.text);
        assert_eq!(sent.body["result"]["recipient_unclaimed"], false, "{intent}");
        let event = wait_for_event(&ben, "application.received").await;
        assert_eq!(event["data"]["application_id"], sent.body["result"]["application_id"]);
        assert_eq!(event["data"][about.0], about.1, "{intent}: {event:#}");
    }

    let url = "https://paper.example/hiring";
    for (intent, record_id, fields, expected) in [
        ("claim_target", target.to_owned(), json!({}), ("state", "challenge_issued")),
        (
            "correct_data",
            target.to_owned(),
            json!({ "text": "The name is another." }),
            ("state", "open"),
        ),
        (
            "verify_signal",
            text(signal),
            json!({ "url": url, "kind": "supports" }),
            ("state", "submitted"),
        ),
    ] {
        let reply = follow(&ada.agent, intent, &record_id, fields).await;
        assert_eq!(reply.status, 200, "{intent}: {}", reply.text);
        assert_eq!(reply.body["result"][expected.0], expected.1, "{intent}: {}", reply.text);
    }
    // Nobody needs a claim to search.
    let stranger = host.agent().await;
    let found = follow(&stranger, "find_similar_people", &text(founder), json!({})).await;
    assert_eq!(found.status, 200, "{}", found.text);
    assert!(found.body["result"]["items"].is_array());
}
