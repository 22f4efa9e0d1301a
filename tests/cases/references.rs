//! References over a running host: a whole walk after a meeting, what each person can see before they are shown,
//! and what is left after an erasure.

use crate::{
    cases::{
        account_pages::{forms, shown},
        personal::{erase, export},
    },
    harness::{
        Host, Options, Reply,
        conversations::open_thread,
        inbox::Reader,
        listings::action_body,
        meetings::id as meeting_id,
        oauth::{ADA, BOB},
        person::{self, Page, code, messages},
        relationships::Person,
        time::{DAY, HOUR},
    },
};
use serde_json::{Value, json};

const REFERENCES: &str = "references";

async fn host() -> Host {
    let names = [
        "applications",
        "calendar",
        "conversations",
        "owners",
        "pairings",
        REFERENCES,
        "reports",
        "social_org",
        "social_permissions",
        "social_relationships",
        "svc_phone_binding",
        "thread_meetings",
    ];
    // The tests make many calls, and none of them is about the time limit.
    Host::start(Options::with(&names).configuration("[limits]\ncall_wall_time_ms = 30000\n")).await
}

impl Person<'_> {
    async fn call_reference(&self, action: &str, fields: Value) -> Reply {
        self.agent().call(REFERENCES, action_body(action, &fields)).await
    }

    async fn reference(&self, action: &str, fields: Value) -> Value {
        self.agent().result(REFERENCES, action_body(action, &fields)).await
    }

    async fn references(&self, role: &str) -> Vec<Value> {
        let list = self.reference("list", json!({ "role": role })).await;
        list["items"].as_array().unwrap().clone()
    }

    async fn reference_events(&self) -> Vec<Value> {
        let page = self.reader.page("wait=0&cursor=0&limit=100").await;
        let events = page["events"].as_array().unwrap().iter();
        let ours = |event: &&Value| event["type"].as_str().unwrap().starts_with("reference.");
        events.filter(ours).cloned().collect()
    }
}

/// Lets two people meet this many minutes after the first possible time, and returns the id of their encounter.
async fn meet(host: &Host, ada: &Person<'_>, bo: &Person<'_>, minutes: i64) -> String {
    let thread = open_thread(host, &[ada, bo]).await;
    meet_in(host, &thread, ada, bo, minutes).await
}

/// The same in this conversation.
async fn meet_in(
    host: &Host,
    thread: &str,
    ada: &Person<'_>,
    bo: &Person<'_>,
    minutes: i64,
) -> String {
    let meeting = ada.propose(thread, &[minutes]).await;
    bo.accept_ok(&meeting, 0).await;
    host.reach_timer(&format!("finish/{}", meeting_id(&meeting))).await;
    let encounters = ada.reference("encounters", json!({ "open_only": true })).await;
    let encounter = &encounters["items"][0];
    assert_eq!(encounter["with"]["owner_id"], json!(bo.id), "{encounters:#}");
    encounter["encounter_id"].as_str().unwrap().to_owned()
}

fn write(encounter_id: &str, text: &str) -> Value {
    json!({ "encounter_id": encounter_id, "claims": ["kept_appointments"], "text": text })
}

