//! The capability `social_relationships`: follows, connections, blocks and mutes between people.

mod intents;
mod person_page;
mod requests;
mod blocks;
mod states;
mod limits;
mod private;
mod read;
mod types;
mod view;

use people_kit::delivery::{self, CatalogChange, StateNext};
use people_kit::relations::{Hidden, HiddenQuery};
use portolan_sdk::{
    events::Happened,
    migration::{Migrated, Migration},
    prelude::*,
};
use states::{BLOCK, CONNECT, FOLLOW, MUTE};
use types::*;

struct SocialRelationships;

/// Relationships of a person: follow, connect, block and mute people.
///
/// A person follows another one without consent; a connection needs the consent of both. A person
/// whose `contact_policy` is `network` is asked first, and answers with `accept` or `reject`.
/// `block` ends both in both directions and hides the two from each other everywhere, and `mute`
/// keeps the events of a person out of the inbox; nobody is notified of either. `get` returns all
/// relationships with one person, and the actions that are possible now; `list` returns all of a
/// kind. Relationships belong to the person, and all their agents share them.
#[capability(
    id = "social_relationships",
    consequence = portolan_sdk::Consequence::of("account"),
    title = "Relationships",
    tags = ["people", "safety"],
    invokes = [
        people_kit::delivery::MUTE,
        people_kit::delivery::UNMUTE,
        people_kit::people::PEOPLE,
        people_kit::relations::RELATE,
    ],
    collections = [RELATIONSHIPS, NOTES],
    state_machines = [FOLLOW, CONNECT, BLOCK, MUTE]
)]
impl SocialRelationships {
    /// Give blocks and mutes of an earlier version the person who keeps them.
    #[action(access = internal, idempotent)]
    fn migrate(_call: &Call, input: Migration) -> Result<Migrated, Infallible> {
        Ok(input.each(|stored: Record| Ok(stored.with_keeper())))
    }

