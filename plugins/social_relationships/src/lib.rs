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
    /// Follow a person.
    ///
    /// The relationship is `active` at once, or `requested` if the person wants to be asked. To know
    /// each other, use `connect`.
    #[action(access = write, emits = [REQUESTED], example = json!({ "owner_id": OTHER_ID }))]
    fn follow(call: &Call, input: Other) -> Result<Relationship, RelationshipError> {
        ask::ask(call, input, Request::Follow, "follow")
    }

    /// Accept that somebody follows, or connects.
    #[action(access = write, emits = [ACCEPTED], example = json!({ "owner_id": OTHER_ID, "kind": "connect" }))]
    fn accept(call: &Call, input: Reply) -> Result<Relationship, RelationshipError> {
        ask::reply(call, input, "accept")
    }

    /// Reject a request, or let somebody follow no longer.
    ///
    /// They are not told, and cannot ask again for 30 days.
    #[action(access = write, example = json!({ "owner_id": OTHER_ID, "kind": "connect" }))]
    fn reject(call: &Call, input: Reply) -> Result<Relationship, RelationshipError> {
        ask::reply(call, input, "reject")
    }

    /// Stop following somebody, or take the request back.
    #[action(access = write, example = json!({ "owner_id": OTHER_ID }))]
    fn unfollow(call: &Call, input: Change) -> Result<Relationship, RelationshipError> {
        ask::leave(call, input, Request::Follow, "unfollow")
    }

    /// Ask somebody to connect.
    #[action(access = write, emits = [REQUESTED], example = json!({ "owner_id": OTHER_ID }))]
    fn connect(call: &Call, input: Other) -> Result<Relationship, RelationshipError> {
        ask::ask(call, input, Request::Connect, "connect")
    }

    /// End a connection, or the request for one.
    ///
    /// The other side is not told, and cannot ask again for 30 days.
    #[action(access = write, example = json!({ "owner_id": OTHER_ID }))]
    fn disconnect(call: &Call, input: Change) -> Result<Relationship, RelationshipError> {
        ask::leave(call, input, Request::Connect, "disconnect")
    }

    /// Block somebody.
    ///
    /// Ends all there is in both directions. From now on neither finds the other one, and the other
    /// one cannot tell why. It works for everybody, also for people who cannot be found.
    #[action(access = write, destructive, emits = [BLOCKED], example = json!({ "owner_id": OTHER_ID }))]
    fn block(call: &Call, input: Other) -> Result<Relationship, RelationshipError> {
        blocks::block(call, input)
    }

    /// Block somebody no longer.
    ///
    /// What the block has ended does not come back.
    #[action(access = write, emits = [UNBLOCKED], example = json!({ "owner_id": OTHER_ID }))]
    fn unblock(call: &Call, input: Change) -> Result<Relationship, RelationshipError> {
        blocks::unblock(call, input)
    }

    /// Keep the events of a person out of the inbox.
    ///
    /// The other person is not told, and their requests are still listed. To end all contact, use
    /// `block`.
    #[action(access = write, example = json!({ "owner_id": OTHER_ID }))]
    fn mute(call: &Call, input: Other) -> Result<Relationship, RelationshipError> {
        private::mute(call, input)
    }

    /// Let the events of a person into the inbox again.
    #[action(access = write, example = json!({ "owner_id": OTHER_ID }))]
    fn unmute(call: &Call, input: Change) -> Result<Relationship, RelationshipError> {
        private::unmute(call, input)
    }

    /// Write a note about a person.
    ///
    /// Nobody else reads it. It replaces the note that was there.
    #[action(access = write, idempotent, example = json!({ "owner_id": OTHER_ID, "text": "Met at the Rust evening; looks for a flat share." }))]
    fn note(call: &Call, input: SetNote) -> Result<Noted, RelationshipError> {
        private::note(call, input)
    }

    /// Get all there is with another person.
    ///
    /// For an agent that nobody has claimed there is nothing, and `next` is the way to a claim.
    #[action(access = read, idempotent, example = json!({ "owner_id": OTHER_ID }))]
    fn get(call: &Call, input: Other) -> Result<Answer<Bond>, RelationshipError> {
        let Some(me) = call.owner_id() else {
            let bond = Bond { owner_id: input.owner_id.into(), ..Bond::default() };
            return Ok(Answer::new(bond).next(Next::claim()));
        };
        ask::ensure_other(me, &input.owner_id)?;
        Ok(Answer::new(view::bond(me, &input.owner_id)?))
    }

    /// List the person's relationships, the newest first.
    ///
    /// For an agent that nobody has claimed, the list is empty.
    #[action(access = read, idempotent, example = List::default())]
    fn list(call: &Call, input: List) -> Result<Answer<Items<Relationship>>, RelationshipError> {
        Items::own(call, |me| read::list(me, input))
    }

    /// List whom the person and another one both are connected with.
    ///
    /// A page may hold fewer than `limit`, and there may be more all the same: `next_cursor` says so.
    #[action(access = read, idempotent, example = json!({ "owner_id": OTHER_ID, "limit": 20 }))]
    fn mutuals(call: &Call, input: Mutuals) -> Result<Answer<Items<Mutual>>, RelationshipError> {
        Items::own(call, |me| read::mutuals(me, input))
    }

    /// List whom the person has blocked, the newest first.
    #[action(access = read, idempotent, example = PageInput::default())]
    fn blocked(
        call: &Call,
        input: PageInput,
    ) -> Result<Answer<Items<Relationship>>, RelationshipError> {
        let kind = Some(Kind::Block);
        Items::own(call, |me| read::list(me, List { kind, page: input, ..List::default() }))
    }

    /// List the people who have blocked a person, or whom the person has blocked.
    ///
    /// For other capabilities, which do not show the two to each other.
    #[action(access = internal, idempotent)]
    fn hidden(_call: &Call, input: Whom) -> Result<Hidden, Refusal> {
        Ok(blocks::hidden(input)?)
    }

    /// Delete a relationship that ended long ago.
    #[action(access = internal, idempotent)]
    fn forget(call: &Call, input: ask::Ended) -> Result<(), Refusal> {
        Ok(ask::forget(call, &input)?)
    }
}

/// A person's id in the examples.
const OTHER_ID: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";
