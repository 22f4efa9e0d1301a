//! The scenes of the scripted month: what the people do with each other.

use crate::{
    cases::{
        month_world::{ADA, BEN, CLEO, DAN, EVE, Month, PHONES, download},
        owner_verification::{Company, PROOF, challenge_text, check_and_wait, start_action},
        reports,
        signal_verification::published_items,
        social_org::{ORG, add_member, org_action},
    },
    harness::{
        calendars,
        feeds::city,
        listings::{Lister, date, room},
        matching::{MATCHING, cofounder_listing},
        pairings::wanted_room,
    },
};
use serde_json::{Value, json};

/// Words that Ben leaves with others; nobody finds them after his erasure.
pub const BENS_WORDS: [&str; 4] =
    ["Quillfeather", "brindlemoss", "ben@mail.example", "tarnwhistle"];
/// The contact data that somebody types in, and whose it is.
pub const EMAILS: [(usize, &str); 3] =
    [(ADA, "ada@mail.example"), (BEN, BENS_WORDS[2]), (CLEO, "cleo@mail.example")];

fn id(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_else(|| panic!("no {field} in {value:#}")).to_owned()
}

/// The two organisations: Ben's company, of which Cleo is an admin, and Dan's law firm.
pub async fn found_organisations(month: &Month<'_>) -> [Value; 2] {
    let company = json!({ "name": "Copperleaf", "kind": "company" });
    let company = month.ok(BEN, ORG, "create", company).await["org_id"].clone();
    let [ben, cleo] = [BEN, CLEO].map(|person| month.people[person].agent());
    add_member(ben, &company, cleo, month.id(CLEO), "admin").await;
    let firm = json!({ "name": "Lantern Lane Counsel", "kind": "law_firm" });
    let firm = month.ok(DAN, ORG, "create", firm).await["org_id"].clone();
    [company, firm]
}

pub async fn import_calendar(month: &Month<'_>, busy_from: &str) {
    let start = format!("DTSTART:{}", busy_from.replace(['-', ':'], ""));
    let lines = calendars::event("UID:dentist", &[&start, "DURATION:PT1H", "SUMMARY:Dentist"]);
    let file = json!({ "ics": calendars::file(&lines) });
    assert_eq!(month.ok(ADA, "calendar", "import_ics", file).await["added"], 1);
}

/// A flat: the saved search finds it, Ada looks before she proposes, and both disclose an address.
pub async fn find_a_flat(month: &mut Month<'_>) -> String {
    let search = json!({ "name": "Rooms", "query": { "category": "home.let" } });
    let search = month.ok(ADA, "saved_searches", "create", search).await;
    let flat = month.publish(CLEO, room(json!({}))).await;
    month.look().await;
    let alert = month.the_event(ADA, "saved_search.matched", &flat);
    assert_eq!(alert["data"]["search_id"], search["search_id"], "{alert:#}");
    let shown = month.ok(ADA, "agent_listings", "get", json!({ "listing_id": flat })).await;
    assert!(shown["place"]["label"] != "1 Main St", "{shown:#}");

    let wanted = month.publish(ADA, wanted_room()).await;
    let preview = json!({
        "from_listing_id": wanted, "to_listing_id": flat, "message": "May I see it?", "dry_run": true,
    });
    month.ok(ADA, "pairings", "propose", preview).await;
    assert_eq!(month.list(CLEO, "pairings", json!({})).await, Vec::<Value>::new());
    let pairing = month.propose(ADA, &wanted, &flat).await;
    month.look().await;
    month.the_event(CLEO, "pairing.proposed", &pairing);
    month.accept(CLEO, &pairing).await;
    disclose(month, ADA, &pairing).await;
    assert!(month.pairing(CLEO, "get", &pairing, json!({})).await.get("contact").is_none());
    disclose(month, CLEO, &pairing).await;
    month.look().await;
    for (by, email) in [(ADA, EMAILS[2].1), (CLEO, EMAILS[0].1)] {
        month.the_event(by, "pairing.contact_exchanged", &pairing);
        assert_eq!(month.pairing(by, "get", &pairing, json!({})).await["contact"]["email"], email);
    }
    pairing
}

