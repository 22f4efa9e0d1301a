//! Cards: the parts of active listings that searches read.

use people_kit::listings::{Compensation, Place, Visibility};
use people_kit::taxonomy::{Criteria, Keys, Side, is_within};
use portolan_sdk::documents::Person;
use portolan_sdk::documents::PersonalField::Public;
use portolan_sdk::prelude::*;
use serde_json::{Map, Value};

/// Cards of active listings that are not unlisted, keyed by the listing's id. Searches find these
/// and nothing else.
pub const CARDS: Collection<Card> = Collection::new("cards")
    .version(2)
    .people(&[Person::delete("owner_id").fields(&[
        Public("title"),
        Public("excerpt"),
        Public("terms"),
    ])])
    .index("newest", &["published_at"])
    .index("level1", &["indexed.level1", "published_at"])
    .index("level2", &["indexed.level2", "published_at"])
    .index("level3", &["indexed.level3", "published_at"])
    .index("level4", &["indexed.level4", "published_at"])
    .index("level5", &["indexed.level5", "published_at"])
    .index("side", &["side", "published_at"])
    .index("facts", &["facts[]"])
    .index("ranks", &RANKS)
    .index("pay", &["indexed.pay", "indexed.pay_low", "indexed.pay_high"])
    .index("cheapest", &["indexed.pay", "indexed.pay_from"])
    .index("dearest", &["indexed.pay", "indexed.pay_to"])
    .index("category", &["category"])
    .index("org", &["org_id"])
    .index("rest", &["owner_id", "visibility", "remote", "min_age", "paused"])
    .text(&["title", "terms", "excerpt"])
    .geo("lat", "lng");

/// The prefix of the names in `Card::indexed`.
const INDEXED: &str = "indexed.";
/// The number of levels in the taxonomy.
pub const LEVELS: usize = 5;

/// The fields of a card for its ranks: keys that sort as their values do. A rank may be in any of
/// these fields, so a search compares all of them.
pub const RANKS: [&str; 10] = [
    "indexed.rank0",
    "indexed.rank1",
    "indexed.rank2",
    "indexed.rank3",
    "indexed.rank4",
    "indexed.rank5",
    "indexed.rank6",
    "indexed.rank7",
    "indexed.rank8",
    "indexed.rank9",
];

/// The part of an active listing that searches need.
#[message]
pub struct Card {
    pub owner_id: String,
    pub org_id: Option<String>,
    pub category: String,
    pub label: String,
    /// Fields that only indexes read: `level1` to `level5` (the category and those above it),
    /// `rank0` to `rank9`, and for amounts in a year `pay` (their kind), `pay_low` and `pay_high`
    /// (the range), `pay_from` and `pay_to` (the amounts that are given).
    pub indexed: Map<String, Value>,
    pub side: Side,
    pub title: String,
    pub excerpt: String,
    /// Search words for the category and the place, and for what the texts and values mean.
    pub terms: String,
    pub attributes: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub said: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gist: Vec<String>,
    /// The latitude of the public place, which is rounded.
    pub lat: Option<f64>,
    pub lng: Option<f64>,
    pub place: Option<Place>,
    pub remote: bool,
    pub compensation: Option<Compensation>,
    pub visibility: Visibility,
    pub min_age: u8,
    /// Whether the owner takes no contact for now, so that no search finds the listing.
    #[serde(default)]
    pub paused: bool,
    pub published_at: u64,
    pub valid_through: u64,
    pub facts: Vec<String>,
    #[serde(default, skip_serializing_if = "Criteria::is_empty")]
    pub criteria: Criteria,
    /// The category of the counterpart.
    pub counterpart: String,
    pub counterpart_side: Side,
}

/// The input of `agent_listings cards`.
#[message]
pub struct CardsQuery {
    #[schemars(length(max = 100), inner(length(min = 1, max = 40)))]
    pub listing_ids: Vec<String>,
}

/// The output of `agent_listings cards`: the cards that exist, in no particular order.
#[message]
pub struct FoundCards {
    pub cards: Vec<StoredCard>,
}

/// The card of a listing.
#[message]
pub struct StoredCard {
    pub listing_id: String,
    /// The version of the card, which increases whenever its listing changes.
    pub version: u64,
    pub card: Card,
}

pub const CARDS_OF: Invocation<CardsQuery, FoundCards> = Invocation::new("agent_listings", "cards");

