//! Reports, the decisions on them, appeals, and the events about them.

use crate::cases::personal::{erase, export};
use crate::harness::time::DAY;
use crate::harness::{
    Host, Options, Reply,
    conversations::open_thread,
    feeds::city,
    listings::{Lister, action_body},
    next_steps::FollowedSteps,
    relationships::Person,
};
use portolan_feeds::publish::documents;
use serde_json::{Value, json};

pub const REPORTS: &str = "reports";
const NAMES: [&str; 6] = [
    REPORTS,
    "conversations",
    "owners",
    "social_permissions",
    "social_relationships",
    "svc_phone_binding",
];

/// Starts a host with the invented city. The time limit is long, because many
/// components start at once.
pub async fn host(more: &[&str]) -> Host {
    let configuration =
        format!("feeds_dir = {:?}\n[limits]\ncall_wall_time_ms = 20000\n", city().join("feeds"));
    Host::start(Options::with(&[&NAMES, more].concat()).configuration(&configuration)).await
}

pub fn published_items(file: &str, list: &str) -> Vec<Value> {
    let document = documents(&city().join("feeds")).unwrap()[file].clone();
    let document: Value = serde_json::from_slice(&document).unwrap();
    document[list].as_array().unwrap().clone()
}

/// Runs an internal action as the operator, in test mode.
async fn operate(host: &Host, action: &str, input: Value) -> Reply {
    let url = format!("{}/capabilities/{REPORTS}/{action}?test_mode=true", host.admin_url);
    Reply::read(host.operator.post(url).json(&input).send().await.unwrap()).await
}

pub async fn operate_ok(host: &Host, action: &str, input: Value) -> Value {
    let reply = operate(host, action, input).await;
    assert_eq!(reply.status, 200, "{action}: {}", reply.text);
    reply.body["result"].clone()
}

/// Returns a decision with its reasons.
fn decision(report_id: &str, outcome: &str) -> Value {
    let mut decision = json!({
        "report_id": report_id, "outcome": outcome, "explanation": "It was looked at with care.",
    });
    if outcome == "actioned" {
        decision["measure"] = json!("warned");
        decision["ground"] = json!("rules");
        decision["basis"] = json!("The page safety-and-fairness, section Report");
    }
    decision
}

/// Returns the decision on an appeal. If it overturns a dismissal, it names a measure like an
/// `actioned` one.
fn ruling(report_id: &str, outcome: &str, was_dismissed: bool) -> Value {
    let done = outcome == "overturned" && was_dismissed;
    let mut ruling = decision(report_id, if done { "actioned" } else { outcome });
    ruling["outcome"] = json!(outcome);
    ruling
}

impl Person<'_> {
    pub async fn call_reports(&self, action: &str, fields: Value) -> Reply {
        self.agent().call(REPORTS, action_body(action, &fields)).await
    }

    pub async fn call_reports_ok(&self, action: &str, fields: Value) -> Value {
        self.agent().result(REPORTS, action_body(action, &fields)).await
    }

    /// Makes a report and returns its id.
    pub async fn create_report(&self, subject_id: &str, reason: &str) -> String {
        let body =
            json!({ "subject_id": subject_id, "reason": reason, "text": "See for yourself." });
        let report = self.call_reports_ok("create", body).await;
        assert_eq!(report["state"], "open");
        report["report_id"].as_str().unwrap().to_owned()
    }

    async fn appeal(&self, report_id: &str) -> Reply {
        let body = json!({ "report_id": report_id, "text": "Look at it again, please." });
        self.call_reports("appeal", body).await
    }

    async fn report(&self, report_id: &str) -> Value {
        self.call_reports_ok("get", json!({ "report_id": report_id })).await
    }

    /// Returns the data of the events about reports so far.
    async fn report_updates(&self) -> Vec<Value> {
        let page = self.reader.page("wait=0&cursor=0&types=report.updated").await;
        page["events"].as_array().unwrap().iter().map(|event| event["data"].clone()).collect()
    }
}

/// Returns the state in each event of a report, and the role in which the person gets it.
fn event_states(events: &[Value]) -> Vec<(&str, &str)> {
    let states = events.iter().map(|event| event["resource"]["state"].as_str().unwrap());
    states.zip(events.iter().map(|event| event["role"].as_str().unwrap())).collect()
}