/// Discloses an e-mail address, and the phone number.
pub async fn disclose(month: &Month<'_>, by: usize, pairing: &str) {
    let email = EMAILS.iter().find(|(owner, _)| *owner == by).unwrap().1;
    let fields = if by == ADA { json!(["email", "phone"]) } else { json!(["email"]) };
    let fields = json!({ "fields": fields, "details": { "email": email } });
    month.pairing(by, "disclose", pairing, fields).await;
}

/// A job of the company: Ada applies, is invited at night, and meets Cleo. The decision follows.
pub async fn apply_for_the_job(month: &mut Month<'_>, org_id: &Value, busy_from: &str) -> Value {
    let job = json!({
        "category": "work.job.software", "side": "offer", "title": "Rust engineer",
        "description": "We build tools for people who move house.", "as_org": org_id,
        "attributes": { "employment_type": "FULL_TIME" }, "publish": true,
    });
    let job = month.publish(CLEO, job).await;
    let profile = json!({ "headline": "Engineer", "skills": ["Rust"] });
    let apply = json!({ "listing_id": job, "profile": profile });
    let application = month.ok(ADA, "applications", "apply", apply).await;
    let app_id = id(&application, "application_id");
    month.look().await;
    for recruiter in [BEN, CLEO] {
        month.the_event(recruiter, "application.received", &app_id);
    }

    month.pass_to("23:00").await;
    let invite = json!({ "application_id": app_id, "decision": "invite", "message": "Come by." });
    let thread_id = month.ok(CLEO, "applications", "decide", invite).await["thread_id"].clone();
    month.look().await;
    assert!(month.arrived(ADA, "application.decided").is_empty(), "Ada's quiet hours");
    month.pass_to("07:30").await;
    month.the_event(ADA, "application.decided", &app_id);

    month.write(ADA, &thread_id, "With pleasure.").await;
    let [day, hour] = [&busy_from[..11], &busy_from[11..13]];
    let hour: u32 = hour.parse().unwrap();
    let slot = |hour: u32| json!({ "start": format!("{day}{hour}:00:00Z"), "end": format!("{day}{hour}:30:00Z") });
    let propose = json!({
        "thread_id": thread_id, "title": "An interview", "duration_min": 30,
        "slots": [slot(hour), slot(hour + 2)], "time_zone": "Europe/Lisbon",
    });
    let meeting = month.ok(CLEO, "thread_meetings", "propose", propose).await;
    month.look().await;
    let meeting_id = id(&meeting, "meeting_id");
    month.the_event(ADA, "meeting.proposed", &meeting_id);
    let accept = |number: usize| {
        json!({
            "meeting_id": meeting_id, "slot_id": meeting["slots"][number]["slot_id"], "sequence": 0,
        })
    };
    let busy = month.call(ADA, "thread_meetings", "accept", accept(0)).await;
    busy.assert_refused(409, "slot_taken");
    assert_eq!(month.ok(ADA, "thread_meetings", "accept", accept(1)).await["state"], "confirmed");
    month.look().await;
    month.the_event(CLEO, "meeting.confirmed", &meeting_id);
    application
}

pub async fn decide_on_the_job(month: &mut Month<'_>, application: &Value) {
    let reject = json!({
        "application_id": application["application_id"], "decision": "reject",
        "reason_code": "experience",
    });
    month.ok(CLEO, "applications", "decide", reject).await;
    month.look().await;
    let decisions = month.arrived(ADA, "application.decided");
    assert_eq!(decisions.last().unwrap().event["data"]["reason_code"], "experience");
}

