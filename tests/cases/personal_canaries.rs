//! Random texts that one person leaves with every shipped capability: an export contains each of
//! them. After the erasure, the database, new backups and what is restored from older ones contain
//! none.

use crate::{
    cases::{
        personal::{back_up, erase, export, restore, stop},
        reports, signal_verification as signals,
    },
    harness::{
        Agent, Host, Options, Process, Reply,
        credits::{balance, wait_until},
        database::Database,
        feeds::city,
        inbox::Reader,
        listings::{action_body, room},
        meetings::slot,
        pairings::wanted_room,
        postgres,
        relationships::Person,
    },
};
use rand::RngExt as _;
use serde_json::{Value, json};

const CAPABILITIES: [&str; 20] = [
    "agent_credits",
    "agent_listings",
    "applications",
    "calendar",
    "content_render",
    "conversations",
    "listing_taxonomy",
    "matching_sessions",
    "owner_verification",
    "owners",
    "pairings",
    "reports",
    "saved_searches",
    "signal_verification",
    "social_org",
    "social_permissions",
    "social_relationships",
    "svc_phone_binding",
    "svc_webhooks",
    "thread_meetings",
];

/// The number of test mode with which every agent is claimed for the same person.
const SHARED_NUMBER: &str = "+14155550115";

/// Random words, each with the place where it was left.
#[derive(Default)]
struct Canaries(Vec<(&'static str, String)>);

impl Canaries {
    /// Returns a new word of letters only, because texts with digits can be contact data.
    fn plant(&mut self, place: &'static str) -> String {
        let mut random = rand::rng();
        let letters: String =
            (0..16).map(|_| char::from(random.random_range(b'a'..=b'z'))).collect();
        self.0.push((place, letters.clone()));
        letters
    }

    /// Returns the places whose words satisfy the condition.
    fn places(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<&'static str> {
        self.0.iter().filter(|(_, word)| is_wanted(word)).map(|(place, _)| *place).collect()
    }

    /// Returns the places whose words the database contains.
    fn places_found(&self, database: &Database) -> Vec<&'static str> {
        // A full-text index may store a word without the beginning that it shares
        // with the previous one.
        let ends: Vec<&str> = self.0.iter().map(|(_, word)| &word[4..]).collect();
        let found = database.texts_found(&ends);
        self.places(|word| found.iter().any(|end| end == &word[4..]))
    }
}

fn options() -> Options {
    let settings =
        format!("feeds_dir = {:?}\n[limits]\ncall_wall_time_ms = 30000\n", city().join("feeds"));
    Options::with(&CAPABILITIES).configuration(&settings)
}

/// Registers an agent of test mode with this name.
async fn named_agent<'a>(host: &'a Host, name: &str) -> Agent<'a> {
    let body = json!({ "type": "anonymous", "mode": "test", "agent_name": name });
    let reply = host.client.post(format!("{}/v1/agents/register", host.url)).json(&body);
    let agent = Reply::read(reply.send().await.unwrap()).await.body;
    Agent { host, token: host.token_of(&agent, "svc.read svc.write svc.events").await }
}

async fn agent_id(agent: &Agent<'_>) -> Value {
    let agents = agent.result("owners", json!({ "action": "list_agents" })).await;
    let agents = agents["items"].as_array().unwrap().iter();
    let own = agents.into_iter().find(|agent| agent["this_agent"] == true).unwrap();
    own["agent_id"].clone()
}

/// Creates Ada, with a profile, a named agent, and one that she has revoked.
async fn create_ada<'a>(host: &'a Host, canaries: &mut Canaries) -> Person<'a> {
    let reader = Reader { agent: host.test_agent().await, id: String::new() };
    let agent = &reader.agent;
    let id = agent.claim(SHARED_NUMBER).await.as_str().unwrap().to_owned();
    // The welcome credits go to the first agent whose claim is delivered.
    wait_until(async || balance(&reader).await["version"] != 0).await;
    let revoked = named_agent(host, &canaries.plant("name of a revoked agent")).await;
    assert_eq!(revoked.claim(SHARED_NUMBER).await, json!(id));
    let revoke = json!({ "action": "revoke_agent", "agent_id": agent_id(&revoked).await });
    agent.result("owners", revoke).await;
    let rename = json!({
        "action": "rename_agent", "agent_id": agent_id(agent).await,
        "name": canaries.plant("name of an agent"),
    });
    agent.result("owners", rename).await;
    agent.result("owners", json!({ "action": "deactivate" })).await;
    let back = json!({ "action": "reactivate", "reason": canaries.plant("reason of a return") });
    agent.result("owners", back).await;
    let profile = json!({
        "action": "update_profile", "birth_year": 1990,
        "display_name": canaries.plant("display name"),
        "headline": canaries.plant("headline"),
        "bio_md": canaries.plant("biography"),
        "city": canaries.plant("city"),
        "links": [format!("https://{}.example/", canaries.plant("link"))],
        "idempotency_key": canaries.plant("idempotency key"),
    });
    agent.result("owners", profile).await;
    Person { reader, id }
}

