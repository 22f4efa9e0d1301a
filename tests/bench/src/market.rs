//! A market of many thousand listings. A few are created over HTTP; the others are copies that are written
//! into the store directly.

use crate::{
    client::{Client, text},
    host::BenchHost,
    listings::Random,
};
use anyhow::{Context as _, Result, ensure};
use portolan_store::{Attachments, Collection, Expectation, Unit, Verdict};
use portolan_vocabulary::Timestamp;
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// The number of owners of listings.
const OWNERS: u64 = 5_000;
/// The number of listings of one unit of work; each has two documents.
const UNIT: u64 = 500;
/// The number of patterns of each kind.
const PATTERNS: usize = 6;
/// The number of different listings of one kind.
const VARIETY: usize = 24;
/// The kinds of listings. A kind that is repeated is more frequent.
const KINDS: [Kind; 8] = [
    ROOM,
    Kind { category: "home.let.apartment", side: "offer", attributes: apartment },
    Kind { category: "home.rent.room", side: "demand", attributes: room_wanted },
    CANDIDATE,
    JOB,
    JOB,
    COFOUNDER,
    COFOUNDER,
];
pub(crate) const ROOM: Kind = Kind { category: "home.let.room", side: "offer", attributes: room };
pub(crate) const CANDIDATE: Kind =
    Kind { category: "work.candidate.software", side: "demand", attributes: candidate };
pub(crate) const JOB: Kind = Kind { category: "work.job.software", side: "offer", attributes: job };
pub(crate) const COFOUNDER: Kind =
    Kind { category: "venture.cofounder", side: "demand", attributes: cofounder };
/// A word that about every second listing contains.
pub(crate) const FREQUENT: &str = "bright";
/// The centre of the city of all listings.
pub(crate) const CITY: (f64, f64) = (37.77, -122.42);
pub(crate) const SKILLS: [&str; 6] = ["rust", "postgresql", "swift", "go", "figma", "kotlin"];
pub(crate) const STRENGTHS: [&str; 6] =
    ["engineering", "product", "design", "sales", "finance", "operations"];

/// Returns one of `names`, by the number modulo their count.
pub(crate) fn pick<'a>(names: &[&'a str], number: usize) -> &'a str {
    names.get(number % names.len()).copied().unwrap_or_default()
}

/// The content of listings of one category.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) category: &'static str,
    side: &'static str,
    /// Returns the attributes and criteria of the pattern with this number.
    attributes: fn(usize) -> (Value, Value),
}

impl Kind {
    /// Returns the input of `agent_listings create`, without `publish`.
    pub(crate) fn listing(&self, number: usize) -> Value {
        let (attributes, criteria) = (self.attributes)(number % VARIETY);
        let (lat, lng) = CITY;
        json!({
            "category": self.category, "side": self.side, "title": format!("Listing {number}"),
            "description": "Small, **calm** and to the point.",
            "attributes": attributes, "criteria": criteria,
            "place": { "lat": lat, "lng": lng, "label": "Mission", "precision": "neighbourhood" },
            "compensation": { "currency": "USD", "min": 1000, "max": 1500, "unit": "MONTH" },
        })
    }
}

/// Returns a criterion for a field.
pub(crate) fn criterion(field: &str, value: &str) -> Value {
    json!({ "want": [{ "field": field, "op": "eq", "value": value, "weight": 2 }] })
}

const PETS: [&str; 3] = ["allowed", "negotiable", "not_allowed"];
const HOUSEHOLDS: [&str; 4] = ["quiet", "social", "early_risers", "works_from_home"];

fn room(number: usize) -> (Value, Value) {
    let household = pick(&HOUSEHOLDS, number);
    let attributes = json!({
        "flatmates": number % 4, "room_area_m2": 10 + number, "pets": pick(&PETS, number),
        "available_from": "2027-01-01", "household": [household], "smoking": false,
    });
    (attributes, criterion("household", household))
}

fn apartment(number: usize) -> (Value, Value) {
    let attributes = json!({
        "bedrooms": number % 4, "floor_area_m2": 40 + number, "pets": pick(&PETS, number),
        "available_from": "2027-01-01",
    });
    (attributes, json!({}))
}

fn room_wanted(number: usize) -> (Value, Value) {
    let household = pick(&HOUSEHOLDS, number);
    let attributes = json!({
        "move_in_from": "2027-01-01", "term_months": 6 + number, "household": [household],
    });
    (attributes, criterion("household", household))
}

fn candidate(number: usize) -> (Value, Value) {
    let skills = [pick(&SKILLS, number), pick(&SKILLS, number + 1)];
    let attributes = json!({
        "employment_types": ["FULL_TIME"], "workplace_types": ["hybrid", "remote"],
        "seniority": "mid", "skills": skills, "years_experience": 2 + number,
    });
    (attributes, criterion("skills", pick(&SKILLS, number)))
}

fn job(number: usize) -> (Value, Value) {
    let skills = [pick(&SKILLS, number), pick(&SKILLS, number + 2)];
    let attributes = json!({
        "employment_type": "FULL_TIME", "workplace_type": "hybrid", "seniority": "mid",
        "skills": skills, "years_experience": number,
    });
    (attributes, criterion("skills", pick(&SKILLS, number)))
}

fn cofounder(number: usize) -> (Value, Value) {
    let (brings, seeks) = (pick(&STRENGTHS, number), pick(&STRENGTHS, number + 1));
    let attributes = json!({
        "strengths": [brings], "seeking": [seeks], "progress": "idea", "commitment": "full_time",
    });
    (attributes, criterion("strengths", seeks))
}

/// The stored form of a listing that was created over HTTP.
struct Pattern {
    category: &'static str,
    listing: Value,
    card: Value,
}

