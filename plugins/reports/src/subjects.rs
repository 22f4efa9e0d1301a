//! The subjects of reports: read from their capability, as the reporter may see them.

use people_kit::{
    listings::{self, Visibility},
    people,
};
use portolan_sdk::{feeds::Feed, prelude::*};
use serde_json::{Map, Value};

#[choice]
pub(crate) enum Kind {
    /// An organisation on the map.
    Target,
    Signal,
    Role,
    /// A person on the map.
    Person,
    Event,
    /// A public post on the map.
    Mention,
    Question,
    Listing,
    Message,
    Conversation,
    Pairing,
    Meeting,
    /// A person who takes part here.
    Owner,
    Organisation,
}

/// The pattern of their ids.
pub(crate) const SUBJECT_ID: &str =
    "^(tgt|sig|rol|per|evn|soc|qst|lst|msg|thr|pair|mtg|own|org)_[0-9A-Za-z]{1,36}$";

/// The data of a subject.
#[derive(Debug)]
pub(crate) struct Subject {
    /// The owner, if it belongs to one person.
    pub(crate) owner_id: Option<String>,
    /// The text of the subject.
    pub(crate) said: Option<String>,
    /// The person who wrote the text.
    pub(crate) said_by: Option<String>,
}

struct Row {
    prefix: &'static str,
    kind: Kind,
    place: Place,
    /// The JSON Pointers (RFC 6901) of its texts in the answer.
    words: &'static [&'static str],
}

enum Place {
    Feed(&'static str),
    Capability(Read),
}

/// The call that reads a subject, as the reporter would make it.
struct Read {
    invocation: Invocation<Map<String, Value>, Value>,
    field: &'static str,
    /// The JSON Pointer of the owner in the answer, if it belongs to one person.
    owner: Option<&'static str>,
    /// The JSON Pointer of the person who wrote the texts.
    author: Option<&'static str>,
}

const fn feed(
    prefix: &'static str,
    kind: Kind,
    feed: &'static str,
    words: &'static [&'static str],
) -> Row {
    Row { prefix, kind, place: Place::Feed(feed), words }
}

const fn read(
    (prefix, kind): (&'static str, Kind),
    invocation: Invocation<Map<String, Value>, Value>,
    field: &'static str,
    owner: Option<&'static str>,
    words: &'static [&'static str],
) -> Row {
    let read = Read { invocation, field, owner, author: owner };
    Row { prefix, kind, place: Place::Capability(read), words }
}

/// A subject that belongs to several people, with a text that one of them wrote.
const fn shared(
    names: (&'static str, Kind),
    invocation: Invocation<Map<String, Value>, Value>,
    field: &'static str,
    author: &'static str,
    words: &'static [&'static str],
) -> Row {
    let read = Read { invocation, field, owner: None, author: Some(author) };
    Row { prefix: names.0, kind: names.1, place: Place::Capability(read), words }
}

pub(crate) const LISTING: Invocation<Map<String, Value>, Value> =
    Invocation::new("agent_listings", "get");
pub(crate) const MESSAGE: Invocation<Map<String, Value>, Value> =
    Invocation::new("conversations", "message");
pub(crate) const CONVERSATION: Invocation<Map<String, Value>, Value> =
    Invocation::new("conversations", "get");
pub(crate) const PAIRING: Invocation<Map<String, Value>, Value> =
    Invocation::new("pairings", "get");
pub(crate) const MEETING: Invocation<Map<String, Value>, Value> =
    Invocation::new("thread_meetings", "get");
pub(crate) const OWNER: Invocation<Map<String, Value>, Value> = Invocation::new("owners", "get");
pub(crate) const ORGANISATION: Invocation<Map<String, Value>, Value> =
    Invocation::new("social_org", "get");
pub(crate) const RELATIONSHIP: Invocation<Map<String, Value>, Value> =
    Invocation::new("social_relationships", "get");

const ROWS: [Row; 14] = [
    feed("tgt", Kind::Target, "targets", &["/properties/name", "/properties/tagline"]),
    feed("sig", Kind::Signal, "signals", &["/headline", "/summary"]),
    feed("rol", Kind::Role, "roles", &["/title"]),
    feed("per", Kind::Person, "people", &["/full_name", "/title", "/public_bio"]),
    feed("evn", Kind::Event, "events", &["/title", "/summary"]),
    feed("soc", Kind::Mention, "social", &["/excerpt"]),
    feed("qst", Kind::Question, "questions", &["/question"]),
    read(
        ("lst", Kind::Listing),
        LISTING,
        "listing_id",
        Some("/owner/owner_id"),
        &["/title", "/description_md"],
    ),
    read(("msg", Kind::Message), MESSAGE, "message_id", Some("/sender/owner_id"), &["/text"]),
    read(("thr", Kind::Conversation), CONVERSATION, "thread_id", None, &[]),
    read(
        ("pair", Kind::Pairing),
        PAIRING,
        "pairing_id",
        Some("/other/owner_id"),
        &["/messages/0/text"],
    ),
    shared(("mtg", Kind::Meeting), MEETING, "meeting_id", "/organizer", &["/title"]),
    read(
        ("own", Kind::Owner),
        OWNER,
        "owner_id",
        Some("/owner_id"),
        &["/display_name", "/headline", "/bio_md"],
    ),
    // Nobody in particular has written its name, which could not be erased with a person here.
    read(("org", Kind::Organisation), ORGANISATION, "org_id", None, &[]),
];

/// The maximum number of characters of a subject's text that are stored.
const LONGEST: usize = 2_000;

