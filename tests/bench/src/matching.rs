//! The cost of matching: previews and sessions over HTTP by the number of active listings, and a new
//! listing while many sessions are open.

use crate::{
    Effort,
    client::{Client, text},
    component_sets,
    host::{BenchHost, Setup},
    market::{self, CANDIDATE, COFOUNDER, Kind, Market, STRENGTHS, criterion, pick},
    report::{Report, median, percentile},
};
use anyhow::{Context as _, Result, ensure};
use portolan_store::{Collection, Unit};
use portolan_vocabulary::Timestamp;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

const MATCHING: &str = "matching_sessions";
const LISTINGS: &str = "agent_listings";
/// The number of people who search.
const PEOPLE: usize = 20;
/// The number of people with open sessions when a listing is published.
const WATCHERS: usize = 100;
/// The numbers of open sessions that the listing fits, and of those that it does not fit.
const FITTING: usize = 1_000;
const OTHERS: usize = 10_000;
/// The number of documents of one unit of work.
const UNIT: usize = 500;
const PATIENCE: Duration = Duration::from_secs(120);
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Makes a draft; the number varies its criteria.
type Drafts = fn(usize) -> Value;

/// The name and the draft of each preview.
const PREVIEWS: [(&str, Drafts); 4] = [
    ("a job, near", |number| draft(CANDIDATE, number)),
    ("a job, anywhere", |number| {
        let mut draft = draft(CANDIDATE, number);
        draft["remote"] = json!(true);
        draft
    }),
    ("a cofounder, near", |number| draft(COFOUNDER, number)),
    ("a cofounder who must bring something", |number| {
        let mut draft = draft(COFOUNDER, number);
        let must = json!({ "field": "strengths", "op": "eq", "value": pick(&STRENGTHS, number) });
        draft["criteria"]["must"] = json!([must]);
        draft
    }),
];

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let host =
        BenchHost::of(Setup { runs_due_work: true, ..Setup::with(&component_sets::MATCHING) })
            .await?;
    let mut market = Market::open(&host).await?;
    let mut people = Vec::new();
    for number in 0..PEOPLE {
        people.push(Seeker::new(&host, number).await?);
    }
    let rounds = effort.rounds.min(10);
    for &size in effort.listings {
        eprintln!("matching: filling up to {size} listings");
        market.fill(&host, size).await?;
        let mut previews: Vec<Vec<f64>> = PREVIEWS.iter().map(|_| Vec::new()).collect();
        let mut sessions: Vec<Vec<f64>> = vec![Vec::new(); 2];
        for round in 0..=rounds {
            eprintln!("matching among {size} listings, round {round} of {rounds}");
            for (number, person) in people.iter_mut().enumerate() {
                let asked = number + round;
                for ((_, draft), times) in PREVIEWS.iter().zip(&mut previews) {
                    let took = person.preview(draft(asked)).await?;
                    times.extend((round > 0).then_some(took));
                }
                for (kind, times) in sessions.iter_mut().enumerate() {
                    let took = person.session(kind).await?;
                    times.extend((round > 0).then_some(took));
                }
            }
        }
        let names = PREVIEWS.iter().map(|(name, _)| format!("preview of {name}"));
        let created = ["a job", "a cofounder"].map(|name| format!("create for {name}"));
        for (name, times) in names.chain(created).zip(previews.iter().chain(&sessions)) {
            report.add(format!("{size} listings, {name}: p50"), median(times), "ms");
            report.add(format!("{size} listings, {name}: p99"), percentile(times, 99), "ms");
        }
    }
    measure_publications(&host, &market, effort, report).await
}

fn draft(kind: Kind, number: usize) -> Value {
    let mut draft = kind.listing(number);
    if let Some(fields) = draft.as_object_mut() {
        fields.shift_remove("description");
    }
    draft
}

/// A person with two listings: one looks for a job, the other for a cofounder.
struct Seeker {
    client: Client,
    listing_ids: [String; 2],
}

impl Seeker {
    async fn new(host: &BenchHost, number: usize) -> Result<Self> {
        let mut client = Client::claimed(host).await?;
        let mut listing_ids = [String::new(), String::new()];
        for (kind, id) in [CANDIDATE, COFOUNDER].iter().zip(&mut listing_ids) {
            *id = create_listing(&mut client, kind.listing(number), true).await?;
        }
        Ok(Self { client, listing_ids })
    }

    async fn preview(&mut self, draft: Value) -> Result<f64> {
        let body = json!({ "action": "preview", "listing_draft": draft });
        let reply = self.client.call(MATCHING, &body).await?;
        let items = reply.result()?["items"].as_array().map_or(0, Vec::len);
        ensure!(items == 10, "only {items} fit {body}");
        Ok(reply.took_ms)
    }

    /// Creates a session for one of the listings, and closes it.
    async fn session(&mut self, kind: usize) -> Result<f64> {
        let listing_id = self.listing_ids.get(kind).context("no such listing")?;
        let body = json!({ "action": "create", "listing_id": listing_id });
        let reply = self.client.call(MATCHING, &body).await?;
        let session = reply.result()?;
        ensure!(session["state"] == "ready", "{session}");
        let close = json!({ "action": "close", "session_id": session["session_id"] });
        self.client.result(MATCHING, &close).await?;
        Ok(reply.took_ms)
    }
}

