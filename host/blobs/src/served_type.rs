//! The types of files that are served, and their path.

/// The types that are served, and whether a browser may show them. All others are refused when a capability declares
/// them, so nothing that a browser would run has an address.
const TYPES: [(&str, bool); 3] =
    [("image/jpeg", true), ("image/png", true), ("application/pdf", false)];

/// The path of files.
const FILES: &str = "/media/";

/// Returns the path of a content in addresses.
pub(crate) fn path(digest: &str) -> String {
    format!("{FILES}{digest}")
}

pub(crate) fn is_served_type(name: &str) -> bool {
    served_type(name).is_some()
}

/// Returns the type with this name, and whether a browser may show it; `None` if it is not served.
pub(crate) fn served_type(name: &str) -> Option<(&'static str, bool)> {
    TYPES.into_iter().find(|(known, _)| *known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_browser_would_run_is_served() {
        for name in ["text/html", "image/svg+xml", "application/xhtml+xml", "text/javascript", ""] {
            assert!(!is_served_type(name), "{name}");
        }
        assert_eq!(served_type("application/pdf"), Some(("application/pdf", false)));
    }
}