/// The codes with which a capability says that a subject is not visible to the caller.
const UNSEEN: [&str; 5] =
    ["unknown_capability", "validation_failed", "age_restricted", "not_participant", "not_found"];

fn row(subject_id: &str) -> Option<&'static Row> {
    let (prefix, _) = subject_id.split_once('_')?;
    ROWS.iter().find(|row| row.prefix == prefix)
}

/// Returns the kind of subject that an id is of.
pub(crate) fn kind(subject_id: &str) -> Option<Kind> {
    row(subject_id).map(|row| row.kind)
}

/// Returns the subject, if it is visible to the caller.
pub(crate) fn seen(call: &Call, subject_id: &str) -> Result<Option<Subject>, Refusal> {
    let Some(row) = row(subject_id) else { return Ok(None) };
    match &row.place {
        Place::Feed(id) => {
            let record = Feed::<Value>::new(id).get(subject_id)?;
            let said = |record: Stored<Value>| said(&record.value, row.words);
            Ok(record.map(|record| Subject { owner_id: None, said: said(record), said_by: None }))
        }
        Place::Capability(read) => {
            let input = Map::from_iter([(read.field.to_owned(), Value::from(subject_id))]);
            match read.invocation.call(&input) {
                Ok(answer) => Ok(Some(Subject {
                    owner_id: read.owner.and_then(|pointer| text(&answer, pointer)),
                    said: said(&answer, row.words),
                    said_by: author(call, read, &answer),
                })),
                Err(refusal) if is_unseen(&refusal) => behind_own_block(call, row.kind, subject_id),
                Err(refusal) => Err(refusal),
            }
        }
    }
}

/// Returns the person who wrote a subject's texts. The first message of a pairing is the proposer's,
/// who may be the caller.
fn author(call: &Call, read: &Read, answer: &Value) -> Option<String> {
    match text(answer, "/role").as_deref() {
        Some("sent") => call.owner_id().map(str::to_owned),
        _ => read.author.and_then(|pointer| text(answer, pointer)),
    }
}

fn is_unseen(refusal: &Refusal) -> bool {
    refusal.code.ends_with("_not_found") || UNSEEN.contains(&refusal.code.as_str())
}

/// Returns a subject that is hidden by the caller's own block. People may report somebody whom they
/// have blocked.
fn behind_own_block(call: &Call, kind: Kind, subject_id: &str) -> Result<Option<Subject>, Refusal> {
    match kind {
        Kind::Owner => {
            let person = people::person(subject_id).or_else(nobody)?;
            let person = person.filter(|person| person.active);
            blocked_by(call, person.map(|person| (person.owner_id, person.display_name)))
        }
        Kind::Listing => {
            let listing = listings::profile(subject_id).or_else(nobody)?;
            let public = |profile: &listings::Profile| {
                profile.is_active()
                    && profile.visibility != Visibility::Network
                    && profile.min_age == 0
            };
            let listing = listing.filter(public);
            blocked_by(call, listing.map(|listing| (listing.owner_id, Some(listing.title))))
        }
        _ => Ok(None),
    }
}

/// Treats a missing capability like a subject that is not visible.
fn nobody<T>(refusal: Refusal) -> Result<Option<T>, Refusal> {
    if is_unseen(&refusal) { Ok(None) } else { Err(refusal) }
}

/// Returns a person, or a subject that belongs to them, if the caller has blocked the person.
fn blocked_by(
    call: &Call,
    found: Option<(String, Option<String>)>,
) -> Result<Option<Subject>, Refusal> {
    let me = call.require_owner()?;
    let Some((owner_id, said)) = found.filter(|(owner_id, _)| owner_id != me) else {
        return Ok(None);
    };
    let input = Map::from_iter([("owner_id".to_owned(), Value::from(owner_id.as_str()))]);
    let bond = RELATIONSHIP.call(&input).map(Some).or_else(nobody)?.unwrap_or_default();
    let ties = bond.pointer("/relationships").and_then(Value::as_array);
    let blocks = ties.into_iter().flatten().any(|entry| {
        text(entry, "/kind").as_deref() == Some("block")
            && text(entry, "/subject_id").as_deref() == Some(me)
    });
    let owner_id = Some(owner_id);
    Ok(blocks.then_some(Subject { said_by: owner_id.clone(), owner_id, said }))
}

fn text(answer: &Value, pointer: &str) -> Option<String> {
    answer.pointer(pointer)?.as_str().map(str::to_owned)
}

/// Returns the subject's text, shortened to what is stored.
fn said(answer: &Value, words: &[&str]) -> Option<String> {
    let words = words.iter().filter_map(|pointer| text(answer, pointer));
    let words = words.collect::<Vec<_>>().join("\n");
    (!words.is_empty()).then(|| words.chars().take(LONGEST).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_prefix_is_listed_once_and_in_the_pattern() {
        let prefixes = ROWS.map(|row| row.prefix).join("|");
        assert!(SUBJECT_ID.starts_with(&format!("^({prefixes})_")), "{prefixes}");
        assert_eq!(kind("pair_01JZ"), Some(Kind::Pairing));
        assert_eq!(kind("agt_01JZ"), None);
        assert_eq!(kind("tgt"), None);
    }

    #[test]
    fn the_stored_text_is_shortened() {
        let listing = json!({ "title": "A room", "description_md": "x".repeat(9_000), "n": 1 });
        let kept = said(&listing, &["/title", "/description_md", "/n", "/nothing"]);
        assert_eq!(kept.as_deref().map(|words| words.chars().count()), Some(LONGEST));
        assert!(kept.is_some_and(|words| words.starts_with("A room\nxx")));
        assert_eq!(said(&listing, &["/n"]), None);
    }
}
