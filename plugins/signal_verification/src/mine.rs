//! The person's own evidence, confirmations and disputes in one list.

use crate::{kept::*, refusals::Result, types::ListMine, views::*};
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
type Kind =
    Box<dyn Fn(u32, Option<String>) -> Result<(Vec<(u64, Mine)>, Option<String>), HostError>>;

fn kind<D: DeserializeOwned + 'static>(
    collection: Collection<D>,
    me: &str,
    changed_at: &str,
    view: fn(&Stored<D>) -> (u64, Mine),
) -> Kind {
    let mine = Query::new().filter(field("owner_id").eq(me)).last(changed_at);
    Box::new(move |limit, cursor| {
        let page = collection.find(mine.clone().limit(limit).cursor(cursor))?;
        Ok((page.documents().map(view).collect(), page.next))
    })
}

fn kinds(me: &str) -> [Kind; 3] {
    [
        kind(EVIDENCE, me, "changed_at", |found| {
            (found.value.changed_at, Mine::Evidence(evidence(found)))
        }),
        kind(CONFIRMATIONS, me, "confirmed_at", |Stored { value, .. }| {
            (value.confirmed_at, Mine::Confirmation(confirmation(value)))
        }),
        kind(DISPUTES, me, "changed_at", |found| {
            (found.value.changed_at, Mine::Dispute(dispute(found)))
        }),
    ]
}

pub(crate) fn list(me: &str, input: ListMine) -> Result<Items<Mine>> {
    if input.state.is_empty() {
        return Ok(merged(&kinds(me), input.page)?);
    }
    let mine = field("owner_id").eq(me).and(field("state").one_of(input.state));
    let page = EVIDENCE.find(input.page.last_changed(mine))?;
    Ok(Items::of(page, |found| Mine::Evidence(evidence(&found))))
}

/// The cursor of a kind without further items.
const END: &str = "end";

/// Returns one page of all kinds. Its cursor is the cursors of the kinds joined by dots, which
/// these cursors never contain.
fn merged(kinds: &[Kind; 3], page: PageInput) -> Result<Items<Mine>, HostError> {
    let cursor = page.cursor.unwrap_or_else(|| "..".to_owned());
    let cursors: Vec<&str> = cursor.split('.').collect();
    if cursors.len() != kinds.len() {
        return Err(HostError::BadCursor);
    }
    let after = |cursor: &str| Some(cursor.to_owned()).filter(|cursor| !cursor.is_empty());
    let mut found = Vec::new();
    for (number, (kind, cursor)) in kinds.iter().zip(&cursors).enumerate() {
        if *cursor != END {
            let (items, _) = kind(page.limit, after(cursor))?;
            found.extend(items.into_iter().map(|(at, item)| (at, number, item)));
        }
    }
    found.sort_by_key(|(at, ..)| Reverse(*at));
    let more = found.split_off(found.len().min(page.limit as usize));
    let mut next = Vec::new();
    for (number, (kind, cursor)) in kinds.iter().zip(&cursors).enumerate() {
        let of_it = |item: &&(u64, usize, Mine)| item.1 == number;
        next.push(match found.iter().filter(of_it).count() {
            0 if more.iter().any(|item| of_it(&item)) => (*cursor).to_owned(),
            0 => END.to_owned(),
            // Reads the cursor of a page that ends where this one does.
            shown => kind(shown as u32, after(cursor))?.1.unwrap_or_else(|| END.to_owned()),
        });
    }
    let next_cursor = Some(next.join(".")).filter(|_| next.iter().any(|cursor| cursor != END));
    Ok(Items { items: found.into_iter().map(|(.., item)| item).collect(), next_cursor })
}
