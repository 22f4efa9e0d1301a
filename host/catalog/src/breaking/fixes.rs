//! The fixes for breaking changes.

/// The fix for something that the new version takes away from callers.
pub(super) const KEEP: &str = "keep it and mark it as deprecated, or publish a new major version";
/// The fix for something to which the new version gives another meaning.
pub(super) const RESTORE: &str = "restore it, or publish a new major version";
