//! A person: what they know, what they heard, and how they choose what to do next.

use crate::{
    client::{Client, items, text},
    listings::Random,
    market::Kind,
    people::acts::{ACTS, Act},
};
use anyhow::{Result, ensure};
use portolan_vocabulary::Timestamp;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, VecDeque},
    time::{Duration, Instant},
};

/// How long a person thinks between two things, on average.
pub(super) const THINKING_MS: u64 = 5_000;
/// Things of each kind that are remembered.
const MEMORY: usize = 40;
const HALF_HOUR_MS: u64 = 1_800_000;
/// From when on people meet, and how many half hours there are for it: few enough that they get in
/// each other's way.
const FIRST_SLOT_MS: u64 = 48 * 3_600_000;
const SLOTS: u64 = 300;

/// What the host answered.
#[derive(Default)]
pub(super) struct Heard {
    /// Milliseconds, by capability and action.
    pub(super) times: BTreeMap<String, Vec<f64>>,
    /// How often each error code was answered, by capability and action.
    pub(super) codes: BTreeMap<String, u64>,
    pub(super) statuses: BTreeMap<u16, u64>,
}

impl Heard {
    pub(super) fn add(&mut self, other: Self) {
        for (name, times) in other.times {
            self.times.entry(name).or_default().extend(times);
        }
        for (code, times) in other.codes {
            *self.codes.entry(code).or_default() += times;
        }
        for (status, times) in other.statuses {
            *self.statuses.entry(status).or_default() += times;
        }
    }
}

pub(super) struct Person {
    pub(super) client: Client,
    pub(super) kind: Kind,
    pub(super) random: Random,
    began: Timestamp,
    pub(super) heard: Heard,
    /// The person's own listings, the first one never withdrawn.
    pub(super) listings: Vec<String>,
    pub(super) session: Option<String>,
    /// Candidates to decide on.
    pub(super) candidates: VecDeque<String>,
    /// Listings of others that were seen.
    pub(super) seen: VecDeque<String>,
    pub(super) threads: Vec<String>,
    pub(super) blocks: Vec<String>,
    /// Events that were read and not acknowledged.
    pub(super) events: Vec<String>,
}

impl Person {
    pub(super) fn new(client: Client, kind: Kind, random: Random, began: Timestamp) -> Self {
        Self {
            client,
            kind,
            random,
            began,
            heard: Heard::default(),
            listings: Vec::new(),
            session: None,
            candidates: VecDeque::new(),
            seen: VecDeque::new(),
            threads: Vec::new(),
            blocks: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Does one thing after the other, and thinks before each.
    pub(super) async fn live(mut self, until: Instant) -> Result<Self> {
        let weights: u64 = ACTS.iter().map(|(_, weight)| weight).sum();
        loop {
            let pause = self.random.below(2 * THINKING_MS);
            tokio::time::sleep(Duration::from_millis(pause)).await;
            if Instant::now() >= until {
                return Ok(self);
            }
            let mut drawn = self.random.below(weights);
            let chosen = ACTS.iter().find(|(_, weight)| {
                let is_it = drawn < *weight;
                drawn = drawn.saturating_sub(*weight);
                is_it
            });
            self.act(chosen.map_or(Act::Search, |(act, _)| *act)).await?;
        }
    }

    /// The result of a call, if it went well.
    pub(super) async fn ask(
        &mut self,
        capability: &str,
        action: &str,
        mut body: Value,
    ) -> Result<Option<Value>> {
        body["action"] = json!(action);
        let reply = self.client.call(capability, &body).await?;
        let name = format!("{capability} {action}");
        Ok(self
            .note(&name, reply.status, reply.took_ms, reply.body)
            .map(|mut it| it["result"].take()))
    }

    /// Notes an answer, and hands it on if all went well.
    pub(super) fn note(
        &mut self,
        name: &str,
        status: u16,
        took_ms: f64,
        body: Value,
    ) -> Option<Value> {
        let heard = &mut self.heard;
        heard.times.entry(name.to_owned()).or_default().push(took_ms);
        *heard.statuses.entry(status).or_default() += 1;
        if status == 200 {
            return Some(body);
        }
        let code = format!("{} to {name}", text(&body, "/error_code"));
        *heard.codes.entry(code).or_default() += 1;
        None
    }

    /// Publishes a listing, which must go well.
    pub(super) async fn lists(&mut self, number: usize) -> Result<()> {
        let mut listing = self.kind.listing(number);
        listing["publish"] = json!(true);
        listing["action"] = json!("create");
        let made = self.client.result("agent_listings", &listing).await?;
        ensure!(made["state"] == "active", "{made}");
        self.listings.push(text(&made, "/listing_id").to_owned());
        Ok(())
    }

    /// Once in so many times.
    pub(super) fn once_in(&mut self, times: u64) -> bool {
        self.random.below(times) == 0
    }

    pub(super) fn one_of<'a, T>(random: &mut Random, all: &'a [T]) -> Option<&'a T> {
        all.get(random.below(all.len().max(1) as u64) as usize)
    }

    pub(super) fn remember(&mut self, found: &Value, pointer: &str) {
        for item in items(found) {
            let id = text(item, pointer);
            if !id.is_empty() && !self.seen.iter().any(|seen| seen == id) {
                self.seen.push_back(id.to_owned());
            }
        }
        while self.seen.len() > MEMORY {
            self.seen.pop_front();
        }
    }

    /// Half an hour that people may meet in.
    pub(super) fn slot(&mut self) -> Value {
        let hour = self.began.as_millis() / 3_600_000 * 3_600_000;
        let start = hour + FIRST_SLOT_MS + HALF_HOUR_MS * self.random.below(SLOTS);
        let at = |ms| Timestamp::from_millis(ms).to_string();
        json!({ "start": at(start), "end": at(start + HALF_HOUR_MS) })
    }

    pub(super) fn slots(&mut self) -> Vec<Value> {
        let count = 1 + self.random.below(3);
        let mut slots: Vec<Value> = (0..count).map(|_| self.slot()).collect();
        slots.sort_by_key(|it| text(it, "/start").to_owned());
        slots.dedup();
        slots
    }
}