async fn create_bo(host: &Host) -> Person<'_> {
    let bo = Person::new(host).await;
    let born = json!({ "action": "update_profile", "birth_year": 1990, "display_name": "Bo" });
    bo.agent().result("owners", born).await;
    bo
}

impl Person<'_> {
    /// Makes a call with an idempotency key, so that its answer is stored.
    async fn call_with_key(&self, capability: &str, mut body: Value) -> Value {
        let number: u64 = rand::rng().random();
        body["idempotency_key"] = json!(format!("{capability} {number}"));
        self.agent().result(capability, body).await
    }

    async fn new_listing(&self, listing: Value) -> String {
        let listing = self.agent().result("agent_listings", action_body("create", &listing)).await;
        listing["listing_id"].as_str().unwrap().to_owned()
    }
}

/// Creates listings and a pairing with messages. Returns the id of the conversation.
async fn leave_pairing(ada: &Person<'_>, bo: &Person<'_>, canaries: &mut Canaries) -> String {
    let mut offer = room(json!({
        "title": canaries.plant("title of a listing"),
        "description": canaries.plant("description of a listing"),
    }));
    offer["place"]["label"] = json!(canaries.plant("label of a place"));
    let offer = ada.new_listing(offer).await;
    let gone = ada.new_listing(room(json!({ "title": canaries.plant("withdrawn listing") }))).await;
    let withdraw = json!({ "action": "withdraw", "listing_id": gone });
    ada.agent().result("agent_listings", withdraw).await;
    let search = bo.new_listing(wanted_room()).await;
    let session = json!({ "action": "create", "listing_id": search });
    bo.call_with_key("matching_sessions", session).await;

    let propose = json!({
        "action": "propose", "from_listing_id": offer, "to_listing_id": search,
        "message": canaries.plant("message of a proposal"),
    });
    let pairing = ada.agent().result("pairings", propose).await["pairing_id"].clone();
    let ask = json!({
        "action": "reply", "pairing_id": pairing, "decision": "ask", "message": "From when?",
    });
    bo.call_with_key("pairings", ask).await;
    let answer = json!({
        "action": "message", "pairing_id": pairing,
        "message": canaries.plant("answer before a connection"),
    });
    ada.agent().result("pairings", answer).await;
    let accept = json!({ "action": "reply", "pairing_id": pairing, "decision": "accept" });
    let thread_id = bo.call_with_key("pairings", accept).await["thread_id"].clone();
    let report = json!({ "subject_id": pairing, "reason": "other", "text": "See for yourself." });
    bo.call_reports_ok("create", report).await;
    thread_id.as_str().unwrap().to_owned()
}