/// Returns the cards of at most 100 listings, without those that no search can find now.
pub fn cards<'a>(
    listing_ids: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<StoredCard>, Refusal> {
    let listing_ids: Vec<String> = listing_ids.into_iter().map(str::to_owned).collect();
    if listing_ids.is_empty() {
        return Ok(Vec::new());
    }
    Ok(CARDS_OF.call(&CardsQuery { listing_ids })?.cards)
}

/// Returns the fields that only indexes read.
pub fn indexed(category: &str, keys: &Keys, pay: Option<&Compensation>) -> Map<String, Value> {
    let levels = levels(category).zip(1..).map(|(code, level)| (level_path(level), code));
    let names = RANKS.iter().map(|path| path.trim_start_matches(INDEXED).to_owned());
    let ranks = names.zip(keys.ranks.iter().map(String::as_str));
    let mut indexed: Map<String, Value> =
        levels.chain(ranks).map(|(path, key)| (path, key.into())).collect();
    index_pay(&mut indexed, category, pay);
    indexed
}

/// Sets the fields for the pay, rent or price: amounts of a year.
fn index_pay(indexed: &mut Map<String, Value>, category: &str, pay: Option<&Compensation>) {
    let Some(pay) = pay else { return };
    let (kind, factor) = pay.yearly(is_home(category));
    let (low, high) = pay.range();
    indexed.insert("pay".into(), kind.into());
    for (name, amount) in [
        ("pay_low", Some(low)),
        ("pay_high", Some(high)),
        ("pay_from", pay.min.or(pay.max)),
        ("pay_to", pay.max.or(pay.min)),
    ] {
        indexed.insert(name.into(), amount.map(|amount| scaled(amount, factor)).into());
    }
}

impl Card {
    /// Gives a card of version 1 the amounts of a year. The words for synonyms come when its listing changes.
    #[must_use]
    pub fn migrated(mut self) -> Self {
        index_pay(&mut self.indexed, &self.category, self.compensation.as_ref());
        self
    }
}

/// Whether amounts of a category are for calendar time, not for working time.
pub(crate) fn is_home(category: &str) -> bool {
    is_within(category, "home")
}

/// Returns an amount times a factor; `f64::MAX` stays as it is.
pub(crate) fn scaled(amount: f64, factor: f64) -> f64 {
    (amount * factor).min(f64::MAX)
}

/// Returns the codes of a category and those above it, the highest first.
pub fn levels(category: &str) -> impl Iterator<Item = &str> {
    let ends = category.match_indices('.').map(|(end, _)| end);
    let codes = ends.chain([category.len()]).filter_map(|end| category.get(..end));
    codes.take(LEVELS)
}

fn level_path(level: usize) -> String {
    format!("level{level}")
}

/// Returns the path of the field in `indexed` that has this code in the cards of the category and
/// of those below it.
pub fn level_of(code: &str) -> String {
    format!("{INDEXED}{}", level_path(code.split('.').count().min(LEVELS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_of_version_1_gets_the_amounts_of_a_year() {
        let mut card = serde_json::json!({
            "owner_id": "own_1", "category": "home.let.room", "label": "Room", "side": "offer",
            "title": "Room", "excerpt": "", "terms": "", "attributes": {}, "remote": false,
            "visibility": "public", "min_age": 0, "published_at": 1, "valid_through": 2,
            "facts": [], "counterpart": "home.rent.room", "counterpart_side": "demand",
            "indexed": { "level1": "home", "pay": "USD/Month", "pay_low": 0, "pay_high": 900 },
            "compensation": { "currency": "USD", "max": 900, "unit": "MONTH" },
        });
        let migrated: Card = serde_json::from_value(card.take()).unwrap();
        assert_eq!(
            Value::from(migrated.migrated().indexed),
            serde_json::json!({
                "level1": "home", "pay": "USD/home", "pay_low": 0.0, "pay_high": 10_800.0,
                "pay_from": 10_800.0, "pay_to": 10_800.0,
            })
        );
    }

    #[test]
    fn a_category_is_on_the_level_of_its_code() {
        assert_eq!(level_of("home"), "indexed.level1");
        assert_eq!(level_of("home.let.room"), "indexed.level3");
        assert_eq!(level_of("a.b.c.d.e"), "indexed.level5");
        let levels: Vec<_> = levels("home.let.room").collect();
        assert_eq!(levels, ["home", "home.let", "home.let.room"]);
    }
}
