//! Anchors: the keys by which a listing finds the searches that it may fit.
//!
//! A search is stored under the keys of one of its conditions, the most selective one; a listing
//! that fulfils the condition has one of them. Each key begins with a category: that of the search,
//! or of the listing and each one above it.
//!
//! A search of the map is stored under one key for each type of records that it finds.

use crate::{documents::Sought, refusals::Result};
use listing_search::{Card, Prepared, levels};
use portolan_query::geo::{Bounds, Circle, Rectangle};
use portolan_sdk::{prelude::*, to_value};
use portolan_text::{Term, Word};
use record_search::{RecordType, searched_types};
use std::collections::BTreeSet;

/// The category of a search in all categories, and the side of a search on both sides.
const ANY: &str = "*";
/// The heights and widths of the cells of each grid, in degrees.
const GRIDS: [f64; 5] = [0.25, 1.0, 4.0, 15.0, 60.0];
/// The maximum number of cells in which a search is stored: an area that has more of them is stored
/// in the cells of the next grid.
const MOST_CELLS: usize = 16;
/// The number of words of `q` that a query searches for, as in `portolan_query`: a listing need not
/// have the others.
const WORDS_SEARCHED: usize = 64;
/// The maximum number of terms of the word under which a search is stored.
const MOST_TERMS: usize = 50;
/// The length to which a fact is cut, in bytes, so that the index takes the key.
const LONGEST_FACT: usize = 400;

/// Returns the keys of a search: a listing or a record that fits it has one of them.
pub(crate) fn of(sought: &Sought) -> Result<Vec<String>> {
    Ok(match sought {
        Sought::Listings(prepared) => of_search(prepared),
        Sought::Records(filters) => searched_types(filters)?.into_iter().map(of_type).collect(),
    })
}

/// Returns the key of all records of a type. No listing has it, because the part of a listing's key has a colon.
pub(crate) fn of_type(kind: RecordType) -> String {
    key("map", kind.feed())
}

/// Returns the keys of a search: a listing that fits it has one of them.
pub(crate) fn of_search(prepared: &Prepared) -> Vec<String> {
    let conditions = &prepared.conditions;
    let parts = longest_word(prepared.narrowed.q.as_deref())
        .or_else(|| cells(prepared))
        .or_else(|| fewest_facts(&prepared.narrowed.facts))
        .unwrap_or_else(|| {
            let side = conditions.side.map(|side| to_value(&side));
            vec![side_part(side.as_ref().and_then(Value::as_str).unwrap_or(ANY))]
        });
    let category = conditions.category.as_deref().unwrap_or(ANY);
    parts.into_iter().map(|part| key(category, &part)).collect()
}

/// Returns the keys of a listing, sorted and distinct. `terms` are those of its texts.
pub(crate) fn of_listing<'a>(card: &Card, terms: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut parts: BTreeSet<String> = terms.map(word_part).collect();
    parts.extend(card.facts.iter().map(|fact| fact_part(fact)));
    if let (Some(lat), Some(lng)) = (card.lat, card.lng) {
        let grids = GRIDS.iter().enumerate();
        parts.extend(grids.map(|(grid, size)| cell_part(grid, cell(lat, *size), cell(lng, *size))));
    }
    let side = to_value(&card.side);
    parts.extend([ANY, side.as_str().unwrap_or(ANY)].map(side_part));
    let categories: Vec<&str> = levels(&card.category).chain([ANY]).collect();
    let keys: BTreeSet<String> = categories
        .into_iter()
        .flat_map(|category| parts.iter().map(move |part| key(category, part)))
        .collect();
    keys.into_iter().collect()
}

fn key(category: &str, part: &str) -> String {
    format!("{category}|{part}")
}

/// Returns a part for each term of the longest word with few terms. A listing has the word if it has
/// one of these terms, and a term if it has each of the term's parts, of which the longest is the
/// key.
fn longest_word(q: Option<&str>) -> Option<Vec<String>> {
    let length = |term: &Term| term.iter().map(|part| part.chars().count()).sum::<usize>();
    let longest = |word: &Word| word.terms.iter().map(length).max();
    let words = portolan_text::words(q?).into_iter().take(WORDS_SEARCHED);
    let word = words.filter(|word| word.terms.len() <= MOST_TERMS).max_by_key(longest)?;
    let parts = word.terms.iter().filter_map(|term| term.iter().max_by_key(|part| part.len()));
    Some(parts.map(|part| word_part(part)).collect())
}

