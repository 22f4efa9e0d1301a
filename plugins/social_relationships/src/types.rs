//! Inputs, outputs, refusals, and what is kept.

use crate::{life::State, limits::OF_A_KIND};
use people_kit::text::TextError;
use portolan_sdk::prelude::*;

pub(crate) const CAPABILITY: &str = "social_relationships";

/// The other person's id, `own_` and a ULID.
#[id(pattern = "^own_[0-9A-Za-z]{1,36}$")]
pub(crate) struct OtherId(String);

/// What there is between two people, by an id that follows from them. What has ended stays for a
/// while, so that the one who ended it is not asked again at once.
pub(crate) const RELATIONSHIPS: Collection<Record> = Collection::new("relationships")
    .index("subject", &["subject", "kind", "state", "since"])
    .index("object", &["object", "kind", "state", "since"])
    .index("asked", &["subject", "asked_at"]);

/// What a person has written down about another, for themselves.
pub(crate) const NOTES: Collection<NoteRecord> =
    Collection::new("notes").index("subject", &["subject"]);

pub(crate) const REQUESTED: Event<Data<RequestData>> = Event::new("relationship.requested");
pub(crate) const ACCEPTED: Event<Data<RequestData>> = Event::new("relationship.accepted");
/// For capabilities only: the person who is blocked is not told.
pub(crate) const BLOCKED: Event<Data<BlockData>> = Event::new("relationship.blocked");
pub(crate) const UNBLOCKED: Event<Data<BlockData>> = Event::new("relationship.unblocked");

#[derive(Serialize)]
pub(crate) struct RequestData {
    /// `follow` or `connect`.
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
    /// The subject wants to see what the object does.
    Follow,
    /// The two know each other.
    Connect,
    /// The two do not see each other.
    Block,
    /// The subject is not told what the object does.
    Mute,
}

/// What somebody may be asked for.
#[choice]
pub(crate) enum Request {
    Follow,
    Connect,
}

impl From<Request> for Kind {
    fn from(request: Request) -> Self {
        match request {
            Request::Follow => Self::Follow,
            Request::Connect => Self::Connect,
        }
    }
}

#[document]
#[entity(
    kind = "relationship", collection = RELATIONSHIPS,
    not_found = RelationshipError::RelationshipNotFound
)]
pub(crate) struct Record {
    pub(crate) kind: Kind,
    /// Who follows, blocks or mutes; of a connection, who asked for it.
    pub(crate) subject: String,
    pub(crate) object: String,
    pub(crate) state: State,
    /// When this state began, in milliseconds.
    pub(crate) since: u64,
    /// When the subject last asked, and the object was told.
    pub(crate) asked_at: Option<u64>,
    pub(crate) ended_by: Option<String>,
}

impl Record {
    /// The other one of the two.
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
    /// What they asked for.
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
    /// Of this kind only.
    pub(crate) kind: Option<Kind>,
    /// `outgoing` is what the person has begun, `incoming` what others have. Blocks and mutes of
    /// others are nobody's to see.
    pub(crate) direction: Option<Direction>,
    /// In this state only.
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

/// A relationship, as the calling side sees it.
#[output]
pub(crate) struct Relationship {
    pub(crate) relationship_id: String,
    pub(crate) kind: Kind,
    /// Who follows, blocks or mutes; of a connection, who asked for it.
    pub(crate) subject_id: String,
    pub(crate) object_id: String,
    /// The other one of the two.
    pub(crate) owner_id: String,
    pub(crate) direction: Direction,
    pub(crate) state: State,
    pub(crate) version: u64,
    /// RFC 3339: when this state began.
    pub(crate) since: String,
    pub(crate) allowed_actions: Vec<&'static str>,
    /// The name that the other one has given themselves; only in lists.
    pub(crate) display_name: Option<String>,
    /// `untrusted_user_content`: the name was written by the other person.
    pub(crate) trust: Option<&'static str>,
}

/// All there is between the person and another one, as far as the person may know.
#[output(Default)]
pub(crate) struct Bond {
    /// The other one of the two.
    pub(crate) owner_id: String,
    pub(crate) relationships: Vec<Relationship>,
    /// Null if nothing was written down.
    #[nullable]
    pub(crate) note: Option<Note>,
    pub(crate) allowed_actions: Vec<&'static str>,
}

/// What the person wrote down about another one; nobody else reads it.
#[output]
pub(crate) struct Note {
    pub(crate) text: String,
    pub(crate) version: u64,
    /// RFC 3339.
    pub(crate) updated_at: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Noted {
    /// Whom it is about.
    pub(crate) owner_id: String,
    /// Null if it was deleted.
    pub(crate) note: Option<Note>,
}

/// Somebody whom both know.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Mutual {
    pub(crate) owner_id: String,
    pub(crate) display_name: Option<String>,
    /// Always `untrusted_user_content`: the name was written by the person it names.
    pub(crate) trust: &'static str,
}

#[derive(Serialize)]
pub(crate) struct Duplicate {
    pub(crate) kind: &'static str,
    pub(crate) existing_id: String,
    pub(crate) existing_state: &'static str,
}

#[derive(Debug, Refusals)]
pub(crate) enum RelationshipError {
    /// There is such a relationship already, or a request for it.
    #[refusal(
        conflict,
        conflict_detail = Duplicate { kind: "duplicate", existing_id, existing_state },
        next = get(owner_id)
    )]
    RelationshipExists { owner_id: String, existing_id: String, existing_state: &'static str },
    /// There is no such relationship.
    #[refusal(not_found, next = list())]
    RelationshipNotFound,
    /// This is the person you act for: relationships are with others.
    #[refusal(conflict, next = list())]
    SelfRelationship,
    /// This person takes no such request now.
    #[refusal(conflict, next = list())]
    RecipientNotAccepting,
    /// There is no such person.
    #[refusal(not_found, next = list())]
    OwnerNotFound,
    /// The limit of relationships of this kind is reached. End one first.
    #[refusal(
        conflict,
        conflict_detail = Limit::reached("relationships_of_a_kind", OF_A_KIND),
        next = list()
    )]
    RelationshipLimitReached,
    #[refusal(transparent)]
    Text(TextError),
    #[refusal(transparent)]
    Common(Refusal),
}

pub(crate) type Result<T, E = RelationshipError> = std::result::Result<T, E>;

/// The call that reads all there is with another person.
pub(crate) fn get(owner_id: impl Into<String>) -> Next {
    Next::action(CAPABILITY, "get").field("owner_id", owner_id.into())
}

pub(crate) fn list() -> Next {
    Next::action(CAPABILITY, "list")
}
