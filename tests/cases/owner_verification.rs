//! A person proves that they represent a company, by a text under the company's domain, which the
//! host looks up.

use crate::{
    cases::signal_verification::{ADA, BEN, SIGNALS, get, of, person, published, signal},
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
struct Said {
    records: HashMap<String, Vec<Answer>>,
    /// The answers of the web server by path; `None` means no answer.
    pages: HashMap<String, Option<String>>,
}

/// A company on the map with a DNS and a web server of its own.
pub struct Public {
    said: Arc<Mutex<Said>>,
    pub dns: Dns,
    server: Server,
    pub domain: String,
    pub target_id: String,
    pub signal_id: String,
}

impl Public {
    pub async fn of_a_company() -> Self {
        let (signal_id, target_id) = signal("hiring", "lead");
        let domain = domain(&target_id);
        let said: Arc<Mutex<Said>> = Arc::default();
        let (records, pages) = (Arc::clone(&said), Arc::clone(&said));
        let dns = Dns::start(move |name, kind, before| {
            let said = records.lock().unwrap();
            match said.records.get(name).map(Vec::as_slice) {
                Some(answers) if kind == TXT => answers[before.min(answers.len() - 1)].clone(),
                _ if name.starts_with('_') => Answer::NoName,
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
        Self { said, dns, server, domain, target_id, signal_id }
    }

    /// Options of a host that can reach these servers.
    pub fn options(&self, more: &str) -> Options {
        let lookups = format!(
            "[lookups]\ndns_servers = [\"127.0.0.1:{}\"]\nhttps_port = {}\n",
            self.dns.port, self.server.port
        );
        // The time limit of calls is long, because the machine may be busy.
        let lookups = format!("{lookups}\n[limits]\ncall_wall_time_ms = 20000\n");
        let feeds = format!("feeds_dir = {:?}\n{more}", city().join("feeds"));
        Options::with(&NAMES)
            .configuration(&lookups)
            .configuration_too(&feeds)
            .trusting(&self.server.certificate)
    }

    pub async fn host(&self) -> Host {
        Host::start(self.options("reachable_networks = [\"127.0.0.0/8\"]")).await
    }

    /// Makes the DNS stand for another target from now on; the web server has no
    /// certificate for that one.
    pub fn stand_for(&mut self, target_id: &str) {
        (self.domain, self.target_id) = (domain(target_id), target_id.to_owned());
    }

    fn place(&self) -> String {
        format!("_portolan-challenge.{}", self.domain)
    }

    /// Sets the answers to queries for the company's record, one after the other; the
    /// last one is repeated.
    pub fn answers(&self, answers: &[Answer]) {
        self.said.lock().unwrap().records.insert(self.place(), answers.to_vec());
    }

    pub fn record(&self, texts: &[&str]) {
        let texts = texts.iter().map(|&text| text.to_owned()).collect();
        self.answers(&[Answer::Texts(texts)]);
    }

    fn page(&self, path: &str, response: Option<String>) {
        self.said.lock().unwrap().pages.insert(path.to_owned(), response);
    }

    /// Returns the number of queries for the company's record.
    pub fn asked(&self) -> usize {
        self.dns.asked(&self.place(), TXT)
    }

    /// Waits for a query for the company's record.
    pub async fn is_asked(&self) {
        let started = Instant::now();
        while self.asked() == 0 {
            assert!(started.elapsed() < PATIENCE, "there is no query for the record");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Returns the domain of a target's website.
fn domain(target_id: &str) -> String {
    let targets = published(&city().join("feeds"), "sf-live-targets.json", "features");
    let target = targets.iter().find(|target| target["id"] == target_id).unwrap();
    let website = target["properties"]["website"].as_str().unwrap();
    let host = website.split("://").nth(1).unwrap().split('/').next().unwrap();
    host.trim_start_matches("www.").to_owned()
}

pub fn start(target_id: &str, method: &str) -> Value {
    json!({ "action": "start", "target_id": target_id, "method": method })
}

pub fn on(action: &str, verification: &Value) -> Value {
    json!({ "action": action, "verification_id": verification["verification_id"] })
}

pub async fn status(agent: &Agent<'_>, verification: &Value) -> Value {
    agent.result(PROOF, on("status", verification)).await["items"][0].clone()
}

/// Waits until a verification satisfies the condition, and returns it.
pub async fn until(
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
pub async fn checked(agent: &Agent<'_>, verification: &Value) -> Value {
    let asked = agent.result(PROOF, on("check", verification)).await;
    assert_eq!(asked["checking"], true, "{asked:#}");
    until(agent, verification, "answer", |status| status["checking"] == false).await
}

pub async fn checked_later(agent: &Agent<'_>, verification: &Value) -> Value {
    agent.host.advance(BETWEEN_CHECKS).await;
    checked(agent, verification).await
}

pub fn text(verification: &Value) -> &str {
    verification["challenge"]["text"].as_str().unwrap()
}

/// Returns the states in the person's events, in their order.
pub async fn told(reader: &Reader<'_>) -> Vec<String> {
    let page = reader.page("wait=0&cursor=0&types=verification.updated").await;
    let states = page["events"].as_array().unwrap().iter();
    states.map(|event| event["data"]["resource"]["state"].as_str().unwrap().to_owned()).collect()
}

/// Waits until the person speaks for the company of a signal, or does not.
pub async fn speaks(agent: &Agent<'_>, signal_id: &str, wanted: bool) {
    let started = Instant::now();
    while get(agent, signal_id).await["speaks_for_target"] != wanted {
        assert!(started.elapsed() < PATIENCE, "`speaks_for_target` does not become {wanted}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dns_record_proves_that_a_person_represents_a_company() {
    let public = Public::of_a_company().await;
    let host = public.host().await;
    let ((ada, _), (ben, _)) = (person(&host, ADA).await, person(&host, BEN).await);
    let confirm = of("confirm", &public.signal_id);
    let refused = ada.agent.call(SIGNALS, confirm.clone()).await;
    refused.refused(403, "verification_required");

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
            &json!(public.domain),
            &json!(format!("_portolan-challenge.{}", public.domain))
        )
    );
    assert_eq!(ada.agent.result(PROOF, body).await, begun);

    // There is no record, then records with other texts, then one with the text.
    let nothing = checked(&ada.agent, &begun).await;
    assert_eq!(nothing["state"], "challenge_issued");
    assert_eq!(nothing["reason"], "The text was not found there.");
    let soon = ada.agent.call(PROOF, on("check", &begun)).await;
    soon.refused(429, "quota_exceeded");
    assert!(soon.body["next"]["after_s"].as_u64().unwrap() <= 30);
    let almost = format!("{} ", &text(&begun)[..60]);
    public.record(&["v=spf1 -all", &almost, &format!("x{}", text(&begun))]);
    assert_eq!(checked_later(&ada.agent, &begun).await["state"], "challenge_issued");
    public.record(&["v=spf1 -all", text(&begun), &"x".repeat(600)]);
    let verified = checked_later(&ada.agent, &begun).await;
    assert_eq!((&verified["state"], &verified["reason"]), (&json!("verified"), &Value::Null));
    assert!(verified["recheck_at"].is_string());
    ada.agent.call(PROOF, on("check", &begun)).await.refused(409, "invalid_transition");
    speaks(&ada.agent, &public.signal_id, true).await;
    ada.agent.result(SIGNALS, confirm.clone()).await;
    assert_eq!(told(&ada).await, ["verified"]);

    // Another person's text verifies nobody else; several people may speak for a company.
    let of_ben = ben.agent.result(PROOF, start(&public.target_id, "dns_txt")).await;
    assert_ne!(text(&of_ben), text(&begun));
    ben.agent.call(PROOF, on("check", &begun)).await.refused(404, "not_found");
    assert_eq!(checked(&ben.agent, &of_ben).await["state"], "challenge_issued");
    public.record(&[text(&begun), text(&of_ben)]);
    assert_eq!(checked_later(&ben.agent, &of_ben).await["state"], "verified");
    speaks(&ben.agent, &public.signal_id, true).await;
    let revoked = ada.agent.result(PROOF, on("revoke", &begun)).await;
    assert_eq!((&revoked["state"], &revoked["challenge"]), (&json!("revoked"), &Value::Null));
    speaks(&ada.agent, &public.signal_id, false).await;
    ada.agent.call(SIGNALS, confirm).await.refused(403, "verification_required");
    assert_eq!(get(&ben.agent, &public.signal_id).await["speaks_for_target"], true);

    // A revoked verification can be started again, with a new text.
    let anew = ada.agent.result(PROOF, start(&public.target_id, "dns_txt")).await;
    assert_eq!(anew["verification_id"], begun["verification_id"]);
    assert_ne!(text(&anew), text(&begun));
    assert_eq!(told(&ada).await, ["verified", "revoked", "challenge_issued"]);
    // Live and test mode do not see each other's verifications.
    let live = host.claimed_agent().await;
    let none = live.result(PROOF, json!({ "action": "status" })).await;
    assert_eq!(none["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_domain_is_proved_by_a_file_of_its_own_server() {
    let public = Public::of_a_company().await;
    let host = public.host().await;
    let (ada, _) = person(&host, ADA).await;
    let begun = ada.agent.result(PROOF, start(&public.target_id, "well_known_file")).await;
    let path = "/.well-known/portolan-verification.txt";
    assert_eq!(begun["challenge"]["place"], format!("https://{}{path}", public.domain));
    let plain = "content-type: text/plain; charset=utf-8\r\n";
    let moved = |to: &str| response("302 Found", &format!("location: {to}\r\n"), "");
    let port = public.server.port;
    let file = format!("# ours\r\n  {}\r\n", text(&begun));
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
        public.page(path, Some(answer));
        let status = checked_later(&ada.agent, &begun).await;
        assert_eq!(status["state"], "challenge_issued");
        let told = status["reason"].as_str().unwrap();
        assert!(told.starts_with(reason), "{told} is not {reason}");
    }
    // A page may redirect within the domain.
    public.page(path, Some(moved(&format!("https://www.{}:{port}/proof", public.domain))));
    public.page("/proof", Some(response("200 OK", plain, &file)));
    assert_eq!(checked_later(&ada.agent, &begun).await["state"], "verified");
    assert_eq!(told(&ada).await, ["verified"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn temporary_failures_are_retried_a_limited_number_of_times() {
    let public = Public::of_a_company().await;
    let host = public.host().await;
    let (ada, _) = person(&host, ADA).await;
    let begun = ada.agent.result(PROOF, start(&public.target_id, "dns_txt")).await;
    public.answers(&[Answer::NoName]);
    let absent = checked(&ada.agent, &begun).await;
    assert_eq!(absent["reason"], "The text was not found there.");
    assert_eq!(public.asked(), 1);
    public.answers(&[Answer::Failure]);
    let failed = checked_later(&ada.agent, &begun).await;
    assert_eq!(failed["reason"], "The DNS cannot resolve this name now.");
    let asked = public.asked();
    let right = Answer::Texts(vec![text(&begun).to_owned()]);
    let answers = [vec![Answer::Failure; asked + 1], vec![right]].concat();
    public.answers(&answers);
    assert_eq!(checked_later(&ada.agent, &begun).await["state"], "verified");
    assert!(public.asked() > asked + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_server_does_not_delay_other_look_ups() {
    let public = Public::of_a_company().await;
    let host = public.host().await;
    let ((ada, _), (ben, _)) = (person(&host, ADA).await, person(&host, BEN).await);
    let slow = ada.agent.result(PROOF, start(&public.target_id, "well_known_file")).await;
    public.page("/.well-known/portolan-verification.txt", None);
    ada.agent.result(PROOF, on("check", &slow)).await;
    let quick = ben.agent.result(PROOF, start(&public.target_id, "dns_txt")).await;
    public.record(&[text(&quick)]);
    assert_eq!(checked(&ben.agent, &quick).await["state"], "verified");
    assert_eq!(status(&ada.agent, &slow).await["checking"], true);
    let given_up = until(&ada.agent, &slow, "end", |status| status["checking"] == false).await;
    assert_eq!(
        given_up["reason"],
        "The server cannot be reached over TLS, or does not answer in time."
    );
    assert_eq!(public.server.requests().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_with_a_private_address_is_not_connected_to() {
    let public = Public::of_a_company().await;
    let host = Host::start(public.options("")).await;
    let (ada, _) = person(&host, ADA).await;
    let begun = ada.agent.result(PROOF, start(&public.target_id, "well_known_file")).await;
    let refused = checked(&ada.agent, &begun).await;
    assert_eq!(refused["reason"], "The server's address is not public.");
    assert_eq!(public.server.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn look_ups_need_a_permission_grant() {
    let public = Public::of_a_company().await;
    let mut options =
        public.options("").configuration_too("reserved_ids = []\nreserved_namespaces = []\n");
    let bytes = crate::harness::unsigned(&crate::harness::component("owner_verification"));
    options.components = vec![("proof.wasm".to_owned(), bytes)];
    let host = Host::start(options).await;
    let row = host.refusal("proof.wasm").await;
    assert_eq!(row["reason"], "pending_approval");
    assert!(row["message"].as_str().unwrap().contains("lookups"), "{row:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handoff_leads_from_the_map_to_a_companys_verification() {
    let public = Public::of_a_company().await;
    let host = public.host().await;
    let agent = host.test_agent().await;
    let contracts = published(&city().join("feeds"), "hi-handoff-manifest.json", "items");
    let contract = contracts.iter().find(|contract| contract["intent"] == "claim_target").unwrap();
    let resolve = json!({
        "action": "resolve", "handoff_id": contract["id"], "record_id": public.target_id,
    });
    let resolved = agent.result("handoff_resolve", resolve).await;
    agent.claim(ADA).await;
    let redeem = json!({ "action": "redeem", "token": resolved["token"] });
    let redeemed = agent.call("handoff_resolve", redeem).await;
    let mut step = redeemed.body["next"].clone();
    assert_eq!(step["capability"], PROOF, "{}", redeemed.text);
    let begun = agent.call(PROOF, step["input"].take()).await;
    assert_eq!(begun.body["result"]["target_id"], public.target_id);
    public.record(&[text(&begun.body["result"])]);
    // From here on each answer names the next step.
    let asked = agent.call(PROOF, begun.body["next"]["input"].clone()).await;
    let status = asked.body["next"]["input"].clone();
    let started = Instant::now();
    while agent.result(PROOF, status.clone()).await["items"][0]["state"] != "verified" {
        assert!(started.elapsed() < PATIENCE, "the domain is not verified");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    speaks(&agent, &public.signal_id, true).await;
    agent.result(SIGNALS, of("confirm", &public.signal_id)).await;
}