/// Returns the collections of a capability, in test mode.
pub(crate) fn collections(
    host: &BenchHost,
    capability: &str,
) -> Result<Arc<BTreeMap<String, Collection>>> {
    let snapshot = host.app.host.catalog.snapshot();
    let capability = snapshot.capabilities.get(capability).context("it is not loaded")?;
    Ok(Arc::clone(capability.collections.of(true)))
}

/// Reads the body of a document.
pub(crate) async fn document(host: &BenchHost, from: &Collection, id: &str) -> Result<Value> {
    let mut unit = Unit::new(host.app.host.store.clone(), Timestamp::now());
    let document = unit.get(from, id).await?.context("it is not there")?;
    Ok(serde_json::from_str(&document.body)?)
}

/// Upserts documents.
pub(crate) async fn write(
    host: &BenchHost,
    documents: Vec<(&Collection, String, Value)>,
) -> Result<()> {
    let mut unit = Unit::new(host.app.host.store.clone(), Timestamp::now());
    for (collection, id, body) in documents {
        unit.put(collection, &id, body.to_string(), Expectation::Any).await?;
    }
    ensure!(unit.commit(Attachments::default()).await? == Verdict::Committed, "it is not written");
    Ok(())
}

pub(crate) struct Market {
    patterns: Vec<Pattern>,
    collections: Arc<BTreeMap<String, Collection>>,
    /// The creation time of the market.
    now: u64,
    filled: u64,
}

impl Market {
    pub(crate) async fn open(host: &BenchHost) -> Result<Self> {
        let mut patterns = Vec::new();
        let collections = collections(host, "agent_listings")?;
        let collection = |name: &str| collections.get(name).context("nothing is kept of this name");
        for kind in KINDS {
            let mut person = Client::claimed(host).await?;
            for number in 0..PATTERNS {
                let mut body = kind.listing(number);
                body["action"] = json!("create");
                body["publish"] = json!(true);
                let made = person.result("agent_listings", &body).await?;
                ensure!(made["state"] == "active", "{made}");
                let id = text(&made, "/listing_id");
                patterns.push(Pattern {
                    category: kind.category,
                    listing: document(host, collection("listings")?, id).await?,
                    card: document(host, collection("cards")?, id).await?,
                });
            }
        }
        let now = Timestamp::now().as_millis();
        Ok(Self { patterns, collections, now, filled: 0 })
    }

    /// Writes listings until the market has `size`.
    pub(crate) async fn fill(&mut self, host: &BenchHost, size: u64) -> Result<()> {
        let collection =
            |name: &str| self.collections.get(name).context("nothing is kept of this name");
        let (listings, cards) = (collection("listings")?, collection("cards")?);
        while self.filled < size {
            let end = size.min(self.filled + UNIT);
            let mut documents = Vec::new();
            for number in self.filled..end {
                let (listing, card) = self.listing(number)?;
                documents.push((listings, id(number), listing));
                documents.push((cards, id(number), card));
            }
            write(host, documents).await?;
            self.filled = end;
            if end.is_multiple_of(10_000) {
                eprintln!("  {end} listings are written");
            }
        }
        Ok(())
    }

    /// Returns the ids of the listings of a category, in the order of their creation.
    pub(crate) fn ids_of(&self, category: &str) -> impl Iterator<Item = String> {
        let fits = move |number: &u64| {
            self.pattern(&mut Random(*number)).is_ok_and(|pattern| pattern.category == category)
        };
        (0..self.filled).filter(fits).map(id)
    }

    fn pattern(&self, random: &mut Random) -> Result<&Pattern> {
        let chosen = random.below(self.patterns.len() as u64) as usize;
        self.patterns.get(chosen).context("there are no patterns")
    }

    /// Returns a listing made from a pattern, and its card. Each listing is one second older than the next.
    fn listing(&self, number: u64) -> Result<(Value, Value)> {
        let random = &mut Random(number);
        let Pattern { listing, card, .. } = self.pattern(random)?;
        let (mut listing, mut card) = (listing.clone(), card.clone());
        let owner_id = format!("own_{:026}", random.below(OWNERS));
        let frequent = if random.below(2) == 0 { FREQUENT } else { "calm" };
        let (title, excerpt) = (format!("{frequent} {}", random.words(4)), random.words(30));
        let position = |random: &mut Random, middle: f64| {
            ((middle + 0.3 * random.fraction() - 0.15) * 100.0).round() / 100.0
        };
        let (lat, lng) = (position(random, CITY.0), position(random, CITY.1));
        let (min, remote) = (1_000 + 10 * random.below(200), random.below(4) == 0);
        let published_at = self.now - 1_000 * (1_000_000 - number);
        for body in [&mut listing, &mut card] {
            body["owner_id"] = json!(owner_id);
            body["excerpt"] = json!(excerpt);
            body["published_at"] = json!(published_at);
        }
        let parts = [&mut listing["content"], &mut card];
        for part in parts {
            part["title"] = json!(title);
            part["remote"] = json!(remote);
            part["place"]["lat"] = json!(lat);
            part["place"]["lng"] = json!(lng);
            part["compensation"]["min"] = json!(min);
            part["compensation"]["max"] = json!(min + 500);
        }
        listing["first_published_at"] = json!(published_at);
        card["lat"] = json!(lat);
        card["lng"] = json!(lng);
        let (low, high) = (json!(12 * min), json!(12 * (min + 500)));
        let amounts =
            [("pay_low", &low), ("pay_from", &low), ("pay_high", &high), ("pay_to", &high)];
        for (name, amount) in amounts {
            card["indexed"][name] = amount.clone();
        }
        Ok((listing, card))
    }
}

fn id(number: u64) -> String {
    format!("lst_{number:026}")
}