/// Sends messages, edits one, and makes meetings with a text in every field that has one.
async fn leave_messages(
    ada: &Person<'_>,
    bo: &Person<'_>,
    thread_id: &str,
    canaries: &mut Canaries,
) {
    let send = json!({
        "thread_id": thread_id, "text": canaries.plant("message"),
        "client_msg_id": "first",
    });
    let message = ada.call_thread_ok("send", send).await;
    let edited = ada.send_message(thread_id, "What was written first").await;
    let edit = json!({
        "message_id": edited["message_id"], "text": canaries.plant("edited message"),
    });
    ada.call_thread_ok("edit", edit).await;
    let report = json!({ "subject_id": message["message_id"], "reason": "scam", "text": "See for yourself." });
    let report = bo.call_reports_ok("create", report).await["report_id"].clone();
    let decision = json!({
        "report_id": report, "outcome": "actioned", "explanation": "It was looked at.",
        "measure": "warned", "ground": "rules", "basis": "The rules",
    });
    reports::operate_ok(ada.agent().host, "triage", json!({ "report_id": report })).await;
    reports::operate_ok(ada.agent().host, "decide", decision).await;
    let appeal = json!({ "report_id": report, "text": canaries.plant("appeal") });
    ada.call_reports_ok("appeal", appeal).await;

    let mut propose = json!({
        "action": "propose", "thread_id": thread_id, "title": canaries.plant("title of a meeting"),
        "duration_min": 30, "slots": [slot(0), slot(60)], "time_zone": "UTC",
        "location": { "kind": "place", "text": canaries.plant("location of a meeting") },
    });
    let meeting = ada.agent().result("thread_meetings", propose.clone()).await;
    let about = |more: Value| {
        let mut body = json!({ "meeting_id": meeting["meeting_id"] });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    bo.call_meeting_ok("counter", about(json!({ "slots": [slot(120)] }))).await;
    ada.call_meeting_ok("decline_counter", about(json!({ "reason": "Too late" }))).await;
    bo.accept_ok(&bo.meeting(&meeting).await, 0).await;
    let report = json!({
        "subject_id": meeting["meeting_id"], "reason": "other", "text": "See for yourself.",
    });
    bo.call_reports_ok("create", report).await;

    propose["title"] = json!("A second look");
    propose["slots"] = json!([slot(600)]);
    propose.as_object_mut().unwrap().remove("location");
    let other = bo.call_with_key("thread_meetings", propose.clone()).await;
    let counter = json!({
        "meeting_id": other["meeting_id"], "slots": [slot(660)],
        "note": canaries.plant("note of a counter"),
    });
    ada.call_meeting_ok("counter", counter).await;

    propose["slots"] = json!([slot(1_200)]);
    let third = bo.agent().result("thread_meetings", propose).await;
    let decline = json!({
        "meeting_id": third["meeting_id"], "reason": canaries.plant("reason of a cancellation"),
    });
    ada.call_meeting_ok("cancel", decline).await;
}

/// Leaves what a person keeps for themselves, and what they tell the operator and the public.
async fn leave_private_data(ada: &Person<'_>, bo: &Person<'_>, canaries: &mut Canaries) {
    let call = async |capability: &str, body: Value| ada.agent().result(capability, body).await;
    let block = json!({
        "action": "add_block", "start": "2027-01-04T09:00:00Z", "end": "2027-01-04T10:00:00Z",
        "label": canaries.plant("label of a block"),
    });
    call("calendar", block).await;
    let ics = format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\nBEGIN:VEVENT\r\nUID:{}\r\n\
         DTSTAMP:20261101T120000Z\r\nDTSTART:20270105T090000Z\r\nDTEND:20270105T100000Z\r\n\
         SUMMARY:{}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
        canaries.plant("id of an imported event"),
        canaries.plant("title of an imported event"),
    );
    call("calendar", json!({ "action": "import_ics", "ics": ics })).await;
    let note = json!({ "action": "note", "owner_id": bo.id, "text": canaries.plant("note") });
    call("social_relationships", note).await;
    let search = json!({
        "action": "create", "name": canaries.plant("name of a saved search"),
        "query": { "q": canaries.plant("words of a saved search") },
    });
    call("saved_searches", search).await;
    let webhook = json!({
        "action": "create", "url": format!("https://{}.example/", canaries.plant("webhook")),
        "description": canaries.plant("description of a webhook"),
    });
    call("svc.webhooks", webhook).await;
    let report = json!({
        "subject_id": bo.id, "reason": "other", "text": canaries.plant("report"),
    });
    ada.call_reports_ok("create", report).await;

    let org = json!({
        "action": "create", "name": canaries.plant("name of an organisation"), "kind": "company",
        "domain": format!("{}.example", canaries.plant("domain of an organisation")),
    });
    let org = call("social_org", org).await["org_id"].clone();
    let invite =
        json!({ "action": "invite_member", "org_id": org, "owner_id": bo.id, "role": "recruiter" });
    call("social_org", invite).await;
    let report = json!({ "subject_id": org, "reason": "other", "text": "See for yourself." });
    bo.call_reports_ok("create", report).await;

    let (signal, target) = signals::signal("hiring", "lead");
    let enquiry = json!({
        "action": "enquire", "purpose": "contact", "target_id": target,
        "message": canaries.plant("message of an enquiry"),
    });
    call("applications", enquiry).await;
    let mut evidence = signals::submission(&signal, "https://paper.example/");
    evidence["note"] = json!(canaries.plant("note of evidence"));
    call(signals::SIGNALS, evidence).await;
    let appoint = json!({ "target_id": target, "owner_id": ada.id, "note": "A letter was seen." });
    signals::operate_ok(ada.agent().host, "appoint", appoint).await;
    let mut dispute = signals::signal_action("dispute", &signal);
    dispute["reason"] = json!(canaries.plant("reason of a dispute"));
    call(signals::SIGNALS, dispute).await;
}

