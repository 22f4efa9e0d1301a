//! What a search of listings costs over HTTP, by how many are active.

use crate::{
    Effort,
    host::BenchHost,
    listings::Random,
    load::{Slice, slice},
    report::{Report, median},
};
use anyhow::{Context as _, Result, ensure};
use portolan::{
    db::{Attachments, Expectation, Unit, Verdict},
    vocabulary::Timestamp,
};
use serde_json::{Value, json};

const COMPONENTS: [&str; 6] = [
    "agent_listings",
    "content_render",
    "listing_taxonomy",
    "owners",
    "social_permissions",
    "social_relationships",
];
const CATEGORIES: [&str; 8] = [
    "home.let.room",
    "home.let.apartment",
    "home.rent.room",
    "work.job.software",
    "work.job.design",
    "work.candidate.software",
    "pro.service.cleaning",
    "venture.raise.seed",
];
/// People who list.
const OWNERS: u64 = 5_000;
/// Listings of one unit.
const UNIT: u64 = 500;
/// In about every second listing.
const FREQUENT: &str = "bright";

/// Name and body of each question.
fn questions() -> Vec<(&'static str, Value)> {
    let near = json!({ "lat": 37.7749, "lng": -122.4194, "radius_km": 5 });
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
        ("a frequent word, facets", json!({ "q": FREQUENT, "facets": true })),
    ]
}

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let host = BenchHost::start(&COMPONENTS).await?;
    let questions = questions();
    let mut filled = 0;
    for &size in effort.listings {
        eprintln!("search: filling up to {size} listings");
        while filled < size {
            let end = size.min(filled + UNIT);
            fill(&host, filled..end).await?;
            filled = end;
        }
        let mut slices: Vec<Vec<Slice>> = questions.iter().map(|_| Vec::new()).collect();
        for round in 0..=effort.rounds.min(4) {
            eprintln!("search of {size} listings, round {round}");
            for ((_, question), slices) in questions.iter().zip(&mut slices) {
                let request = request(&host, question);
                let slice = slice(&host.address, &request, 1, effort.slice_ms).await?;
                if round > 0 {
                    slices.push(slice);
                }
            }
        }
        for ((name, _), slices) in questions.iter().zip(&slices) {
            let p50: Vec<f64> = slices.iter().map(|it| it.p50_us / 1e3).collect();
            let p99: Vec<f64> = slices.iter().map(|it| it.p99_us / 1e3).collect();
            report.add(format!("{size} listings, {name}: p50"), median(&p50), "ms");
            report.add(format!("{size} listings, {name}: p99"), median(&p99), "ms");
        }
    }
    Ok(())
}

fn request(host: &BenchHost, question: &Value) -> String {
    let mut body = question.clone();
    if let Some(fields) = body.as_object_mut() {
        fields.insert("action".to_owned(), json!("search"));
    }
    let body = body.to_string();
    format!(
        "POST /v1/capabilities/agent_listings/call HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        host.token,
        body.len()
    )
}

/// Writes cards as `agent_listings` keeps them.
async fn fill(host: &BenchHost, numbers: std::ops::Range<u64>) -> Result<()> {
    let host = &host.app.host;
    let snapshot = host.catalog.snapshot();
    let capability = snapshot.capabilities.get("agent_listings").context("it is not loaded")?;
    let cards = capability.collections.of(false).get("cards").context("there are no cards")?;
    let mut unit = Unit::new(host.store.clone(), Timestamp::now());
    for number in numbers {
        let id = format!("lst_{number:026}");
        unit.put(cards, &id, card(number).to_string(), Expectation::Absent).await?;
    }
    ensure!(unit.commit(Attachments::default()).await? == Verdict::Committed, "it is not written");
    Ok(())
}

fn card(number: u64) -> Value {
    let random = &mut Random(number);
    let category = random.below(CATEGORIES.len() as u64) as usize;
    let category = CATEGORIES.get(category).copied().unwrap_or_default();
    let ends = category.match_indices('.').map(|(end, _)| end).chain([category.len()]);
    let codes = ends.filter_map(|end| category.get(..end));
    let levels = codes.zip(1..).map(|(code, level)| (format!("level{level}"), json!(code)));
    let frequent = if random.below(2) == 0 { FREQUENT } else { "calm" };
    let position =
        |random: &mut Random, from: f64| (from * 100.0 + random.below(30) as f64).round() / 100.0;
    let (lat, lng) = (position(random, 37.62), position(random, -122.55));
    let published_at = 1_790_000_000_000 + number * 1_000;
    json!({
        "owner_id": format!("own_{:026}", random.below(OWNERS)),
        "category": category,
        "label": "A category",
        "indexed": levels.collect::<serde_json::Map<String, Value>>(),
        "side": if category.starts_with("home.rent") { "demand" } else { "offer" },
        "title": format!("{frequent} {}", random.words(4)),
        "excerpt": random.words(30),
        "terms": category.replace('.', " "),
        "attributes": { "pets": "negotiable" },
        "lat": lat,
        "lng": lng,
        "place": { "lat": lat, "lng": lng, "label": "Mission", "precision": "neighbourhood" },
        "remote": random.below(4) == 0,
        "visibility": "public",
        "min_age": 0,
        "published_at": published_at,
        "valid_through": published_at + 31_536_000_000_u64,
        "facts": ["pets=negotiable"],
        "counterpart": category,
        "counterpart_side": "demand",
    })
}
