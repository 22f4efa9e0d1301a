//! Preferences about events: what is not delivered, what waits, what is summarized, and what always
//! arrives.

use crate::cases::personal::erase;
use crate::harness::{
    Agent, Host, Options, Reply,
    inbox::Reader,
    process::Process,
    relationships::{OWNERS, Person},
    time::{DAY, HOUR, MINUTE},
    webhooks::{accepting_receiver, received_texts},
};
use serde_json::{Value, json};
use std::time::Duration;

const HERALD: &str = "herald";

fn options() -> Options {
    let names = [
        HERALD,
        "owners",
        "social_permissions",
        "social_relationships",
        "svc_events",
        "svc_phone_binding",
        "svc_webhooks",
    ];
    Options::with(&names).configuration(
        "public_url = \"http://portolan.test\"\nreachable_networks = [\"127.0.0.0/8\"]\n",
    )
}

/// Returns the time of the day, in UTC, this much later than now.
fn time_of_day(host: &Host, after: Duration) -> String {
    host.instant_after(after)[11..16].to_owned()
}

/// Returns quiet hours that have begun and last this much longer, to the minute.
fn quiet_for(host: &Host, time: Duration) -> Value {
    let from = time_of_day(host, Duration::ZERO);
    json!({ "from": from, "to": time_of_day(host, time), "time_zone": "UTC" })
}

