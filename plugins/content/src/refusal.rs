//! The look-up of a page, and its refusal.

use crate::{PAGES, Page};
use portolan_sdk::prelude::*;

/// Why a page was not found.
#[derive(Debug, Refusals)]
pub enum NoSuchPage {
    /// There is no page with this slug. The known slugs are in `conflict`; `next` lists the pages
    /// with their summaries.
    #[refusal(
        not_found,
        next = Next::action("content_get", "list"),
        conflict_detail = Known::slugs()
    )]
    ContentNotFound,
    #[refusal(transparent)]
    Common(Refusal),
}

#[derive(Debug, Serialize)]
struct Known {
    kind: &'static str,
    known: Vec<&'static str>,
}

impl Known {
    fn slugs() -> Self {
        Self { kind: "not_found", known: PAGES.iter().map(|page| page.slug).collect() }
    }
}

/// Finds the page with this slug, in upper or lower case.
pub fn find(slug: &str) -> Result<&'static Page, NoSuchPage> {
    PAGES
        .iter()
        .find(|page| page.slug.eq_ignore_ascii_case(slug.trim()))
        .ok_or(NoSuchPage::ContentNotFound)
}
