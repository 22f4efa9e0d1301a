//! The gazetteer: names and positions of cities, regions and countries, from a file that is part of the
//! program. It is unpacked when it is first used, and then takes about 9 MB.

use super::key::{hash, key};
use flate2::read::GzDecoder;
use std::{io::Read as _, sync::LazyLock};

const PACKED: &[u8] = include_bytes!("../../places/gazetteer.gz");
/// The words that the licence asks for.
pub const ATTRIBUTION: &str = "Places: GeoNames (CC BY 4.0), Unicode CLDR";
/// How many bytes the file unpacks to at most.
const MOST_UNPACKED: u64 = 16 << 20;
/// The weight of a country beside those of cities.
const COUNTRY: u16 = 215;
/// A region is better known than its best known city, but at most so.
const REGION: u16 = 200;
const ABOVE_CITY: u16 = 24;
/// Countries of ISO 3166-1 that are also written as parts of another one.
const TERRITORIES: [(&str, &str); 14] = [
    ("HK", "CN"),
    ("MO", "CN"),
    ("PR", "US"),
    ("GU", "US"),
    ("VI", "US"),
    ("RE", "FR"),
    ("GP", "FR"),
    ("MQ", "FR"),
    ("GF", "FR"),
    ("AX", "FI"),
    ("GI", "GB"),
    ("IM", "GB"),
    ("JE", "GB"),
    ("GG", "GB"),
];
/// Names of cities that are usually written in another way.
const SHOWN: [(&str, &str); 1] = [("New York City", "New York")];

/// A city, region or country of the gazetteer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Sense {
    City(u32),
    Region(u16),
    Country(u16),
}

#[derive(Debug)]
struct City {
    /// Where its line begins.
    at: u32,
    lat: i32,
    lng: i32,
    weight: u16,
    country: u16,
    region: Option<u16>,
}

#[derive(Debug)]
struct Region {
    code: &'static str,
    name: &'static str,
    country: u16,
    weight: u16,
}

#[derive(Debug)]
struct Country {
    code: &'static str,
    /// The code of three letters.
    three: &'static str,
    continent: &'static str,
    name: &'static str,
}

#[derive(Debug)]
pub(super) struct Gazetteer {
    text: &'static str,
    cities: Vec<City>,
    regions: Vec<Region>,
    countries: Vec<Country>,
    /// Hashes of the keys of names, in order, and beside each what it names.
    hashes: Vec<u64>,
    named: Vec<Sense>,
}

/// Returns the gazetteer; the first call unpacks it.
pub(super) fn gazetteer() -> &'static Gazetteer {
    static GAZETTEER: LazyLock<Gazetteer> = LazyLock::new(|| Gazetteer::read(unpacked()));
    &GAZETTEER
}

fn unpacked() -> &'static str {
    let mut text = String::new();
    // The file is part of the program, and a test reads it.
    let _readable = GzDecoder::new(PACKED).take(MOST_UNPACKED).read_to_string(&mut text);
    Box::leak(text.into_boxed_str())
}

impl Gazetteer {
    fn read(text: &'static str) -> Self {
        let mut gazetteer = Self {
            text,
            cities: Vec::new(),
            regions: Vec::new(),
            countries: Vec::new(),
            hashes: Vec::new(),
            named: Vec::new(),
        };
        let mut names = Vec::new();
        let (mut at, mut group) = (0, None);
        for line in text.lines() {
            let mut fields = line.split('\t');
            match fields.next().unwrap_or_default() {
                "C" => gazetteer.country_line(fields, &mut names),
                "R" => gazetteer.region_line(fields, &mut names),
                "G" => {
                    let country = gazetteer.country(fields.next().unwrap_or_default());
                    let region = gazetteer.region(fields.next().unwrap_or_default());
                    group = country.map(|country| (country, region));
                }
                name => {
                    if let Some(group) = group {
                        gazetteer.city_line((name, at), fields, group, &mut names);
                    }
                }
            }
            at += line.len() + 1;
        }
        gazetteer.cities.shrink_to_fit();
        names.sort_unstable();
        names.dedup();
        gazetteer.hashes = names.iter().map(|(hash, _)| *hash).collect();
        gazetteer.named = names.into_iter().map(|(_, sense)| sense).collect();
        gazetteer
    }

