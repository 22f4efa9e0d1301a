//! The person's own evidence, confirmations and disputes in one list.

use crate::{documents::*, refusals::Result, types::ListMine, views::*};
use portolan_sdk::prelude::*;
use serde::de::DeserializeOwned;
use std::cmp::Reverse;

/// An item of the person.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "about", rename_all = "snake_case")]
pub(crate) enum Mine {
    Evidence(EvidenceView),
    Confirmation(ConfirmationView),
    /// A dispute that the person opened, or that was opened by their evidence of a retraction.
    Dispute(DisputeView),
}

/// A reader of one kind, last changed first: takes a maximum number of items and a cursor, and
/// returns the items with their times and the next cursor.
type PageSource =
    Box<dyn Fn(u32, Option<String>) -> Result<(Vec<(u64, Mine)>, Option<String>), HostError>>;

fn page_source<D: DeserializeOwned + 'static>(
    collection: Collection<D>,
    me: &str,
    changed_at: &str,
    view: fn(&Stored<D>) -> (u64, Mine),
) -> PageSource {
    let mine = Query::new().filter(field("owner_id").eq(me)).last(changed_at);
    Box::new(move |limit, cursor| {
        let page = collection.find(mine.clone().limit(limit).cursor(cursor))?;
        Ok((page.documents().map(view).collect(), page.next))
    })
}

fn page_sources(me: &str) -> [PageSource; 3] {
    [
        page_source(EVIDENCE, me, "changed_at", |found| {
            (found.value.changed_at, Mine::Evidence(evidence(found)))
        }),
        page_source(CONFIRMATIONS, me, "confirmed_at", |Stored { value, .. }| {
            (value.confirmed_at, Mine::Confirmation(confirmation(value)))
        }),
        page_source(DISPUTES, me, "changed_at", |found| {
            (found.value.changed_at, Mine::Dispute(dispute(found)))
        }),
    ]
}

pub(crate) fn list(me: &str, input: ListMine) -> Result<Items<Mine>> {
    if input.state.is_empty() {
        return Ok(merged(&page_sources(me), input.page)?);
    }
    let mine = field("owner_id").eq(me).and(field("state").one_of(input.state));
    let page = EVIDENCE.find(input.page.last_changed(mine))?;
    Ok(Items::of(page, |found| Mine::Evidence(evidence(&found))))
}

/// The cursor of a kind without further items.
const END: &str = "end";

/// Returns one page of all kinds. Its cursor is the cursors of the kinds joined by dots, which
/// these cursors never contain.
fn merged(page_sources: &[PageSource; 3], page: PageInput) -> Result<Items<Mine>, HostError> {
    let cursor = page.cursor.unwrap_or_else(|| "..".to_owned());
    let cursors: Vec<&str> = cursor.split('.').collect();
    if cursors.len() != page_sources.len() {
        return Err(HostError::BadCursor);
    }
    let after = |cursor: &str| Some(cursor.to_owned()).filter(|cursor| !cursor.is_empty());
    let mut found = Vec::new();
    for (number, (page_source, cursor)) in page_sources.iter().zip(&cursors).enumerate() {
        if *cursor != END {
            let (items, _) = page_source(page.limit, after(cursor))?;
            found.extend(items.into_iter().map(|(at, item)| (at, number, item)));
        }
    }
    found.sort_by_key(|(at, ..)| Reverse(*at));
    let more = found.split_off(found.len().min(page.limit as usize));
    let mut next = Vec::new();
    for (number, (page_source, cursor)) in page_sources.iter().zip(&cursors).enumerate() {
        let is_of_source = |item: &&(u64, usize, Mine)| item.1 == number;
        next.push(match found.iter().filter(is_of_source).count() {
            0 if more.iter().any(|item| is_of_source(&item)) => (*cursor).to_owned(),
            0 => END.to_owned(),
            // Reads the cursor of a page that ends where this one does.
            shown => page_source(shown as u32, after(cursor))?.1.unwrap_or_else(|| END.to_owned()),
        });
    }
    let next_cursor = Some(next.join(".")).filter(|_| next.iter().any(|cursor| cursor != END));
    Ok(Items { items: found.into_iter().map(|(.., item)| item).collect(), next_cursor })
}
