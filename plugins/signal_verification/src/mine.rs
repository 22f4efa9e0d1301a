//! What a person has brought and said, of all kinds in one list.

use crate::{
    kept::{CONFIRMATIONS, DISPUTES, EVIDENCE},
    refusals::Result,
    types::ListMine,
    views::{self, ConfirmationView, DisputeView, EvidenceView},
};
use portolan_sdk::prelude::*;
use serde::de::DeserializeOwned;
use std::cmp::Reverse;

/// Something that the person has brought or said.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "about", rename_all = "snake_case")]
pub(crate) enum Mine {
    Evidence(EvidenceView),
    Confirmation(ConfirmationView),
    /// Begun by the person, or by evidence of theirs that a source takes something back.
    Dispute(DisputeView),
}

/// What there is of one kind, the last changed first: at most so many from a cursor on, each with its
/// instant, and the cursor after them.
type Kind =
    Box<dyn Fn(u32, Option<String>) -> Result<(Vec<(u64, Mine)>, Option<String>), HostError>>;

fn kind<D: DeserializeOwned + 'static>(
    collection: Collection<D>,
    me: &str,
    changed_at: &str,
    view: fn(&Stored<D>) -> (u64, Mine),
) -> Kind {
    let mine = Query::new().filter(field("owner_id").eq(me));
    let mine = mine.last(changed_at);
    Box::new(move |limit, cursor| {
        let page = collection.find(mine.clone().limit(limit).cursor(cursor))?;
        Ok((page.hits.iter().map(|hit| view(&hit.document)).collect(), page.next))
    })
}

fn kinds(me: &str) -> [Kind; 3] {
    [
        kind(EVIDENCE, me, "changed_at", |evidence| {
            (evidence.value.changed_at, Mine::Evidence(views::evidence(evidence)))
        }),
        kind(CONFIRMATIONS, me, "confirmed_at", |Stored { value, .. }| {
            (value.confirmed_at, Mine::Confirmation(views::confirmation(value)))
        }),
        kind(DISPUTES, me, "changed_at", |dispute| {
            (dispute.value.changed_at, Mine::Dispute(views::dispute(dispute)))
        }),
    ]
}

pub(crate) fn list(me: &str, input: ListMine) -> Result<Items<Mine>> {
    if input.state.is_empty() {
        return Ok(merged(&kinds(me), input.page)?);
    }
    let mine = field("owner_id").eq(me).and(field("state").one_of(input.state));
    let page = EVIDENCE.find(input.page.last_changed(mine))?;
    Ok(Items::of(page, |evidence| Mine::Evidence(views::evidence(&evidence))))
}

/// In place of the cursor of a kind: nothing of it is left.
const END: &str = "end";

/// One page of everything. Its cursor has that of each kind, joined by dots, which these have none of.
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
            // The cursor of a page that ends where this one does.
            shown => kind(shown as u32, after(cursor))?.1.unwrap_or_else(|| END.to_owned()),
        });
    }
    let next_cursor = Some(next.join(".")).filter(|_| next.iter().any(|cursor| cursor != END));
    Ok(Items { items: found.into_iter().map(|(.., item)| item).collect(), next_cursor })
}