    /// Follow a person.
    ///
    /// The relationship is `active` at once, or `requested` if the person wants to be asked. For a
    /// mutual relationship, use `connect`.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("proposal").about(&["owner_id"]).first_contact(),
        emits = [REQUESTED], example = json!({ "owner_id": OTHER_ID }),
        intents = intents::FOLLOW
    )]
    fn follow(call: &Call, input: Other) -> Result<Relationship, RelationshipError> {
        requests::request(call, input, Request::Follow, "follow")
    }

    /// Accept a request to follow or to connect.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("proposal"),
        emits = [ACCEPTED], example = json!({ "owner_id": OTHER_ID, "kind": "connect" }),
        intents = intents::ACCEPT, person_page = person_page::accept()
    )]
    fn accept(call: &Call, input: Reply) -> Result<Relationship, RelationshipError> {
        requests::reply(call, input, "accept")
    }

    /// Reject a request, or remove a follower.
    ///
    /// They are not notified, and cannot ask again for 30 days.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("proposal"),
        example = json!({ "owner_id": OTHER_ID, "kind": "connect" }),
        intents = intents::REJECT, person_page = person_page::reject()
    )]
    fn reject(call: &Call, input: Reply) -> Result<Relationship, RelationshipError> {
        requests::reply(call, input, "reject")
    }

    /// Stop following a person, or withdraw the request.
    #[action(
        access = write, example = json!({ "owner_id": OTHER_ID }),
        intents = intents::UNFOLLOW, person_page = person_page::unfollow()
    )]
    fn unfollow(call: &Call, input: Change) -> Result<Relationship, RelationshipError> {
        requests::leave(call, input, Request::Follow, "unfollow")
    }

    /// Ask a person to connect.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("proposal").about(&["owner_id"]).first_contact(),
        emits = [REQUESTED], example = json!({ "owner_id": OTHER_ID }),
        intents = intents::CONNECT
    )]
    fn connect(call: &Call, input: Other) -> Result<Relationship, RelationshipError> {
        requests::request(call, input, Request::Connect, "connect")
    }

    /// End a connection, or withdraw the request for one.
    ///
    /// The other side is not notified, and cannot ask again for 30 days.
    #[action(
        access = write, example = json!({ "owner_id": OTHER_ID }),
        intents = intents::DISCONNECT, person_page = person_page::disconnect()
    )]
    fn disconnect(call: &Call, input: Change) -> Result<Relationship, RelationshipError> {
        requests::leave(call, input, Request::Connect, "disconnect")
    }

    /// Block a person.
    ///
    /// It ends all relationships in both directions. From now on neither finds the other one, and
    /// the other one cannot tell why. Every id is accepted, also of people who are not found.
    #[action(
        access = write, destructive, emits = [BLOCKED], example = json!({ "owner_id": OTHER_ID }),
        intents = intents::BLOCK, person_page = person_page::block()
    )]
    fn block(call: &Call, input: Other) -> Result<Relationship, RelationshipError> {
        blocks::block(call, input)
    }

    /// End a block.
    ///
    /// Relationships that the block has ended are not restored.
    #[action(
        access = write, emits = [UNBLOCKED], example = json!({ "owner_id": OTHER_ID }),
        intents = intents::UNBLOCK, person_page = person_page::unblock()
    )]
    fn unblock(call: &Call, input: Change) -> Result<Relationship, RelationshipError> {
        blocks::unblock(call, input)
    }

    /// Keep the events of a person out of the inbox.
    ///
    /// No event that the other person causes is delivered to the person's agents, in inboxes and webhooks.
    /// The other person is not notified, and their requests are still listed. To end all contact, use
    /// `block`.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("own"),
        example = json!({ "owner_id": OTHER_ID }), intents = intents::MUTE)]
    fn mute(call: &Call, input: Other) -> Result<Relationship, RelationshipError> {
        let me = call.require_owner()?;
        let stored = private::hold(call, me, &input.owner_id, Kind::Mute)?;
        delivery::mute(me, &input.owner_id, None)?;
        Ok(view::view(&stored, me))
    }

    /// Receive the events of a person in the inbox again.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("own"),
        example = json!({ "owner_id": OTHER_ID }), intents = intents::UNMUTE, person_page = person_page::unmute())]
    fn unmute(call: &Call, input: Change) -> Result<Relationship, RelationshipError> {
        let me = call.require_owner()?;
        let stored = private::release(call, me, input, Kind::Mute)?;
        delivery::unmute(me, &stored.value.object)?;
        Ok(view::view(&stored, me))
    }

    /// Write a note about a person.
    ///
    /// Nobody else reads it. It replaces the note that was there.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("own"),
        idempotent, example = json!({ "owner_id": OTHER_ID, "text": "Met at the Rust evening; looks for a flat share." }),
        intents = intents::NOTE
    )]
    fn note(call: &Call, input: SetNote) -> Result<NoteOutput, RelationshipError> {
        private::note(call, input)
    }

    /// Get all relationships with another person.
    ///
    /// For an agent that nobody has claimed there is none, and `next` is the way to a claim.
    #[action(
        access = read, idempotent, example = json!({ "owner_id": OTHER_ID }),
        intents = intents::GET
    )]
    fn get(call: &Call, input: Other) -> Result<Answer<RelationshipsWith>, RelationshipError> {
        let Some(me) = call.owner_id() else {
            let bond = RelationshipsWith {
                owner_id: input.owner_id.into(),
                ..RelationshipsWith::default()
            };
            return Ok(Answer::new(bond).next(Next::claim()));
        };
        requests::ensure_other(me, &input.owner_id)?;
        Ok(Answer::new(view::relationships_with(me, &input.owner_id)?))
    }

    /// List the person's relationships, newest first.
    ///
    /// For an agent that nobody has claimed, the list is empty.
    #[action(access = read, idempotent, example = List::default(), intents = intents::LIST, person_page = person_page::list())]
    fn list(call: &Call, input: List) -> Result<Answer<Items<Relationship>>, RelationshipError> {
        Items::own(call, |me| read::list(me, input))
    }

    /// List the people with whom both the person and another one are connected.
    ///
    /// A page may contain fewer than `limit` items although more follow: `next_cursor` says so.
    #[action(
        access = read, idempotent, example = json!({ "owner_id": OTHER_ID, "limit": 20 }),
        intents = intents::MUTUALS
    )]
    fn mutuals(call: &Call, input: Mutuals) -> Result<Answer<Items<Mutual>>, RelationshipError> {
        Items::own(call, |me| read::mutuals(me, input))
    }

    /// List the people whom the person has blocked, newest first.
    #[action(access = read, idempotent, example = PageInput::default(), intents = intents::BLOCKED, person_page = person_page::blocked())]
    fn blocked(
        call: &Call,
        input: PageInput,
    ) -> Result<Answer<Items<Relationship>>, RelationshipError> {
        let kind = Some(Kind::Block);
        Items::own(call, |me| read::list(me, List { kind, page: input, ..List::default() }))
    }

    /// List the people who have blocked a person, or whom the person has blocked.
    ///
    /// It is for other capabilities, which do not show the two to each other.
    #[action(access = internal, callers = ["agent_listings", "applications", "availability_finder", "conversations", "intros", "matching_sessions", "media", "owners", "pairings", "references", "reports", "saved_searches", "social_org", "thread_meetings"], idempotent)]
    fn hidden(_call: &Call, input: HiddenQuery) -> Result<Hidden, Refusal> {
        Ok(blocks::hidden(input)?)
    }

    /// Note that a version of this capability was installed.
    #[action(access = internal, idempotent, on = "catalog.changed")]
    fn on_catalog_changed(
        call: &Call,
        event: Happened<CatalogChange>,
    ) -> Result<(), RelationshipError> {
        private::on_catalog_changed(call, &event.data)
    }

    /// Tell the host the mutes of all people, some in each call.
    ///
    /// It happens by itself after a version of this capability was installed.
    #[action(access = internal, idempotent)]
    fn state_mutes(call: &Call, input: StateNext) -> Result<(), RelationshipError> {
        private::state_mutes(call, input)
    }

    /// Delete a relationship that ended long ago.
    #[action(access = internal, idempotent)]
    fn forget(call: &Call, input: requests::RelationshipId) -> Result<(), Refusal> {
        Ok(requests::forget(call, &input)?)
    }
}

/// A person's id in the examples.
const OTHER_ID: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";
