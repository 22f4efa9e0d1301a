//! The rows of a data file.

/// Returns the rows of a table, without its comments, which begin with `#`.
pub(crate) fn rows(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}
