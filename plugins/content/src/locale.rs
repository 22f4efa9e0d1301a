//! The language of the pages.

/// The language of every page.
pub const LOCALE: &str = "en";

/// Whether a reader who requests this language tag (BCP 47) gets it: English of any region, as in
/// the look-up of RFC 4647.
pub fn serves(requested: &str) -> bool {
    requested.split(['-', '_']).next().is_some_and(|language| language.eq_ignore_ascii_case(LOCALE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_of_any_region_is_english() {
        for (requested, expected) in [
            ("en", true),
            ("EN-us", true),
            ("en_GB", true),
            ("eng", false),
            ("de", false),
            ("", false),
        ] {
            assert_eq!(serves(requested), expected, "{requested}");
        }
    }
}
