//! The time from the publication of a listing to the alerts of the saved searches that it fits, on both databases.

use crate::{
    Effort,
    client::{Client, text},
    component_sets,
    host::{BenchHost, Setup},
    listings::Random,
    market::{self, CITY, JOB, Kind, ROOM, SKILLS, pick},
    postgres,
    report::{Report, median},
};
use anyhow::{Context as _, Result, ensure};
use portolan_store::{Collection, DatabaseUrl, Unit};
use portolan_vocabulary::Timestamp;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const SEARCHES: &str = "saved_searches";
const LISTINGS: &str = "agent_listings";
/// The number of people with saved searches, and of different searches of each.
const PEOPLE: usize = 100;
const OF_A_PERSON: usize = 5;
/// The number of documents of one unit of work.
const UNIT: usize = 500;
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The time without a new alert after which there will be no more.
const SETTLED: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(120);

/// Returns a search: of words, around a point, of attributes or of a category, with some variation.
fn search(number: usize, random: &mut Random) -> Value {
    match number % 4 {
        0 => json!({ "q": format!("{} room", random.words(1)), "category": "home.let" }),
        1 => {
            let position =
                |random: &mut Random, middle: f64| middle + 0.4 * random.fraction() - 0.2;
            let (lat, lng) = (position(random, CITY.0), position(random, CITY.1));
            json!({ "near": { "lat": lat, "lng": lng, "radius_km": 5 }, "category": "home.let.room" })
        }
        2 => json!({
            "category": "work.job",
            "filters": { "skills": { "in": [pick(&SKILLS, number)] }, "years_experience": { "lte": number % 9 } },
        }),
        _ => json!({ "q": random.words(2) }),
    }
}

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let postgres: DatabaseUrl =
        postgres::database().await.parse().map_err(|error: String| anyhow::anyhow!(error))?;
    let guests = [&component_sets::LISTINGS[..], &[SEARCHES]].concat();
    for (name, database) in [("SQLite", None), ("PostgreSQL", Some(postgres))] {
        let setup = Setup { database, runs_due_work: true, ..Setup::with(&guests) };
        measure_database(name, &BenchHost::of(setup).await?, effort, report).await?;
    }
    Ok(())
}

async fn measure_database(
    name: &str,
    host: &BenchHost,
    effort: &Effort,
    report: &mut Report,
) -> Result<()> {
    let size = effort.saved_searches;
    let collections = market::collections(host, SEARCHES)?;
    let searches = collections.get("searches").context("there are no searches")?;
    let hits = collections.get("hits").context("there are no hits")?;
    eprintln!("saved searches on {name}: writing {size}");
    let mut random = Random(1);
    let mut patterns = Vec::new();
    for _ in 0..PEOPLE {
        let mut person = Client::claimed(host).await?;
        for _ in 0..OF_A_PERSON {
            let query = search(patterns.len(), &mut random);
            let body = json!({ "action": "create", "name": "Mine", "query": query, "frequency": "instant" });
            let made = person.result(SEARCHES, &body).await?;
            patterns.push(market::document(host, searches, text(&made, "/search_id")).await?);
        }
    }
    for first in (0..size).step_by(UNIT) {
        let numbers = first..size.min(first + UNIT);
        let documents = numbers.filter_map(|number| {
            let pattern = patterns.get(number % patterns.len())?;
            Some((searches, format!("sav_{number:026}"), pattern.clone()))
        });
        market::write(host, documents.collect()).await?;
    }
    let mut publisher = Client::claimed(host).await?;
    for (what, kind) in [("a room", ROOM), ("a job", JOB)] {
        let (mut first, mut last, mut alerts) = (Vec::new(), Vec::new(), 0);
        for round in 0..effort.rounds.min(5) {
            eprintln!("saved searches on {name}: {what}, round {round}");
            let alerted = publish(host, hits, &mut publisher, &kind, 2 * round).await?;
            alerts = alerted.count;
            first.push(alerted.first_ms);
            last.push(alerted.last_ms);
        }
        let what = format!("{name}, {size} saved searches, {what} that fits {alerts}");
        report.add(format!("{what}: until the first alert"), median(&first), "ms");
        report.add(format!("{what}: until the last alert"), median(&last), "ms");
    }
    Ok(())
}

/// The alerts about one listing, and when they came after its publication.
struct Alerted {
    count: u64,
    first_ms: f64,
    last_ms: f64,
}

async fn publish(
    host: &BenchHost,
    hits: &Collection,
    publisher: &mut Client,
    kind: &Kind,
    number: usize,
) -> Result<Alerted> {
    let count = async || {
        let mut unit = Unit::new(host.app.host.store.clone(), Timestamp::now());
        anyhow::Ok(unit.count(hits, None).await?)
    };
    let before = count().await?;
    let mut listing = kind.listing(number);
    listing["action"] = json!("create");
    let draft = publisher.result(LISTINGS, &listing).await?;
    let begun = Instant::now();
    let publish = json!({ "action": "publish", "listing_id": draft["listing_id"] });
    publisher.result(LISTINGS, &publish).await?;
    let (mut known, mut first, mut last) = (before, None, begun);
    while first.is_none() || last.elapsed() < SETTLED {
        ensure!(begun.elapsed() < PATIENCE, "no search is alerted of {listing}");
        let now = count().await?;
        if now > known {
            (known, last) = (now, Instant::now());
            first.get_or_insert(last);
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    let after = |time: Instant| time.duration_since(begun).as_secs_f64() * 1e3;
    Ok(Alerted {
        count: known - before,
        first_ms: after(first.unwrap_or(last)),
        last_ms: after(last),
    })
}