    fn country_line(
        &mut self,
        mut fields: std::str::Split<'static, char>,
        names: &mut Vec<(u64, Sense)>,
    ) {
        let mut next = || fields.next().unwrap_or_default();
        let (code, three, continent, name, others) = (next(), next(), next(), next(), next());
        let Ok(position) = u16::try_from(self.countries.len()) else { return };
        self.countries.push(Country { code, three, continent, name });
        add(names, Sense::Country(position), name, others);
    }

    fn region_line(
        &mut self,
        mut fields: std::str::Split<'static, char>,
        names: &mut Vec<(u64, Sense)>,
    ) {
        let mut next = || fields.next().unwrap_or_default();
        let (code, name, others) = (next(), next(), next());
        let country = self.country(code.split('-').next().unwrap_or_default());
        let (Ok(position), Some(country)) = (u16::try_from(self.regions.len()), country) else {
            return;
        };
        self.regions.push(Region { code, name, country, weight: 0 });
        add(names, Sense::Region(position), name, others);
    }

    fn city_line(
        &mut self,
        (name, at): (&'static str, usize),
        mut fields: std::str::Split<'static, char>,
        (country, region): (u16, Option<u16>),
        names: &mut Vec<(u64, Sense)>,
    ) {
        let mut number = || fields.next().and_then(|field| field.parse::<i32>().ok());
        let (Some(lat), Some(lng), Some(weight)) = (number(), number(), number()) else { return };
        let (Ok(at), Ok(weight)) = (u32::try_from(at), u16::try_from(weight)) else { return };
        let Ok(position) = u32::try_from(self.cities.len()) else { return };
        if let Some(region) = region.and_then(|at| self.regions.get_mut(usize::from(at))) {
            region.weight = region.weight.max((weight + ABOVE_CITY).min(REGION));
        }
        self.cities.push(City { at, lat, lng, weight, country, region });
        add(names, Sense::City(position), name, fields.next().unwrap_or_default());
    }

    /// Returns the position of the country with this code; codes are in order.
    fn country(&self, code: &str) -> Option<u16> {
        let found = self.countries.binary_search_by_key(&code, |country| country.code).ok()?;
        u16::try_from(found).ok()
    }

    fn region(&self, code: &str) -> Option<u16> {
        let found = self.regions.binary_search_by_key(&code, |region| region.code).ok()?;
        u16::try_from(found).ok()
    }

    fn city(&self, sense: Sense) -> Option<&City> {
        match sense {
            Sense::City(position) => self.cities.get(usize::try_from(position).ok()?),
            Sense::Region(_) | Sense::Country(_) => None,
        }
    }

    /// Returns all that a name with this key means.
    pub(super) fn named(&self, key: &str) -> Vec<Sense> {
        let hash = hash(key);
        let first = self.hashes.partition_point(|known| *known < hash);
        let same = self.hashes.iter().skip(first).take_while(|known| **known == hash).count();
        self.named.iter().skip(first).take(same).copied().collect()
    }

    /// Returns the country or region with a code of ISO 3166: "US", "US-CA".
    pub(super) fn coded(&self, code: &str) -> Option<Sense> {
        match code.contains('-') {
            true => self.region(code).map(Sense::Region),
            false => self.country(code).map(Sense::Country),
        }
    }

    /// Returns the country with a code of three letters: "USA".
    pub(super) fn coded_by_three(&self, code: &str) -> Option<Sense> {
        let position = self.countries.iter().position(|country| country.three == code)?;
        u16::try_from(position).ok().map(Sense::Country)
    }

    /// Returns the regions whose code has this second part.
    pub(super) fn regions_coded(&self, part: &str) -> impl Iterator<Item = Sense> {
        let has_part = move |region: &Region| region.code.get(3..) == Some(part);
        let found = self.regions.iter().enumerate().filter(move |(_, region)| has_part(region));
        found.filter_map(|(position, _)| u16::try_from(position).ok().map(Sense::Region))
    }

    pub(super) fn name(&self, sense: Sense) -> &'static str {
        match sense {
            Sense::City(_) => {
                let at = self.city(sense).and_then(|city| usize::try_from(city.at).ok());
                let line = at.and_then(|at| self.text.get(at..)).unwrap_or_default();
                let name = line.split('\t').next().unwrap_or_default();
                SHOWN.iter().find(|(known, _)| *known == name).map_or(name, |(_, shown)| shown)
            }
            Sense::Region(position) => {
                self.regions.get(usize::from(position)).map_or("", |region| region.name)
            }
            Sense::Country(position) => {
                self.countries.get(usize::from(position)).map_or("", |country| country.name)
            }
        }
    }

