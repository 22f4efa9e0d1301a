//! The claim: a person verifies their phone, and the agent's token may write from then on.

use crate::harness::time::{DAY, SECOND};
use crate::harness::{
    Agent, Host, Options, PATIENCE, Process, Reply,
    inbox::Reader,
    person::{code, messages},
    postgres,
    server::{Server, response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, Mac as _};
use serde_json::{Value, json};
use sha1::Sha1;
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

const BINDING: &str = "svc.phone-binding";
/// North America reserves 555 0100 to 555 0199 of every area for fiction.
const ADA: &str = "+12015550123";
const BOB: &str = "+12015550145";

async fn host() -> Host {
    Host::with(&["svc_phone_binding", "ledger"]).await
}

fn wrong_code(code: &str) -> &'static str {
    if code == "111111" { "222222" } else { "111111" }
}

fn bind(phone: &str) -> Value {
    json!({ "action": "bind", "phone": phone })
}

fn verify(code: &str) -> Value {
    json!({ "action": "verify", "code": code })
}

fn open(account: &str) -> Value {
    json!({ "action": "open", "account": account })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_write_leads_to_the_claim_and_then_succeeds_with_the_same_token() {
    let host = host().await;
    let agent = host.agent().await;
    let refused = agent.call("ledger", open("ada")).await;
    refused.assert_refused(403, "phone_binding_required");

    // The claim follows only the answers.
    let step = &refused.body["next"];
    let mut input = step["input"].clone();
    input[step["missing"][0].as_str().unwrap()] = json!(ADA);
    let sent = agent.call(step["capability"].as_str().unwrap(), input).await;
    assert_eq!(sent.status, 200, "{:#}", sent.body);
    assert_eq!(
        (&sent.body["result"]["state"], &sent.body["result"]["phone_masked"]),
        (&json!("code_sent"), &json!("+1•••••0123"))
    );
    let step = &sent.body["next"];
    assert!(!step["ask_user"].as_str().unwrap().is_empty());
    let code = code(&host, 1).await;
    let mut input = step["input"].clone();
    input[step["missing"][0].as_str().unwrap()] = json!(code);
    let claimed = agent.result(step["capability"].as_str().unwrap(), input.clone()).await;
    assert_eq!(
        (&claimed["state"], &claimed["linked_existing_owner"]),
        (&json!("claimed"), &json!(false))
    );
    agent.result("ledger", open("ada")).await;

    // A code is valid once, and the agent cannot be claimed twice.
    agent.call(BINDING, input).await.assert_refused(409, "no_pending_bind");
    agent.call(BINDING, bind(BOB)).await.assert_refused(409, "already_claimed");
    let message = &messages(&host, 1).await[0];
    assert_eq!(message["to"], ADA);
    assert!(message["text"].as_str().unwrap().contains("the agent \"a test\""), "{message}");
    let log = host.log();
    for secret in [code.as_str(), ADA, "2015550123", agent.token.as_str()] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }

    // The same person's next agent belongs to the same owner.
    let other = host.agent().await;
    other.result(BINDING, bind(ADA)).await;
    let linked = other.result(BINDING, verify(&crate::harness::person::code(&host, 2).await)).await;
    assert_eq!(
        (&linked["owner_id"], &linked["linked_existing_owner"]),
        (&claimed["owner_id"], &json!(true))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_known_number_is_answered_like_an_unknown_one() {
    let host = host().await;
    let first = host.agent().await;
    first.result(BINDING, bind(ADA)).await;
    first.result(BINDING, verify(&code(&host, 1).await)).await;
    let mut answers = Vec::new();
    for phone in [ADA, BOB] {
        let reply = host.agent().await.call(BINDING, bind(phone)).await;
        let mut answer = reply.body;
        for (name, own) in [("bind_id", "bnd_"), ("expires_at", "20"), ("resend_after", "20")] {
            let value = answer["result"][name].take();
            assert!(value.as_str().unwrap().starts_with(own), "{name} {value}");
        }
        answer["result"]["phone_masked"].take();
        assert_eq!(answer["result"]["approval_code"].take().as_str().unwrap().len(), 9);
        answer["next"]["input"]["bind_id"].take();
        answer["meta"]["request_id"].take();
        answers.push((reply.status, answer));
    }
    assert_eq!(answers[0], answers[1]);
}

/// HMAC-SHA-1 of the address and the sorted parameters, as Twilio signs.
fn signature(url: &str, parameters: &[(&str, &str)]) -> String {
    let mut mac = Hmac::<Sha1>::new_from_slice(b"s3cret:token").unwrap();
    mac.update(url.as_bytes());
    let mut sorted = parameters.to_vec();
    sorted.sort_unstable();
    sorted.iter().for_each(|(name, value)| mac.update(format!("{name}{value}").as_bytes()));
    STANDARD.encode(mac.finalize().into_bytes())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_retried_until_the_provider_accepts_it_and_its_status_is_kept() {
    let refusals = AtomicUsize::new(2);
    let provider = Server::plain(move |_| {
        let refuse = |left: usize| left.checked_sub(1);
        let refused = refusals.fetch_update(Ordering::SeqCst, Ordering::SeqCst, refuse).is_ok();
        let status = if refused { "503 Service Unavailable" } else { "201 Created" };
        Some(response(status, "content-type: application/json\r\n", "{}"))
    })
    .await;
    let sms = format!(
        "sms = \"http://AC1:s3cret%3Atoken@127.0.0.1:{}/Messages.json?From=%2B12015550100\"",
        provider.port
    );
    let options = Options::with(&["svc_phone_binding", "ledger"]).configuration(&sms);
    let host = Host::start(options).await;
    let agent = host.agent().await;
    agent.result(BINDING, bind(ADA)).await;
    let started = Instant::now();
    while provider.requests().len() < 3 {
        assert!(started.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let request = provider.requests()[2].clone();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let basic = STANDARD.encode("AC1:s3cret:token");
    assert!(head.starts_with("POST /Messages.json ") && head.contains(&basic), "{head}");
    let form: BTreeMap<String, String> =
        url::form_urlencoded::parse(body.as_bytes()).into_owned().collect();
    assert_eq!((&*form["From"], &*form["To"]), ("+12015550100", ADA));
    let code =
        form["Body"].split(|c: char| !c.is_ascii_digit()).find(|code| code.len() == 6).unwrap();
    let report_to = form["StatusCallback"].strip_prefix(&host.url).unwrap();

    // Reports that the provider did not sign, or that say something else, change nothing.
    let failed = [("MessageStatus", "undelivered"), ("MessageSid", "SM1")];
    let delivered = [("MessageStatus", "delivered"), ("MessageSid", "SM1")];
    let report = async |signature: &str, parameters: &[(&str, &str)]| {
        let request = host.client.post(format!("{}{report_to}", host.url)).form(parameters);
        Reply::read(request.header("x-twilio-signature", signature).send().await.unwrap()).await
    };
    let right = signature(&format!("{}{report_to}", host.url), &failed);
    report("", &failed).await.assert_refused(403, "not_permitted");
    report(&right, &delivered).await.assert_refused(403, "not_permitted");
    report(&signature("http://elsewhere.example", &failed), &failed)
        .await
        .assert_refused(403, "not_permitted");
    let fine = signature(&format!("{}{report_to}", host.url), &delivered);
    assert_eq!(report(&fine, &delivered).await.status, 204);
    assert!(agent.result(BINDING, json!({ "action": "status" })).await["pending"].is_object());
    assert_eq!(report(&right, &failed).await.status, 204);
    let started = Instant::now();
    while agent.result(BINDING, json!({ "action": "status" })).await["pending"].is_object() {
        assert!(started.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    agent.call(BINDING, verify(code)).await.assert_refused(502, "sms_undeliverable");
    assert!(!host.log().contains("s3cret") && !host.log().contains(code));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_message_is_not_readable_in_the_database() {
    let provider = Server::plain(|_| Some(response("503 Service Unavailable", "", ""))).await;
    let sms = format!(
        "sms = \"http://AC1:s3cret@127.0.0.1:{}/Messages.json?From=%2B12015550100\"",
        provider.port
    );
    let host = Host::start(Options::with(&["svc_phone_binding"]).configuration(&sms)).await;
    host.agent().await.result(BINDING, bind(ADA)).await;
    let started = Instant::now();
    while provider.requests().is_empty() {
        assert!(started.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let request = provider.requests()[0].clone();
    let (_, body) = request.split_once("\r\n\r\n").unwrap();
    let form: BTreeMap<String, String> =
        url::form_urlencoded::parse(body.as_bytes()).into_owned().collect();
    let waiting = "SELECT name FROM timers WHERE capability = ':sms'";
    assert_eq!(host.database().texts(waiting).await.len(), 1);
    let plain = [ADA.trim_start_matches('+'), form["Body"].as_str()];
    assert_eq!(host.database().texts_found(&plain), Vec::<String>::new());
    assert_eq!(host.database().texts_found(&["sealed"]), ["sealed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_is_removed_after_a_day() {
    let host = host().await;
    let agent = host.agent().await;
    agent.result(BINDING, bind(ADA)).await;
    agent.result(BINDING, verify(&code(&host, 1).await)).await;
    let kept = "SELECT d.id FROM documents d JOIN collections c ON c.id = d.collection
         WHERE d.body IS NOT NULL AND c.capability = 'svc.phone-binding'
         AND c.name IN ('binds', 'messages', 'approvals', 'links')";
    assert_eq!(host.database().texts(kept).await.len(), 4);
    host.advance(DAY).await;
    assert_eq!(host.database().texts(kept).await, Vec::<String>::new());
    assert_eq!(agent.result(BINDING, json!({ "action": "status" })).await["state"], "claimed");
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_codes_are_counted_even_across_a_crash() {
    let host = Process::with(&["svc_phone_binding", "ledger"]);
    let agent = host.agent().await;
    agent.result(BINDING, bind(ADA)).await;
    let code = code(&host, 1).await;
    let guess = verify(wrong_code(&code));
    for _ in 0..3 {
        agent.call(BINDING, guess.clone()).await.assert_refused(422, "code_invalid");
    }
    // The code is not valid for another agent's claim.
    let other = host.agent().await;
    other.call(BINDING, verify(&code)).await.assert_refused(409, "no_pending_bind");
    other.result(BINDING, bind(BOB)).await;
    other.call(BINDING, verify(&code)).await.assert_refused(422, "code_invalid");

    host.signal("KILL");
    let (_, folder) = host.wait();
    let host = Process::start_in(folder);
    let used = "SELECT id FROM documents WHERE json_extract(body, '$.checks_left') = 2";
    assert_eq!(host.database().texts(used).await.len(), 1, "two checks are left");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_five_wrong_codes_the_right_one_is_refused() {
    let host = host().await;
    let agent = host.agent().await;
    agent.result(BINDING, bind(ADA)).await;
    let code = code(&host, 1).await;
    for _ in 0..4 {
        agent.call(BINDING, verify(wrong_code(&code))).await.assert_refused(422, "code_invalid");
    }
    agent.call(BINDING, verify(wrong_code(&code))).await.assert_refused(429, "too_many_attempts");
    agent.call(BINDING, verify(&code)).await.assert_refused(429, "too_many_attempts");
    agent
        .call(BINDING, json!({ "action": "resend" }))
        .await
        .assert_refused(429, "too_many_attempts");
    agent.call("ledger", open("ada")).await.assert_refused(403, "phone_binding_required");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_simultaneous_verifications_wins() {
    let host = host().await;
    let agent = host.agent().await;
    agent.result(BINDING, bind(ADA)).await;
    let code = code(&host, 1).await;
    let (one, other) =
        tokio::join!(agent.call(BINDING, verify(&code)), agent.call(BINDING, verify(&code)));
    let mut codes = [&one, &other].map(|reply: &Reply| reply.status.as_u16());
    codes.sort_unstable();
    assert_eq!(codes, [200, 409], "{} {}", one.body, other.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_request_at_once_sends_no_message() {
    let host = host().await;
    let agent = host.agent().await;
    let first = agent.result(BINDING, bind(ADA)).await;
    let again = agent.result(BINDING, bind(ADA)).await;
    assert_eq!(first["bind_id"], again["bind_id"]);
    agent.call(BINDING, json!({ "action": "resend" })).await.assert_refused(429, "resend_too_soon");
    agent.call(BINDING, bind(BOB)).await.assert_refused(429, "resend_too_soon");
    for (phone, status, code) in [
        ("07700900123", 400, "phone_invalid"),
        ("+1415", 400, "phone_invalid"),
        ("+18002345678", 422, "phone_not_allowed"),
        ("+14155550100", 422, "phone_not_allowed"),
    ] {
        agent.call(BINDING, bind(phone)).await.assert_refused(status, code);
    }
    let state = agent.result(BINDING, json!({ "action": "status" })).await;
    assert_eq!(
        (&state["state"], &state["pending"]["bind_id"]),
        (&json!("anonymous"), &first["bind_id"])
    );
    assert_eq!(messages(&host, 1).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn test_mode_has_a_number_for_everything_and_sends_nothing() {
    let host = host().await;
    for (last, bound, verified) in [
        ("00", None, None),
        ("10", None, Some((422, "code_invalid"))),
        ("11", None, Some((410, "code_expired"))),
        ("12", Some((502, "sms_undeliverable")), None),
        ("13", Some((429, "sms_rate_limited")), None),
        ("14", Some((422, "phone_not_allowed")), None),
        ("17", Some((422, "phone_not_allowed")), None),
    ] {
        let agent = host.test_agent().await;
        let sent = agent.call(BINDING, bind(&format!("+141555501{last}"))).await;
        if let Some((status, code)) = bound {
            sent.assert_refused(status, code);
            continue;
        }
        assert_eq!(sent.body["result"]["test_code"], "424242", "{}", sent.body);
        let reply = agent.call(BINDING, verify("424242")).await;
        match verified {
            Some((status, code)) => reply.assert_refused(status, code),
            None => {
                assert_eq!(reply.body["result"]["state"], "claimed", "{}", reply.body);
                agent.result("ledger", open("ada")).await;
            }
        }
    }
    // With this number, one wrong code locks the claim.
    let agent = host.test_agent().await;
    agent.result(BINDING, bind("+14155550116")).await;
    agent.call(BINDING, verify("111111")).await.assert_refused(429, "too_many_attempts");
    // With this number, every agent is claimed for the same owner.
    let mut owners = Vec::new();
    for _ in 0..2 {
        let agent = host.test_agent().await;
        agent.result(BINDING, bind("+14155550115")).await;
        owners.push(agent.result(BINDING, verify("424242")).await["owner_id"].clone());
    }
    assert_eq!(owners[0], owners[1]);
    let agent = host.test_agent().await;
    agent.call(BINDING, bind(ADA)).await.assert_refused(422, "phone_not_allowed");
    assert_eq!(messages(&host, 0).await.len(), 0);
}

/// Registers an agent and claims it with this phone number; `message` is the number of messages
/// sent by then.
async fn claimed<'a>(host: &'a Host, phone: &str, message: usize) -> Agent<'a> {
    let agent = host.agent().await;
    agent.result(BINDING, bind(phone)).await;
    agent.result(BINDING, verify(&code(host, message).await)).await;
    agent
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_unclaimed() {
    let host = host().await;
    let agent = claimed(&host, ADA, 1).await;
    let refused = agent.call(BINDING, json!({ "action": "unbind" })).await;
    refused.assert_refused(409, "confirm_required");
    // The person is asked first: the next step does not confirm.
    let next = &refused.body["next"];
    assert_eq!(next["missing"], json!(["confirm"]), "{next}");
    let mut confirmed = next["input"].clone();
    confirmed["confirm"] = json!(true);
    agent.result(BINDING, confirmed).await;
    agent.call("ledger", open("ada")).await.assert_refused(403, "phone_binding_required");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_person_of_an_agent_gets_nothing_of_the_former_one() {
    let options = || Options::with(&["svc_phone_binding", "ledger"]);
    pass_an_agent_on(Host::start(options()).await).await;
    pass_an_agent_on(Host::start(options().postgres(&postgres::database().await)).await).await;
}

async fn pass_an_agent_on(host: Host) {
    let reader = Reader { agent: host.test_agent().await, id: String::new() };
    let agent = &reader.agent;
    let former = agent.claim("+14155550100").await.as_str().unwrap().to_owned();
    let mut keyed = open("ada");
    keyed["idempotency_key"] = json!("the first call");
    agent.result("ledger", keyed.clone()).await;
    let events = async || reader.page("wait=0&cursor=0").await["events"].to_string();
    let started = Instant::now();
    while !events().await.contains(&former) {
        assert!(started.elapsed() < PATIENCE, "{}", events().await);
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    agent.result(BINDING, json!({ "action": "unbind", "confirm": true })).await;
    host.advance(31 * SECOND).await;
    assert_ne!(agent.claim("+14155550101").await, former);
    // Only that it has lost its person, and has another one.
    let left = events().await;
    assert_eq!((left.matches(&former).count(), left.matches("identity.claimed").count()), (1, 1));
    assert!(left.contains("identity.unclaimed"), "{left}");
    agent.call("ledger", keyed).await.assert_refused(422, "idempotency_key_reused");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_number_is_valid_a_day_after_the_old_one_was_notified() {
    let host = host().await;
    let agent = claimed(&host, ADA, 1).await;
    host.advance(31 * SECOND).await;
    let change = json!({ "action": "change", "phone": BOB });
    agent.result(BINDING, change.clone()).await;
    let held = agent.result(BINDING, verify(&code(&host, 2).await)).await;
    assert_eq!(held["state"], "change_on_hold");
    let notification = messages(&host, 3).await[2].clone();
    assert_eq!(notification["to"], ADA, "{notification}");
    agent.call(BINDING, change).await.assert_refused(409, "change_on_hold");
    let status = json!({ "action": "status" });
    assert_eq!(agent.result(BINDING, status.clone()).await["phone_masked"], "+1•••••0123");

    host.advance(DAY).await;
    assert_eq!(agent.result(BINDING, status.clone()).await["phone_masked"], "+1•••••0145");
}