/// Two adults whose interest is mutual; neither learns of it before.
pub async fn find_a_date(month: &mut Month<'_>) -> Value {
    let of = |gender: &str, seeking: &str| {
        let mut listing = date(json!({}));
        listing["attributes"]["gender"] = json!(gender);
        listing["attributes"]["seeking"] = json!([seeking]);
        listing
    };
    let mut thread_id = Value::Null;
    for (by, listing) in [(ADA, of("woman", "man")), (DAN, of("man", "woman"))] {
        month.publish(by, listing).await;
    }
    for (by, other) in [(ADA, DAN), (DAN, ADA)] {
        let mine = month.ok(by, "agent_listings", "list_mine", json!({ "limit": 100 })).await;
        let mine = mine["items"].as_array().unwrap().iter();
        let mut mine = mine.filter(|listing| listing["category"] == "social.date");
        let session = json!({ "listing_id": mine.next().unwrap()["listing_id"] });
        let session = month.ok(by, MATCHING, "create", session).await["session_id"].clone();
        let candidates = json!({ "session_id": session, "limit": 100 });
        let candidates = month.ok(by, MATCHING, "candidates", candidates).await;
        assert!(month.arrived(by, "match.mutual").is_empty());
        let decide = json!({
            "session_id": session, "candidate_id": candidates["items"][0]["candidate_id"],
            "decision": "interested",
        });
        let before = month.arrived(other, "pairing.connected").len();
        let decided = month.ok(by, MATCHING, "decide", decide).await;
        month.look().await;
        let connected = month.arrived(other, "pairing.connected").len() - before;
        assert_eq!(connected, usize::from(by == DAN));
        thread_id = decided["thread_id"].clone();
    }
    month.write(DAN, &thread_id, "Shall we walk on Sunday?").await;
    thread_id
}

/// The listings of the four who look for a cofounder, and their proposals: one is declined, one is
/// accepted, one is never answered, and one waits for Ben.
pub async fn find_cofounders(month: &mut Month<'_>) -> [String; 5] {
    let mut listings = Vec::new();
    for person in [ADA, BEN, DAN, EVE] {
        let mut listing = cofounder_listing("engineering", json!({}));
        if person == BEN {
            listing["title"] = json!(BENS_WORDS[3]);
        }
        listings.push(month.publish(person, listing).await);
    }
    let [ada, ben, dan, eve] = listings.try_into().unwrap();
    let declined = month.propose(BEN, &ben, &ada).await;
    let decline = json!({ "decision": "decline", "reason_code": "timing" });
    month.pairing(ADA, "reply", &declined, decline).await;
    let talk = month.propose(EVE, &eve, &dan).await;
    let thread_id = month.accept(DAN, &talk).await;
    month.write(EVE, &thread_id, "I know hospitals.").await;
    let unanswered = month.propose(ADA, &ada, &dan).await;
    let waiting = month.propose(ADA, &ada, &ben).await;

    let of_ben = month.propose(BEN, &ben, &dan).await;
    let thread_id = month.accept(DAN, &of_ben).await;
    month.write(BEN, &thread_id, &format!("My last company was {}.", BENS_WORDS[1])).await;
    disclose(month, BEN, &of_ben).await;
    month.look().await;
    month.the_event(BEN, "pairing.replied", &declined);
    [talk, unanswered, waiting, of_ben, eve]
}

