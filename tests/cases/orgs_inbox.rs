//! The inbox that the members of an organisation share: proposals, conversations and meetings of its
//! listings reach everybody who acts in its name, and any of them answers.

use crate::cases::personal::export;
use crate::harness::{
    Host, Options,
    conversations::wait_until,
    listings::{self, Lister},
    meetings::{proposal, slot_id},
    pairings::{PAIRINGS, Party},
};
use serde_json::{Value, json};

const ORG: &str = "social_org";
const PERMISSIONS: &str = "social_permissions";

async fn host() -> Host {
    let more = ["agent_credits", "calendar", "conversations", PAIRINGS, "thread_meetings"];
    let names = [&listings::CAPABILITIES[..], &more].concat();
    let patient = "[limits]\ncall_wall_time_ms = 30000\n";
    Host::start(Options::with(&names).configuration(patient)).await
}

/// An organisation with a listing of its owner `ada`, and a person who looks for one.
struct Office<'a> {
    org_id: Value,
    ada: Party<'a>,
    /// A recruiter.
    bob: Lister<'a>,
    /// A member who does not act in its name.
    cy: Lister<'a>,
    seeker: Party<'a>,
}

async fn call(by: &Lister<'_>, capability: &str, body: Value) -> Value {
    by.agent().result(capability, body).await
}

async fn join(ada: &Lister<'_>, org_id: &Value, member: &Lister<'_>, role: &str) {
    let invite = json!({
        "action": "invite_member", "org_id": org_id, "owner_id": member.id, "role": role,
    });
    call(ada, ORG, invite).await;
    let accept = json!({ "action": "respond_invite", "org_id": org_id, "decision": "accept" });
    call(member, ORG, accept).await;
}

impl<'a> Office<'a> {
    async fn new(host: &'a Host) -> Self {
        let seeker = Party::seeker(host).await;
        let (lister, bob, cy) =
            (Lister::new(host).await, Lister::new(host).await, Lister::new(host).await);
        let org = json!({ "action": "create", "name": "Copperleaf", "kind": "landlord" });
        let org_id = call(&lister, ORG, org).await["org_id"].clone();
        join(&lister, &org_id, &bob, "recruiter").await;
        join(&lister, &org_id, &cy, "member").await;
        let listing = lister.create_listing(json!({ "as_org": org_id })).await;
        Self { org_id, ada: Party { lister, listing }, bob, cy, seeker }
    }

    /// Lets the two be connected by Bob's answer; returns the pairing.
    async fn connected(&self) -> (String, Value) {
        let pairing = self.seeker.propose(&self.ada).await;
        let accept = json!({ "action": "reply", "pairing_id": pairing, "decision": "accept" });
        let connected = call(&self.bob, PAIRINGS, accept).await;
        (pairing, connected["thread_id"].clone())
    }
}

async fn pairing(by: &Lister<'_>, pairing: &str) -> Value {
    call(by, PAIRINGS, json!({ "action": "get", "pairing_id": pairing })).await
}