/// Brings an open report into a state.
async fn bring_to_state(host: &Host, ada: &Person<'_>, report_id: &str, state: &str) {
    let triage = json!({ "report_id": report_id });
    let (acts, more) = match state {
        "open" => return,
        "triaged" => return drop(operate_ok(host, "triage", triage).await),
        "actioned" => ("actioned", None),
        "dismissed" => ("dismissed", None),
        "appealed" => ("dismissed", Some(None)),
        ruled => ("dismissed", Some(Some(ruled))),
    };
    operate_ok(host, "triage", triage).await;
    operate_ok(host, "decide", decision(report_id, acts)).await;
    let Some(ruled) = more else { return };
    assert_eq!(ada.appeal(report_id).await.status, 200);
    if let Some(ruled) = ruled {
        operate_ok(host, "decide_appeal", ruling(report_id, ruled, true)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_action_in_every_state_by_either_side() {
    let host = host(&[]).await;
    let mut followed = FollowedSteps::default();
    let table = host.get(&format!("/v1/capabilities/{REPORTS}/schema")).await.body;
    let table = &table["x-state-machines"][0];
    let states: Vec<String> = serde_json::from_value(table["states"].clone()).unwrap();
    let rows = table["transitions"].as_array().unwrap();
    let leads = |state: &str, action: &str, role: &str| {
        rows.iter().any(|row| {
            row["action"] == action
                && row["from"].as_array().unwrap().iter().any(|from| from == state)
                && (row["role"].is_null() || row["role"] == role)
        })
    };
    let tries = [
        ("triage", ""),
        ("decide", ""),
        ("decide_appeal", ""),
        ("appeal", "reporter"),
        ("appeal", "affected"),
    ];
    let mut allowed = 0;
    for state in &states {
        for (action, role) in tries {
            let (ada, ben) = (Person::new(&host).await, Person::new(&host).await);
            let id = ada.create_report(&ben.id, "abuse").await;
            bring_to_state(&host, &ada, &id, state).await;
            let reply = match action {
                "triage" => operate(&host, action, json!({ "report_id": id })).await,
                "decide" => operate(&host, action, decision(&id, "dismissed")).await,
                "decide_appeal" => operate(&host, action, ruling(&id, "upheld", true)).await,
                _ if role == "affected" => ben.appeal(&id).await,
                _ => ada.appeal(&id).await,
            };
            assert_eq!(followed.follow(ada.agent(), &reply).await, None);
            // Ben knows of the report only if something was done against him.
            let unknown = role == "affected" && !["actioned", "overturned"].contains(&&**state);
            match (leads(state, action, role), unknown) {
                (true, _) => assert_eq!(reply.status, 200, "{action} {state}: {}", reply.text),
                (false, true) => reply.assert_refused(404, "report_not_found"),
                (false, false) if state == "actioned" && action == "appeal" => {
                    reply.assert_refused(403, "not_permitted");
                }
                (false, false) => {
                    reply.assert_refused(409, "invalid_transition");
                    assert_eq!(reply.body["conflict"]["current"], **state);
                }
            }
            allowed += usize::from(reply.status == 200);
        }
    }
    assert_eq!(allowed, 5, "the number of rows of the table for existing reports");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_goes_from_a_map_record_to_a_decision_in_the_inbox() {
    let host = host(&["handoff_resolve"]).await;
    let ada = Person::new(&host).await;
    let contracts = published_items("hi-handoff-manifest.json", "items");
    let contract = contracts.iter().find(|contract| contract["intent"] == "correct_data").unwrap();
    let target = published_items("sf-live-targets.json", "features").remove(0);
    let resolve = json!({
        "action": "resolve", "handoff_id": contract["id"], "record_id": target["id"],
    });
    let resolved = ada.agent().result("handoff_resolve", resolve).await;
    let redeem = json!({ "action": "redeem", "token": resolved["token"] });
    let redeemed = ada.agent().call("handoff_resolve", redeem).await;
    let next = &redeemed.body["next"];
    assert_eq!((&next["capability"], &next["missing"]), (&json!(REPORTS), &json!(["text"])));
    let mut body = next["input"].clone();
    body["text"] = json!("They moved to Oakland in May: call +1 415 555 0100 and ask.");
    let report = ada.agent().result(REPORTS, body.clone()).await;
    assert_eq!(
        (&report["state"], &report["reason"], &report["subject"], &report["role"]),
        (&json!("open"), &json!("incorrect_data"), &json!("target"), &json!("reporter"))
    );
    let id = report["report_id"].as_str().unwrap();

    let again = ada.agent().call(REPORTS, body).await;
    again.assert_refused(409, "report_exists");
    assert_eq!(again.body["conflict"]["existing_id"], report["report_id"]);
    let next = again.body["next"]["input"].clone();
    assert_eq!(ada.agent().result(REPORTS, next).await, report);

    let waiting = operate_ok(&host, "waiting", json!({ "subject_id": target["id"] })).await;
    let case = &waiting["items"][0];
    assert_eq!((&case["report_id"], &case["owner_id"]), (&report["report_id"], &json!(ada.id)));
    let name = target["properties"]["name"].as_str().unwrap();
    assert!(case["said"].as_str().unwrap().starts_with(name), "{case:#}");
    let triage = json!({ "report_id": id, "note": "Ask the company.", "expected_version": 1 });
    let triaged = operate_ok(&host, "triage", triage.clone()).await;
    assert_eq!(
        (&triaged["state"], &triaged["note"]),
        (&json!("triaged"), &json!("Ask the company."))
    );
    operate(&host, "triage", triage).await.assert_refused(409, "version_conflict");
    let decide = json!({
        "report_id": id, "outcome": "actioned", "measure": "corrected", "ground": "accuracy",
        "basis": "The company's own page", "explanation": "The address was that of last year.",
    });
    operate_ok(&host, "decide", decide).await;

    let events = ada.report_updates().await;
    assert_eq!(event_states(&events), [("triaged", "reporter"), ("actioned", "reporter")]);
    let report = ada.call_next_step(&events[1]["next"]).await;
    let decision = &report["decision"];
    assert_eq!(
        (&decision["measure"], &decision["ground"]),
        (&json!("corrected"), &json!("accuracy"))
    );
    assert_eq!(decision["automated"], false);
    assert!(decision["redress"].as_str().unwrap().contains("courts"));
    assert_eq!(report["allowed_actions"], json!([]));
    assert!(!report.to_string().contains("Ask the company"), "{report:#}");
    let waiting = operate_ok(&host, "waiting", json!({})).await;
    assert_eq!(waiting["items"], json!([]));
    // A subject may be reported again after a decision.
    let again = ada.create_report(target["id"].as_str().unwrap(), "incorrect_data").await;
    let waiting = operate_ok(&host, "look", json!({ "report_id": again })).await;
    assert_eq!(waiting["about_it"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reported_person_learns_the_reasons_but_not_the_reporter() {
    let host = host(&[]).await;
    let (ada, ben) = (Person::new(&host).await, Person::new(&host).await);
    let thread = open_thread(&host, &[&ada, &ben]).await;
    let message = ben.send_message(&thread, "Send me the code that you got, quickly.").await;
    let message_id = message["message_id"].as_str().unwrap();
    let id = ada.create_report(message_id, "scam").await;
    assert_ne!(id[4..9], message_id[4..9], "the report's id does not begin with its instant");
    ben.call_thread_ok("retract", json!({ "message_id": message_id })).await;
    let case = operate_ok(&host, "look", json!({ "report_id": id })).await;
    assert_eq!(case["subject_owner_id"], json!(ben.id));
    assert_eq!(case["said"], "Send me the code that you got, quickly.");

    let get = json!({ "report_id": id });
    operate_ok(&host, "triage", get.clone()).await;
    ben.call_reports("get", get.clone()).await.assert_refused(404, "report_not_found");
    assert_eq!(ben.report_updates().await, Vec::<Value>::new());
    operate_ok(&host, "decide", decision(&id, "actioned")).await;

    let updates = ben.report_updates().await;
    assert_eq!(event_states(&updates), [("actioned", "affected")]);
    let seen = ben.call_next_step(&updates[0]["next"]).await;
    assert_eq!((&seen["role"], &seen["allowed_actions"]), (&json!("affected"), &json!(["appeal"])));
    assert_eq!(seen["decision"]["explanation"], "It was looked at with care.");
    for field in ["reason", "text", "created_at"] {
        assert_eq!(seen[field], Value::Null, "{field}");
    }
    let listed = ben.call_reports_ok("list_mine", json!({ "role": "affected" })).await;
    assert_eq!(listed["items"], json!([seen]));
    assert_eq!(ben.call_reports_ok("list_mine", json!({})).await["items"], json!([]));
    for text in [listed.to_string(), json!(updates).to_string()] {
        assert!(!text.contains(&ada.id) && !text.contains("See for yourself"), "{text}");
    }

    ada.appeal(&id).await.assert_refused(403, "not_permitted");
    let appealed = ben.appeal(&id).await;
    assert_eq!(appealed.body["result"]["appeal"]["text"], "Look at it again, please.");
    let seen = ada.report(&id).await;
    assert_eq!(
        (&seen["appeal"]["by"], &seen["appeal"]["text"]),
        (&json!("affected"), &Value::Null)
    );
    let waiting = operate_ok(&host, "waiting", json!({ "state": ["appealed"] })).await;
    assert_eq!(waiting["items"][0]["appeal"]["text"], "Look at it again, please.");
    operate_ok(&host, "decide_appeal", ruling(&id, "overturned", false)).await;
    let steps_of = async |person: &Person<'_>| {
        let updates = person.report_updates().await;
        event_states(&updates).into_iter().map(|(state, _)| state.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(steps_of(&ada).await, ["triaged", "actioned", "appealed", "overturned"]);
    assert_eq!(steps_of(&ben).await, ["actioned", "appealed", "overturned"]);
    assert_eq!(ben.report(&id).await["ruling"]["measure"], Value::Null);
    let exported = export(&host, &ben.id).await.body["documents"].clone();
    let reports = exported.as_array().unwrap().iter();
    let reports: Vec<_> = reports.filter(|found| found["collection"] == "reports").collect();
    assert_eq!(reports.len(), 1, "{exported:#}");
    assert!(!reports[0].to_string().contains(&ada.id), "{reports:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_measure_needs_a_basis_and_an_appeal_has_a_deadline() {
    let host = host(&[]).await;
    let (ada, ben) = (Person::new(&host).await, Person::new(&host).await);
    let id = ada.create_report(&ben.id, "spam").await;
    operate_ok(&host, "triage", json!({ "report_id": id })).await;
    let mut groundless = decision(&id, "actioned");
    groundless["basis"] = Value::Null;
    let refused = operate(&host, "decide", groundless).await;
    refused.assert_refused(400, "validation_failed");
    assert_eq!(refused.body["conflict"]["errors"][0]["pointer"], "/basis");
    let mut needless = decision(&id, "dismissed");
    needless["measure"] = json!("removed");
    operate(&host, "decide", needless).await.assert_refused(400, "validation_failed");
    let mut naming = decision(&id, "dismissed");
    naming["explanation"] = json!("Write to ada@portolan.example about it.");
    operate(&host, "decide", naming).await.assert_refused(422, "contact_in_text");
    operate_ok(&host, "decide", decision(&id, "dismissed")).await;
    let until = ada.report(&id).await["appeal_until"].as_str().unwrap().parse::<jiff::Timestamp>();
    let days = until.unwrap().duration_since(jiff::Timestamp::now()).as_hours() / 24;
    assert!((183..=184).contains(&days), "{days}");

    host.advance(184 * DAY).await;
    assert_eq!(ada.report(&id).await["allowed_actions"], json!([]));
    let late = ada.appeal(&id).await;
    late.assert_refused(409, "appeal_window_passed");
    assert_eq!(FollowedSteps::default().follow(ada.agent(), &late).await, None);
    ben.call_reports("get", json!({ "report_id": id }))
        .await
        .assert_refused(404, "report_not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_outlives_its_listing_without_the_listings_id() {
    let host = host(&["agent_listings", "content_render", "listing_taxonomy", "social_org"]).await;
    let (ada, bo) = (Person::new(&host).await, Lister::new(&host).await);
    let listing = bo.create_listing(json!({})).await;
    let report = json!({
        "action": "create", "subject_id": listing, "reason": "scam", "text": "It asks for money.",
    });
    let report_id = ada.agent().result(REPORTS, report).await["report_id"].clone();
    host.wait_until_settled().await;
    assert_eq!(erase(&host, &bo.id).await.status, 200);
    let get = json!({ "action": "get", "report_id": report_id });
    let kept = ada.agent().result(REPORTS, get).await;
    assert_eq!(
        (&kept["subject_id"], &kept["subject"], &kept["state"], &kept["text"]),
        (&json!(""), &json!("listing"), &json!("open"), &json!("It asks for money."))
    );
    let left = format!(
        "SELECT id FROM documents WHERE body LIKE '%{listing}%' OR (id LIKE '%{listing}%' AND body IS NOT NULL)"
    );
    assert_eq!(host.database().texts(&left).await, [""; 0]);
}