/// Returns a part for each cell of the finest grid that covers the circle or the rectangle with few
/// cells.
fn cells(prepared: &Prepared) -> Option<Vec<String>> {
    let conditions = &prepared.conditions;
    let bounds = match (conditions.near, conditions.bbox) {
        (Some(near), _) => Circle::new(near.lat, near.lng, near.radius_km * 1000.0).ok()?.bounds(),
        (None, Some(area)) => {
            Rectangle::new(area.south, area.west, area.north, area.east).ok()?.bounds()
        }
        (None, None) => return None,
    };
    GRIDS.iter().enumerate().find_map(|(grid, size)| covering(&bounds, grid, *size))
}

fn covering(bounds: &Bounds, grid: usize, size: f64) -> Option<Vec<String>> {
    let rows = cell(*bounds.latitudes.start(), size)..=cell(*bounds.latitudes.end(), size);
    let columns: BTreeSet<i32> = bounds
        .longitudes
        .iter()
        .flat_map(|range| cell(*range.start(), size)..=cell(*range.end(), size))
        .collect();
    if rows.clone().count() * columns.len() > MOST_CELLS {
        return None;
    }
    let cells = rows.flat_map(|row| columns.iter().map(move |column| (row, *column)));
    Some(cells.map(|(row, column)| cell_part(grid, row, column)).collect())
}

/// Returns the number of the row or the column of a grid that contains this degree.
fn cell(degrees: f64, size: f64) -> i32 {
    (degrees / size).floor() as i32
}

fn fewest_facts(facts: &[Vec<String>]) -> Option<Vec<String>> {
    let fewest = facts.iter().min_by_key(|facts| facts.len())?;
    Some(fewest.iter().map(|fact| fact_part(fact)).collect())
}

fn word_part(term: &str) -> String {
    format!("w:{term}")
}

fn cell_part(grid: usize, row: i32, column: i32) -> String {
    format!("g{grid}:{row}:{column}")
}

fn fact_part(fact: &str) -> String {
    format!("f:{}", fact.get(..fact.floor_char_boundary(LONGEST_FACT)).unwrap_or(fact))
}

