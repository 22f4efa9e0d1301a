//! Pages of results that are composed from many documents, with signed cursors.

use crate::types::Result;
use portolan_sdk::{HostError, prelude::*, secrets};
use std::collections::BTreeSet;

/// Returns one page of the results, in order, filtered. A cursor is signed for its query.
pub(crate) fn paged(
    found: BTreeSet<String>,
    page: &PageInput,
    query: &str,
    mut fits: impl FnMut(&str) -> Result<bool>,
) -> Result<Items<String>> {
    let after = match page.cursor.as_deref() {
        Some(cursor) => Some(opened(cursor, query)?),
        None => None,
    };
    let mut items: Vec<String> = Vec::new();
    for text in found {
        if after.as_ref().is_some_and(|after| text <= *after) || !fits(&text)? {
            continue;
        }
        if items.len() == page.limit as usize {
            let next_cursor = items.last().map(|last| closed(last, query)).transpose()?;
            return Ok(Items { items, next_cursor });
        }
        items.push(text);
    }
    Ok(Items { items, next_cursor: None })
}

fn closed(last: &str, query: &str) -> Result<String> {
    let mac = secrets::mac(format!("{query} {last}").as_bytes())?;
    let digits: String = mac.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{digits}.{last}"))
}

fn opened(cursor: &str, query: &str) -> Result<String> {
    let (digits, last) = cursor.split_once('.').ok_or(HostError::BadCursor)?;
    let macs = secrets::macs(format!("{query} {last}").as_bytes())?;
    let hex = |mac: Vec<u8>| mac.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    match macs.into_iter().any(|mac| hex(mac) == digits) {
        true => Ok(last.to_owned()),
        false => Err(HostError::BadCursor.into()),
    }
}