/// Plants the words, and returns them with the ids of Ada and Bo, and of Bo's organisation.
async fn plant_everywhere(host: &Host) -> (Canaries, String, String, Value) {
    let mut canaries = Canaries::default();
    let (ada, bo) = (create_ada(host, &mut canaries).await, create_bo(host).await);
    let thread_id = leave_pairing(&ada, &bo, &mut canaries).await;
    leave_messages(&ada, &bo, &thread_id, &mut canaries).await;
    leave_private_data(&ada, &bo, &mut canaries).await;
    let org = json!({ "action": "create", "name": "Copperleaf", "kind": "company" });
    let org = bo.agent().result("social_org", org).await["org_id"].clone();
    let invite =
        json!({ "action": "invite_member", "org_id": org, "owner_id": ada.id, "role": "admin" });
    bo.agent().result("social_org", invite).await;
    let join = json!({ "action": "respond_invite", "org_id": org, "decision": "accept" });
    assert_eq!(ada.agent().result("social_org", join).await["members_count"], 2);
    (canaries, ada.id, bo.id, org)
}

const NOWHERE: [&str; 0] = [];

async fn check_erasure(options: Options) {
    let host = Process::start(options);
    let (canaries, ada, bo, org) = plant_everywhere(&host).await;
    assert!(canaries.0.len() >= 30, "{}", canaries.0.len());
    let everywhere = canaries.places(|_| true);
    assert_eq!(canaries.places_found(&host.database()), everywhere, "every word is found at first");
    let events = host.database().texts("SELECT data FROM events").await.join("\n");
    assert_eq!(canaries.places(|word| events.contains(word)), NOWHERE, "events have no texts");

    let exported = export(&host, &ada).await;
    assert_eq!(exported.status, 200, "{}", exported.text);
    assert_eq!(canaries.places(|word| !exported.text.contains(word)), NOWHERE, "{}", exported.text);
    let theirs = export(&host, &bo).await.text;
    let personal = ["note", "report", "appeal", "label of a block", "webhook", "idempotency key"];
    let places_read = canaries.places(|word| theirs.contains(word));
    assert!(!places_read.iter().any(|place| personal.contains(place)), "{places_read:?}");
    back_up(host.folder.path(), "old");

    let erased = erase(&host, &ada).await;
    assert_eq!(erased.status, 200, "{}", erased.text);
    assert_eq!(canaries.places_found(&host.database()), NOWHERE);
    assert_eq!(host.database().texts_found(&[&ada]), Vec::<String>::new());
    back_up(host.folder.path(), "new");
    let get = json!({ "action": "get", "org_id": org });
    let seen = host.test_agent().await.result("social_org", get).await;
    assert_eq!(seen["members_count"], 1, "{seen:#}");

    let folder = stop(host);
    for (backup, holds) in [("new", &[][..]), ("old", &everywhere[..])] {
        restore(folder.path(), backup);
        assert_eq!(canaries.places_found(&Database::of(folder.path())), holds, "{backup}");
    }
    let host = Process::start_in(folder);
    assert_eq!(
        canaries.places_found(&host.database()),
        NOWHERE,
        "after the restored backup is opened"
    );
    assert_eq!(host.database().texts_found(&[&ada]), Vec::<String>::new());
    assert_eq!(export(&host, &ada).await.status, 404);
    assert_eq!(export(&host, &bo).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_leaves_none_of_a_persons_texts_in_sqlite() {
    check_erasure(options()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_leaves_none_of_a_persons_texts_in_postgresql() {
    check_erasure(options().postgres(&postgres::database().await)).await;
}