/// Creates a listing, published or as a draft, and returns its id.
async fn create_listing(client: &mut Client, mut listing: Value, publish: bool) -> Result<String> {
    listing["action"] = json!("create");
    listing["publish"] = json!(publish);
    let made = client.result(LISTINGS, &listing).await?;
    Ok(text(&made, "/listing_id").to_owned())
}

/// Measures the publication of a listing while sessions are open, and the time until they have the event.
async fn measure_publications(
    host: &BenchHost,
    market: &Market,
    effort: &Effort,
    report: &mut Report,
) -> Result<()> {
    eprintln!("matching: {WATCHERS} people who wait for a listing");
    let mut watchers = Vec::new();
    for _ in 0..WATCHERS {
        watchers.push(Client::claimed(host).await?.owner_id);
    }
    let collections = market::collections(host, MATCHING)?;
    let watch = Watch { host, collections, watchers };
    let mut person = Client::claimed(host).await?;
    let of_cofounders = create_listing(&mut person, COFOUNDER.listing(0), true).await?;
    let of_candidate = create_listing(&mut person, CANDIDATE.listing(0), true).await?;
    let session = async |person: &mut Client, listing: &str, must: Option<&str>| {
        let mut body = json!({ "action": "create", "listing_id": listing });
        if let Some(strength) = must {
            let must = json!({ "field": "strengths", "op": "eq", "value": strength });
            body["criteria_override"] = json!({ "must": [must] });
        }
        let made = person.result(MATCHING, &body).await?;
        let sessions = watch.sessions()?;
        let pattern = market::document(host, sessions, text(&made, "/session_id")).await?;
        let close = json!({ "action": "close", "session_id": made["session_id"] });
        person.result(MATCHING, &close).await?;
        anyhow::Ok(pattern)
    };
    let any = session(&mut person, &of_cofounders, None).await?;
    // People who want something else of the same category, and people who want another category.
    let picky = session(&mut person, &of_cofounders, Some("finance")).await?;
    let elsewhere = session(&mut person, &of_candidate, None).await?;
    let listings: Vec<String> = market.ids_of(COFOUNDER.category).collect();
    let mut publisher = Client::claimed(host).await?;
    for others in [0, OTHERS] {
        for (half, pattern) in [&picky, &elsewhere].into_iter().enumerate() {
            let numbers = (0..others / 2).map(|number| FITTING + number * 2 + half);
            watch.fill(numbers, &listings, pattern).await?;
        }
        let (mut published, mut notified) = (Vec::new(), Vec::new());
        for round in 0..effort.rounds.min(5) {
            eprintln!("matching: a listing comes, {others} others, round {round}");
            watch.fill(0..FITTING, &listings, &any).await?;
            let mut listing = COFOUNDER.listing(3);
            listing["criteria"] = criterion("strengths", "engineering");
            let id = create_listing(&mut publisher, listing, false).await?;
            let begun = Instant::now();
            let publish = json!({ "action": "publish", "listing_id": id });
            published.push(publisher.call(LISTINGS, &publish).await?.took_ms);
            while watch.notified_count().await? < FITTING {
                ensure!(begun.elapsed() < PATIENCE, "not every session got the event about {id}");
                tokio::time::sleep(POLL_INTERVAL).await;
            }
            notified.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        let sessions = format!("{FITTING} sessions it fits, {others} others");
        report.add(format!("publish, {sessions}"), median(&published), "ms");
        report.add(format!("until the last has its event, {sessions}"), median(&notified), "ms");
    }
    Ok(())
}

/// The open sessions of many people.
struct Watch<'a> {
    host: &'a BenchHost,
    collections: Arc<BTreeMap<String, Collection>>,
    watchers: Vec<String>,
}

impl Watch<'_> {
    fn sessions(&self) -> Result<&Collection> {
        self.collections.get("sessions").context("there are no sessions")
    }

    /// Writes copies of a session, each for another listing and without delivered candidates.
    async fn fill(
        &self,
        numbers: impl Iterator<Item = usize>,
        listings: &[String],
        pattern: &Value,
    ) -> Result<()> {
        let sessions = self.sessions()?;
        let numbers: Vec<usize> = numbers.collect();
        for numbers in numbers.chunks(UNIT) {
            let mut documents = Vec::new();
            for &number in numbers {
                let mut session = pattern.clone();
                session["owner_id"] = json!(self.watchers.get(number % WATCHERS));
                session["listing_id"] = json!(listings.get(number % listings.len()));
                session["news"] = json!({ "new": 0, "removed": 0, "top": 0.0, "told_at": 0 });
                documents.push((sessions, session_id(number), session));
            }
            market::write(self.host, documents).await?;
        }
        Ok(())
    }

    /// Returns the number of sessions that have the event about the listing.
    async fn notified_count(&self) -> Result<usize> {
        let sessions = self.sessions()?;
        let ids: Vec<String> = (0..FITTING).map(session_id).collect();
        let mut notified = 0;
        for ids in ids.chunks(UNIT) {
            let mut unit = Unit::new(self.host.app.host.store.clone(), Timestamp::now());
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            for session in unit.get_many(sessions, &ids).await?.into_iter().flatten() {
                let session: Value = serde_json::from_str(&session.body)?;
                notified += usize::from(session["news"]["told_at"] != 0);
            }
        }
        Ok(notified)
    }
}

fn session_id(number: usize) -> String {
    format!("mse_{number:026}")
}
