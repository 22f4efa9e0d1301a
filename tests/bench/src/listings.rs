//! Documents of a market, the same in every run, and queries over them.

use anyhow::Result;
use portolan_store::query::{
    Direction::{Ascending, Descending},
    Query, Request, Shape,
    geo::Circle,
};
use portolan_vocabulary::{Collection, Geo, Index};
use serde_json::json;

/// The number of different words in texts.
const WORDS: usize = 20_000;
const CATEGORIES: u64 = 40;
/// The south-west corner and the extent of a city, in degrees.
const CITY: [(f64, f64); 2] = [(52.35, 0.3), (13.1, 0.65)];
const RADIUS_M: f64 = 5_000.0;
const PAGE: u32 = 20;

/// A generator (SplitMix64) whose numbers are the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Returns a number from 0 to 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns words by Zipf's law: the frequency of a word is one over its rank.
    pub(crate) fn words(&mut self, count: u64) -> String {
        let rank = |fraction: f64| (WORDS as f64).powf(fraction) as usize - 1;
        let words: Vec<String> = (0..count).map(|_| word(rank(self.fraction()))).collect();
        words.join(" ")
    }

    fn place(&mut self) -> [f64; 2] {
        CITY.map(|(from, extent)| from + extent * self.fraction())
    }
}

/// Returns the word of a rank, counted from 0. No two words have the same stem.
fn word(rank: usize) -> String {
    const SYLLABLES: [&str; 28] = [
        "ba", "bo", "da", "do", "fa", "fo", "ga", "go", "ha", "ho", "ka", "ko", "la", "lo", "ma",
        "mo", "na", "no", "pa", "po", "ra", "ro", "sa", "so", "ta", "to", "va", "vo",
    ];
    let syllable = |number: usize| SYLLABLES.get(number % SYLLABLES.len()).copied();
    let places = [rank, rank / SYLLABLES.len(), rank / SYLLABLES.len().pow(2)];
    places.into_iter().filter_map(syllable).collect()
}

pub(crate) fn declaration() -> Collection {
    let index = |name: &str, paths: &[&str]| Index {
        name: name.to_owned(),
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        unique: false,
    };
    Collection {
        name: "listings".to_owned(),
        indexes: vec![
            index("price", &["category", "price"]),
            index("newest", &["category", "created_at"]),
            index("status", &["status", "created_at"]),
        ],
        text: vec!["title".to_owned(), "body".to_owned()],
        geo: Some(Geo { latitude: "at.lat".to_owned(), longitude: "at.lng".to_owned() }),
        version: 1,
        people: None,
    }
}

pub(crate) fn id(number: u64) -> String {
    format!("lst_{number:08}")
}

/// Returns a listing of about 45 words. Four of five are in the city, and one is near it.
pub(crate) fn body(number: u64, revision: u64) -> String {
    let random = &mut Random(number);
    let [latitude, longitude] = match random.below(5) {
        0 => [50.0 + 5.0 * random.fraction(), 9.0 + 6.0 * random.fraction()],
        _ => random.place(),
    };
    let title = 3 + random.below(4);
    let body = 20 + random.below(41);
    json!({
        "title": random.words(title),
        "body": random.words(body),
        "category": format!("category-{}", random.below(CATEGORIES)),
        "status": if random.below(10) == 0 { "closed" } else { "open" },
        "price": random.below(100_000),
        "created_at": 1_700_000_000_000 + number * 1_000,
        "at": {"lat": latitude, "lng": longitude},
        "revision": revision,
    })
    .to_string()
}

/// A query for listings.
pub(crate) struct Find {
    pub(crate) name: &'static str,
    query: fn(&mut Random, &Shape) -> Result<Query>,
    /// The number of pages before the measured one.
    pub(crate) pages: usize,
}

pub(crate) const FINDS: [Find; 8] = [
    Find { name: "index, cheapest first", query: cheapest, pages: 0 },
    Find { name: "index, newest first", query: newest, pages: 0 },
    Find { name: "index, second page", query: cheapest, pages: 1 },
    Find {
        name: "text, a rare word",
        query: |random, shape| text(random, shape, [15_000]),
        pages: 0,
    },
    // The 400th word is in 1 % of the texts.
    Find {
        name: "text, a word of 1 %",
        query: |random, shape| text(random, shape, [400]),
        pages: 0,
    },
    Find {
        name: "text, two words",
        query: |random, shape| text(random, shape, [60, 100]),
        pages: 0,
    },
    Find { name: "radius, nearest first", query: nearest, pages: 0 },
    Find { name: "radius, second page", query: nearest, pages: 1 },
];

impl Find {
    pub(crate) fn query(&self, random: &mut Random, shape: &Shape) -> Result<Query> {
        (self.query)(random, shape)
    }
}

const ANY: Request<'_> = Request {
    filter: None,
    text: None,
    near: None,
    within: None,
    order: &[],
    limit: PAGE,
    unchecked: false,
};

fn of_category(random: &mut Random) -> String {
    json!({"category": {"eq": format!("category-{}", random.below(CATEGORIES))}}).to_string()
}

fn cheapest(random: &mut Random, shape: &Shape) -> Result<Query> {
    let filter = of_category(random);
    let order = [("price", Ascending)];
    Ok(Query::new(shape, Request { filter: Some(&filter), order: &order, ..ANY })?)
}

fn newest(random: &mut Random, shape: &Shape) -> Result<Query> {
    let filter = of_category(random);
    let order = [("created_at", Descending)];
    Ok(Query::new(shape, Request { filter: Some(&filter), order: &order, ..ANY })?)
}

/// Searches for words of about these ranks.
fn text<const COUNT: usize>(
    random: &mut Random,
    shape: &Shape,
    ranks: [usize; COUNT],
) -> Result<Query> {
    let near = |rank: usize| word(rank + random.below(rank as u64 / 10) as usize);
    let text = ranks.map(near).join(" ");
    let order = [("relevance", Descending)];
    Ok(Query::new(shape, Request { text: Some(&text), order: &order, ..ANY })?)
}

fn nearest(random: &mut Random, shape: &Shape) -> Result<Query> {
    let [latitude, longitude] = random.place();
    let near = Some(Circle::new(latitude, longitude, RADIUS_M)?);
    let order = [("distance", Ascending)];
    Ok(Query::new(shape, Request { near, order: &order, ..ANY })?)
}
