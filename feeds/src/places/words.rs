//! The table of words in texts about places, `data/places.toml`.

use super::{
    gazetteer::{Gazetteer, Sense, gazetteer},
    key::key,
};
use serde::Deserialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

const TABLE: &str = include_str!("../../data/places.toml");

/// The file as it is written.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    remote: Vec<String>,
    noise: Vec<String>,
    not_alone: Vec<String>,
    ambiguous: Vec<String>,
    city_states: Vec<String>,
    regions_by_code: Vec<String>,
    names: BTreeMap<String, String>,
    areas: BTreeMap<String, Vec<String>>,
}

/// What a word is if it is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Remote,
    Noise,
}

/// The table, with the keys of its words and the places of its names.
#[derive(Debug)]
pub(super) struct Words {
    words: BTreeMap<String, Word>,
    /// The most parts that a word or phrase has.
    pub(super) longest: usize,
    pub(super) not_alone: BTreeSet<String>,
    pub(super) ambiguous: BTreeSet<String>,
    pub(super) city_states: Vec<Sense>,
    pub(super) regions_by_code: Vec<Sense>,
    names: BTreeMap<String, Sense>,
    areas: BTreeMap<String, usize>,
    countries: Vec<Vec<Sense>>,
    continents: Vec<Vec<String>>,
}

/// A part of the world, as a position in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Area(usize);

/// Returns the table; the first call reads it.
pub(super) fn words() -> &'static Words {
    static WORDS: LazyLock<Words> = LazyLock::new(|| {
        // The file is part of the program, and a test reads it.
        Words::of(toml::from_str(TABLE).unwrap_or_default(), gazetteer())
    });
    &WORDS
}

impl Words {
    fn of(table: Table, gazetteer: &Gazetteer) -> Self {
        let mut words = BTreeMap::new();
        words.extend(table.noise.iter().map(|word| (key(word), Word::Noise)));
        words.extend(table.remote.iter().map(|word| (key(word), Word::Remote)));
        let longest = words.keys().map(|word| word.split(' ').count()).max().unwrap_or(1);
        let coded = |codes: &[String]| -> Vec<Sense> {
            codes.iter().filter_map(|code| gazetteer.coded(code)).collect()
        };
        let names = table.names.iter();
        let names = names.filter_map(|(name, of)| Some((key(name), place(gazetteer, of)?)));
        let (mut areas, mut countries, mut continents) = (BTreeMap::new(), Vec::new(), Vec::new());
        for (name, members) in &table.areas {
            areas.insert(key(name), countries.len());
            countries.push(coded(members));
            let of_continents = members.iter().filter_map(|member| member.strip_suffix(':'));
            continents.push(of_continents.map(str::to_owned).collect());
        }
        Self {
            words,
            longest,
            not_alone: table.not_alone.iter().map(|word| key(word)).collect(),
            ambiguous: table.ambiguous.iter().map(|word| key(word)).collect(),
            city_states: coded(&table.city_states),
            regions_by_code: coded(&table.regions_by_code),
            names: names.collect(),
            areas,
            countries,
            continents,
        }
    }

    pub(super) fn word(&self, key: &str) -> Option<Word> {
        self.words.get(key).copied()
    }

    pub(super) fn name(&self, key: &str) -> Option<Sense> {
        self.names.get(key).copied()
    }

    pub(super) fn area(&self, key: &str) -> Option<Area> {
        self.areas.get(key).copied().map(Area)
    }

    /// Returns whether a place is in a part of the world.
    pub(super) fn is_in(&self, area: Area, sense: Sense, gazetteer: &Gazetteer) -> bool {
        let continent = gazetteer.continent(sense);
        let in_continent = self.continents.get(area.0);
        let in_country = self.countries.get(area.0).zip(gazetteer.country_of(sense));
        in_continent.is_some_and(|continents| continents.iter().any(|known| known == continent))
            || in_country.is_some_and(|(countries, country)| countries.contains(&country))
    }
}

/// Returns the place of a text in the table: "US", "US-CA", "Seattle, US-WA".
fn place(gazetteer: &Gazetteer, text: &str) -> Option<Sense> {
    let Some((city, code)) = text.split_once(", ") else { return gazetteer.coded(text) };
    let outer = gazetteer.coded(code)?;
    let named = gazetteer.named(&key(city));
    let cities = named.into_iter().filter(|sense| matches!(sense, Sense::City(_)));
    let within = cities.filter(|sense| gazetteer.is_within(*sense, outer));
    within.max_by_key(|sense| gazetteer.weight(*sense))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_and_code_of_the_table_is_known() {
        let table: Table = toml::from_str(TABLE).unwrap();
        let (words, gazetteer) = (words(), gazetteer());
        for (name, of) in &table.names {
            assert!(place(gazetteer, of).is_some(), "{name} = {of}");
        }
        assert_eq!(words.city_states.len(), table.city_states.len());
        assert_eq!(words.regions_by_code.len(), table.regions_by_code.len());
        for (area, members) in &table.areas {
            for member in members {
                let known = member.ends_with(':') || gazetteer.coded(member).is_some();
                assert!(known, "{area}: {member}");
            }
        }
    }

    #[test]
    fn an_area_has_countries() {
        let (words, gazetteer) = (words(), gazetteer());
        let is_in = |area: &str, code: &str| {
            let area = words.area(area).unwrap();
            words.is_in(area, gazetteer.coded(code).unwrap(), gazetteer)
        };
        assert!(is_in("emea", "DE") && is_in("emea", "AE") && is_in("emea", "GB-ENG"));
        assert!(!is_in("emea", "US") && !is_in("dach", "FR") && is_in("worldwide", "US-CA"));
    }
}
