//! The actions of simulated people.

use crate::{
    client::{items, text},
    market::{CANDIDATE, COFOUNDER, JOB, STRENGTHS, pick},
    people::person::Person,
};
use anyhow::Result;
use serde_json::{Value, json};

const LISTINGS: &str = "agent_listings";
const MATCHING: &str = "matching_sessions";
const PAIRINGS: &str = "pairings";
const CONVERSATIONS: &str = "conversations";
const MEETINGS: &str = "thread_meetings";
const CALENDAR: &str = "calendar";

#[derive(Clone, Copy)]
pub(super) enum Act {
    Search,
    Edit,
    List,
    Match,
    Decide,
    Propose,
    Answer,
    Talk,
    Invite,
    Meet,
    BlockTime,
    Listen,
}

/// The relative frequency of each action.
pub(super) const ACTS: [(Act, u64); 12] = [
    (Act::Search, 12),
    (Act::Edit, 4),
    (Act::List, 3),
    (Act::Match, 8),
    (Act::Decide, 12),
    (Act::Propose, 6),
    (Act::Answer, 12),
    (Act::Talk, 14),
    (Act::Invite, 5),
    (Act::Meet, 12),
    (Act::BlockTime, 4),
    (Act::Listen, 8),
];

/// The maximum number of listings of a person.
const MOST_LISTINGS: usize = 3;
const MOST_BLOCKS: usize = 5;

impl Person {
    pub(super) async fn act(&mut self, act: Act) -> Result<()> {
        match act {
            Act::Search => self.search().await,
            Act::Edit => self.edit().await,
            Act::List => self.list().await,
            Act::Match => self.run_session().await,
            Act::Decide => self.decide().await,
            Act::Propose => self.propose().await,
            Act::Answer => self.answer().await,
            Act::Talk => self.talk().await,
            Act::Invite => self.invite().await,
            Act::Meet => self.act_on_meeting().await,
            Act::BlockTime => self.block_time().await,
            Act::Listen => self.listen().await,
        }
    }

