//! Documents of the host that agents may read as resources.

/// A document of the host that does not change while it runs.
#[derive(Debug, Clone)]
pub struct Page {
    /// The path at which HTTP serves it too.
    pub path: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub media_type: &'static str,
    pub text: String,
}
