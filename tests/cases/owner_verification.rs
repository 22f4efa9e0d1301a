//! A person proves that they represent a company, by a text under the company's domain, which the
//! host looks up.

use crate::{
    cases::signal_verification::{
        ADA, BEN, SIGNALS, get_signal, person, published_items, signal, signal_action,
    },
    harness::{
        Agent, Host, Options, PATIENCE,
        dns::{Answer, Dns, TXT},
        feeds::city,
        inbox::Reader,
        server::{Server, response},
    },
};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    net::Ipv4Addr,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

/// The time that must pass between two checks of a verification.
pub const BETWEEN_CHECKS: Duration = Duration::from_secs(30);
pub const PROOF: &str = "owner_verification";
pub const NAMES: [&str; 8] = [
    "owner_verification",
    "signal_verification",
    "social_org",
    "owners",
    "social_permissions",
    "social_relationships",
    "svc_phone_binding",
    "handoff_resolve",
];

/// The answers of the public servers, which the test sets.
#[derive(Default)]
struct ServerAnswers {
    records: HashMap<String, Vec<Answer>>,
    /// The answers of the web server by path; `None` means no answer.
    pages: HashMap<String, Option<String>>,
}

/// A company on the map with a DNS and a web server of its own.
pub struct Company {
    answers: Arc<Mutex<ServerAnswers>>,
    pub dns: Dns,
    server: Server,
    pub domain: String,
    pub target_id: String,
    pub signal_id: String,
}

impl Company {
    pub async fn new() -> Self {
        let (signal_id, target_id) = signal("hiring", "lead");
        let domain = domain(&target_id);
        let answers: Arc<Mutex<ServerAnswers>> = Arc::default();
        let (records, pages) = (Arc::clone(&answers), Arc::clone(&answers));
        let dns = Dns::start(move |name, kind, before| {
            let answers = records.lock().unwrap();
            match answers.records.get(name).map(Vec::as_slice) {
                Some(answers) if kind == TXT => answers[before.min(answers.len() - 1)].clone(),
                _ if name.starts_with('_') => Answer::NxDomain,
                _ => Answer::Address(Ipv4Addr::LOCALHOST),
            }
        })
        .await;
        let server = Server::of(&[&domain, &format!("www.{domain}")], move |request| {
            let path = request.split(' ').nth(1).unwrap();
            let missing = response("404 Not Found", "content-type: text/plain\r\n", "No.");
            pages.lock().unwrap().pages.get(path).cloned().unwrap_or(Some(missing))
        })
        .await;
        Self { answers, dns, server, domain, target_id, signal_id }
    }

    /// Options of a host that can reach these servers.
    pub fn options(&self, more: &str) -> Options {
        self.options_of(&NAMES, more)
    }

    /// Options of a host with these components that can reach these servers.
    pub fn options_of(&self, names: &[&str], more: &str) -> Options {
        let lookups = format!(
            "[lookups]\ndns_servers = [\"127.0.0.1:{}\"]\nhttps_port = {}\n",
            self.dns.port, self.server.port
        );
        // The time limit of calls is long, because the machine may be busy.
        let lookups = format!("{lookups}\n[limits]\ncall_wall_time_ms = 20000\n");
        let feeds = format!("feeds_dir = {:?}\n{more}", city().join("feeds"));
        Options::with(names)
            .configuration(&lookups)
            .add_configuration(&feeds)
            .trusting(&self.server.certificate)
    }

    pub async fn host(&self) -> Host {
        Host::start(self.options("reachable_networks = [\"127.0.0.0/8\"]")).await
    }

    /// Makes the DNS stand for another target from now on; the web server has no
    /// certificate for that one.
    pub fn switch_target(&mut self, target_id: &str) {
        (self.domain, self.target_id) = (domain(target_id), target_id.to_owned());
    }

    fn record_name(&self) -> String {
        format!("_portolan-challenge.{}", self.domain)
    }

    /// Sets the answers to queries for the company's record, one after the other; the
    /// last one is repeated.
    pub fn set_answers(&self, answers: &[Answer]) {
        self.answers.lock().unwrap().records.insert(self.record_name(), answers.to_vec());
    }

    pub fn set_record(&self, texts: &[&str]) {
        let texts = texts.iter().map(|&text| text.to_owned()).collect();
        self.set_answers(&[Answer::Texts(texts)]);
    }

    fn set_page(&self, path: &str, response: Option<String>) {
        self.answers.lock().unwrap().pages.insert(path.to_owned(), response);
    }

    /// Returns the number of queries for the company's record.
    pub fn query_count(&self) -> usize {
        self.dns.query_count(&self.record_name(), TXT)
    }

