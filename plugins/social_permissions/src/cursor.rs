//! Pages of results that are composed from many documents, with signed cursors.

use crate::types::Result;
use portolan_sdk::{
    pages::{close_cursor, open_cursor},
    prelude::*,
};
use std::collections::BTreeSet;

/// Returns one page of the results, in order, filtered. A cursor is signed for its query.
pub(crate) fn paged(
    found: BTreeSet<String>,
    page: &PageInput,
    query: &str,
    mut fits: impl FnMut(&str) -> Result<bool>,
) -> Result<Items<String>> {
    let after = page.cursor.as_deref().map(|cursor| open_cursor(cursor, query)).transpose()?;
    let mut items: Vec<String> = Vec::new();
    for text in found {
        if after.as_ref().is_some_and(|after| text <= *after) || !fits(&text)? {
            continue;
        }
        if items.len() == page.limit as usize {
            let next_cursor = items.last().map(|last| close_cursor(last, query)).transpose()?;
            return Ok(Items { items, next_cursor });
        }
        items.push(text);
    }
    Ok(Items { items, next_cursor: None })
}
