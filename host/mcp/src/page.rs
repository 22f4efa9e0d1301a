//! Documents of the host that agents may read as resources.

/// A document of the host that stays the same as long as it runs.
#[derive(Debug, Clone)]
pub struct Page {
    /// The path below the public address where it is served as well.
    pub path: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub media_type: &'static str,
    pub text: String,
}
