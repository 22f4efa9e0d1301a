//! Reads of the person's own threads and messages.

use crate::views::{self, MessageView, ThreadView};
use crate::{documents::*, members, refusals::*, types::*};
use portolan_sdk::prelude::*;

/// The maximum number of pages that are read to fill one page.
const ROUNDS: usize = 20;

/// Returns the person's threads, the one with the latest message first. Their states are computed
/// at each read, so a page may contain fewer than `limit` items.
pub(crate) fn list(call: &Call, me: &str, input: List) -> Result<Items<ThreadView>> {
    let place = if input.archived { Place::Archive } else { Place::Inbox };
    let filter = field("owner_id").eq(me).and(field("place").eq(place));
    let filter = filter.and(input.unread_only.then(|| field("unread").gt(0)));
    let query = Query::new().filter(filter).last("active_at").limit(input.page.limit);
    let (mut cursor, mut round) = (input.page.cursor, 1);
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
    let thread = members::load_joined(me, &input.thread_id)?;
    let after = input.after.unwrap_or(0).max(thread.value.unseen_until(me));
    let filter = field("thread_id").eq(&thread.id).and(field("seq").gt(after));
    let query = Query::new().filter(filter.and(input.before.map(|before| field("seq").lt(before))));
    let query = if input.after.is_some() { query.first("seq") } else { query.last("seq") };
    let (found, next_cursor) = MESSAGES.find(query.page(input.page))?.into_parts();
    let items = views::messages(call.now(), me, &thread, found)?;
    Ok(Items { items, next_cursor })
}

/// Returns a message that was sent since the person joined.
pub(crate) fn message(call: &Call, message_id: &str) -> Result<MessageView> {
    let me = call.owner_id().ok_or_else(Message::not_found)?;
    let message = Message::load(message_id)?;
    let thread =
        members::find_joined(me, &message.value.thread_id)?.ok_or_else(Message::not_found)?;
    if message.value.seq <= thread.value.unseen_until(me) {
        return Err(Message::not_found());
    }
    views::message(call.now(), me, &thread, message)
}
