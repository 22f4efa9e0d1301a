//! The links of text messages: a person under attack gets in, and nobody else does.

use crate::harness::{
    Agent, Host, Options, Reply,
    oauth::{ADA, BOB, challenge, parameters, public_client, query},
    person::{Person, code, messages},
    time::{DAY, HOUR, MINUTE},
};
use reqwest::Method;
use serde_json::{Value, json};

const BINDING: &str = "svc.phone-binding";

async fn host() -> Host {
    Host::with(&["svc_phone_binding", "ledger"]).await
}

fn bind(phone: &str) -> Value {
    json!({ "action": "bind", "phone": phone })
}

/// Returns the path of the link in the message with this number, counted from 1.
async fn link(host: &Host, number: usize) -> String {
    let message = messages(host, number).await[number - 1].clone();
    let text = message["text"].as_str().unwrap().to_owned();
    let link = text.split(' ').find_map(|word| word.strip_prefix(&host.url)).unwrap();
    assert_eq!(link.strip_prefix("/m/").unwrap().len(), 22, "{text}");
    link.to_owned()
}

async fn is_claimed(agent: &Agent<'_>) -> bool {
    agent.result(BINDING, json!({ "action": "status" })).await["state"] == "claimed"
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_signs_in_the_browser_that_opens_it_and_nobody_else() {
    let host = host().await;
    let agent = host.agent().await;
    agent.result(BINDING, bind(ADA)).await;
    let link = link(&host, 1).await;

    // Opening the link changes nothing, however often and by whom.
    let mut person = Person::new(&host);
    for _ in 0..3 {
        let page = person.open(&link).await;
        assert_eq!(page.heading, "Sign in this browser?", "{}", page.reply.text);
        assert!(page.reply.text.contains("a test") && page.reply.text.contains("+1•••••0123"));
    }
    assert_eq!(host.send(Method::HEAD, &link, &[], None).await.status, 200);
    assert!(!person.cookies.contains_key("portolan_session"));
    let page = person.open(&link).await;

    // A form of another browser's page, and one without a page, are refused.
    let mut other = Person::new(&host);
    other.open(&link).await;
    let stolen = [("step", "sign_in"), ("form_token", page.form_token.as_str())];
    for form in [&stolen[..], &stolen[..1]] {
        assert_eq!(other.submit_to(&link, form).await.reply.status, 400);
    }
    assert!(!other.cookies.contains_key("portolan_session"));

    let page = person.submit_to(&link, &stolen).await;
    assert_eq!(page.heading, "Approve an agent", "{}", page.reply.text);
    assert!(person.cookies.contains_key("portolan_session"));
    assert!(!is_claimed(&agent).await, "the agent that asked gets nothing");
    assert!(page.reply.header("content-security-policy").contains("form-action 'self'"));

    // The link is valid once.
    let page = other.open(&link).await;
    assert_eq!(page.reply.status, 410, "{}", page.reply.text);
    // The person can let an application act for them without another message.
    let client = public_client(&host).await;
    let page = person.open(&query(&parameters(&client, &challenge()))).await;
    assert!(page.heading.starts_with("Allow"), "{}", page.heading);
    assert_eq!(messages(&host, 1).await.len(), 1);
    assert!(!host.log().contains(link.strip_prefix("/m/").unwrap()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_approves_the_agent_whose_code_they_enter() {
    let host = host().await;
    let agent = host.agent().await;
    let sent = agent.result(BINDING, bind(ADA)).await;
    let approval_code = sent["approval_code"].as_str().unwrap().to_owned();
    let stranger = host.agent().await;
    let strangers = stranger.result(BINDING, bind(BOB)).await;

    let mut person = Person::new(&host);
    let path = format!("/approve?approval_code={approval_code}");
    assert_eq!(person.open(&path).await.reply.status, 401);
    let link = link(&host, 1).await;
    let page = person.open(&link).await;
    let form_token = page.form_token.clone();
    person.submit_to(&link, &[("form_token", form_token.as_str())]).await;

    // The code of an agent that asked for another number, and one of nobody.
    for code in [strangers["approval_code"].as_str().unwrap(), "AAAA-AAAA", "x", "\u{fe0f}"] {
        let page = person.open(&format!("/approve?approval_code={code}")).await;
        assert!(page.error_text().starts_with("No agent"), "{code}: {}", page.reply.text);
    }
    let lower = approval_code.to_lowercase().replace('-', " ");
    let page = person.open(&format!("/approve?approval_code={}", lower.replace(' ', "+"))).await;
    assert_eq!(page.heading, "Allow a test to act for you?", "{}", page.reply.text);
    assert!(!is_claimed(&agent).await, "the page of the agent changes nothing");

    let approve = |token: &'static str| [("step", "approve"), ("form_token", token)];
    let form = [&approve("x")[..], &[("approval_code", approval_code.as_str())]].concat();
    assert_eq!(person.submit_to("/approve", &form).await.reply.status, 400);
    assert!(!is_claimed(&agent).await);
    let form = [
        ("step", "approve"),
        ("form_token", page.form_token.as_str()),
        ("approval_code", approval_code.as_str()),
    ];
    let page = person.submit_to("/approve", &form).await;
    assert_eq!(page.heading, "Approved", "{}", page.reply.text);
    assert!(is_claimed(&agent).await && !is_claimed(&stranger).await);
    agent.result("ledger", json!({ "action": "open", "account": "ada" })).await;

    // It was valid once, and the person can sign out.
    assert_ne!(person.submit_to("/approve", &form).await.heading, "Approved");
    let form = [("step", "sign_out"), ("form_token", form_token.as_str())];
    assert_eq!(person.submit_to("/approve", &form).await.reply.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_expires_unless_a_request_renews_it() {
    let host = host().await;
    host.agent().await.result(BINDING, bind(ADA)).await;
    let first = link(&host, 1).await;
    let mut person = Person::new(&host);
    host.advance(11 * MINUTE).await;
    assert_eq!(person.open(&first).await.reply.status, 410);
    // Any later request for the number renews it, for a day at most.
    host.agent().await.result(BINDING, bind(ADA)).await;
    assert_eq!(person.open(&first).await.reply.status, 200);
    host.advance(DAY).await;
    host.agent().await.result(BINDING, bind(ADA)).await;
    assert_eq!(person.open(&first).await.reply.status, 410);
    // A verified code ends the links that were sent.
    let agent = host.agent().await;
    agent.result(BINDING, bind(ADA)).await;
    let last = link(&host, 4).await;
    assert_eq!(person.open(&last).await.reply.status, 200);
    let code = code(&host, 4).await;
    agent.result(BINDING, json!({ "action": "verify", "code": code })).await;
    assert_eq!(person.open(&last).await.reply.status, 410);
    let secret = "A".repeat(22);
    assert_eq!(person.open(&format!("/m/{secret}")).await.reply.status, 410);
}

/// An attacker of a number, at an address of their own.
struct Attacker<'a> {
    host: &'a Host,
    address: String,
    token: String,
}

impl<'a> Attacker<'a> {
    async fn new(host: &'a Host, number: usize) -> Self {
        let address = format!("198.51.100.{number}");
        let headers = [("content-type", "application/json"), ("x-forwarded-for", &*address)];
        let body = json!({ "type": "anonymous", "agent_name": "Harbour" }).to_string();
        let agent = host.send(Method::POST, "/v1/agents/register", &headers, Some(body)).await;
        let token = host.token_of(&agent.body, "svc.read").await;
        Self { host, address, token }
    }

    async fn call(&self, body: Value) -> Reply {
        let url = format!("{}/v1/capabilities/{BINDING}/call", self.host.url);
        let request = self.host.client.post(url).bearer_auth(&self.token).json(&body);
        Reply::read(request.header("x-forwarded-for", &self.address).send().await.unwrap()).await
    }

    /// Asks for a code of the number and guesses, as long as guesses are counted. Returns their number.
    async fn attack(&self, phone: &str) -> usize {
        self.call(bind(phone)).await;
        let mut guesses = 0;
        loop {
            let reply = self.call(json!({ "action": "verify", "code": "000000" })).await;
            match reply.body["error_code"].as_str() {
                Some("code_invalid") => guesses += 1,
                // The fifth wrong code locks the attempt.
                Some("too_many_attempts") if guesses == 4 => return 5,
                Some("too_many_attempts" | "no_code_sent" | "no_pending_bind") => return guesses,
                other => panic!("{other:?} {}", reply.text),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_gets_in_while_a_hundred_addresses_attack_their_number() {
    let configuration = "rate_limits = \"on\"\ntrusted_proxies = [\"127.0.0.0/8\"]\n";
    let options = Options::with(&["svc_phone_binding", "ledger"]).configuration(configuration);
    let host = Host::start(options).await;
    let mut guesses = 0;
    for number in 1..=60 {
        guesses += Attacker::new(&host, number).await.attack(ADA).await;
    }
    let sent = messages(&host, 1).await.len();
    assert!((1..=5).contains(&sent), "{sent} messages");

    // Nothing is left for the person but the last message, which somebody else has caused.
    let agent = host.agent().await;
    let asked = agent.result(BINDING, bind(ADA)).await;
    assert_eq!(asked["channel"], "link", "{asked:#}");
    let mut person = Person::new(&host);
    let link = link(&host, sent).await;
    let page = person.open(&link).await;
    let page = person.submit_to(&link, &[("form_token", page.form_token.as_str())]).await;
    let approval_code = asked["approval_code"].as_str().unwrap();
    let form_token = page.form_token.as_str();
    let form = [("step", "approve"), ("form_token", form_token), ("approval_code", approval_code)];
    assert_eq!(person.submit_to("/approve", &form).await.heading, "Approved");
    agent.result("ledger", json!({ "action": "open", "account": "ada" })).await;

    for number in 61..=100 {
        guesses += Attacker::new(&host, number).await.attack(ADA).await;
    }
    assert!(guesses <= 10, "{guesses} guesses were checked");
    // The person's entry has allowed one message more.
    assert!(messages(&host, 1).await.len() <= 6);
    assert!(is_claimed(&agent).await);

    // When the attack pauses, a code works again.
    host.advance(3 * HOUR).await;
    let count = messages(&host, 1).await.len();
    let next = host.agent().await;
    let asked = next.result(BINDING, bind(ADA)).await;
    assert_eq!(asked["channel"], "sms", "{asked:#}");
    let code = code(&host, count + 1).await;
    next.result(BINDING, json!({ "action": "verify", "code": code })).await;
}
