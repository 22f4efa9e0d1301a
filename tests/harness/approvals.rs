//! A person who limits what their agent does alone, and decides on their account page.

use crate::{
    cases::account_pages::{Form, form, forms},
    harness::{
        Agent, Host, PATIENCE, Reply,
        inbox::Reader,
        oauth::{
            ADA, allow, challenge, parameters, post, public_client, query, redemption, text,
            with_parameter,
        },
        person::{Page, Person},
    },
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

pub const APPROVALS: &str = "approvals";
pub const PAGE: &str = "/account/approvals";
const SCOPES: &str = "svc.read svc.write svc.events";
const APPROVE: &str = "Approve";
const DENY: &str = "Deny";

/// A person at a browser, and an agent that acts for them.
pub struct Limited<'a> {
    pub browser: Person<'a>,
    pub reader: Reader<'a>,
    pub client: String,
    refresh_token: String,
}

impl<'a> Limited<'a> {
    /// Returns a person whose agent is a client that they have allowed.
    pub async fn new(host: &'a Host) -> Self {
        let client = public_client(host).await;
        let mut browser = Person::new(host);
        let challenge = challenge();
        let parameters = with_parameter(&parameters(&client, &challenge), "scope", Some(SCOPES));
        let page = browser.sign_in(&query(&parameters), ADA).await;
        let code = allow(&mut browser, &page).await;
        let granted = post(host, "/oauth/token", &redemption(&client, &code), None).await.body;
        let token = text(&granted, "access_token").to_owned();
        let refresh_token = text(&granted, "refresh_token").to_owned();
        let agent = Agent { host, token };
        let id = text(&agent.result("svc.whoami", json!({})).await, "agent_id").to_owned();
        Self { browser, reader: Reader { agent, id }, client, refresh_token }
    }

    pub fn agent(&self) -> &Agent<'a> {
        &self.reader.agent
    }

    /// Gets another token, after the first one has expired.
    pub async fn renew(&mut self) {
        let form = [
            ("grant_type", "refresh_token"),
            ("client_id", &self.client),
            ("refresh_token", &self.refresh_token),
        ];
        let granted = post(self.agent().host, "/oauth/token", &form, None).await.body;
        self.reader.agent.token = text(&granted, "access_token").to_owned();
        self.refresh_token = text(&granted, "refresh_token").to_owned();
    }

    /// Lets the agent act alone in these categories only.
    pub async fn allow_alone(&mut self, categories: &[&str]) -> Page {
        self.limit(|form| {
            let form = CATEGORIES
                .iter()
                .fold(form, |form, name| form.without(&format!("field.alone.{name}")));
            categories
                .iter()
                .fold(form, |form, name| form.with(&format!("field.alone.{name}"), "on"))
        })
        .await
    }

    /// Sends the form of the policy after a change.
    pub async fn limit(&mut self, change: impl FnOnce(Form) -> Form) -> Page {
        let page = self.browser.open(PAGE).await;
        let page = change(form(&page, "Limit my agents")).submit(&mut self.browser, PAGE).await;
        assert_eq!(page.reply.status, 200, "{}", page.reply.text);
        page
    }

    /// Lets the agent do everything alone again.
    pub async fn end_limits(&mut self) {
        let page = self.browser.open(PAGE).await;
        let end = form(&page, "Let my agents do everything alone").with("agreed", "on");
        let page = end.submit(&mut self.browser, PAGE).await;
        assert_eq!(page.reply.status, 200, "{}", page.reply.text);
    }

    /// Makes a call that must wait, and returns the approval's id.
    pub async fn waits(&self, capability: &str, body: Value) -> String {
        waiting_id(&self.agent().call(capability, body).await)
    }

    /// Returns the page on which the person decides.
    pub async fn page(&mut self) -> Page {
        self.browser.open(PAGE).await
    }

    /// Approves the only waiting call.
    pub async fn approve(&mut self) -> Page {
        let page = self.page().await;
        assert_eq!(forms(&page, APPROVE).len(), 1, "{}", page.reply.text);
        let page = form(&page, APPROVE).with("agreed", "on").submit(&mut self.browser, PAGE).await;
        assert_eq!(page.reply.status, 200, "{}", page.reply.text);
        page
    }

    /// Denies the only waiting call.
    pub async fn deny(&mut self) {
        let page = self.page().await;
        assert_eq!(forms(&page, DENY).len(), 1, "{}", page.reply.text);
        let page = form(&page, DENY).submit(&mut self.browser, PAGE).await;
        assert_eq!(page.reply.status, 200, "{}", page.reply.text);
    }

    pub async fn get(&self, approval_id: &str) -> Value {
        let body = json!({ "action": "get", "approval_id": approval_id });
        self.agent().result(APPROVALS, body).await
    }

    /// Waits until the call has ended, and returns it.
    pub async fn ended(&self, approval_id: &str) -> Value {
        let started = Instant::now();
        loop {
            let approval = self.get(approval_id).await;
            if !["waiting", "approved"].contains(&text(&approval, "state")) {
                return approval;
            }
            assert!(started.elapsed() < PATIENCE, "{approval:#}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Returns the approval events in the agent's inbox, each with its type, approval and state.
    pub async fn events(&self) -> Vec<(String, String, String)> {
        self.agent().host.wait_until_settled().await;
        let page = self.reader.page("wait=0&cursor=0&limit=100").await;
        let events = page["events"].as_array().unwrap().iter();
        let event = |event: &Value| {
            let event_type = text(event, "type");
            let resource = &event["data"]["resource"];
            event_type.starts_with("approval.").then(|| {
                let (id, state) = (text(resource, "id"), text(resource, "state"));
                (event_type.to_owned(), id.to_owned(), state.to_owned())
            })
        };
        events.filter_map(event).collect()
    }
}

const CATEGORIES: [&str; 9] = [
    "proposal",
    "message",
    "meeting",
    "application",
    "introduction",
    "publication",
    "payment",
    "account",
    "own",
];

/// Returns the approval that a refused call waits for.
pub fn waiting_id(reply: &Reply) -> String {
    reply.assert_refused(403, "approval_required");
    assert_eq!(reply.body["conflict"]["kind"], "approval", "{}", reply.text);
    text(&reply.body["conflict"], "approval_id").to_owned()
}
