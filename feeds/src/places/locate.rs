//! Finds the places of a record by all that states them: the text, the fields beside it, and the
//! operator's corrections.

use super::{
    Corrections, Place,
    gazetteer::gazetteer,
    meaning::Known,
    resolve::{is_town, resolve},
};

/// What a source states about a place.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stated<'t> {
    pub text: &'t str,
    /// The fields of an address, if the source has them.
    pub city: Option<&'t str>,
    pub region: Option<&'t str>,
    pub country: Option<&'t str>,
    /// The code of the country of the organisation (ISO 3166-1).
    pub organisation: Option<&'t str>,
}

/// Returns the places that a source states; none if they cannot be told.
pub fn locate(stated: &Stated<'_>, corrections: &Corrections) -> Vec<Place> {
    if let Some(places) = corrections.of(stated.text) {
        return places.to_vec();
    }
    let organisation = stated.organisation.and_then(|code| gazetteer().coded(code));
    let country = stated.country.map(capitals);
    let by_fields = |known| {
        let fields = [stated.city, stated.region, country.as_deref()];
        let fields: Vec<&str> =
            fields.into_iter().flatten().filter(|field| !field.is_empty()).collect();
        resolve(&fields.join(", "), known)
    };
    let board = country.as_deref().and_then(|country| {
        let [place] = &resolve(country, Known::default())[..] else { return None };
        place.country.and_then(|code| gazetteer().coded(code))
    });
    let known = Known { board, organisation };
    let places = resolve(stated.text, known);
    let ([] | [Place { city: None, .. }]) = places[..] else { return places };
    // The text names no city: the fields may say more.
    let said = places.first();
    let is_remote = said.is_some_and(|place| place.is_remote);
    let fits = |place: &Place| said.is_none_or(|said| is_narrower(place, said));
    let mut found = by_fields(known);
    if !found.iter().all(fits) {
        return places;
    }
    found.iter_mut().for_each(|place| place.is_remote |= is_remote);
    if found.is_empty() {
        found = places;
    }
    // The gazetteer does not have every town.
    let town = stated.city.filter(|city| is_town(city));
    if let [place @ Place { city: None, country: Some(_), .. }] = &mut found[..] {
        place.city = town.map(str::to_owned);
    }
    found
}

/// Returns whether a place can be the same as another, of which less is known.
fn is_narrower(place: &Place, other: &Place) -> bool {
    other.country.is_none_or(|country| place.country == Some(country))
        && other.region_code.is_none_or(|region| place.region_code == Some(region))
}

/// Returns a code of a country in capitals; boards also write "us".
fn capitals(country: &str) -> String {
    match country.trim() {
        code if matches!(code.len(), 2 | 3) => code.to_uppercase(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(stated: Stated<'_>) -> (Option<String>, Option<&'static str>, bool) {
        let places = locate(&stated, &Corrections::default());
        let [place] = &places[..] else { panic!("{stated:?}: {places:?}") };
        (place.city.clone(), place.region_code.or(place.country), place.is_remote)
    }

    #[test]
    fn the_boards_fields_say_what_the_text_does_not() {
        let stated = Stated { text: "Cambridge", ..Stated::default() };
        assert_eq!(locate(&stated, &Corrections::default()), []);
        let city = |name: &str| Some(name.to_owned());
        for (stated, expected) in [
            (Stated { country: Some("gb"), ..stated }, (city("Cambridge"), Some("GB-ENG"), false)),
            (
                Stated { organisation: Some("US"), ..stated },
                (city("Cambridge"), Some("US-MA"), false),
            ),
            (
                Stated { text: "HQ", city: Some("Oslo"), country: Some("no"), ..stated },
                (city("Oslo"), Some("NO-03"), false),
            ),
            (
                Stated { text: "Remote", city: Some("Oslo"), country: Some("Norway"), ..stated },
                (city("Oslo"), Some("NO-03"), true),
            ),
            // The board knows a town that the gazetteer does not have, and "Nationwide" is none.
            (
                Stated {
                    text: "Veberöd, Sweden",
                    city: Some("Veberöd"),
                    country: Some("SE"),
                    ..stated
                },
                (city("Veberöd"), Some("SE"), false),
            ),
            (
                Stated {
                    text: "Nationwide",
                    city: Some("Nationwide"),
                    country: Some("SE"),
                    ..stated
                },
                (None, Some("SE"), false),
            ),
            (
                Stated {
                    text: "Springfield",
                    city: Some("Springfield"),
                    country: Some("US"),
                    ..stated
                },
                (city("Springfield"), Some("US"), false),
            ),
            // The text is believed if the fields say something else.
            (
                Stated { text: "Germany", city: Some("Oslo"), country: Some("Norway"), ..stated },
                (None, Some("DE"), false),
            ),
        ] {
            assert_eq!(one(stated), expected, "{stated:?}");
        }
    }
}
