//! Inputs, outputs, refusals and stored documents.

use crate::{limits::MOST_OF_A_KIND, states::State};
use people_kit::text::TextError;
use portolan_sdk::documents::{Person, PersonalField::Personal};
use portolan_sdk::{entity::Duplicate, prelude::*};

pub(crate) const CAPABILITY: &str = "social_relationships";

/// The other person's id, which is beside their name: it begins with `own_`.
#[id(pattern = "^own_[0-9A-Za-z]{1,36}$")]
pub(crate) struct OtherId(String);

/// The relationships, keyed by an id that is derived from the two people. A relationship that has
/// ended is kept for its cooldown, so that the person who ended it is not asked again at once.
pub(crate) const RELATIONSHIPS: Collection<Record> = Collection::new("relationships")
    .version(2)
    .people(&[
        Person::delete("$id"),
        Person::delete("subject"),
        Person::delete("object"),
        Person::redact("ended_by", &[]),
        Person::delete("kept_by").fields(&[Personal("$id")]),
    ])
    .index("subject", &["subject", "kind", "state", "since"])
    .index("object", &["object", "kind", "state", "since"])
    .index("asked", &["subject", "asked_at"]);

/// The notes that a person has written about others.
pub(crate) const NOTES: Collection<NoteRecord> = Collection::new("notes")
    .people(&[
        Person::delete("$id"),
        Person::delete("subject").fields(&[Personal("$id"), Personal("text")]),
    ])
    .index("subject", &["subject"]);

pub(crate) const REQUESTED: Event<Data<RequestData>> = Event::new("relationship.requested");
pub(crate) const ACCEPTED: Event<Data<RequestData>> = Event::new("relationship.accepted");
/// The event of a block, for capabilities only: the blocked person is not notified.
pub(crate) const BLOCKED: Event<Data<BlockData>> = Event::new("relationship.blocked");
pub(crate) const UNBLOCKED: Event<Data<BlockData>> = Event::new("relationship.unblocked");

#[derive(Serialize)]
pub(crate) struct RequestData {
    /// The kind: `follow` or `connect`.
    pub(crate) kind: Kind,
    /// The other side.
    pub(crate) owner_id: String,
}

#[derive(Serialize)]
pub(crate) struct BlockData {
    pub(crate) blocker_id: String,
    pub(crate) blocked_id: String,
}

#[choice]
pub(crate) enum Kind {
    /// The subject follows the object.
    Follow,
    /// The two are connected.
    Connect,
    /// The two do not see each other.
    Block,
    /// The subject gets no events of the object.
    Mute,
}

/// Returns the id of a relationship. It is derived from the two people, so that there is at most one
/// of a kind.
pub(crate) fn id(kind: Kind, subject: &str, object: &str) -> String {
    let (name, subject, object) = match kind {
        Kind::Follow => ("follow", subject, object),
        // The id is the same from both sides.
        Kind::Connect => ("connect", subject.min(object), subject.max(object)),
        Kind::Block => ("block", subject, object),
        Kind::Mute => ("mute", subject, object),
    };
    format!("rel_{name}_{subject}_{object}")
}

/// A kind of relationship that can be requested.
#[choice]
pub(crate) enum Request {
    Follow,
    Connect,
}

impl From<Request> for Kind {
    fn from(request: Request) -> Self {
        if request == Request::Follow { Self::Follow } else { Self::Connect }
    }
}

#[document]
#[entity(
    kind = "relationship", collection = RELATIONSHIPS,
    not_found = RelationshipError::RelationshipNotFound
)]
pub(crate) struct Record {
    pub(crate) kind: Kind,
    /// The person who follows, blocks or mutes; for a connection, the one who asked.
    pub(crate) subject: String,
    pub(crate) object: String,
    pub(crate) state: State,
    /// When this state began, in milliseconds.
    pub(crate) since: u64,
    /// When the subject last asked, and the object was notified.
    pub(crate) asked_at: Option<u64>,
    pub(crate) ended_by: Option<String>,
    /// The subject of a block or a mute, which nobody else learns of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kept_by: Option<String>,
}

impl Record {
    pub(crate) fn new(kind: Kind, subject: &str, object: &str, state: State, since: u64) -> Self {
        let (subject, object) = (subject.to_owned(), object.to_owned());
        let (asked_at, ended_by, kept_by) = (None, None, None);
        Self { kind, subject, object, state, since, asked_at, ended_by, kept_by }.with_keeper()
    }

    /// Returns the record with the person who keeps it, as version 2 has it.
    pub(crate) fn with_keeper(mut self) -> Self {
        let is_kept = matches!(self.kind, Kind::Block | Kind::Mute);
        self.kept_by = is_kept.then(|| self.subject.clone());
        self
    }

    /// Returns the other person of the two.
    pub(crate) fn other(&self, owner_id: &str) -> &str {
        if self.subject == owner_id { &self.object } else { &self.subject }
    }
}

#[document]
pub(crate) struct NoteRecord {
    pub(crate) subject: String,
    pub(crate) text: String,
}

#[input]
pub(crate) struct Other {
    pub(crate) owner_id: OtherId,
}

