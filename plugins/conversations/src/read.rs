//! Reads of the person's own threads and messages.

use crate::{kept::*, members, outputs::*, refusals::*, types::*, views};
use portolan_sdk::{documents::Direction, prelude::*};

/// The maximum number of pages that are read to fill one page.
const ROUNDS: usize = 20;

/// Returns the person's threads, the one with the latest message first. Their states are computed
/// at each read, so a page may contain fewer than `limit` items.
pub(crate) fn list(call: &Call, me: &str, input: List) -> Result<Items<ThreadView>> {
    let place = if input.archived { Place::Archive } else { Place::Inbox };
    let mut filter = field("owner_id").eq(me).and(field("place").eq(place));
    if input.unread_only {
        filter = filter.and(field("unread").gt(0));
    }
    let query = Query::new().filter(filter).last("active_at").limit(input.page.limit);
    let mut cursor = input.page.cursor;
    let mut round = 1;
    loop {
        let page = SEATS.find(query.clone().cursor(cursor))?;
        let ids = page.hits.into_iter().map(|hit| hit.document.value.thread_id);
        let threads: Vec<_> = THREADS.get_many(ids)?.into_iter().flatten().collect();
        let mut items = views::threads(call.now(), me, &threads)?;
        items.retain(|item| input.state.is_none_or(|state| item.state == state));
        if !items.is_empty() || page.next.is_none() || round == ROUNDS {
            return Ok(Items { items, next_cursor: page.next });
        }
        cursor = page.next;
        round += 1;
    }
}

pub(crate) fn get(call: &Call, thread_id: &str) -> Result<ThreadView> {
    let thread = Thread::load_own(call, thread_id)?;
    views::thread(call.now(), call.require_owner()?, thread)
}

/// Returns messages since the person joined: after a given one, the oldest first; otherwise the
/// newest first.
pub(crate) fn messages(call: &Call, input: Messages) -> Result<Items<MessageView>> {
    let me = call.owner_id().ok_or_else(Thread::not_found)?;
    let thread = members::joined(me, &input.thread_id)?;
    let since = thread.value.member(me).map_or(u64::MAX, |member| member.joined_after);
    let after = input.after.unwrap_or(0).max(since);
    let mut filter = field("thread_id").eq(&thread.id).and(field("seq").gt(after));
    if let Some(before) = input.before {
        filter = filter.and(field("seq").lt(before));
    }
    let order = match input.after {
        Some(_) => Direction::Ascending,
        None => Direction::Descending,
    };
    let query = Query::new().filter(filter).order_by("seq", order);
    let page = MESSAGES.find(query.page(input.page))?;
    let (found, next_cursor) = page.into_parts();
    let items = views::messages(call.now(), me, &thread, found)?;
    Ok(Items { items, next_cursor })
}

/// Returns a message since the person joined.
pub(crate) fn message(call: &Call, message_id: &str) -> Result<MessageView> {
    let unseen = || ConversationError::MessageNotFound;
    let me = call.owner_id().ok_or_else(unseen)?;
    let message = MESSAGES.get(message_id)?.ok_or_else(unseen)?;
    let thread = members::own(me, &message.value.thread_id)?.ok_or_else(unseen)?;
    let since = thread.value.member(me).map_or(u64::MAX, |member| member.joined_after);
    if message.value.seq <= since {
        return Err(unseen());
    }
    views::message(call.now(), me, &thread, message)
}