#[tokio::test(flavor = "multi_thread")]
async fn references_from_the_meeting_to_the_reply() {
    let host = host().await;
    let people = [Person::new(&host).await, Person::new(&host).await, Person::new(&host).await];
    let [ada, bo, cy] = &people;
    let id = meet(&host, ada, bo, 0).await;
    let invited = bo.reference_events().await.remove(0);
    assert_eq!(invited["type"], "reference.invited");
    let before = bo.call_next_step(&invited["data"]["next"]).await;
    assert_eq!(before["allowed_actions"], json!(["write"]));

    ada.reference("write", write(&id, "Knew the house inside out.")).await;
    // Nothing that Bo can read, rehearse or export tells that Ada has written.
    let encounter = json!({ "encounter_id": id });
    assert_eq!(bo.reference("encounter", encounter.clone()).await, before);
    assert!(!export(&host, &bo.id).await.text.contains("inside out"));
    assert!(export(&host, &ada.id).await.text.contains("inside out"));
    let mut rehearsal = action_body("write", &write(&id, "Asked good questions."));
    rehearsal["dry_run"] = json!(true);
    let rehearsed = bo.agent().call(REFERENCES, rehearsal).await;
    assert_eq!(rehearsed.status, 200, "{}", rehearsed.text);
    assert!(!rehearsed.text.contains("inside out"), "{}", rehearsed.text);
    assert!(!rehearsed.body["meta"].to_string().contains("reference."), "{}", rehearsed.text);
    bo.reference("write", write(&id, "Asked good questions.")).await;
    assert_eq!(bo.references("received").await, Vec::<Value>::new());
    cy.call_reference("write", write(&id, "I was not there."))
        .await
        .assert_refused(404, "encounter_not_found");

    host.advance(HOUR + HOUR).await;
    let received = bo.references("received").await.remove(0);
    assert_eq!(received["text"], "Knew the house inside out.");
    assert_eq!(ada.references("received").await[0]["text"], "Asked good questions.");
    for (person, count) in [(ada, 3), (bo, 3)] {
        let events = person.reference_events().await;
        assert_eq!(events.len(), count, "{events:#?}");
        for event in &events {
            person.call_next_step(&event["data"]["next"]).await;
        }
    }
    let late = ada.call_reference("withdraw", encounter).await;
    late.assert_refused(409, "invalid_transition");

    let reference_id = received["reference_id"].clone();
    let get = json!({ "reference_id": reference_id });
    let hidden = cy.call_reference("get", get.clone()).await;
    let nothing = json!({ "reference_id": "ref_01JZX8Q4M2N6P7R8S9T0V1W2X3" });
    assert_eq!(hidden.body, cy.call_reference("get", nothing).await.body);
    bo.reference("show", json!({ "owner_id": cy.id })).await;
    let shown = cy.reference("about", json!({ "owner_id": bo.id })).await;
    assert_eq!(shown["items"][0]["reference_id"], reference_id);
    let reply = json!({ "reference_id": reference_id, "reply": "Thank you." });
    bo.reference("reply", reply).await;
    assert_eq!(cy.reference("get", get.clone()).await["reply"]["text"], "Thank you.");

    // The person about whom it is disputes it, and the operator removes it.
    let report = json!({
        "action": "create", "subject_id": reference_id, "reason": "other", "text": "It is not true.",
    });
    let report = bo.agent().result("reports", report).await;
    assert_eq!(report["subject"], "reference", "{report:#}");
    let url = format!("{}/capabilities/references/remove?test_mode=true", host.admin_url);
    let removed = host.operator.post(url).json(&get).send().await.unwrap();
    assert!(removed.status().is_success());
    cy.call_reference("get", get).await.assert_refused(404, "reference_not_found");
    assert_eq!(bo.references("received").await[0]["state"], "removed");
    bo.reference("hide", json!({ "owner_id": cy.id })).await;
    let hidden = cy.reference("about", json!({ "owner_id": bo.id })).await;
    assert_eq!(hidden["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_hides_encounters_and_references_in_each_direction() {
    let host = host().await;
    let people = [Person::new(&host).await, Person::new(&host).await, Person::new(&host).await];
    let [ada, bo, cy] = &people;
    let id = meet(&host, ada, bo, 0).await;
    ada.reference("write", write(&id, "Knew the house inside out.")).await;
    for (blocker, blocked) in [(ada, bo), (bo, ada)] {
        blocker.call_ok("block", &blocked.id).await;
        for person in [ada, bo] {
            let write = person.call_reference("write", write(&id, "Again.")).await;
            write.assert_refused(404, "encounter_not_found");
            let list = person.reference("encounters", json!({})).await;
            assert_eq!(list["items"], json!([]));
        }
        blocker.call_ok("unblock", &blocked.id).await;
    }
    host.advance(14 * DAY + HOUR).await;
    bo.reference("show", json!({ "owner_id": cy.id })).await;
    let seen = async |person: &Person<'_>| {
        let about = person.call_reference("about", json!({ "owner_id": bo.id })).await;
        about.body["result"]["items"].as_array().map(Vec::len)
    };
    assert_eq!((seen(cy).await, bo.references("received").await.len()), (Some(1), 1));
    for (blocker, blocked, cys) in
        // Bo cannot choose among the references about him by a block.
        [
            (ada, bo, Some(0)),
            (bo, ada, Some(1)),
            (cy, ada, Some(0)),
            (cy, bo, None),
            (bo, cy, None),
        ]
    {
        blocker.call_ok("block", &blocked.id).await;
        host.wait_until_settled().await;
        assert_eq!(seen(cy).await, cys, "while {} has blocked {}", blocker.id, blocked.id);
        if blocker.id != cy.id && blocked.id != cy.id {
            assert_eq!(bo.references("received").await.len(), 0);
            assert_eq!(ada.references("sent").await.len(), 0);
        }
        blocker.call_ok("unblock", &blocked.id).await;
        host.wait_until_settled().await;
        assert_eq!(seen(cy).await, Some(1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_and_withdrawn_at_once_is_shown_whole_or_not_at_all() {
    let host = host().await;
    for round in 0..3 {
        let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
        let id = meet(&host, &ada, &bo, round * 300).await;
        let (one, other) = tokio::join!(
            ada.call_reference("write", write(&id, "Knew the house inside out.")),
            bo.call_reference("write", write(&id, "Asked good questions."))
        );
        assert_eq!((one.status.as_u16(), other.status.as_u16()), (200, 200), "{}", one.text);
        // The clock passes the time at which both are shown, while Ada withdraws hers.
        let withdraw = json!({ "encounter_id": id });
        let (_, withdrawn) =
            tokio::join!(host.advance(HOUR + HOUR), ada.call_reference("withdraw", withdraw));
        host.wait_until_settled().await;
        let shown = (ada.references("received").await.len(), bo.references("received").await.len());
        let expected = if withdrawn.status == 200 { (0, 0) } else { (1, 1) };
        assert_eq!(shown, expected, "{}", withdrawn.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_erasure_of_either_person_leaves_nothing_of_them() {
    for (is_shown, erases_author) in [(false, true), (false, false), (true, true), (true, false)] {
        let host = host().await;
        let people = [Person::new(&host).await, Person::new(&host).await, Person::new(&host).await];
        let [ada, bo, cy] = &people;
        let id = meet(&host, ada, bo, 0).await;
        ada.reference("write", write(&id, "Knew the house inside out.")).await;
        bo.reference("show", json!({ "owner_id": cy.id })).await;
        if is_shown {
            host.advance(14 * DAY + HOUR).await;
        }
        let erased = if erases_author { ada } else { bo };
        let reply = erase(&host, &erased.id).await;
        assert!(reply.status.is_success(), "{}", reply.text);
        host.wait_until_settled().await;
        let documents = "SELECT d.id || ' ' || d.body FROM documents d \
            JOIN collections c ON c.id = d.collection WHERE c.capability LIKE 'references%'";
        let left = host.database().texts(documents).await;
        assert!(left.iter().all(|text| !text.contains(&erased.id)), "{left:#?}");
        let of_them = |text: &String| text.contains("inside out") && text.contains(&id);
        assert!(!left.iter().any(of_them), "{left:#?}");
    }
}

/// Returns a person of live mode, who has pages.
async fn live<'a>(host: &'a Host, phone: &str) -> Person<'a> {
    let binding = "svc.phone-binding";
    let (agent, count) = (host.agent().await, messages(host, 0).await.len());
    agent.result(binding, json!({ "action": "bind", "phone": phone })).await;
    let verify = json!({ "action": "verify", "code": code(host, count + 1).await });
    let id = agent.result(binding, verify).await["owner_id"].as_str().unwrap().to_owned();
    Person { reader: Reader { agent, id: String::new() }, id }
}

/// Opens a conversation of two people of live mode, and returns its id.
async fn open_live_thread(host: &Host, people: [&Person<'_>; 2]) -> String {
    let participants = people.map(|person| json!({ "owner_id": person.id }));
    let open = json!({ "pairing_id": "pair_live", "participants": participants });
    let url = format!("{}/capabilities/conversations/open", host.admin_url);
    let opened = Reply::read(host.operator.post(url).json(&open).send().await.unwrap()).await;
    assert_eq!(opened.status, 200, "{}", opened.text);
    opened.body["result"]["thread_id"].as_str().unwrap().to_owned()
}

/// Signs in at the page about references.
async fn page_of(host: &Host, phone: &str) -> Page {
    let page = person::Person::new(host).sign_in("/account/references", phone).await;
    assert_eq!(page.reply.status, 200, "{}", page.reply.text);
    page
}

/// Makes calls that name a reference by its id, and returns the answers without it.
async fn answers_about(person: &Person<'_>, reference_id: &str) -> Vec<String> {
    let mut answers = Vec::new();
    for (capability, body) in [
        (REFERENCES, json!({ "action": "get", "reference_id": reference_id })),
        (
            REFERENCES,
            json!({ "action": "reply", "reference_id": reference_id, "reply": "It was so." }),
        ),
        (
            "reports",
            json!({
                "action": "create", "subject_id": reference_id, "reason": "other",
                "text": "It is not true.",
            }),
        ),
    ] {
        let reply = person.agent().call(capability, body).await;
        answers.push(format!("{} {}", reply.status, reply.text.replace(reference_id, "it")));
    }
    answers
}

/// Returns the documents of this capability in the export of a person.
async fn exported(host: &Host, person: &Person<'_>) -> Vec<String> {
    let exported = export(host, &person.id).await.body;
    let documents = exported["documents"].as_array().unwrap().iter();
    let ours = documents.filter(|document| document["capability"] == REFERENCES);
    ours.map(Value::to_string).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_tells_the_other_person_of_a_reference_that_is_not_shown() {
    let host = host().await;
    let (ada, bo) = (live(&host, ADA).await, live(&host, BOB).await);
    let thread = open_live_thread(&host, [&ada, &bo]).await;
    let id = meet_in(&host, &thread, &ada, &bo, 0).await;
    // Ids that Bo can guess: that of nothing, and those of his encounter.
    let guessed = id.replace("enc_", "ref_");
    let nothing = answers_about(&bo, "ref_01JZX8Q4M2N6P7R8S9T0V1W2X3").await;
    assert!(nothing.iter().all(|answer| answer.starts_with("404")), "{nothing:#?}");
    let (before, page_before) = (exported(&host, &bo).await, page_of(&host, BOB).await);
    assert!(!before.is_empty(), "the encounter is exported");

    ada.reference("write", write(&id, "Knew the house inside out.")).await;
    let written = "SELECT d.body FROM documents d JOIN collections c ON c.id = d.collection \
        WHERE c.capability LIKE 'references%' AND d.body LIKE '%inside out%'";
    assert_eq!(host.database().texts(written).await.len(), 1);
    assert_eq!(exported(&host, &bo).await, before);
    let page = page_of(&host, BOB).await;
    assert_eq!(shown(&page, "body"), shown(&page_before, "body"));
    assert!(forms(&page, "Reply").is_empty(), "{}", page.reply.text);
    assert_eq!(answers_about(&bo, &guessed).await, nothing);
    assert_eq!(bo.reference_events().await.len(), 1, "only that he may write");
    assert!(page_of(&host, ADA).await.reply.text.contains("inside out"));
    assert!(exported(&host, &ada).await.concat().contains("inside out"));

    // All of these have it once it is shown.
    bo.reference("write", write(&id, "Asked good questions.")).await;
    host.advance(HOUR + HOUR).await;
    let received = bo.references("received").await.remove(0);
    let answers = answers_about(&bo, received["reference_id"].as_str().unwrap()).await;
    assert!(answers.iter().all(|answer| answer.starts_with("200")), "{answers:#?}");
    assert!(answers[0].contains("inside out"), "{answers:#?}");
    let page = page_of(&host, BOB).await;
    assert!(page.reply.text.contains("inside out"), "{}", page.reply.text);
    assert!(exported(&host, &bo).await.concat().contains("inside out"));
}
