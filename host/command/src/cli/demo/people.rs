//! Fictional people and what they offer and seek, the same for the same seed.

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use serde_json::{Value, json};

const FIRST: [&str; 24] = [
    "Amara", "Bodhi", "Celia", "Dario", "Edda", "Farid", "Greta", "Hanno", "Imani", "Jonas",
    "Kaia", "Levi", "Mira", "Nuri", "Olena", "Priya", "Quinn", "Rosa", "Sami", "Tova", "Umar",
    "Vera", "Wren", "Yara",
];
const LAST: [&str; 16] = [
    "Alder", "Birch", "Cedar", "Dell", "Ember", "Fjord", "Grove", "Heath", "Inlet", "Juniper",
    "Kestrel", "Larch", "Marsh", "Nettle", "Orchard", "Pine",
];
/// Neighbourhoods of San Francisco, as exactly as listings are shown.
const PLACES: [(&str, f64, f64); 6] = [
    ("Mission District", 37.76, -122.42),
    ("Hayes Valley", 37.78, -122.43),
    ("North Beach", 37.80, -122.41),
    ("Inner Sunset", 37.76, -122.46),
    ("Potrero Hill", 37.76, -122.40),
    ("Bernal Heights", 37.74, -122.42),
];
const SKILLS: [&str; 5] = ["Rust", "PostgreSQL", "TypeScript", "Swift", "Go"];
const STRENGTHS: [&str; 5] = ["engineering", "product", "design", "sales", "finance"];
const TRAITS: [&str; 4] = ["quiet", "social", "early_risers", "works_from_home"];

/// Somebody who does not exist.
pub(super) struct Cast {
    pub(super) name: String,
    /// The fields of `owners update_profile`.
    pub(super) profile: Value,
    /// The fields of `agent_listings create`.
    pub(super) listing: Value,
}

/// Pairs of people of whom each has what the other one seeks: a job and a candidate, a room and
/// somebody who looks for one, two who look for a cofounder, and so on.
pub(super) fn pairs(seed: u64, count: usize) -> Vec<[Cast; 2]> {
    let random = &mut StdRng::seed_from_u64(seed);
    (0..count)
        .map(|pair| {
            let place = PLACES.choose(random).copied().unwrap_or(PLACES[0]);
            let listings = match pair % 3 {
                0 => work(random, place),
                1 => home(random, place),
                _ => venture(random, place),
            };
            listings.map(|listing| cast(random, listing))
        })
        .collect()
}

fn cast(random: &mut StdRng, listing: Value) -> Cast {
    let one = |random: &mut StdRng, names: &[&'static str]| {
        names.choose(random).copied().unwrap_or_default()
    };
    let name = format!("{} {}", one(random, &FIRST), one(random, &LAST));
    let headline = listing.get("title").cloned().unwrap_or_default();
    let profile = json!({
        "display_name": name, "headline": headline, "languages": ["en"],
        "city": "San Francisco", "birth_year": random.random_range(1965..2003),
    });
    Cast { name, profile, listing }
}

fn place((label, lat, lng): (&str, f64, f64)) -> Value {
    let label = format!("{label}, San Francisco");
    json!({ "lat": lat, "lng": lng, "label": label, "precision": "neighbourhood" })
}

fn wish(field: &str, value: &str) -> Value {
    json!({ "field": field, "op": "eq", "value": value, "weight": 2 })
}

fn work(random: &mut StdRng, at: (&str, f64, f64)) -> [Value; 2] {
    let skill = SKILLS.choose(random).copied().unwrap_or_default();
    let pay = random.random_range(12..20) * 10_000;
    let compensation =
        json!({ "currency": "USD", "min": pay, "max": pay + 30_000, "unit": "YEAR" });
    [
        json!({
            "category": "work.job.software", "side": "offer",
            "title": format!("{skill} engineer for a small team"),
            "description": format!(
                "We build tools for people who move house, and look for somebody who likes {skill}.\n\n\
                 *Four days a week are fine.*"
            ),
            "attributes": {
                "employment_type": "FULL_TIME", "workplace_type": "hybrid", "seniority": "mid",
                "skills": [skill],
            },
            "criteria": { "want": [wish("skills", skill)] },
            "place": place(at), "compensation": compensation,
        }),
        json!({
            "category": "work.candidate.software", "side": "demand",
            "title": format!("Engineer who writes {skill}"),
            "description": format!("Five years of {skill}. Likes small teams and clear words."),
            "attributes": {
                "employment_types": ["FULL_TIME"], "workplace_types": ["hybrid", "remote"],
                "seniority": "mid", "skills": [skill], "years_experience": 5,
            },
            "criteria": { "want": [wish("skills", skill)] },
            "place": place(at),
        }),
    ]
}

fn home(random: &mut StdRng, at: (&str, f64, f64)) -> [Value; 2] {
    let household = TRAITS.choose(random).copied().unwrap_or_default();
    let rent = random.random_range(10..18) * 100;
    let paid =
        |least: i32| json!({ "currency": "USD", "min": least, "max": rent, "unit": "MONTH" });
    [
        json!({
            "category": "home.let.room", "side": "offer",
            "title": format!("Room in {}", at.0),
            "description": "Bright, with a desk. Two others live here, and a plant called Basil.",
            "attributes": {
                "flatmates": 2, "available_from": "2027-02-01", "pets": "negotiable",
                "household": [household],
            },
            "criteria": { "want": [wish("household", household)] },
            "place": place(at), "compensation": paid(rent),
        }),
        json!({
            "category": "home.rent.room", "side": "demand",
            "title": format!("Looking for a room near {}", at.0),
            "description": "Tidy, works nearby, cooks on Sundays.",
            "attributes": {
                "move_in_from": "2027-02-01", "term_months": 12, "household": [household],
            },
            "criteria": { "want": [wish("household", household)] },
            "place": place(at), "compensation": paid(0),
        }),
    ]
}

fn venture(random: &mut StdRng, at: (&str, f64, f64)) -> [Value; 2] {
    let picked: Vec<&str> = STRENGTHS.sample(random, 2).copied().collect();
    let (one, other) = match picked.as_slice() {
        [one, other, ..] => (*one, *other),
        _ => ("engineering", "sales"),
    };
    [(one, other), (other, one)].map(|(brings, seeks)| {
        json!({
            "category": "venture.cofounder", "side": "demand",
            "title": format!("Brings {brings}, seeks {seeks}"),
            "description": "An idea about shared workshops, and half a year of savings.",
            "attributes": {
                "strengths": [brings], "seeking": [seeks], "progress": "idea",
                "commitment": "full_time",
            },
            "criteria": { "want": [wish("strengths", seeks)] },
            "place": place(at),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_people_again() {
        let told = |seed| {
            let all = pairs(seed, 6).into_iter().flatten();
            all.map(|cast| (cast.name, cast.listing.to_string())).collect::<Vec<_>>()
        };
        assert_eq!(told(7), told(7));
        assert_ne!(told(7), told(8));
        assert_eq!(told(7).len(), 12);
    }
}