fn side_part(side: &str) -> String {
    format!("s:{side}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use listing_search::CARDS;
    use portolan_sdk::matching::Index;
    use proptest::prelude::*;

    fn share_a_key(query: Value, card: Value) -> bool {
        let (search, card) = (fixtures::prepared(query), fixtures::card(card));
        let document = Index::of(&CARDS).unwrap().document(&card).unwrap();
        let keys = of_listing(&card, document.terms());
        of_search(&search).iter().any(|key| keys.contains(key))
    }

    #[test]
    fn a_listing_shares_a_key_with_the_searches_that_it_fits() {
        let card = json!({
            "category": "home.let.apartment", "title": "Sunny flats with a balcony", "side": "offer",
            "lat": 52.52, "lng": 13.41,
        });
        for query in [
            json!({ "q": "balconies" }),
            json!({ "q": "a sunny flat", "category": "home.let" }),
            json!({ "category": "home" }),
            json!({ "category": "home.let.apartment", "side": "offer" }),
            json!({ "near": { "lat": 52.6, "lng": 13.3, "radius_km": 12.0 } }),
            json!({ "near": { "lat": 40.0, "lng": 13.0, "radius_km": 1500.0 }, "category": "home" }),
            json!({ "near": { "lat": 0.0, "lng": 0.0, "radius_km": 20000.0 } }),
            json!({ "bbox": { "south": 52.5, "west": 13.0, "north": 52.6, "east": 14.0 } }),
            json!({ "remote": false }),
        ] {
            assert!(share_a_key(query.clone(), card.clone()), "{query}");
        }
        for query in [
            json!({ "q": "garden", "category": "home" }),
            json!({ "q": "sunny", "category": "home.let.room" }),
            json!({ "category": "home.let.apartment", "side": "demand" }),
            json!({ "near": { "lat": 48.1, "lng": 11.6, "radius_km": 25.0 } }),
        ] {
            assert!(!share_a_key(query.clone(), card.clone()), "{query}");
        }
    }

    #[test]
    fn words_of_scripts_without_spaces_and_areas_over_the_antimeridian_have_keys() {
        let card = json!({ "title": "東京のアパート", "lat": -17.0, "lng": 179.99 });
        for query in [
            json!({ "q": "アパート" }),
            json!({ "near": { "lat": -17.0, "lng": -179.9, "radius_km": 25.0 } }),
            json!({ "bbox": { "south": -18.0, "west": 179.0, "north": -16.0, "east": -179.0 } }),
        ] {
            assert!(share_a_key(query.clone(), card.clone()), "{query}");
        }
    }

    #[test]
    fn a_word_that_the_query_leaves_out_is_no_anchor() {
        let searched: Vec<_> = (0..WORDS_SEARCHED).map(|number| format!("a{number:02}")).collect();
        let searched = searched.join(" ");
        let (search, card) = (
            fixtures::prepared(json!({ "q": format!("{searched} zookeepers") })),
            fixtures::card(json!({ "title": searched })),
        );
        let index = Index::of(&CARDS).unwrap();
        let document = index.document(&card).unwrap();
        assert!(index.fits(search.query(search.filter(None)), &document).unwrap());
        let keys = of_listing(&card, document.terms());
        assert!(of_search(&search).iter().any(|key| keys.contains(key)));
    }

    #[test]
    fn the_most_selective_condition_is_the_anchor() {
        let mut search = fixtures::prepared(json!({ "category": "home", "side": "offer" }));
        assert_eq!(of_search(&search), ["home|s:offer"]);
        search.narrowed.facts =
            vec![vec!["pets=yes".into(), "pets=no".into()], vec!["lift=1".into()]];
        assert_eq!(of_search(&search), ["home|f:lift=1"]);
        search.conditions.near = fixtures::prepared(json!({
            "near": { "lat": 52.6, "lng": 13.3, "radius_km": 5.0 },
        }))
        .conditions
        .near;
        assert!(of_search(&search).iter().all(|key| key.starts_with("home|g0:")), "{search:?}");
        search.narrowed.q = Some("the rust engineers".into());
        assert!(
            of_search(&search).contains(&"home|w:engin".to_owned()),
            "{:?}",
            of_search(&search)
        );
    }

    fn words() -> impl Strategy<Value = String> {
        let word = prop_oneof![
            Just("rooms"),
            Just("the"),
            Just("habitación"),
            Just("Wohnungen"),
            Just("東京の"),
            Just("c++"),
            Just("balcony"),
        ];
        prop::collection::vec(word, 1..4).prop_map(|words| words.join(" "))
    }

    fn places() -> impl Strategy<Value = (f64, f64)> {
        let latitude = prop_oneof![-90.0..90.0, 52.0..52.5, Just(90.0)];
        let longitude = prop_oneof![-180.0..180.0, 13.0..13.5, Just(180.0), Just(-180.0)];
        (latitude, longitude)
    }

    fn queries() -> impl Strategy<Value = Value> {
        let near = (places(), 1.0..20_000.0_f64).prop_map(
            |((lat, lng), radius_km)| json!({ "lat": lat, "lng": lng, "radius_km": radius_km }),
        );
        let bbox = (places(), places()).prop_map(|((one, west), (other, east))| {
            json!({ "south": one.min(other), "west": west, "north": one.max(other), "east": east })
        });
        let category = prop_oneof![Just("home"), Just("home.let"), Just("home.let.room")];
        let side = prop_oneof![Just("offer"), Just("demand")];
        let option = prop::option::of::<BoxedStrategy<Value>>;
        let conditions = (
            option(words().prop_map(Value::from).boxed()),
            option(near.boxed()),
            option(bbox.boxed()),
            option(category.prop_map(Value::from).boxed()),
            option(side.prop_map(Value::from).boxed()),
        );
        conditions.prop_map(|(q, near, bbox, category, side)| {
            let named =
                [("q", q), ("near", near), ("bbox", bbox), ("category", category), ("side", side)];
            let given =
                named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
            Value::Object(given.collect())
        })
    }

    proptest! {
        #[test]
        fn no_listing_misses_a_search_that_it_fits(
            query in queries(), title in words(), (lat, lng) in places(),
        ) {
            let card = fixtures::card(json!({ "title": title, "lat": lat, "lng": lng }));
            let search = fixtures::prepared(query);
            let index = Index::of(&CARDS).unwrap();
            let document = index.document(&card).unwrap();
            if index.fits(search.query(search.filter(None)), &document).unwrap() {
                let keys = of_listing(&card, document.terms());
                prop_assert!(of_search(&search).iter().any(|key| keys.contains(key)));
            }
        }
    }
}