impl Person<'_> {
    async fn prefer(&self, mut fields: Value) {
        fields["action"] = json!("set_preferences");
        self.agent().result(OWNERS, fields).await;
    }

    async fn in_force(&self) -> Value {
        self.agent().result(OWNERS, json!({ "action": "get_preferences" })).await
    }

    /// Publishes an event with each text for this person.
    async fn is_told(&self, subject: &str, texts: &[&str], rumour: bool) {
        let body = json!({
            "action": "proclaim", "owner": self.id, "subject": subject, "texts": texts,
            "rumour": rumour,
        });
        self.agent().result(HERALD, body).await;
    }

    /// Returns the events of the inbox from the beginning, acknowledged or not.
    async fn events(&self) -> Vec<Value> {
        self.agent().host.wait_until_settled().await;
        let page = self.reader.page("wait=0&cursor=0&limit=100").await;
        page["events"].as_array().unwrap().clone()
    }

    /// Returns the texts of the events of `herald` in the inbox.
    async fn heard(&self) -> Vec<String> {
        let text = |event: &Value| Some(event["data"]["text"].as_str()?.to_owned());
        self.events().await.iter().filter_map(text).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_disabled_or_muted_does_not_reach_the_inbox() {
    let host = Host::start(options()).await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    ada.prefer(json!({ "disabled_events": ["herald.rumoured"] })).await;
    ada.is_told("towns/1", &["a rumour"], true).await;
    ada.is_told("towns/1", &["news"], false).await;
    assert_eq!(ada.heard().await, ["news"]);
    ada.prefer(json!({ "disabled_events": ["herald"] })).await;
    ada.is_told("towns/1", &["more news"], false).await;
    // An event for one of the agents is kept out, too.
    let agent_id = ada.events().await[0]["agentid"].clone();
    let to_agent = json!({
        "action": "proclaim", "agent": agent_id, "subject": "towns/1", "texts": ["to the agent"],
    });
    ada.agent().result(HERALD, to_agent).await;
    ada.prefer(json!({ "disabled_events": [] })).await;
    ada.is_told("towns/1", &["the last news"], false).await;
    assert_eq!(ada.heard().await, ["news", "the last news"]);

    // A mute concerns everything that the other person causes; neither of the two notices it.
    ada.call_ok("mute", &bo.id).await;
    assert_eq!(ada.in_force().await["muted"], 1);
    bo.call_ok("connect", &ada.id).await;
    assert!(ada.relationship_events().await.is_empty());
    ada.call_ok("unmute", &bo.id).await;
    assert_eq!(ada.in_force().await["muted"], 0);
    bo.call_ok("disconnect", &ada.id).await;
    host.advance(DAY).await;
    bo.call_ok("connect", &ada.id).await;
    assert_eq!(ada.relationship_events().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_gets_what_an_inbox_gets() {
    let host = Host::start(options()).await;
    let ada = Person::new(&host).await;
    let server = accepting_receiver().await;
    ada.reader.subscribe(server.port).await;
    ada.prefer(json!({ "disabled_events": ["herald.rumoured"] })).await;
    ada.is_told("towns/1", &["a rumour"], true).await;
    ada.is_told("towns/1", &["news"], false).await;
    host.wait_until_settled().await;
    assert_eq!(received_texts(&server), ["news"]);
    let quiet_hours = quiet_for(&host, HOUR / 2);
    ada.prefer(json!({ "disabled_events": [], "quiet_hours": quiet_hours })).await;
    ada.is_told("towns/1", &["one", "two"], false).await;
    host.wait_until_settled().await;
    assert_eq!(received_texts(&server), ["news"]);
    host.advance(HOUR / 2).await;
    host.wait_until_settled().await;
    assert_eq!(received_texts(&server), ["news", "one", "two"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_removes_what_is_held() {
    let host = Host::start(options()).await;
    let ada = Person::new(&host).await;
    ada.prefer(json!({ "quiet_hours": quiet_for(&host, HOUR) })).await;
    ada.is_told("towns/1", &["canaryheld"], false).await;
    assert_eq!(host.database().texts_found(&["canaryheld"]), ["canaryheld"]);
    assert_eq!(erase(&host, &ada.id).await.status, 200);
    assert_eq!(host.database().texts_found(&["canaryheld"]), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn quiet_hours_hold_events_in_their_order_until_they_end() {
    let host = Host::start(options()).await;
    let ada = Person::new(&host).await;
    ada.prefer(json!({ "quiet_hours": quiet_for(&host, HOUR / 2) })).await;
    ada.is_told("towns/1", &["one", "two"], false).await;
    ada.is_told("towns/2", &["three"], false).await;
    assert!(ada.heard().await.is_empty());
    assert_eq!(ada.in_force().await["held_events"], 4, "with the change of the preferences itself");
    host.advance(HOUR / 2).await;
    ada.is_told("towns/1", &["four"], false).await;
    assert_eq!(ada.heard().await, ["one", "two", "three", "four"]);
    assert_eq!(ada.in_force().await["held_events"], 0);

    // If the quiet hours are removed, what is held is delivered at once; if it is disabled, never.
    ada.prefer(json!({ "quiet_hours": quiet_for(&host, HOUR) })).await;
    ada.is_told("towns/1", &["five"], false).await;
    ada.is_told("towns/1", &["a rumour"], true).await;
    ada.prefer(json!({ "disabled_events": ["herald.rumoured"] })).await;
    assert_eq!(ada.heard().await.len(), 4);
    ada.prefer(json!({ "quiet_hours": null })).await;
    assert_eq!(ada.heard().await, ["one", "two", "three", "four", "five"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn held_events_survive_a_kill() {
    let host = Process::start(options());
    let ada = Person::new(&host).await;
    ada.prefer(json!({ "quiet_hours": quiet_for(&host, HOUR / 2) })).await;
    ada.is_told("towns/1", &["one", "two"], false).await;
    let (token, id) = (ada.agent().token.clone(), ada.id.clone());
    host.signal("KILL");
    let (_, folder) = host.wait();
    let host = Host::start_in(folder).await;
    let reader = Reader { agent: Agent { host: &host, token }, id: String::new() };
    let ada = Person { reader, id };
    assert!(ada.heard().await.is_empty());
    assert_eq!(ada.in_force().await["held_events"], 3);
    host.advance(HOUR / 2).await;
    assert_eq!(ada.heard().await, ["one", "two"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_exceeds_a_cap_is_summarized_by_one_event() {
    let host = Host::start(options()).await;
    let ada = Person::new(&host).await;
    ada.prefer(json!({ "event_caps": [{ "events": "herald", "most": 2, "per": "hour" }] })).await;
    ada.is_told("towns/1", &["one", "two", "three"], false).await;
    ada.is_told("towns/2", &["four"], false).await;
    ada.is_told("towns/2", &["five"], true).await;
    assert_eq!(ada.heard().await, ["one", "two"]);
    assert_eq!(ada.in_force().await["held_events"], 3);
    host.advance(HOUR + MINUTE).await;
    let events = ada.events().await;
    let digests: Vec<_> =
        events.iter().filter(|event| event["type"] == "notifications.digest").collect();
    assert_eq!(digests.len(), 1, "{events:#?}");
    let data = &digests[0]["data"];
    assert_eq!(
        (&data["held"], &data["types"], &data["subjects"]),
        (
            &json!(3),
            &json!([
                { "type": "herald.rumoured", "count": 1 },
                { "type": "herald.told", "count": 2 },
            ]),
            &json!(["towns/1", "towns/2"])
        )
    );
    assert_eq!(ada.in_force().await["held_events"], 0);
    // The next hour begins with the next event.
    ada.is_told("towns/1", &["six"], false).await;
    assert_eq!(ada.heard().await, ["one", "two", "six"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daily_digest_is_delivered_at_its_time() {
    let host = Host::start(options()).await;
    let ada = Person::new(&host).await;
    let at = time_of_day(&host, 3 * HOUR);
    let digest = json!({ "events": ["herald.rumoured"], "at": at, "time_zone": "UTC" });
    ada.prefer(json!({ "event_digest": digest })).await;
    ada.is_told("towns/1", &["a rumour", "another one"], true).await;
    ada.is_told("towns/1", &["news"], false).await;
    assert_eq!(ada.heard().await, ["news"]);
    host.advance(3 * HOUR).await;
    assert_eq!(ada.heard().await, ["news", "a rumour", "another one"]);
    ada.is_told("towns/1", &["a late rumour"], true).await;
    host.advance(DAY).await;
    assert_eq!(ada.heard().await.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn security_notices_are_always_delivered() {
    let host = Host::start(options()).await;
    let ada = Person::new(&host).await;
    let quiet = quiet_for(&host, HOUR);
    let disabled = json!(["identity", "owner", "notifications"]);
    ada.prefer(json!({ "quiet_hours": quiet, "disabled_events": disabled })).await;
    let always = ada.in_force().await["always_delivered"].clone();
    assert!(always.as_array().unwrap().contains(&json!("identity")), "{always}");
    let not_delivered = ada.in_force().await["not_delivered"].clone();
    assert_eq!(not_delivered, json!(["owner", "notifications"]));
    let suspend = json!({ "owner_id": ada.id, "reference": "test", "reason": "A test." });
    let url = format!("{}/capabilities/owners/suspend?test_mode=true", host.admin_url);
    let reply = Reply::read(host.operator.post(url).json(&suspend).send().await.unwrap()).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let types: Vec<_> = ada.events().await.iter().map(|event| event["type"].clone()).collect();
    assert!(types.contains(&json!("identity.suspended")), "{types:?}");
    assert!(!types.contains(&json!("owner.deactivated")), "{types:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn preferences_that_name_no_events_or_no_zone_are_refused() {
    let host = Host::start(options()).await;
    let ada = Person::new(&host).await;
    let digest = json!({ "events": ["herald"], "at": "18:00", "time_zone": "Europe/Atlantis" });
    for (fields, code) in [
        (json!({ "disabled_events": ["Herald!"] }), "validation_failed"),
        (json!({ "disabled_events": ["herld"] }), "validation_failed"),
        (
            json!({ "event_caps": [{ "events": "herald", "most": 0, "per": "hour" }] }),
            "validation_failed",
        ),
        (json!({ "event_digest": digest }), "profile_field_invalid"),
    ] {
        let mut body = fields;
        body["action"] = json!("set_preferences");
        ada.agent().call(OWNERS, body).await.assert_refused(400, code);
    }
    let in_force = ada.in_force().await;
    assert_eq!((&in_force["not_delivered"], &in_force["held_events"]), (&json!([]), &json!(0)));
}
