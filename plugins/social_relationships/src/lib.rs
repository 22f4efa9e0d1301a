//! The capability `social_relationships`: who follows, knows, blocks and mutes whom.

mod ask;
mod blocks;
mod ids;
mod life;
mod limits;
mod private;
mod read;
mod types;
mod view;

use life::{BLOCK, CONNECT, FOLLOW, MUTE};
use people_kit::relations::{Hidden, Whom};
use portolan_sdk::prelude::*;
use types::*;

struct SocialRelationships;

/// Follow people, connect with them, and keep away from them.
///
/// To follow somebody is one-sided; a connection is agreed to by both. Somebody who takes requests
/// from their network only is asked first, and answers with `accept` or `reject`. `block` ends both
/// in both directions and hides the two from each other everywhere, and `mute` keeps their news out
/// of the inbox; nobody is told of either. `get` reads all there is with one person, and what may be
/// done now; `list` reads all of a kind. Relationships are the person's, whichever of their agents
/// calls.
#[capability(
    id = "social_relationships",
    title = "Relationships",
    tags = ["people", "safety"],
    collections = [RELATIONSHIPS, NOTES],
    state_machines = [FOLLOW, CONNECT, BLOCK, MUTE]
)]
impl SocialRelationships {
    /// Follow somebody.
    ///
    /// It is `active` at once, or `requested` if the person wants to be asked.
    #[action(access = write, emits = [REQUESTED], example = Other::example())]
    fn follow(call: &Call, input: Other) -> Result<Relationship, RelationshipError> {
        ask::ask(call, input, Request::Follow, "follow")
    }

    /// Accept that somebody follows, or connects.
    #[action(access = write, emits = [ACCEPTED], example = Reply::example())]
    fn accept(call: &Call, input: Reply) -> Result<Relationship, RelationshipError> {
        ask::reply(call, input, "accept")
    }

    /// Reject a request, or let somebody follow no longer.
    ///
    /// They are not told, and cannot ask again for 30 days.
    #[action(access = write, example = Reply::example())]
    fn reject(call: &Call, input: Reply) -> Result<Relationship, RelationshipError> {
        ask::reply(call, input, "reject")
    }

    /// Stop following somebody, or take the request back.
    #[action(access = write, example = Change::example())]
    fn unfollow(call: &Call, input: Change) -> Result<Relationship, RelationshipError> {
        ask::leave(call, input, Request::Follow, "unfollow")
    }

    /// Ask somebody to connect.
    #[action(access = write, emits = [REQUESTED], example = Other::example())]
    fn connect(call: &Call, input: Other) -> Result<Relationship, RelationshipError> {
        ask::ask(call, input, Request::Connect, "connect")
    }

    /// End a connection, or the request for one.
    ///
    /// The other side is not told, and cannot ask again for 30 days.
    #[action(access = write, example = Change::example())]
    fn disconnect(call: &Call, input: Change) -> Result<Relationship, RelationshipError> {
        ask::leave(call, input, Request::Connect, "disconnect")
    }

    /// Block somebody.
    ///
    /// Ends all there is in both directions. From now on neither finds the other one, and the other
    /// one cannot tell why. It works for everybody, also for people who cannot be found.
    #[action(access = write, destructive, emits = [BLOCKED], example = Other::example())]
    fn block(call: &Call, input: Other) -> Result<Relationship, RelationshipError> {
        blocks::block(call, input)
    }

    /// Block somebody no longer.
    ///
    /// What the block has ended does not come back.
    #[action(access = write, emits = [UNBLOCKED], example = Change::example())]
    fn unblock(call: &Call, input: Change) -> Result<Relationship, RelationshipError> {
        blocks::unblock(call, input)
    }

    /// Keep somebody's news out of the inbox.
    ///
    /// The other one is not told. Requests of theirs are still listed.
    #[action(access = write, example = Other::example())]
    fn mute(call: &Call, input: Other) -> Result<Relationship, RelationshipError> {
        private::mute(call, input)
    }

    /// Let somebody's news into the inbox again.
    #[action(access = write, example = Change::example())]
    fn unmute(call: &Call, input: Change) -> Result<Relationship, RelationshipError> {
        private::unmute(call, input)
    }

    /// Write down something about a person.
    ///
    /// Nobody else reads it. It takes the place of what was there.
    #[action(access = write, idempotent, example = SetNote::example())]
    fn note(call: &Call, input: SetNote) -> Result<Noted, RelationshipError> {
        private::note(call, input)
    }

    /// Get all there is with another person.
    ///
    /// For an agent that nobody has claimed there is nothing, and `next` is the way to a claim.
    #[action(access = read, idempotent, example = Other::example())]
    fn get(call: &Call, input: Other) -> Result<Answer<Bond>, RelationshipError> {
        let Some(me) = call.owner_id() else {
            let owner_id = input.owner_id;
            let (relationships, allowed_actions) = (Vec::new(), Vec::new());
            let bond = Bond { owner_id, relationships, note: None, allowed_actions };
            return Ok(Answer::new(bond).next(Next::claim()));
        };
        ask::check_other(me, &input.owner_id)?;
        Ok(Answer::new(view::bond(me, &input.owner_id)?))
    }

    /// List the person's relationships, the newest first.
    ///
    /// For an agent that nobody has claimed, the list is empty.
    #[action(access = read, idempotent, example = List::default())]
    fn list(call: &Call, input: List) -> Result<Answer<Items<Relationship>>, RelationshipError> {
        own(call, |me| read::list(me, input))
    }

    /// List whom the person and another one both are connected with.
    ///
    /// A page may hold fewer than `limit`, and there may be more all the same: `next_cursor` says so.
    #[action(access = read, idempotent, example = Mutuals::example())]
    fn mutuals(call: &Call, input: Mutuals) -> Result<Answer<Items<Mutual>>, RelationshipError> {
        own(call, |me| read::mutuals(me, input))
    }

    /// List whom the person has blocked, the newest first.
    #[action(access = read, idempotent, example = PageInput::default())]
    fn blocked(
        call: &Call,
        input: PageInput,
    ) -> Result<Answer<Items<Relationship>>, RelationshipError> {
        let kind = Some(Kind::Block);
        own(call, |me| read::list(me, List { kind, page: input, ..List::default() }))
    }

    /// Tell another capability whom a person must not see.
    ///
    /// These are the people who have blocked the person, and those whom the person has blocked.
    #[action(access = internal, idempotent)]
    fn hidden(_call: &Call, input: Whom) -> Result<Hidden, Refusal> {
        Ok(blocks::hidden(input)?)
    }

    /// Forget what ended long ago.
    #[action(access = internal, idempotent)]
    fn forget(call: &Call, input: ask::Ended) -> Result<(), Refusal> {
        ask::forget(call, &input)?;
        Ok(())
    }
}

/// A list of the person's own; empty for an agent that nobody has claimed.
fn own<T>(
    call: &Call,
    list: impl FnOnce(&str) -> Result<Items<T>, RelationshipError>,
) -> Result<Answer<Items<T>>, RelationshipError> {
    match call.owner_id() {
        Some(me) => Ok(Answer::new(list(me)?)),
        None => Ok(Items::unclaimed()),
    }
}