    /// Returns the category of the person's counterparts.
    fn counterpart(&self) -> &'static str {
        let pairs = [(COFOUNDER, COFOUNDER), (CANDIDATE, JOB), (JOB, CANDIDATE)];
        let mut pairs = pairs.into_iter();
        pairs
            .find(|(own, _)| own.category == self.kind.category)
            .map_or("", |(_, counterpart)| counterpart.category)
    }

    async fn search(&mut self) -> Result<()> {
        let mut body = json!({ "category": self.counterpart(), "limit": 10 });
        match self.random.below(3) {
            0 => body["q"] = json!("listing"),
            1 => body["near"] = json!({ "lat": 37.77, "lng": -122.42, "radius_km": 25 }),
            _ => {}
        }
        if let Some(found) = self.call(LISTINGS, "search", body).await? {
            self.remember_ids(&found, "/listing_id");
        }
        Ok(())
    }

    async fn edit(&mut self) -> Result<()> {
        let number = self.random.below(1_000);
        let Some(id) = Self::choose(&mut self.random, &self.listings) else { return Ok(()) };
        let patch = json!({ "title": format!("Listing {number}, changed") });
        self.call(LISTINGS, "update", json!({ "listing_id": id, "patch": patch })).await.map(drop)
    }

    /// Publishes another listing, or withdraws the latest one.
    async fn list(&mut self) -> Result<()> {
        if self.listings.len() >= MOST_LISTINGS {
            let id = self.listings.pop();
            return self.call(LISTINGS, "withdraw", json!({ "listing_id": id })).await.map(drop);
        }
        let mut listing = self.kind.listing(self.random.below(1_000) as usize);
        listing["publish"] = json!(true);
        if let Some(created) = self.call(LISTINGS, "create", listing).await? {
            self.listings.push(text(&created, "/listing_id").to_owned());
        }
        Ok(())
    }

    /// Creates a session if there is none; otherwise reads its candidates, or sometimes closes it.
    async fn run_session(&mut self) -> Result<()> {
        let Some(id) = self.session.clone() else {
            let body = json!({ "listing_id": self.listings.first(), "batch_size": 5 });
            let created = self.call(MATCHING, "create", body).await?;
            self.session = created.map(|created| text(&created, "/session_id").to_owned());
            return Ok(());
        };
        if self.once_in(8) {
            (self.session, self.candidates) = (None, Default::default());
            return self.call(MATCHING, "close", json!({ "session_id": id })).await.map(drop);
        }
        let body = json!({ "session_id": id, "state": ["new", "later"], "limit": 10 });
        match self.call(MATCHING, "candidates", body).await? {
            Some(found) => {
                let ids = items(&found).iter().map(|item| text(item, "/candidate_id").to_owned());
                self.candidates = ids.collect();
                self.remember_ids(&found, "/listing_card/listing_id");
            }
            None => self.session = None,
        }
        Ok(())
    }

    async fn decide(&mut self) -> Result<()> {
        let next = self.session.clone().zip(self.candidates.pop_front());
        let Some((session_id, candidate_id)) = next else { return self.run_session().await };
        let decisions = ["interested", "interested", "interested", "pass", "later"];
        let decision = pick(&decisions, self.random.below(5) as usize);
        let body = json!({
            "session_id": session_id, "candidate_id": candidate_id, "decision": decision,
        });
        self.call(MATCHING, "decide", body).await.map(drop)
    }

    async fn propose(&mut self) -> Result<()> {
        let Some(to) = self.seen.pop_front() else { return self.search().await };
        let body = json!({
            "from_listing_id": self.listings.first(), "to_listing_id": to,
            "message": "Shall we get to know each other?",
        });
        self.call(PAIRINGS, "propose", body).await.map(drop)
    }

    /// Replies to an open proposal or question.
    async fn answer(&mut self) -> Result<()> {
        let body = json!({ "state": ["proposed", "clarifying"], "limit": 10 });
        let Some(open) = self.call(PAIRINGS, "list", body).await? else { return Ok(()) };
        let is_allowed = |pairing: &Value, action: &str| {
            pairing["allowed_actions"].as_array().is_some_and(|all| all.contains(&json!(action)))
        };
        let mut open: Vec<&Value> = items(&open)
            .iter()
            .filter(|pairing| is_allowed(pairing, "reply") || is_allowed(pairing, "message"))
            .collect();
        // The oldest one is last.
        let Some(pairing) = open.pop() else { return Ok(()) };
        let mut body = json!({ "pairing_id": pairing["pairing_id"] });
        if is_allowed(pairing, "message") {
            body["message"] = json!("As soon as possible.");
            return self.call(PAIRINGS, "message", body).await.map(drop);
        }
        let decisions = ["accept", "accept", "accept", "ask", "decline"];
        let decision = pick(&decisions, self.random.below(5) as usize);
        body["decision"] = json!(decision);
        if decision == "ask" {
            body["message"] = json!("When would you begin?");
        }
        self.call(PAIRINGS, "reply", body).await.map(drop)
    }

    /// Lists conversations, sends a message, or reads messages and marks them as read.
    async fn talk(&mut self) -> Result<()> {
        let thread = Self::choose(&mut self.random, &self.threads).cloned();
        let Some(thread) = thread.filter(|_| self.random.below(5) > 0) else {
            if let Some(all) = self.call(CONVERSATIONS, "list", json!({ "limit": 30 })).await? {
                let ids = items(&all).iter().map(|item| text(item, "/thread_id").to_owned());
                self.threads = ids.collect();
            }
            return Ok(());
        };
        if self.once_in(2) {
            let message =
                format!("What about {}?", pick(&STRENGTHS, self.random.below(6) as usize));
            let body = json!({ "thread_id": thread, "text": message });
            return self.call(CONVERSATIONS, "send", body).await.map(drop);
        }
        let body = json!({ "thread_id": thread, "limit": 10 });
        let Some(read) = self.call(CONVERSATIONS, "messages", body).await? else { return Ok(()) };
        let Some(last) = items(&read).first() else { return Ok(()) };
        let body = json!({ "thread_id": thread, "up_to_message_id": last["message_id"] });
        self.call(CONVERSATIONS, "mark_read", body).await.map(drop)
    }

    /// Proposes a meeting in a conversation.
    async fn invite(&mut self) -> Result<()> {
        let thread = Self::choose(&mut self.random, &self.threads).cloned();
        let Some(thread) = thread else { return self.talk().await };
        let body = json!({
            "thread_id": thread, "title": "A first look", "duration_min": 30,
            "slots": self.slots(), "time_zone": "America/Los_Angeles",
        });
        self.call(MEETINGS, "propose", body).await.map(drop)
    }

    /// Takes a permitted action on one of the person's meetings.
    async fn act_on_meeting(&mut self) -> Result<()> {
        let body = json!({ "state": ["proposed", "countered", "confirmed"], "limit": 10 });
        let Some(all) = self.call(MEETINGS, "list", body).await? else { return Ok(()) };
        let Some(meeting) = Self::choose(&mut self.random, items(&all)) else { return Ok(()) };
        let allowed = meeting["allowed_actions"].as_array().into_iter().flatten();
        let allowed: Vec<&str> = allowed.filter_map(Value::as_str).collect();
        // Accepting actions are more frequent than refusing ones.
        let usual = ["accept", "accept", "accept", "accept_counter", "accept_counter", "counter"];
        let rare = ["cancel", "decline", "decline_counter", "reschedule"];
        let all = if self.once_in(4) { [&usual[..], &rare].concat() } else { usual.to_vec() };
        let possible: Vec<&str> =
            all.into_iter().filter(|action| allowed.contains(action)).collect();
        let Some(action) = Self::choose(&mut self.random, &possible).copied() else {
            return Ok(());
        };
        let mut body = json!({ "meeting_id": meeting["meeting_id"] });
        let mut one = |slots: &Value| {
            let slots = slots.as_array().map_or(&[][..], Vec::as_slice);
            Self::choose(&mut self.random, slots).map(|slot| slot["slot_id"].clone())
        };
        match action {
            "accept" => {
                body["slot_id"] = json!(one(&meeting["slots"]));
                body["sequence"] = meeting["sequence"].clone();
            }
            "accept_counter" => body["slot_id"] = json!(one(&meeting["counter"]["slots"])),
            "counter" | "reschedule" => body["slots"] = json!(self.slots()),
            _ => {}
        }
        self.call(MEETINGS, action, body).await.map(drop)
    }

    /// Adds a busy time to the calendar, or removes one.
    async fn block_time(&mut self) -> Result<()> {
        if self.blocks.len() >= MOST_BLOCKS {
            let id = self.blocks.remove(0);
            return self.call(CALENDAR, "remove_block", json!({ "block_id": id })).await.map(drop);
        }
        let block = self.slot();
        if let Some(created) = self.call(CALENDAR, "add_block", block).await? {
            self.blocks.push(text(&created, "/block_id").to_owned());
        }
        Ok(())
    }

    /// Polls for events for a second, or acknowledges the delivered ones.
    async fn listen(&mut self) -> Result<()> {
        if self.events.is_empty() {
            let reply = self.client.get("/v1/agent-events/stream?wait=1&limit=50").await?;
            let page =
                self.record("events, a poll of 1 s", reply.status, reply.took_ms, reply.body);
            let page = page.unwrap_or_default();
            let events = page["events"].as_array().into_iter().flatten();
            self.events = events.map(|event| text(event, "/id").to_owned()).collect();
            return Ok(());
        }
        let body = json!({ "ack_event_ids": std::mem::take(&mut self.events) });
        let reply = self.client.post("/v1/agent-events/ack", &body).await?;
        self.record("events, acknowledged", reply.status, reply.took_ms, reply.body);
        Ok(())
    }
}