async fn sees(by: &Lister<'_>, capability: &str, id: Value) -> bool {
    let mut body = id;
    body["action"] = json!("get");
    let reply = by.agent().call(capability, body).await;
    assert!(reply.status == 200 || reply.status == 404, "{}", reply.text);
    reply.status == 200
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proposal_reaches_everybody_who_may_answer_it() {
    let host = host().await;
    let office = Office::new(&host).await;
    let proposed = office.seeker.propose(&office.ada).await;
    for member in [&office.ada.lister, &office.bob] {
        let event = member.receive_events("pairing.proposed", 1).await.remove(0);
        assert_eq!(event["data"]["resource"]["id"], *proposed, "{event:#}");
        let list = call(member, PAIRINGS, json!({ "action": "list" })).await;
        assert_eq!(list["items"][0]["as_org"], office.org_id, "{list:#}");
        let view = pairing(member, &proposed).await;
        assert_eq!(view["allowed_actions"], json!(["reply", "assign", "take_over"]));
    }
    let id = json!({ "pairing_id": proposed });
    assert!(!sees(&office.cy, PAIRINGS, id.clone()).await);

    let ask = json!({
        "action": "reply", "pairing_id": proposed, "decision": "ask", "message": "Since when?",
    });
    call(&office.bob, PAIRINGS, ask).await;
    let event = office.ada.lister.receive_events("pairing.assigned", 1).await.remove(0);
    assert_eq!(event["data"]["assigned_to"], json!(office.bob.id), "{event:#}");
    let theirs = office.seeker.get(&proposed).await;
    assert_eq!(theirs["other"]["org_id"], office.org_id, "{theirs:#}");
    assert_eq!(theirs["messages"][1]["owner_id"], json!(office.bob.id), "{theirs:#}");
    assert!(theirs.get("assigned_to").is_none(), "{theirs:#}");
    let take = json!({ "action": "take_over", "pairing_id": proposed });
    let taken = call(&office.ada.lister, PAIRINGS, take).await;
    assert_eq!(taken["assigned_to"], json!(office.ada.lister.id));
    assert_eq!(taken["messages"][1]["owner_id"], json!(office.bob.id), "{taken:#}");
    let assign = json!({ "action": "assign", "pairing_id": proposed, "owner_id": office.cy.id });
    let refused = office.bob.agent().call(PAIRINGS, assign).await;
    refused.assert_refused(404, "member_not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_members_who_answer_at_once_one_wins() {
    let host = host().await;
    let office = Office::new(&host).await;
    let proposed = office.seeker.propose(&office.ada).await;
    let answer =
        |decision: &str| json!({ "action": "reply", "pairing_id": proposed, "decision": decision });
    let (one, other) = tokio::join!(
        office.ada.lister.agent().call(PAIRINGS, answer("accept")),
        office.bob.agent().call(PAIRINGS, answer("decline")),
    );
    let (won, lost) = if one.status == 200 { (one, other) } else { (other, one) };
    assert_eq!(won.status, 200, "{} {}", won.text, lost.text);
    let code = lost.body["error_code"].as_str().unwrap_or_default().to_owned();
    assert!(["invalid_transition", "version_conflict"].contains(&code.as_str()), "{}", lost.text);
    let state = won.body["result"]["state"].clone();
    assert_eq!(office.seeker.get(&proposed).await["state"], state);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_goes_on_when_the_member_who_answered_leaves() {
    let host = host().await;
    let office = Office::new(&host).await;
    let (connected, thread_id) = office.connected().await;
    let send = |text: &str| json!({ "action": "send", "thread_id": thread_id, "text": text });
    call(&office.seeker.lister, "conversations", send("When may I come?")).await;
    call(&office.bob, "conversations", send("On Friday.")).await;
    for member in [&office.ada.lister, &office.bob] {
        member.receive_events("conversation.message", 1).await;
    }
    let leave = json!({ "action": "leave", "org_id": office.org_id });
    call(&office.bob, ORG, leave).await;
    let (id, thread) = (json!({ "pairing_id": connected }), json!({ "thread_id": thread_id }));
    assert!(!sees(&office.bob, PAIRINGS, id).await);
    let is_gone = async || !sees(&office.bob, "conversations", thread.clone()).await;
    wait_until("Bob no longer takes part", is_gone).await;
    let ada = &office.ada.lister;
    let is_free = async || pairing(ada, &connected).await.get("assigned_to").is_none();
    wait_until("the assignment has ended", is_free).await;

    call(ada, "conversations", send("I shall be there instead.")).await;
    let messages = json!({ "action": "messages", "thread_id": thread_id, "after": 0 });
    let messages = call(&office.seeker.lister, "conversations", messages).await;
    let by = messages["items"].as_array().unwrap().iter();
    let by: Vec<_> = by.map(|message| message["sender"]["owner_id"].clone()).collect();
    assert_eq!(by, [json!(office.seeker.id()), json!(office.bob.id), json!(ada.id)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_former_member_exports_what_they_wrote_and_nothing_else() {
    let host = host().await;
    let office = Office::new(&host).await;
    let open = office.seeker.propose(&office.ada).await;
    let accept = json!({
        "action": "reply", "pairing_id": open, "decision": "accept", "message": "Come and see it.",
    });
    call(&office.bob, PAIRINGS, accept).await;
    let exported = async |of: &Lister<'_>| {
        let body = export(&host, &of.id).await.body;
        let items = body["documents"].as_array().unwrap().iter();
        let mut pairings = items.filter(|item| item["collection"] == "pairings");
        let document = pairings.next().unwrap()["document"].clone();
        assert!(pairings.next().is_none(), "{body:#}");
        document
    };
    assert_eq!(exported(&office.bob).await["state"], "connected");
    let leave = json!({ "action": "leave", "org_id": office.org_id });
    call(&office.bob, ORG, leave).await;
    let ada = &office.ada.lister;
    let is_free = async || pairing(ada, &open).await.get("assigned_to").is_none();
    wait_until("the assignment has ended", is_free).await;
    assert_eq!(exported(ada).await["state"], "connected");
    let mut of_bob = exported(&office.bob).await;
    assert_eq!(of_bob["messages"][0].take()["text"], "Come and see it.");
    assert_eq!(of_bob, json!({ "messages": [null] }));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_grants_of_a_removed_member_end() {
    let host = host().await;
    let office = Office::new(&host).await;
    let ada = &office.ada.lister;
    let role = |role: &str| {
        json!({
            "action": "set_role", "org_id": office.org_id, "owner_id": office.bob.id, "role": role,
        })
    };
    call(ada, ORG, role("admin")).await;
    let object = format!("listing:{}", office.ada.listing);
    let grant = |subject: &Lister<'_>| {
        json!({
            "action": "grant", "object": object, "relation": "editor",
            "subject": format!("owner:{}", subject.id),
        })
    };
    call(&office.bob, PERMISSIONS, grant(&office.cy)).await;
    call(ada, PERMISSIONS, grant(&office.seeker.lister)).await;
    let may_edit = async |who: &Lister<'_>| {
        let check = json!({ "action": "check", "relation": "editor", "object": object });
        call(who, PERMISSIONS, check).await["allowed"] == json!(true)
    };
    assert!(may_edit(&office.cy).await && may_edit(&office.seeker.lister).await);
    call(ada, ORG, role("member")).await;
    wait_until("the grant has ended", async || !may_edit(&office.cy).await).await;
    assert!(may_edit(&office.seeker.lister).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_blocked_one_member_deals_with_the_others() {
    let host = host().await;
    let office = Office::new(&host).await;
    office.seeker.lister.relate("block", &office.bob).await;
    let proposed = office.seeker.propose(&office.ada).await;
    office.ada.lister.receive_events("pairing.proposed", 1).await;
    let id = json!({ "pairing_id": proposed });
    assert!(!sees(&office.bob, PAIRINGS, id).await);
    let list = call(&office.bob, PAIRINGS, json!({ "action": "list" })).await;
    assert_eq!(list["items"], json!([]));
    let connected = office.ada.reply(&proposed, "accept").await;
    let thread = json!({ "thread_id": connected["thread_id"] });
    assert!(!sees(&office.bob, "conversations", thread.clone()).await);
    let mut get = thread;
    get["action"] = json!("get");
    let seen = call(&office.seeker.lister, "conversations", get).await;
    assert!(!seen.to_string().contains(&office.bob.id), "{seen:#}");
    assert_eq!(seen["state"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn any_member_answers_a_meeting_and_then_attends() {
    let host = host().await;
    let office = Office::new(&host).await;
    let (_, thread_id) = office.connected().await;
    let mut propose = proposal(thread_id.as_str().unwrap(), &[0, 60]);
    propose["action"] = json!("propose");
    let meeting = call(&office.seeker.lister, "thread_meetings", propose).await;
    assert_eq!(meeting["participants"].as_array().unwrap().len(), 2, "{meeting:#}");
    for member in [&office.ada.lister, &office.bob] {
        member.receive_events("meeting.proposed", 1).await;
    }
    let accept = json!({
        "action": "accept", "meeting_id": meeting["meeting_id"], "slot_id": slot_id(&meeting, 0),
        "sequence": 0,
    });
    let confirmed = call(&office.ada.lister, "thread_meetings", accept).await;
    assert_eq!(confirmed["state"], "confirmed", "{confirmed:#}");
    assert_eq!(confirmed["participants"][1]["owner_id"], json!(office.ada.lister.id));
    let list = call(&office.bob, "thread_meetings", json!({ "action": "list" })).await;
    assert_eq!(list["items"][0]["state"], "confirmed", "{list:#}");
    let cancel = json!({ "action": "cancel", "meeting_id": meeting["meeting_id"] });
    assert_eq!(call(&office.bob, "thread_meetings", cancel).await["state"], "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmed_meeting_passes_to_a_member_who_is_free_and_told() {
    for is_free in [true, false] {
        let host = host().await;
        let office = Office::new(&host).await;
        let (_, thread_id) = office.connected().await;
        let mut propose = proposal(thread_id.as_str().unwrap(), &[0]);
        propose["action"] = json!("propose");
        let meeting = call(&office.seeker.lister, "thread_meetings", propose).await;
        let accept = json!({
            "action": "accept", "meeting_id": meeting["meeting_id"],
            "slot_id": slot_id(&meeting, 0), "sequence": 0,
        });
        let confirmed = call(&office.bob, "thread_meetings", accept).await;
        assert_eq!(confirmed["participants"][1]["owner_id"], json!(office.bob.id));
        let ada = &office.ada.lister;
        if !is_free {
            let slot = &meeting["slots"][0];
            let block =
                json!({ "action": "add_block", "start": slot["start"], "end": slot["end"] });
            call(ada, "calendar", block).await;
        }
        call(&office.bob, ORG, json!({ "action": "leave", "org_id": office.org_id })).await;
        let (event_type, state) = match is_free {
            true => ("meeting.participant_changed", "confirmed"),
            false => ("meeting.cancelled", "cancelled"),
        };
        for person in [&office.seeker.lister, ada] {
            person.receive_events(event_type, 1).await;
        }
        let get = json!({ "action": "get", "meeting_id": meeting["meeting_id"] });
        let after = call(&office.seeker.lister, "thread_meetings", get).await;
        assert_eq!(after["state"], state, "{after:#}");
        if is_free {
            let heir = &after["participants"][1];
            assert_eq!(
                (&heir["owner_id"], &heir["participation_status"]),
                (&json!(ada.id), &json!("needs-action"))
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_with_an_archived_organisation_is_closed() {
    let host = host().await;
    let office = Office::new(&host).await;
    let (connected, thread_id) = office.connected().await;
    let archive = json!({ "action": "archive", "org_id": office.org_id });
    call(&office.ada.lister, ORG, archive).await;
    office.seeker.wait_for_state(&connected, "closed").await;
    let view = office.seeker.get(&connected).await;
    assert_eq!(
        (&view["allowed_actions"], &view["reason"]),
        (&json!([]), &json!("org_archived")),
        "{view:#}"
    );
    let get = json!({ "action": "get", "thread_id": thread_id });
    let thread = call(&office.seeker.lister, "conversations", get).await;
    assert_eq!(thread["state"], "closed", "{thread:#}");
}