#[input]
pub(crate) struct Change {
    pub(crate) owner_id: OtherId,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Reply {
    /// The person who asked: their id, `own_` and a ULID.
    pub(crate) owner_id: OtherId,
    /// The kind of the request.
    pub(crate) kind: Request,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct SetNote {
    /// The person whom the note is about: their id, `own_` and a ULID.
    pub(crate) owner_id: OtherId,
    /// The text that replaces the note; null or an empty text deletes it.
    #[schemars(length(max = 1000))]
    pub(crate) text: Option<String>,
    pub(crate) expected_version: Option<Version>,
}

#[choice]
pub(crate) enum Direction {
    /// From the person to others.
    Outgoing,
    /// From others to the person.
    Incoming,
}

#[choice]
pub(crate) enum Standing {
    Requested,
    Active,
}

#[input(Default)]
pub(crate) struct List {
    /// The kind of the relationships to return. Omit this field to get relationships of all kinds.
    pub(crate) kind: Option<Kind>,
    /// The direction: `outgoing` ones were begun by the person, `incoming` ones by others. Blocks
    /// and mutes by others are never listed.
    pub(crate) direction: Option<Direction>,
    /// The state of the relationships to return. Omit this field to get both requested and active
    /// ones.
    pub(crate) state: Option<Standing>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct Mutuals {
    pub(crate) owner_id: OtherId,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

/// A relationship, as the caller's side sees it.
#[output]
pub(crate) struct Relationship {
    pub(crate) relationship_id: String,
    pub(crate) kind: Kind,
    /// The person who follows, blocks or mutes; for a connection, the one who asked.
    pub(crate) subject_id: String,
    pub(crate) object_id: String,
    /// The other person of the two.
    pub(crate) owner_id: String,
    pub(crate) direction: Direction,
    pub(crate) state: State,
    pub(crate) version: u64,
    /// When this state began (RFC 3339).
    pub(crate) since: String,
    pub(crate) allowed_actions: Vec<&'static str>,
    /// Whether the other person has an agent that gets the request; only in the answers of `connect`
    /// and `follow`. If false, it waits until they have one.
    pub(crate) counterpart_reachable: Option<bool>,
    /// The name that the other person has given themselves; only in lists.
    pub(crate) display_name: Option<String>,
    /// `untrusted_user_content`: the name was written by the other person.
    pub(crate) trust: Option<&'static str>,
}

/// All relationships between the person and another one that the person may know of.
#[output(Default)]
pub(crate) struct RelationshipsWith {
    /// The other person of the two.
    pub(crate) owner_id: String,
    pub(crate) relationships: Vec<Relationship>,
    /// The note; null if there is none.
    #[nullable]
    pub(crate) note: Option<Note>,
    pub(crate) allowed_actions: Vec<&'static str>,
}

/// A person's note about another one; nobody else reads it.
#[output]
pub(crate) struct Note {
    pub(crate) text: String,
    pub(crate) version: u64,
    /// When it last changed (RFC 3339).
    pub(crate) updated_at: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NoteOutput {
    /// The person whom the note is about.
    pub(crate) owner_id: String,
    /// The note; null if it was deleted.
    pub(crate) note: Option<Note>,
}

/// A person with whom both are connected.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Mutual {
    pub(crate) owner_id: String,
    pub(crate) display_name: Option<String>,
    /// Always `untrusted_user_content`: the name was written by the person it names.
    pub(crate) trust: &'static str,
}

#[derive(Debug, Refusals)]
pub(crate) enum RelationshipError {
    /// There is such a relationship already, or a request for it.
    #[refusal(
        conflict,
        conflict_detail = Duplicate::new(existing_id, existing_state),
        next = get(owner_id)
    )]
    RelationshipExists { owner_id: String, existing_id: String, existing_state: &'static str },
    /// There is no such relationship.
    #[refusal(not_found, next = list())]
    RelationshipNotFound,
    /// This is the person you act for: a relationship needs another person.
    #[refusal(conflict, next = list())]
    SelfRelationship,
    /// This person does not accept such a request now.
    #[refusal(conflict, next = list())]
    RecipientNotAccepting,
    /// There is no such person.
    #[refusal(not_found, next = list())]
    OwnerNotFound,
    /// The limit of relationships of this kind is reached. End one first.
    #[refusal(
        conflict,
        conflict_detail = Limit::reached("relationships_of_a_kind", MOST_OF_A_KIND),
        next = list()
    )]
    RelationshipLimitReached,
    #[refusal(transparent)]
    Text(TextError),
    #[refusal(transparent)]
    Common(Refusal),
}

pub(crate) type Result<T, E = RelationshipError> = std::result::Result<T, E>;

/// Returns the call that reads all relationships with another person.
pub(crate) fn get(owner_id: impl Into<String>) -> Next {
    Next::action(CAPABILITY, "get").field("owner_id", owner_id.into())
}

pub(crate) fn list() -> Next {
    Next::action(CAPABILITY, "list")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_connection_is_the_same_from_both_sides() {
        for kind in [Kind::Follow, Kind::Connect, Kind::Block, Kind::Mute] {
            let same = id(kind, "own_a", "own_b") == id(kind, "own_b", "own_a");
            assert_eq!(same, kind == Kind::Connect, "{kind:?}");
        }
    }

    #[test]
    fn blocks_and_mutes_of_version_1_get_their_keeper() {
        for (kind, keeper) in [
            (Kind::Block, Some("own_1")),
            (Kind::Mute, Some("own_1")),
            (Kind::Follow, None),
            (Kind::Connect, None),
        ] {
            let old =
                Record { kept_by: None, ..Record::new(kind, "own_1", "own_2", State::Active, 1) };
            assert_eq!(old.with_keeper().kept_by.as_deref(), keeper);
        }
    }
}