/// Eve's proposal annoys Ada, who reports it and blocks her. The operator warns Eve.
pub async fn block_and_report(month: &mut Month<'_>, eves_listing: &str) -> String {
    let mine = month.ok(ADA, "agent_listings", "list_mine", json!({ "limit": 100 })).await;
    let mine = mine["items"].as_array().unwrap().iter();
    let mut mine = mine.filter(|listing| listing["category"] == "venture.cofounder");
    let adas = id(mine.next().unwrap(), "listing_id");
    let pairing = month.propose(EVE, eves_listing, &adas).await;
    month.look().await;
    month.the_event(ADA, "pairing.proposed", &pairing);
    let report = json!({ "subject_id": pairing, "reason": "abuse", "text": "See the message." });
    let report = month.ok(ADA, "reports", "create", report).await;
    month.ok(ADA, "social_relationships", "block", json!({ "owner_id": month.id(EVE) })).await;
    month.silence(ADA, EVE);
    month.silence(EVE, ADA);
    month.look().await;
    assert_ne!(month.pairing(EVE, "get", &pairing, json!({})).await["state"], "proposed");
    let again =
        json!({ "from_listing_id": eves_listing, "to_listing_id": adas, "message": "Why?" });
    let again = month.call(EVE, "pairings", "propose", again).await;
    assert!(again.status != 200, "{}", again.text);

    let report_id = id(&report, "report_id");
    let one = json!({ "report_id": report_id });
    reports::operate_ok(month.host, "triage", one).await;
    let decision = json!({
        "report_id": report_id, "outcome": "actioned", "measure": "warned", "ground": "rules",
        "basis": "The page safety-and-fairness, section Report",
        "explanation": "The message is an insult.",
    });
    reports::operate_ok(month.host, "decide", decision).await;
    month.look().await;
    let told = month.arrived(EVE, "report.updated");
    assert!(!told.is_empty() && told.iter().all(|arrival| !arrival.names(month.id(ADA))));
    assert!(!month.arrived(ADA, "report.updated").is_empty());
    report_id
}

/// Dan proves that he speaks for a company of the map.
pub async fn prove(month: &Month<'_>, company: &mut Company, target_id: &str) {
    company.switch_target(target_id);
    let agent = month.people[DAN].agent();
    let begun = agent.result(PROOF, start_action(target_id, "dns_txt")).await;
    company.set_record(&[challenge_text(&begun)]);
    assert_eq!(check_and_wait(agent, &begun).await["state"], "verified");
}

/// Returns a funding signal of the map and one of its investors.
pub fn funding() -> (String, String) {
    let signals = published_items(&city().join("feeds"), "live-signal-feed.json", "items");
    let investor = |signal: &Value| {
        let mut investors = signal["funding"]["investors"].as_array()?.iter();
        let target = investors.find_map(|investor| investor["target_id"].as_str())?;
        Some((signal["id"].as_str()?.to_owned(), target.to_owned()))
    };
    signals.iter().find_map(investor).unwrap()
}

/// Eve pitches to the investor of a funding signal: from the record of the map by a handoff.
pub async fn pitch(month: &mut Month<'_>, signal_id: &str) -> Value {
    let contracts = published_items(&city().join("feeds"), "hi-handoff-manifest.json", "items");
    let contract = contracts.iter().find(|one| one["intent"] == "pitch_investor").unwrap();
    let resolve = json!({ "handoff_id": contract["id"], "record_id": signal_id });
    let resolved = month.ok(EVE, "handoff_resolve", "resolve", resolve).await;
    let redeem = json!({ "token": resolved["token"] });
    let redeemed = month.call(EVE, "handoff_resolve", "redeem", redeem).await;
    let mut body = redeemed.body["next"]["input"].clone();
    body["message"] = json!("We sort laundry, and raise two million.");
    let sent = month.people[EVE].agent().result("applications", body).await;
    assert_eq!(sent["recipient_unclaimed"], false, "{sent:#}");
    month.look().await;
    month.the_event(DAN, "application.received", &id(&sent, "application_id"));
    let invite = json!({ "application_id": sent["application_id"], "decision": "invite" });
    let invited = month.ok(DAN, "applications", "decide", invite).await;
    month.write(EVE, &invited["thread_id"], "When may I show you the machine?").await;
    month.look().await;
    invited
}