    /// Returns the region that a place is or is in.
    pub(super) fn region_of(&self, sense: Sense) -> Option<Sense> {
        match sense {
            Sense::City(_) => self.city(sense)?.region.map(Sense::Region),
            Sense::Region(_) => Some(sense),
            Sense::Country(_) => None,
        }
    }

    /// Returns the country that a place is or is in.
    pub(super) fn country_of(&self, sense: Sense) -> Option<Sense> {
        match sense {
            Sense::City(_) => Some(Sense::Country(self.city(sense)?.country)),
            Sense::Region(position) => {
                let region = self.regions.get(usize::from(position))?;
                Some(Sense::Country(region.country))
            }
            Sense::Country(_) => Some(sense),
        }
    }

    /// Returns the code of a region or country.
    pub(super) fn code(&self, sense: Sense) -> &'static str {
        match sense {
            Sense::City(_) => "",
            Sense::Region(position) => {
                self.regions.get(usize::from(position)).map_or("", |region| region.code)
            }
            Sense::Country(position) => {
                self.countries.get(usize::from(position)).map_or("", |country| country.code)
            }
        }
    }

    /// Returns the continent of a country: "EU", "NA".
    pub(super) fn continent(&self, sense: Sense) -> &'static str {
        let Some(Sense::Country(position)) = self.country_of(sense) else { return "" };
        self.countries.get(usize::from(position)).map_or("", |country| country.continent)
    }

    /// Returns latitude and longitude of a city.
    pub(super) fn position(&self, sense: Sense) -> Option<(f64, f64)> {
        let city = self.city(sense)?;
        Some((f64::from(city.lat) / 1000.0, f64::from(city.lng) / 1000.0))
    }

    /// Returns how well known a place is: 8 more is twice as well.
    pub(super) fn weight(&self, sense: Sense) -> i32 {
        match sense {
            Sense::City(_) => self.city(sense).map_or(0, |city| city.weight.into()),
            Sense::Region(position) => {
                self.regions.get(usize::from(position)).map_or(0, |region| region.weight.into())
            }
            Sense::Country(_) => COUNTRY.into(),
        }
    }

    /// Returns whether a place is within another one, or is the same.
    pub(super) fn is_within(&self, sense: Sense, outer: Sense) -> bool {
        match outer {
            Sense::City(_) => sense == outer,
            Sense::Region(_) => self.region_of(sense) == Some(outer),
            Sense::Country(_) => self.country_of(sense).is_some_and(|country| {
                let pair = (self.code(country), self.code(outer));
                country == outer || TERRITORIES.contains(&pair)
            }),
        }
    }
}

fn add(names: &mut Vec<(u64, Sense)>, sense: Sense, name: &str, others: &str) {
    let others = others.split('|').filter(|other| !other.is_empty());
    names.extend(std::iter::once(name).chain(others).map(|name| (hash(&key(name)), sense)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_whole() {
        let gazetteer = gazetteer();
        let counts = (gazetteer.cities.len(), gazetteer.regions.len(), gazetteer.countries.len());
        assert_eq!(counts, (69_472, 3_717, 252));
        assert!(gazetteer.countries.is_sorted_by_key(|country| country.code));
        assert!(gazetteer.regions.is_sorted_by_key(|region| region.code));
        let without_region = gazetteer.cities.iter().filter(|city| city.region.is_none()).count();
        assert!(without_region < 2_500, "{without_region}");
    }

    #[test]
    fn a_city_has_a_region_a_country_and_a_position() {
        let gazetteer = gazetteer();
        let found = gazetteer.named(&key("Muenchen"));
        let [munich] = found[..] else { panic!("{found:?}") };
        assert_eq!(gazetteer.name(munich), "Munich");
        assert_eq!(gazetteer.region_of(munich).map(|region| gazetteer.code(region)), Some("DE-BY"));
        assert!(gazetteer.is_within(munich, gazetteer.coded("DE").unwrap()));
        assert_eq!(gazetteer.position(munich), Some((48.137, 11.575)));
        assert_eq!(gazetteer.named("nowhere at all"), []);
    }

    #[test]
    fn its_memory_is_modest() {
        let gazetteer = gazetteer();
        let bytes = gazetteer.text.len()
            + gazetteer.cities.len() * size_of::<City>()
            + gazetteer.hashes.len() * (size_of::<u64>() + size_of::<Sense>());
        assert!(bytes < 9_000_000, "{bytes}");
    }
}
