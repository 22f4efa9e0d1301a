//! A simulated person: their knowledge, the answers they got, and the choice of the next action.

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

/// The average time between two actions of a person.
pub(super) const THINKING_MS: u64 = 5_000;
/// The number of remembered ids of each kind.
const MEMORY: usize = 40;
const HALF_HOUR_MS: u64 = 1_800_000;
/// The start of the first meeting slot, and the number of slots: few enough that meetings conflict.
const FIRST_SLOT_MS: u64 = 48 * 3_600_000;
const SLOTS: u64 = 300;

/// The answers of the host.
#[derive(Default)]
pub(super) struct CallStatistics {
    /// The milliseconds of each call, by capability and action.
    pub(super) times: BTreeMap<String, Vec<f64>>,
    /// The count of each error code, by capability and action.
    pub(super) codes: BTreeMap<String, u64>,
    pub(super) statuses: BTreeMap<u16, u64>,
}

impl CallStatistics {
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
    pub(super) statistics: CallStatistics,
    /// The person's own listings. The first one is never withdrawn.
    pub(super) listings: Vec<String>,
    pub(super) session: Option<String>,
    /// Candidates without a decision.
    pub(super) candidates: VecDeque<String>,
    /// Seen listings of others.
    pub(super) seen: VecDeque<String>,
    pub(super) threads: Vec<String>,
    pub(super) blocks: Vec<String>,
    /// Delivered events that are not acknowledged.
    pub(super) events: Vec<String>,
}

impl Person {
    pub(super) fn new(client: Client, kind: Kind, random: Random, began: Timestamp) -> Self {
        Self {
            client,
            kind,
            random,
            began,
            statistics: CallStatistics::default(),
            listings: Vec::new(),
            session: None,
            candidates: VecDeque::new(),
            seen: VecDeque::new(),
            threads: Vec::new(),
            blocks: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Acts until `until`, with a pause before each action.
    pub(super) async fn run(mut self, until: Instant) -> Result<Self> {
        let weights: u64 = ACTS.iter().map(|(_, weight)| weight).sum();
        loop {
            let pause = self.random.below(2 * THINKING_MS);
            tokio::time::sleep(Duration::from_millis(pause)).await;
            if Instant::now() >= until {
                return Ok(self);
            }
            let mut drawn = self.random.below(weights);
            let chosen = ACTS.iter().find(|(_, weight)| {
                let is_chosen = drawn < *weight;
                drawn = drawn.saturating_sub(*weight);
                is_chosen
            });
            self.act(chosen.map_or(Act::Search, |(act, _)| *act)).await?;
        }
    }

    /// Returns the result of a call, if it succeeded.
    pub(super) async fn call(
        &mut self,
        capability: &str,
        action: &str,
        mut body: Value,
    ) -> Result<Option<Value>> {
        body["action"] = json!(action);
        let reply = self.client.call(capability, &body).await?;
        let name = format!("{capability} {action}");
        Ok(self
            .record(&name, reply.status, reply.took_ms, reply.body)
            .map(|mut answer| answer["result"].take()))
    }

    /// Records an answer, and returns it if the call succeeded.
    pub(super) fn record(
        &mut self,
        name: &str,
        status: u16,
        took_ms: f64,
        body: Value,
    ) -> Option<Value> {
        let statistics = &mut self.statistics;
        statistics.times.entry(name.to_owned()).or_default().push(took_ms);
        *statistics.statuses.entry(status).or_default() += 1;
        if status == 200 {
            return Some(body);
        }
        let code = format!("{} to {name}", text(&body, "/error_code"));
        *statistics.codes.entry(code).or_default() += 1;
        None
    }

    /// Publishes a listing. A refusal is an error.
    pub(super) async fn publish_listing(&mut self, number: usize) -> Result<()> {
        let mut listing = self.kind.listing(number);
        listing["publish"] = json!(true);
        listing["action"] = json!("create");
        let created = self.client.result("agent_listings", &listing).await?;
        ensure!(created["state"] == "active", "{created}");
        self.listings.push(text(&created, "/listing_id").to_owned());
        Ok(())
    }

    /// Returns true once in `times` on average.
    pub(super) fn once_in(&mut self, times: u64) -> bool {
        self.random.below(times) == 0
    }

    pub(super) fn choose<'a, T>(random: &mut Random, all: &'a [T]) -> Option<&'a T> {
        all.get(random.below(all.len().max(1) as u64) as usize)
    }

    pub(super) fn remember_ids(&mut self, found: &Value, pointer: &str) {
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

    /// Returns a random slot of half an hour.
    pub(super) fn slot(&mut self) -> Value {
        let hour = self.began.as_millis() / 3_600_000 * 3_600_000;
        let start = hour + FIRST_SLOT_MS + HALF_HOUR_MS * self.random.below(SLOTS);
        let at = |ms| Timestamp::from_millis(ms).to_string();
        json!({ "start": at(start), "end": at(start + HALF_HOUR_MS) })
    }

    pub(super) fn slots(&mut self) -> Vec<Value> {
        let count = 1 + self.random.below(3);
        let mut slots: Vec<Value> = (0..count).map(|_| self.slot()).collect();
        slots.sort_by_key(|slot| text(slot, "/start").to_owned());
        slots.dedup();
        slots
    }
}