/// Cleo finds the lawyer of Dan's firm, is annoyed by his messages, and mutes him.
pub async fn ask_a_lawyer(month: &mut Month<'_>, firm: &Value) -> String {
    let offer = json!({
        "category": "pro.lawyer.corporate", "side": "offer", "title": "Counsel for young companies",
        "description": "Attorney advertising. Fixed prices. Admitted in California.",
        "attributes": { "jurisdictions": ["US-CA"], "fees": ["fixed"] }, "as_org": firm,
        "publish": true,
    });
    let offer = month.publish(DAN, offer).await;
    let demand = json!({
        "category": "pro.client.lawyer.corporate", "side": "demand", "title": "A financing round",
        "description": "We need somebody to read a term sheet.",
        "attributes": { "jurisdiction": "US-CA", "client_kind": "business" }, "publish": true,
    });
    let demand = month.publish(CLEO, demand).await;
    let pairing = month.propose(CLEO, &demand, &offer).await;
    let thread_id = month.accept(DAN, &pairing).await;
    month.write(CLEO, &thread_id, "May I send the sheet on Monday?").await;
    month.look().await;
    month.ok(CLEO, "social_relationships", "mute", json!({ "owner_id": month.id(DAN) })).await;
    month.silence(CLEO, DAN);
    for text in ["Monday is fine.", "And so is Tuesday."] {
        month.write(DAN, &thread_id, text).await;
        month.pass(1).await;
    }
    let read = json!({ "thread_id": thread_id, "after": 0 });
    let read = month.ok(CLEO, "conversations", "messages", read).await;
    assert_eq!(read["items"].as_array().unwrap().len(), 3, "muted messages stay readable");
    pairing
}

/// Ben exports everything, and erases it. A week later he is gone, and Cleo takes over his company.
pub async fn erase_ben(month: &mut Month<'_>, org_id: &Value) {
    let export = month.ok(BEN, "data_rights", "export", json!({})).await;
    month.look().await;
    month.the_event(BEN, "data_export.ready", &id(&export, "export_id"));
    let text = download(month.people[BEN].agent(), &export["export_id"]).await;
    for word in [BENS_WORDS[0], BENS_WORDS[1], BENS_WORDS[3]] {
        assert!(text.contains(word), "{word} is not in the export");
    }
    let erasure = month.ok(BEN, "data_rights", "erase", json!({ "confirm": true })).await;
    assert_eq!(erasure["state"], "scheduled");
    month.pass(6).await;
    month.pass_to("10:00").await;
    assert_eq!(month.arrived(BEN, "data_erasure.reminder").len(), 1);
    month.present.remove(&BEN);
    month.pass(2).await;
    let card = json!({ "owner_id": month.id(BEN) });
    assert_eq!(month.call(DAN, "owners", "get", card).await.status, 404);

    let requested = month.ok(CLEO, ORG, "request_succession", json!({ "org_id": org_id })).await;
    assert_eq!(requested["succession"]["state"], "requested", "{requested:#}");
    month.pass(8).await;
    let org = month.people[CLEO].agent().result(ORG, org_action("get", org_id)).await;
    assert_eq!(org["membership"]["role"], "owner", "{org:#}");
}

/// Claims Ben's number again: who does so is a stranger who finds nothing of his.
pub async fn claim_again<'a>(month: &Month<'a>) -> Lister<'a> {
    let stranger = Lister::with(month.host, PHONES[BEN]).await;
    assert_ne!(stranger.id, month.id(BEN));
    for capability in ["pairings", "applications", "conversations", "agent_listings"] {
        let action = if capability == "agent_listings" { "list_mine" } else { "list" };
        let list = stranger.agent().result(capability, json!({ "action": action })).await;
        assert_eq!(list["items"], json!([]), "{capability}");
    }
    let orgs = stranger.agent().result(ORG, json!({ "action": "list_mine" })).await;
    assert_eq!(orgs["items"], json!([]));
    stranger
}

/// Eve revokes her only agent. The people who talk with her are told.
pub async fn leave(month: &mut Month<'_>) {
    let agents = month.ok(EVE, "owners", "list_agents", json!({})).await;
    let agent = json!({ "agent_id": agents["items"][0]["agent_id"], "confirm": true });
    month.ok(EVE, "owners", "revoke_agent", agent).await;
    month.present.remove(&EVE);
    month.look().await;
}