    /// Waits for a query for the company's record.
    pub async fn wait_for_query(&self) {
        let started = Instant::now();
        while self.query_count() == 0 {
            assert!(started.elapsed() < PATIENCE, "there is no query for the record");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Returns the domain of a target's website.
fn domain(target_id: &str) -> String {
    let targets = published_items(&city().join("feeds"), "sf-live-targets.json", "features");
    let target = targets.iter().find(|target| target["id"] == target_id).unwrap();
    let website = target["properties"]["website"].as_str().unwrap();
    let host = website.split("://").nth(1).unwrap().split('/').next().unwrap();
    host.trim_start_matches("www.").to_owned()
}

pub fn start_action(target_id: &str, method: &str) -> Value {
    json!({ "action": "start", "target_id": target_id, "method": method })
}

pub fn verification_action(action: &str, verification: &Value) -> Value {
    json!({ "action": action, "verification_id": verification["verification_id"] })
}

pub async fn status(agent: &Agent<'_>, verification: &Value) -> Value {
    agent.result(PROOF, verification_action("status", verification)).await["items"][0].clone()
}

/// Waits until a verification satisfies the condition, and returns it.
pub async fn wait_until(
    agent: &Agent<'_>,
    verification: &Value,
    what: &str,
    wanted: impl Fn(&Value) -> bool,
) -> Value {
    let started = Instant::now();
    loop {
        let status = status(agent, verification).await;
        if wanted(&status) {
            return status;
        }
        assert!(started.elapsed() < PATIENCE, "no {what}: {status:#}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Runs a check of the verification, and returns its outcome.
pub async fn check_and_wait(agent: &Agent<'_>, verification: &Value) -> Value {
    let asked = agent.result(PROOF, verification_action("check", verification)).await;
    assert_eq!(asked["checking"], true, "{asked:#}");
    wait_until(agent, verification, "answer", |status| status["checking"] == false).await
}

pub async fn check_later(agent: &Agent<'_>, verification: &Value) -> Value {
    agent.host.advance(BETWEEN_CHECKS).await;
    check_and_wait(agent, verification).await
}

pub fn challenge_text(verification: &Value) -> &str {
    verification["challenge"]["text"].as_str().unwrap()
}

/// Returns the states in the person's events, in their order.
pub async fn event_states(reader: &Reader<'_>) -> Vec<String> {
    let page = reader.page("wait=0&cursor=0&types=verification.updated").await;
    let states = page["events"].as_array().unwrap().iter();
    states.map(|event| event["data"]["resource"]["state"].as_str().unwrap().to_owned()).collect()
}

/// Waits until the person speaks for the company of a signal, or does not.
pub async fn wait_until_speaks(agent: &Agent<'_>, signal_id: &str, wanted: bool) {
    let started = Instant::now();
    while get_signal(agent, signal_id).await["speaks_for_target"] != wanted {
        assert!(started.elapsed() < PATIENCE, "`speaks_for_target` does not become {wanted}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dns_record_proves_that_a_person_represents_a_company() {
    let company = Company::new().await;
    let host = company.host().await;
    let ((ada, _), (ben, _)) = (person(&host, ADA).await, person(&host, BEN).await);
    let confirm = signal_action("confirm", &company.signal_id);
    let refused = ada.agent.call(SIGNALS, confirm.clone()).await;
    refused.assert_refused(403, "verification_required");

    // The next step of the refusal starts a verification.
    let step = &refused.body["next"];
    assert_eq!(step["missing"], json!(["method"]));
    let mut body = step["input"].clone();
    body["method"] = json!("dns_txt");
    let begun = ada.agent.result(step["capability"].as_str().unwrap(), body.clone()).await;
    assert_eq!(
        (&begun["state"], &begun["domain"], &begun["challenge"]["place"]),
        (
            &json!("challenge_issued"),
            &json!(company.domain),
            &json!(format!("_portolan-challenge.{}", company.domain))
        )
    );
    assert_eq!(ada.agent.result(PROOF, body).await, begun);

    // There is no record, then records with other texts, then one with the text.
    let nothing = check_and_wait(&ada.agent, &begun).await;
    assert_eq!(nothing["state"], "challenge_issued");
    assert_eq!(nothing["reason"], "The text was not found there.");
    let soon = ada.agent.call(PROOF, verification_action("check", &begun)).await;
    soon.assert_refused(429, "quota_exceeded");
    assert!(soon.body["next"]["after_s"].as_u64().unwrap() <= 30);
    let almost = format!("{} ", &challenge_text(&begun)[..60]);
    company.set_record(&["v=spf1 -all", &almost, &format!("x{}", challenge_text(&begun))]);
    assert_eq!(check_later(&ada.agent, &begun).await["state"], "challenge_issued");
    company.set_record(&["v=spf1 -all", challenge_text(&begun), &"x".repeat(600)]);
    let verified = check_later(&ada.agent, &begun).await;
    assert_eq!((&verified["state"], &verified["reason"]), (&json!("verified"), &Value::Null));
    assert!(verified["recheck_at"].is_string());
    ada.agent
        .call(PROOF, verification_action("check", &begun))
        .await
        .assert_refused(409, "invalid_transition");
    wait_until_speaks(&ada.agent, &company.signal_id, true).await;
    ada.agent.result(SIGNALS, confirm.clone()).await;
    assert_eq!(event_states(&ada).await, ["verified"]);

    // Another person's text verifies nobody else; several people may speak for a company.
    let of_ben = ben.agent.result(PROOF, start_action(&company.target_id, "dns_txt")).await;
    assert_ne!(challenge_text(&of_ben), challenge_text(&begun));
    ben.agent
        .call(PROOF, verification_action("check", &begun))
        .await
        .assert_refused(404, "not_found");
    assert_eq!(check_and_wait(&ben.agent, &of_ben).await["state"], "challenge_issued");
    company.set_record(&[challenge_text(&begun), challenge_text(&of_ben)]);
    assert_eq!(check_later(&ben.agent, &of_ben).await["state"], "verified");
    wait_until_speaks(&ben.agent, &company.signal_id, true).await;
    let revoked = ada.agent.result(PROOF, verification_action("revoke", &begun)).await;
    assert_eq!((&revoked["state"], &revoked["challenge"]), (&json!("revoked"), &Value::Null));
    wait_until_speaks(&ada.agent, &company.signal_id, false).await;
    ada.agent.call(SIGNALS, confirm).await.assert_refused(403, "verification_required");
    assert_eq!(get_signal(&ben.agent, &company.signal_id).await["speaks_for_target"], true);

    // A revoked verification can be started again, with a new text.
    let anew = ada.agent.result(PROOF, start_action(&company.target_id, "dns_txt")).await;
    assert_eq!(anew["verification_id"], begun["verification_id"]);
    assert_ne!(challenge_text(&anew), challenge_text(&begun));
    assert_eq!(event_states(&ada).await, ["verified", "revoked", "challenge_issued"]);
    // Live and test mode do not see each other's verifications.
    let live = host.claimed_agent().await;
    let none = live.result(PROOF, json!({ "action": "status" })).await;
    assert_eq!(none["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_domain_is_proved_by_a_file_of_its_own_server() {
    let company = Company::new().await;
    let host = company.host().await;
    let (ada, _) = person(&host, ADA).await;
    let begun = ada.agent.result(PROOF, start_action(&company.target_id, "well_known_file")).await;
    let path = "/.well-known/portolan-verification.txt";
    assert_eq!(begun["challenge"]["place"], format!("https://{}{path}", company.domain));
    let plain = "content-type: text/plain; charset=utf-8\r\n";
    let moved = |to: &str| response("302 Found", &format!("location: {to}\r\n"), "");
    let port = company.server.port;
    let file = format!("# ours\r\n  {}\r\n", challenge_text(&begun));
    let huge = format!("{file}{}", "x".repeat(70_000));
    for (answer, reason) in [
        (response("404 Not Found", plain, &file), "The server answers with the status 404."),
        (response("200 OK", "content-type: image/png\r\n", &file), "The page is neither"),
        (response("200 OK", plain, &huge), "The page has more than 65536 bytes."),
        (response("200 OK", plain, "portolan-verification="), "The text was not found there."),
        (moved(&format!("https://127.0.0.1:{port}{path}")), "The page redirects to another host."),
        (moved("http://169.254.169.254/latest"), "The page redirects to another host."),
        (moved(path), "The page redirects to another host."),
    ] {
        company.set_page(path, Some(answer));
        let status = check_later(&ada.agent, &begun).await;
        assert_eq!(status["state"], "challenge_issued");
        let reported = status["reason"].as_str().unwrap();
        assert!(reported.starts_with(reason), "{reported} is not {reason}");
    }
    // A page may redirect within the domain.
    company.set_page(path, Some(moved(&format!("https://www.{}:{port}/proof", company.domain))));
    company.set_page("/proof", Some(response("200 OK", plain, &file)));
    assert_eq!(check_later(&ada.agent, &begun).await["state"], "verified");
    assert_eq!(event_states(&ada).await, ["verified"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn temporary_failures_are_retried_a_limited_number_of_times() {
    let company = Company::new().await;
    let host = company.host().await;
    let (ada, _) = person(&host, ADA).await;
    let begun = ada.agent.result(PROOF, start_action(&company.target_id, "dns_txt")).await;
    company.set_answers(&[Answer::NxDomain]);
    let absent = check_and_wait(&ada.agent, &begun).await;
    assert_eq!(absent["reason"], "The text was not found there.");
    assert_eq!(company.query_count(), 1);
    company.set_answers(&[Answer::Failure]);
    let failed = check_later(&ada.agent, &begun).await;
    assert_eq!(failed["reason"], "The DNS cannot resolve this name now.");
    let asked = company.query_count();
    let right = Answer::Texts(vec![challenge_text(&begun).to_owned()]);
    let answers = [vec![Answer::Failure; asked + 1], vec![right]].concat();
    company.set_answers(&answers);
    assert_eq!(check_later(&ada.agent, &begun).await["state"], "verified");
    assert!(company.query_count() > asked + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_server_does_not_delay_other_look_ups() {
    let company = Company::new().await;
    let host = company.host().await;
    let ((ada, _), (ben, _)) = (person(&host, ADA).await, person(&host, BEN).await);
    let slow = ada.agent.result(PROOF, start_action(&company.target_id, "well_known_file")).await;
    company.set_page("/.well-known/portolan-verification.txt", None);
    ada.agent.result(PROOF, verification_action("check", &slow)).await;
    let quick = ben.agent.result(PROOF, start_action(&company.target_id, "dns_txt")).await;
    company.set_record(&[challenge_text(&quick)]);
    assert_eq!(check_and_wait(&ben.agent, &quick).await["state"], "verified");
    assert_eq!(status(&ada.agent, &slow).await["checking"], true);
    let given_up = wait_until(&ada.agent, &slow, "end", |status| status["checking"] == false).await;
    assert_eq!(
        given_up["reason"],
        "The server cannot be reached over TLS, or does not answer in time."
    );
    assert_eq!(company.server.requests().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_with_a_private_address_is_not_connected_to() {
    let company = Company::new().await;
    let host = Host::start(company.options("")).await;
    let (ada, _) = person(&host, ADA).await;
    let begun = ada.agent.result(PROOF, start_action(&company.target_id, "well_known_file")).await;
    let refused = check_and_wait(&ada.agent, &begun).await;
    assert_eq!(refused["reason"], "The server's address is not public.");
    assert_eq!(company.server.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn look_ups_need_a_permission_grant() {
    let company = Company::new().await;
    let mut options =
        company.options("").add_configuration("reserved_ids = []\nreserved_namespaces = []\n");
    let bytes = crate::harness::unsigned(&crate::harness::component("owner_verification"));
    options.components = vec![("proof.wasm".to_owned(), bytes)];
    let host = Host::start(options).await;
    let row = host.wait_for_refusal("proof.wasm").await;
    assert_eq!(row["reason"], "pending_approval");
    assert!(row["message"].as_str().unwrap().contains("lookups"), "{row:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handoff_leads_from_the_map_to_a_companys_verification() {
    let company = Company::new().await;
    let host = company.host().await;
    let agent = host.test_agent().await;
    let contracts = published_items(&city().join("feeds"), "hi-handoff-manifest.json", "items");
    let contract = contracts.iter().find(|contract| contract["intent"] == "claim_target").unwrap();
    let resolve = json!({
        "action": "resolve", "handoff_id": contract["id"], "record_id": company.target_id,
    });
    let resolved = agent.result("handoff_resolve", resolve).await;
    agent.claim(ADA).await;
    let redeem = json!({ "action": "redeem", "token": resolved["token"] });
    let redeemed = agent.call("handoff_resolve", redeem).await;
    let mut step = redeemed.body["next"].clone();
    assert_eq!(step["capability"], PROOF, "{}", redeemed.text);
    let begun = agent.call(PROOF, step["input"].take()).await;
    assert_eq!(begun.body["result"]["target_id"], company.target_id);
    company.set_record(&[challenge_text(&begun.body["result"])]);
    // From here on each answer names the next step.
    let asked = agent.call(PROOF, begun.body["next"]["input"].clone()).await;
    let status = asked.body["next"]["input"].clone();
    let started = Instant::now();
    while agent.result(PROOF, status.clone()).await["items"][0]["state"] != "verified" {
        assert!(started.elapsed() < PATIENCE, "the domain is not verified");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    wait_until_speaks(&agent, &company.signal_id, true).await;
    agent.result(SIGNALS, signal_action("confirm", &company.signal_id)).await;
}
