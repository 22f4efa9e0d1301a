//! The look-up of a page, and its refusal.

use crate::{PAGES, Page};
use portolan_sdk::prelude::*;

/// The reason why a page was not found.
#[derive(Debug, Refusals)]
pub enum NoSuchPage {
    /// There is no page with this slug. The known slugs are in `conflict`; `next` lists the pages
    /// with their summaries.
    #[refusal(
        not_found,
        next = Next::action("content_get", "list"),
        conflict_detail = json!({ "kind": "not_found", "known": slugs() })
    )]
    ContentNotFound,
    #[refusal(transparent)]
    Common(Refusal),
}

fn slugs() -> Vec<&'static str> {
    PAGES.iter().map(|page| page.slug).collect()
}

/// Finds the page with this slug, in upper or lower case.
pub fn find(slug: &str) -> Result<&'static Page, NoSuchPage> {
    let found = PAGES.iter().find(|page| page.slug.eq_ignore_ascii_case(slug.trim()));
    found.ok_or(NoSuchPage::ContentNotFound)
}
