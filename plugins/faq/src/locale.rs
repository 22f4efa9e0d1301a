//! The language of the answers.

/// The only locale, as a BCP 47 tag.
pub const LOCALE: &str = "en";

/// Whether the caller requested a language other than English; the region does not matter.
pub fn falls_back(requested: Option<&str>) -> bool {
    let language = requested.and_then(|tag| tag.split(['-', '_']).next());
    language.is_some_and(|language| !language.eq_ignore_ascii_case(LOCALE))
}

#[cfg(test)]
mod tests {
    use super::falls_back;

    #[test]
    fn only_another_language_is_a_fallback() {
        for served in [None, Some("en"), Some("en-GB"), Some("EN_us")] {
            assert!(!falls_back(served), "{served:?}");
        }
        for other in ["de", "eng", "fr-CA", ""] {
            assert!(falls_back(Some(other)), "{other}");
        }
    }
}
