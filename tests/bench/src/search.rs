//! The cost of a search of listings over HTTP, by the number of active listings, on both databases.

use crate::{
    Effort,
    client::Client,
    component_sets,
    host::{BenchHost, Setup},
    load::{Slice, slice},
    market::{CITY, FREQUENT, Market},
    postgres,
    report::{Report, median},
};
use anyhow::Result;
use portolan_store::DatabaseUrl;
use serde_json::{Value, json};

/// Returns the name and the body of each search.
fn searches() -> Vec<(&'static str, Value)> {
    let near = json!({ "lat": CITY.0, "lng": CITY.1, "radius_km": 5 });
    let quiet = json!({ "household": { "eq": "quiet" }, "flatmates": { "lte": 1 } });
    let skills = json!({ "skills": { "in": ["rust", "go"] }, "years_experience": { "gte": 3 } });
    let rent = json!({ "currency": "USD", "max": 1200, "unit": "MONTH" });
    vec![
        ("the newest", json!({})),
        ("a category", json!({ "category": "home.let" })),
        ("a category, facets", json!({ "category": "home.let", "facets": true })),
        ("around a point", json!({ "near": near })),
        (
            "a category and a side around a point",
            json!({ "category": "home.let", "side": "offer", "near": near }),
        ),
        ("a rare word", json!({ "q": "kalona" })),
        ("a frequent word", json!({ "q": FREQUENT })),
        ("a frequent word in a category", json!({ "q": FREQUENT, "category": "work.job" })),
        ("a frequent word and a rare one", json!({ "q": format!("{FREQUENT} kalona") })),
        (
            "a sentence",
            json!({ "q": format!("a {FREQUENT} and quiet room in a calm flat near the park") }),
        ),
        ("a frequent word, facets", json!({ "q": FREQUENT, "facets": true })),
        ("two attributes", json!({ "category": "home.let.room", "filters": quiet })),
        (
            "two attributes, facets",
            json!({ "category": "home.let.room", "filters": quiet, "facets": true }),
        ),
        ("skills and experience", json!({ "category": "work.job", "filters": skills })),
        ("a category by pay", json!({ "category": "home.let", "compensation": rent })),
        (
            "a category by pay, facets",
            json!({ "category": "home.let", "compensation": rent, "facets": true }),
        ),
        (
            "attributes, pay and a point",
            json!({
                "category": "home.let.room", "filters": quiet, "compensation": rent, "near": near,
            }),
        ),
    ]
}

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let postgres: DatabaseUrl =
        postgres::database().await.parse().map_err(|error: String| anyhow::anyhow!(error))?;
    for (name, database) in [("SQLite", None), ("PostgreSQL", Some(postgres))] {
        let setup =
            Setup { database, runs_due_work: true, ..Setup::with(&component_sets::LISTINGS) };
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
    let mut market = Market::open(host).await?;
    let asking = Client::anonymous(host).await?;
    let questions = searches();
    for &size in effort.listings {
        eprintln!("search on {name}: filling up to {size} listings");
        market.fill(host, size).await?;
        let mut slices: Vec<Vec<Slice>> = questions.iter().map(|_| Vec::new()).collect();
        for round in 0..=effort.rounds.min(4) {
            eprintln!("search of {size} listings on {name}, round {round}");
            for ((_, question), slices) in questions.iter().zip(&mut slices) {
                let request = request(&asking, question);
                let slice = slice(&host.address, &request, 1, effort.slice_ms).await?;
                if round > 0 {
                    slices.push(slice);
                }
            }
        }
        for ((question, _), slices) in questions.iter().zip(&slices) {
            let p50: Vec<f64> = slices.iter().map(|slice| slice.p50_us / 1e3).collect();
            let p99: Vec<f64> = slices.iter().map(|slice| slice.p99_us / 1e3).collect();
            report.add(format!("{name}, {size} listings, {question}: p50"), median(&p50), "ms");
            report.add(format!("{name}, {size} listings, {question}: p99"), median(&p99), "ms");
        }
    }
    Ok(())
}

fn request(asking: &Client, question: &Value) -> String {
    let mut body = question.clone();
    body["action"] = json!("search");
    let body = body.to_string();
    format!(
        "POST /v1/capabilities/agent_listings/call HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        asking.token,
        body.len()
    )
}
