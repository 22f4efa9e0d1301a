//! Leaves texts of one person, Ada, with every shipped capability that stores something about people.

use crate::{
    cases::{handoffs, owner_verification::PROOF, reports, signal_verification as signals},
    harness::{
        Host,
        canaries::Canaries,
        canary_people::{create_ada, create_bo, random_instant, wants_skill},
        listings::{action_body, room},
        meetings::slot,
        pairings::wanted_room,
        relationships::Person,
    },
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use portolan_vocabulary::Digest;
use rand::RngExt as _;
use serde_json::{Value, json};

/// Two people, of whom one leaves texts.
pub struct Pair<'a> {
    pub ada: Person<'a>,
    pub bo: Person<'a>,
    pub canaries: Canaries,
    /// Contact data that Ada discloses, which the database has sealed.
    pub sealed: Vec<String>,
    /// The ids of text messages to Ada, which the database never has.
    pub unread: Vec<String>,
    /// The ids of Ada's listing and session, which matching keeps with her and with Bo.
    pub matched: Vec<String>,
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

impl<'a> Pair<'a> {
    /// Creates two people, and leaves texts of the first.
    pub async fn plant(host: &'a Host) -> Self {
        let mut canaries = Canaries::default();
        let (ada, bo) = (create_ada(host, &mut canaries).await, create_bo(host).await);
        let mut pair =
            Self { ada, bo, canaries, sealed: Vec::new(), unread: Vec::new(), matched: Vec::new() };
        let thread_id = pair.leave_pairing().await;
        pair.leave_messages(&thread_id).await;
        pair.leave_meetings(&thread_id).await;
        pair.leave_private_data().await;
        pair.leave_applications().await;
        pair.leave_introductions(host).await;
        pair.leave_statements().await;
        pair.leave_reports(&thread_id).await;
        // These are last, because they hold the events that follow.
        pair.leave_preferences(&thread_id).await;
        pair
    }

    /// Makes a call of Ada.
    async fn call(&self, capability: &str, body: Value) -> Value {
        self.ada.agent().result(capability, body).await
    }

    /// Creates listings and a pairing with messages. Returns the id of the conversation.
    async fn leave_pairing(&mut self) -> String {
        let Self { ada, bo, canaries, .. } = self;
        let listings = "agent_listings";
        let mut offer = room(json!({
            "title": canaries.shared(listings, "title"),
            "description": canaries.shared(listings, "description"),
        }));
        offer["place"]["label"] = json!(canaries.shared(listings, "label of a place"));
        let offer = ada.new_listing(offer).await;
        let mut draft = room(json!({ "title": canaries.own(listings, "title of a draft") }));
        draft["publish"] = json!(false);
        ada.new_listing(draft).await;
        let title = canaries.shared("media", "title");
        let picture = json!({ "kind": "picture", "bytes": 1_000, "title": title });
        ada.agent().result("media", action_body("create", &picture)).await;
        let gone = room(json!({ "title": canaries.own(listings, "title of a withdrawn listing") }));
        let gone = ada.new_listing(gone).await;
        let withdraw = json!({ "action": "withdraw", "listing_id": gone });
        ada.agent().result(listings, withdraw).await;
        let search = bo.new_listing(wanted_room()).await;
        let session = json!({ "action": "create", "listing_id": search });
        bo.call_with_key("matching_sessions", session).await;
        let session = json!({ "action": "create", "listing_id": offer });
        let session = ada.agent().result("matching_sessions", session).await;
        canaries.note_id("matching_sessions", "session", session["session_id"].as_str().unwrap());
        let session_id = &session["session_id"];
        let candidates = json!({ "action": "candidates", "session_id": session_id });
        let candidates = ada.agent().result("matching_sessions", candidates).await;
        let decide = json!({
            "action": "decide", "session_id": session_id, "decision": "pass",
            "candidate_id": candidates["items"][0]["candidate_id"],
            "reason_code": canaries.own("matching_sessions", "reason of a decision"),
        });
        ada.agent().result("matching_sessions", decide).await;
        self.matched = vec![offer.clone(), session_id.as_str().unwrap().to_owned()];

        let propose = json!({
            "action": "propose", "from_listing_id": offer, "to_listing_id": search,
            "message": canaries.shared("pairings", "message of a proposal"),
        });
        let pairing = ada.agent().result("pairings", propose).await["pairing_id"].clone();
        let ask = json!({
            "action": "reply", "pairing_id": pairing, "decision": "ask", "message": "From when?",
        });
        bo.call_with_key("pairings", ask).await;
        let answer = json!({
            "action": "message", "pairing_id": pairing,
            "message": canaries.shared("pairings", "answer before a connection"),
        });
        ada.agent().result("pairings", answer).await;
        let accept = json!({ "action": "reply", "pairing_id": pairing, "decision": "accept" });
        let thread_id = bo.call_with_key("pairings", accept).await["thread_id"].clone();
        let mut secret = || {
            let word = Canaries::default().own("pairings", "contact data");
            self.sealed.push(word.clone());
            word
        };
        let details = json!({
            "email": format!("{}@mail.example", secret()), "full_name": format!("Ada {}", secret()),
            "exact_address": format!("1 {} Street", secret()),
        });
        let disclose = json!({
            "action": "disclose", "pairing_id": pairing,
            "fields": ["email", "full_name", "exact_address", "phone"], "details": details,
        });
        ada.agent().result("pairings", disclose).await;
        let report =
            json!({ "subject_id": pairing, "reason": "other", "text": "See for yourself." });
        bo.call_reports_ok("create", report).await;
        thread_id.as_str().unwrap().to_owned()
    }

    /// Sends messages, edits one, and retracts one.
    async fn leave_messages(&mut self, thread_id: &str) {
        let Self { ada, bo, canaries, .. } = self;
        let threads = "conversations";
        // Only the MAC of an agent's own id of a message is stored.
        let mac = Canaries::default().own(threads, "own id of a message");
        self.unread.push(mac.clone());
        let send = json!({
            "thread_id": thread_id, "text": canaries.shared(threads, "message"),
            "client_msg_id": mac.clone(),
        });
        ada.call_thread_ok("send", send).await;
        let edited = ada.send_message(thread_id, "What was written first").await;
        let edit = json!({
            "message_id": edited["message_id"], "text": canaries.shared(threads, "edited message"),
        });
        ada.call_thread_ok("edit", edit).await;
        bo.send_message(thread_id, "An answer").await;
    }

    /// Makes meetings with a text in every field that has one.
    async fn leave_meetings(&mut self, thread_id: &str) {
        let Self { ada, bo, canaries, .. } = self;
        let meetings = "thread_meetings";
        let mut propose = json!({
            "thread_id": thread_id, "title": canaries.shared(meetings, "title"), "duration_min": 30,
            "slots": [slot(0), slot(60)], "time_zone": "UTC",
            "location": { "kind": "place", "text": canaries.shared(meetings, "location") },
        });
        let meeting = ada.call_meeting_ok("propose", propose.clone()).await;
        let about = |meeting: &Value, more: Value| {
            let mut body = json!({ "meeting_id": meeting["meeting_id"] });
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            body
        };
        bo.call_meeting_ok("counter", about(&meeting, json!({ "slots": [slot(120)] }))).await;
        let too_late = json!({ "reason": "Too late" });
        ada.call_meeting_ok("decline_counter", about(&meeting, too_late)).await;
        bo.accept_ok(&bo.meeting(&meeting).await, 0).await;
        let report = json!({
            "subject_id": meeting["meeting_id"], "reason": "other", "text": "See for yourself.",
        });
        bo.call_reports_ok("create", report).await;

        propose["title"] = json!("A second look");
        propose.as_object_mut().unwrap().remove("location");
        for (begin, action, field, place) in [
            (600, "counter", "note", "note of a counter"),
            (1_200, "cancel", "reason", "reason of a cancellation"),
            (1_800, "tentative", "reason", "reason of a tentative answer"),
        ] {
            propose["slots"] = json!([slot(begin)]);
            let other = action_body("propose", &propose);
            let other = bo.call_with_key(meetings, other).await;
            let mut answer = about(&other, json!({ field: canaries.shared(meetings, place) }));
            if action == "counter" {
                answer["slots"] = json!([slot(begin + 60)]);
            }
            ada.call_meeting_ok(action, answer).await;
        }
    }

    /// Leaves what a person keeps for themselves.
    async fn leave_private_data(&mut self) {
        let mut canaries = std::mem::take(&mut self.canaries);
        let block = json!({
            "action": "add_block", "start": "2027-01-04T09:00:00Z", "end": "2027-01-04T10:00:00Z",
            "label": canaries.own("calendar", "label of a block"),
        });
        self.call("calendar", block).await;
        let ics = format!(
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\nBEGIN:VEVENT\r\nUID:{}\r\n\
             DTSTAMP:20261101T120000Z\r\nDTSTART:20270105T090000Z\r\nDTEND:20270105T100000Z\r\n\
             SUMMARY:{}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
            canaries.own("calendar", "id of an imported event"),
            canaries.own("calendar", "title of an imported event"),
        );
        self.call("calendar", json!({ "action": "import_ics", "ics": ics })).await;
        let finder = "availability_finder";
        let group = json!({
            "action": "invite", "owner_ids": [self.bo.id],
            "title": canaries.shared(finder, "title of a group"),
        });
        self.call(finder, group).await;
        let link = json!({
            "action": "create_link", "duration_min": 30,
            "title": canaries.own(finder, "title of a link"),
        });
        self.call(finder, link).await;
        let note = canaries.own("social_relationships", "note");
        let note = json!({ "action": "note", "owner_id": self.bo.id, "text": note });
        self.call("social_relationships", note).await;
        let search = json!({
            "action": "create", "name": canaries.own("saved_searches", "name"),
            "query": {
                "q": canaries.own("saved_searches", "words"), "category": "work.job",
                "filters": { "skills": { "in": [canaries.own("saved_searches", "filter")] } },
            },
        });
        self.call("saved_searches", search).await;
        let url = canaries.own("svc_webhooks", "address");
        let webhook = json!({
            "action": "create", "url": format!("https://{url}.example/"),
            "description": canaries.own("svc_webhooks", "description"),
        });
        self.call("svc.webhooks", webhook).await;

        // A grant is told from others by the instant at which it ends.
        let (ends, instant) = random_instant();
        canaries.note_shared("social_permissions", "end of a grant", &ends);
        let grant = json!({
            "action": "grant", "subject": format!("owner:{}", self.bo.id),
            "relation": "freebusy_viewer", "object": "owner:me", "expires_at": instant,
        });
        self.call("social_permissions", grant).await;

        let org = json!({
            "action": "create", "kind": "company",
            "name": canaries.shared("social_org", "name of an organisation"),
            "domain": format!("{}.example", canaries.shared("social_org", "domain")),
        });
        let org = self.call("social_org", org).await["org_id"].clone();
        let proof = json!({ "action": "start", "org_id": org, "method": "dns_txt" });
        let proof = self.call(PROOF, proof).await["verification_id"].clone();
        canaries.note_id(PROOF, "verification", proof.as_str().unwrap());
        let invite = json!({
            "action": "invite_member", "org_id": org, "owner_id": self.bo.id, "role": "recruiter",
        });
        self.call("social_org", invite).await;
        let report = json!({ "subject_id": org, "reason": "other", "text": "See for yourself." });
        self.bo.call_reports_ok("create", report).await;
        self.canaries = canaries;
    }

    /// Applies for a job, enquires, redeems a handoff, and decides about an application.
    async fn leave_applications(&mut self) {
        let mut canaries = std::mem::take(&mut self.canaries);
        let applications = "applications";
        let job = room(json!({
            "category": "work.job.software", "title": "Rust engineer",
            "attributes": { "employment_type": "FULL_TIME", "skills": ["Rust", "Wasm"] },
            "compensation": { "currency": "USD", "min": 150_000, "max": 190_000, "unit": "YEAR" },
        }));
        let mut wanted = |place| canaries.shared("agent_listings", place);
        let mut own_job = job.clone();
        own_job["attributes"]["skills"] = json!(["Rust", wanted("attribute")]);
        own_job["criteria"] = wants_skill(&wanted("criterion"));
        let (of_ada, of_bo) = (self.ada.new_listing(own_job).await, self.bo.new_listing(job).await);
        let session = json!({
            "action": "create", "listing_id": of_ada,
            "criteria_override": wants_skill(&canaries.own("matching_sessions", "criterion")),
        });
        self.call("matching_sessions", session).await;
        let ask = |listing: &str, question: &str| {
            json!({
                "action": "set_questions", "listing_id": listing,
                "questions": [{ "question": question, "required": false }],
            })
        };
        self.bo.agent().result(applications, ask(&of_bo, "From when?")).await;
        let question = canaries.shared(applications, "question");
        self.call(applications, ask(&of_ada, &question)).await;
        let questions = json!({ "action": "questions", "listing_id": of_bo });
        let questions = self.call(applications, questions).await["questions"].clone();
        let mut shared = |place| canaries.shared(applications, place);
        let apply = json!({
            "action": "apply", "listing_id": of_bo, "message": shared("letter"),
            "profile": {
                "headline": shared("headline"), "summary": shared("summary"),
                "skills": [shared("skill")], "location": shared("location"),
            },
            "answers": [{
                "question_id": questions[0]["question_id"], "answer": shared("answer"),
            }],
        });
        let sent = self.call(applications, apply).await;
        let invite = json!({
            "action": "decide", "application_id": sent["application_id"], "decision": "invite",
            "message": "Come and talk.",
        });
        self.bo.call_with_key(applications, invite).await;
        let offer = json!({
            "action": "decide", "application_id": sent["application_id"], "decision": "offer",
        });
        self.bo.call_with_key(applications, offer).await;
        let accept = json!({
            "action": "answer", "application_id": sent["application_id"], "answer": "accept",
        });
        self.call(applications, accept).await;

        let apply = json!({
            "action": "apply", "listing_id": of_ada, "message": "I know Rust.",
            "profile": { "headline": "Engineer" },
        });
        let received = self.bo.call_with_key(applications, apply).await;
        let reject = json!({
            "action": "decide", "application_id": received["application_id"],
            "decision": "reject", "reason_code": "other", "message": shared("decision"),
        });
        self.call(applications, reject).await;

        let (_, target) = signals::signal("hiring", "lead");
        let enquiry = json!({
            "action": "enquire", "purpose": "contact", "target_id": target,
            "message": canaries.own(applications, "message of an enquiry"),
        });
        self.call(applications, enquiry).await;

        let (contract, record) = handoffs::contract("apply_to_role");
        let resolve = json!({
            "action": "resolve", "handoff_id": contract["id"], "record_id": record["id"],
        });
        let token = self.call("handoff_resolve", resolve).await["token"].clone();
        let payload = token.as_str().unwrap().split('.').next().unwrap();
        let payload: Value =
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap();
        canaries.note_id("handoff_resolve", "redeemed token", payload["nonce"].as_str().unwrap());
        let redeem = json!({ "action": "redeem", "token": token });
        self.call("handoff_resolve", redeem).await;
        self.canaries = canaries;
    }

    /// States something about a signal of the map, for a company that the operator lets Ada speak for.
    async fn leave_statements(&mut self) {
        let mut canaries = std::mem::take(&mut self.canaries);
        let (signal, target) = signals::signal("hiring", "lead");
        let mut evidence = signals::submission(&signal, "https://paper.example/");
        evidence["note"] = json!(canaries.shared(signals::SIGNALS, "note of evidence"));
        self.call(signals::SIGNALS, evidence).await;
        let note = canaries.own(signals::SIGNALS, "note of the operator");
        let appoint = json!({ "target_id": target, "owner_id": self.ada.id, "note": note });
        signals::operate_ok(self.ada.agent().host, "appoint", appoint).await;
        let mut confirm = signals::signal_action("confirm", &signal);
        confirm["reason"] = json!(canaries.shared(signals::SIGNALS, "reason of a confirmation"));
        self.call(signals::SIGNALS, confirm).await;
        let mut dispute = signals::signal_action("dispute", &signal);
        dispute["reason"] = json!(canaries.shared(signals::SIGNALS, "reason of a dispute"));
        self.call(signals::SIGNALS, dispute).await;
        self.canaries = canaries;
    }

    /// Reports Bo, and appeals against what the operator has decided about a message.
    async fn leave_reports(&mut self, thread_id: &str) {
        let Self { ada, bo, canaries, .. } = self;
        let host = ada.agent().host;
        let text = canaries.own(reports::REPORTS, "report");
        let report = json!({ "subject_id": bo.id, "reason": "other", "text": text });
        ada.call_reports_ok("create", report).await;
        let message = ada.send_message(thread_id, "One more thing").await;
        let report = json!({
            "subject_id": message["message_id"], "reason": "scam", "text": "See for yourself.",
        });
        let report = bo.call_reports_ok("create", report).await["report_id"].clone();
        let decision = json!({
            "report_id": report, "outcome": "actioned", "explanation": "It was looked at.",
            "measure": "warned", "ground": "rules", "basis": "The rules",
        });
        reports::operate_ok(host, "triage", json!({ "report_id": report })).await;
        reports::operate_ok(host, "decide", decision).await;
        let appeal = json!({
            "report_id": report, "text": canaries.own(reports::REPORTS, "appeal"),
        });
        ada.call_reports_ok("appeal", appeal).await;
    }

    /// Mutes Bo and a conversation, and sets preferences, which the host keeps too. The quiet hours have begun, so that events
    /// are held.
    async fn leave_preferences(&mut self, thread_id: &str) {
        let mut canaries = std::mem::take(&mut self.canaries);
        // A mute of a conversation is told from others by the instant at which it ends.
        let (ends, instant) = random_instant();
        canaries.note("conversations", "end of a mute", &ends);
        let mute = json!({ "thread_id": thread_id, "until": instant });
        self.ada.call_thread_ok("mute", mute).await;
        self.ada.call_ok("mute", &self.bo.id).await;
        let digest = Digest::of(self.bo.id.as_bytes()).hex();
        canaries.note("social_relationships", "mute", &digest[..20]);
        let host = self.ada.agent().host;
        let quiet = json!({
            "from": &host.instant_after(std::time::Duration::ZERO)[11..16],
            "to": &host.instant_after(std::time::Duration::from_secs(12 * 3600))[11..16],
            "time_zone": "UTC",
        });
        let preferences = json!({
            "action": "set_preferences", "quiet_hours": quiet,
            "disabled_events": ["listing.removed"],
            "event_caps": [{ "events": "listing.expiring", "most": 1, "per": "day" }],
            "event_digest": {
                "events": ["listing.reinstated"], "at": "18:00", "time_zone": "Europe/Lisbon",
            },
            "auto_decline_rules": [{ "category": "home.let" }],
        });
        self.call("owners", preferences).await;
        // A rule of Ada's about a company, and an enquiry there, which waits for Ada.
        let target_id = canaries.own("approvals", "rule");
        let rule = json!({ "action": "tighten", "always_ask": target_id });
        self.call("approvals", rule).await;
        let enquiry = json!({
            "action": "enquire", "purpose": "contact", "target_id": target_id,
            "message": canaries.own("approvals", "waiting call"),
        });
        let reply = self.ada.agent().call("applications", enquiry).await;
        reply.assert_refused(403, "approval_required");
        self.canaries = canaries;
    }
}
