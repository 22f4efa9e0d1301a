//! The subjects of reports: read from their capability, as the reporter may see them.

use people_kit::listings::{self, Profile, Visibility};
use people_kit::people;
use people_kit::relations;
use portolan_sdk::{feeds, prelude::*};

// `States` is derived for `Kind::ALL`.
#[choice(States)]
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
    /// An application or an enquiry.
    Application,
    Meeting,
    /// A person who takes part here.
    Owner,
    Organisation,
    /// A reference about a person, or the reply to it.
    Reference,
    /// A picture or a document of a person.
    Media,
}

/// The pattern of the ids of subjects.
pub(crate) const SUBJECT_ID: &str =
    "^(tgt|sig|rol|per|evn|soc|qst|lst|msg|thr|pair|app|mtg|own|org|ref|med)_[0-9A-Za-z]{1,36}$";

/// The data of a subject.
#[derive(Debug)]
pub(crate) struct Subject {
    /// The owner, if it belongs to one person.
    pub(crate) owner_id: Option<String>,
    /// The text of the subject.
    pub(crate) said: Option<String>,
    /// The person who wrote the text.
    pub(crate) said_by: Option<String>,
    /// The person with whose erasure a listing is deleted; `None` for one of an organisation.
    pub(crate) lister_id: Option<String>,
}

/// The call that reads a subject, as the reporter would make it.
type Get = Invocation<Value, Value>;

pub(crate) const LISTING: Get = Get::new("agent_listings", "get");
pub(crate) const MESSAGE: Get = Get::new("conversations", "message");
pub(crate) const CONVERSATION: Get = Get::new("conversations", "get");
pub(crate) const PAIRING: Get = Get::new("pairings", "get");
pub(crate) const APPLICATION: Get = Get::new("applications", "get");
pub(crate) const MEETING: Get = Get::new("thread_meetings", "get");
pub(crate) const OWNER: Get = Get::new("owners", "get");
pub(crate) const ORGANISATION: Get = Get::new("social_org", "get");
pub(crate) const REFERENCE: Get = Get::new("references", "get");
pub(crate) const MEDIA: Get = Get::new("media", "get");
pub(crate) const RELATIONSHIP: Get = Get::new("social_relationships", "get");

enum Place {
    Feed(&'static str),
    /// A call, and the field for the id.
    Capability(Get, &'static str, Ownership),
}

/// The person of a subject, with the JSON Pointer (RFC 6901) to their id in the answer.
enum Ownership {
    Nobody,
    /// The owner, who wrote the texts.
    Owner(&'static str),
    /// The author of the texts of a subject that belongs to several people.
    Author(&'static str),
    /// The person who has sent it. For them, it belongs to nobody, because they report what others decided.
    Sender(&'static str),
}

use Kind::{
    Application, Conversation, Event, Listing, Media, Meeting, Mention, Message, Organisation,
    Pairing, Person,
};
use Kind::{Question, Reference, Role, Signal, Target};
use Ownership::{Author, Nobody, Owner, Sender};
use Place::{Capability, Feed};

/// A prefix of ids, the kind of its subjects, their place, and the JSON Pointers of their texts in
/// the answer.
type Row = (&'static str, Kind, Place, &'static [&'static str]);

const ROWS: [Row; 17] = [
    ("tgt", Target, Feed("targets"), &["/properties/name", "/properties/tagline"]),
    ("sig", Signal, Feed("signals"), &["/headline", "/summary"]),
    ("rol", Role, Feed("roles"), &["/title"]),
    ("per", Person, Feed("people"), &["/full_name", "/title", "/public_bio"]),
    ("evn", Event, Feed("events"), &["/title", "/summary"]),
    ("soc", Mention, Feed("social"), &["/excerpt"]),
    ("qst", Question, Feed("questions"), &["/question"]),
    ("lst", Listing, Capability(LISTING, "listing_id", Owner("/owner/owner_id")), LISTING_WORDS),
    ("msg", Message, Capability(MESSAGE, "message_id", Owner("/sender/owner_id")), &["/text"]),
    ("thr", Conversation, Capability(CONVERSATION, "thread_id", Nobody), &[]),
    ("pair", Pairing, Capability(PAIRING, "pairing_id", Owner("/other/owner_id")), PAIRING_WORDS),
    ("app", Application, Capability(APPLICATION, "application_id", APPLICANT), APPLICATION_WORDS),
    ("mtg", Meeting, Capability(MEETING, "meeting_id", Author("/organizer")), &["/title"]),
    ("own", Kind::Owner, Capability(OWNER, "owner_id", Owner("/owner_id")), OWNER_WORDS),
    // The name has no single author, so it is not stored: it could not be erased with a person.
    ("org", Organisation, Capability(ORGANISATION, "org_id", Nobody), &[]),
    // Its author can report it too, because of the reply.
    ("ref", Reference, Capability(REFERENCE, "reference_id", AUTHOR), &["/text"]),
    ("med", Media, Capability(MEDIA, "media_id", Owner("/owner_id")), &["/title"]),
];
const LISTING_WORDS: &[&str] = &["/title", "/description_md"];
const APPLICANT: Ownership = Sender("/applicant/owner_id");
const AUTHOR: Ownership = Sender("/author/owner_id");
const APPLICATION_WORDS: &[&str] = &["/profile/headline", "/profile/summary", "/message"];
const PAIRING_WORDS: &[&str] = &["/messages/0/text"];
const OWNER_WORDS: &[&str] = &["/display_name", "/headline", "/bio_md"];

/// The maximum number of characters of a subject's text that are stored.
const LONGEST: usize = 2_000;

/// The codes with which a capability says that a subject is not visible to the caller.
const INVISIBLE_CODES: [&str; 5] =
    ["unknown_capability", "validation_failed", "age_restricted", "not_participant", "not_found"];

fn row(subject_id: &str) -> Option<&'static Row> {
    let (prefix, _) = subject_id.split_once('_')?;
    ROWS.iter().find(|row| row.0 == prefix)
}

pub(crate) fn kind(subject_id: &str) -> Option<Kind> {
    row(subject_id).map(|row| row.1)
}

pub(crate) fn find_visible(call: &Call, subject_id: &str) -> Result<Option<Subject>, Refusal> {
    let Some((_, kind, place, words)) = row(subject_id) else { return Ok(None) };
    match place {
        Feed(id) => {
            let record = feeds::Feed::<Value>::new(id).get(subject_id)?;
            let subject = |record: Stored<Value>| Subject {
                owner_id: None,
                said: stored_text(&record.value, words),
                said_by: None,
                lister_id: None,
            };
            Ok(record.map(subject))
        }
        Capability(get, field, ownership) => match get.call(&json!({ *field: subject_id })) {
            Ok(answer) if matches!(ownership, Sender(_)) && is_sender(&answer) => {
                Ok(Some(Subject { owner_id: None, said: None, said_by: None, lister_id: None }))
            }
            Ok(answer) => Ok(Some(Subject {
                owner_id: match ownership {
                    Owner(pointer) | Sender(pointer) => text(&answer, pointer),
                    Author(_) | Nobody => None,
                },
                said: stored_text(&answer, words),
                said_by: author(call, ownership, &answer),
                lister_id: match (kind, text(&answer, "/org_id")) {
                    (Listing, None) => text(&answer, "/owner/owner_id"),
                    _ => None,
                },
            })),
            Err(refusal) if is_invisible(&refusal) => {
                match formerly_public_listing(call, *kind, subject_id)? {
                    Some(subject) => Ok(Some(subject)),
                    None => behind_own_block(call, *kind, subject_id),
                }
            }
            Err(refusal) => Err(refusal),
        },
    }
}

/// Returns the person who wrote a subject's texts, if it was one person. The text of a pairing is
/// its first message, by the proposer: the caller, if the caller's role in the pairing is `sent`.
fn author(call: &Call, ownership: &Ownership, answer: &Value) -> Option<String> {
    match ownership {
        _ if is_sender(answer) => call.owner_id().map(str::to_owned),
        Owner(pointer) | Author(pointer) | Sender(pointer) => text(answer, pointer),
        Nobody => None,
    }
}

/// Returns whether the caller has sent what they report.
fn is_sender(answer: &Value) -> bool {
    text(answer, "/role").as_deref() == Some("sent")
}

fn is_invisible(refusal: &Refusal) -> bool {
    refusal.code.ends_with("_not_found") || INVISIBLE_CODES.contains(&refusal.code.as_str())
}

/// The states of a listing that has ended by its owner's decision or by its time.
const ENDED: [&str; 3] = ["filled", "withdrawn", "expired"];
/// The states of a listing that is hidden for now, and that others may have seen before.
const HIDDEN_FOR_NOW: [&str; 2] = ["paused", "in_review"];
/// The time after its end in which a listing can be reported.
const REPORTABLE: u64 = 30 * DAY;

/// Returns a listing that was public and is hidden for now, or has ended in the last 30 days, so that
/// neither a pause nor the end of a listing prevents a report. A listing of a person who is hidden from the
/// caller is not returned.
fn formerly_public_listing(
    call: &Call,
    kind: Kind,
    subject_id: &str,
) -> Result<Option<Subject>, Refusal> {
    if kind != Kind::Listing {
        return Ok(None);
    }
    let was_seen = |listing: &Profile| {
        let was_public = listing.visibility != Visibility::Network && listing.min_age == 0;
        let is_recent = listing.ended_at.is_some_and(|at| call.now() < at + REPORTABLE);
        let state = listing.state.as_str();
        was_public
            && listing.published_at > 0
            && (HIDDEN_FOR_NOW.contains(&state) || is_recent && ENDED.contains(&state))
    };
    let listing = listings::profile(subject_id).or_else(none_if_invisible)?.filter(was_seen);
    let Some(listing) = listing else { return Ok(None) };
    if !relations::hidden(call.owner_id(), [listing.owner_id.as_str()])?.is_empty() {
        return Ok(None);
    }
    Ok(Some(Subject {
        said: Some(format!("{}\n{}", listing.title, listing.excerpt)),
        said_by: Some(listing.owner_id.clone()),
        lister_id: listing.lister_id().map(str::to_owned),
        owner_id: Some(listing.owner_id),
    }))
}

/// Returns a subject that is hidden only because the caller has blocked its owner; otherwise
/// `None`. People may report somebody whom they have blocked.
fn behind_own_block(call: &Call, kind: Kind, subject_id: &str) -> Result<Option<Subject>, Refusal> {
    match kind {
        Kind::Owner => {
            let person = people::person(subject_id)
                .or_else(none_if_invisible)?
                .filter(|person| person.active);
            blocked_by(call, person.map(|person| (person.owner_id, person.display_name)))
        }
        Kind::Listing => {
            let is_public = |listing: &Profile| {
                listing.visibility != Visibility::Network && listing.min_age == 0
            };
            let listing = listings::profile(subject_id).or_else(none_if_invisible)?;
            let listing = listing.filter(|listing| listing.is_active() && is_public(listing));
            let lister_id =
                listing.as_ref().and_then(|listing| listing.lister_id()).map(str::to_owned);
            let found =
                blocked_by(call, listing.map(|listing| (listing.owner_id, Some(listing.title))))?;
            Ok(found.map(|subject| Subject { lister_id, ..subject }))
        }
        _ => Ok(None),
    }
}

/// Returns `None` for a refusal that means that the subject is not visible, or that its capability
/// is missing. Returns any other refusal.
fn none_if_invisible<T>(refusal: Refusal) -> Result<Option<T>, Refusal> {
    if is_invisible(&refusal) { Ok(None) } else { Err(refusal) }
}

/// Returns a person, or a subject that belongs to them, if the caller has blocked the person;
/// otherwise `None`.
fn blocked_by(
    call: &Call,
    found: Option<(String, Option<String>)>,
) -> Result<Option<Subject>, Refusal> {
    let me = call.require_owner()?;
    let found = found.filter(|(owner_id, _)| owner_id != me);
    let Some((owner_id, said)) = found else { return Ok(None) };
    let relationship = RELATIONSHIP
        .call(&json!({ "owner_id": owner_id }))
        .map(Some)
        .or_else(none_if_invisible)?
        .unwrap_or_default();
    let relationships = relationship.pointer("/relationships").and_then(Value::as_array);
    let blocks = relationships.into_iter().flatten().any(|entry| {
        text(entry, "/kind").as_deref() == Some("block")
            && text(entry, "/subject_id").as_deref() == Some(me)
    });
    let owner_id = Some(owner_id);
    Ok(blocks.then_some(Subject { said_by: owner_id.clone(), owner_id, said, lister_id: None }))
}

fn text(answer: &Value, pointer: &str) -> Option<String> {
    answer.pointer(pointer)?.as_str().map(str::to_owned)
}

/// Returns the subject's text, shortened to [`LONGEST`]; `None` if it has none.
fn stored_text(answer: &Value, words: &[&str]) -> Option<String> {
    let words = words.iter().filter_map(|pointer| text(answer, pointer));
    let words = words.collect::<Vec<_>>().join("\n");
    (!words.is_empty()).then(|| words.chars().take(LONGEST).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_prefix_is_listed_once_and_in_the_pattern() {
        let prefixes = ROWS.map(|row| row.0).join("|");
        assert!(SUBJECT_ID.starts_with(&format!("^({prefixes})_")), "{prefixes}");
        assert_eq!(kind("pair_01JZ"), Some(Kind::Pairing));
        assert_eq!(kind("agt_01JZ"), None);
        assert_eq!(kind("tgt"), None);
    }

    #[test]
    fn the_stored_text_is_shortened() {
        let listing = json!({ "title": "A room", "description_md": "x".repeat(9_000), "n": 1 });
        let kept = stored_text(&listing, &["/title", "/description_md", "/n", "/nothing"]);
        assert_eq!(kept.as_deref().map(|words| words.chars().count()), Some(LONGEST));
        assert!(kept.is_some_and(|words| words.starts_with("A room\nxx")));
        assert_eq!(stored_text(&listing, &["/n"]), None);
    }

    #[test]
    fn both_sides_of_an_application_can_report_it() {
        let answer = |role: &str| {
            json!({
                "role": role, "applicant": { "owner_id": LISTER }, "message": "Pay me first.",
                "profile": { "headline": "Engineer" },
            })
        };
        let subject = "app_01JZX8Q4M2N6P7R8S9T0V1W2X4";
        for (reporter, role, owner_id, said) in [
            (REPORTER, "received", Some(LISTER), Some("Engineer\nPay me first.")),
            (LISTER, "sent", None, None),
        ] {
            let world = portolan_sdk::test::world().of::<crate::Reports>().at(NOW).owner(reporter);
            let mut world = world.answer(APPLICATION, answer(role));
            let report = json!({ "subject_id": subject, "reason": "scam" });
            let made = world.call("create", &report).unwrap();
            assert_eq!(made["subject"], "application");
            let stored = &world.documents(crate::REPORTS)[0].value;
            assert_eq!(
                (stored.subject_owner_id.as_deref(), stored.said.as_deref()),
                (owner_id, said)
            );
            assert_eq!(stored.said_by.as_deref(), owner_id);
        }
        let refusal = Refusal::common(ErrorCode::NotFound, "There is no such application.");
        let world = portolan_sdk::test::world().of::<crate::Reports>().at(NOW).owner(REPORTER);
        let mut world = world.refuse(APPLICATION, refusal);
        let report = json!({ "subject_id": subject, "reason": "scam" });
        assert_eq!(world.call("create", &report).unwrap_err().code, "subject_not_found");
    }

    const NOW: u64 = 1_800_000_000_000;
    const REPORTER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";
    const LISTER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X4";
    const SUBJECT: &str = "lst_01JZX8Q4M2N6P7R8S9T0V1W2X4";

    fn profile(fields: &Value) -> Value {
        let mut profile = json!({
            "listing_id": SUBJECT, "owner_id": LISTER, "category": "home.let.room",
            "label": "Room", "side": "offer", "counterpart": "home.rent.room",
            "counterpart_side": "demand", "state": "withdrawn", "visibility": "public",
            "min_age": 0, "title": "Quiet room", "excerpt": "Pay first.", "attributes": {},
            "facts": [], "criteria": {}, "remote": false, "published_at": 1, "ended_at": NOW,
        });
        profile.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        json!({ "profiles": [profile] })
    }

    #[test]
    fn a_public_listing_can_be_reported_while_it_is_paused_and_for_a_while_after_its_end() {
        for (waited, fields, hidden, is_accepted) in [
            (0, json!({}), json!([]), true),
            (0, json!({ "state": "filled" }), json!([]), true),
            (0, json!({ "state": "expired", "visibility": "unlisted" }), json!([]), true),
            (REPORTABLE - 1, json!({}), json!([]), true),
            (REPORTABLE, json!({}), json!([]), false),
            (0, json!({ "state": "paused", "ended_at": null }), json!([]), true),
            (2 * REPORTABLE, json!({ "state": "paused", "ended_at": null }), json!([]), true),
            (0, json!({ "state": "in_review", "ended_at": null }), json!([]), true),
            (0, json!({ "state": "paused", "published_at": 0 }), json!([]), false),
            (0, json!({ "state": "paused", "visibility": "network" }), json!([]), false),
            (0, json!({ "state": "draft" }), json!([]), false),
            (0, json!({ "state": "removed" }), json!([]), false),
            (0, json!({ "published_at": 0 }), json!([]), false),
            (0, json!({ "visibility": "network" }), json!([]), false),
            (0, json!({ "min_age": 18 }), json!([]), false),
            (0, json!({}), json!([LISTER]), false),
        ] {
            let not_found = Refusal::common(ErrorCode::NotFound, "There is no such listing.");
            let mut world = portolan_sdk::test::world()
                .of::<crate::Reports>()
                .at(NOW + waited)
                .owner(REPORTER)
                .refuse(LISTING, not_found)
                .answer(listings::PROFILES, profile(&fields))
                .answer(relations::HIDDEN, json!({ "owner_ids": hidden }))
                .answer(RELATIONSHIP, json!({}));
            let report = json!({ "subject_id": SUBJECT, "reason": "scam" });
            let answer = world.call("create", &report);
            let code = answer.err().map(|refusal| refusal.code);
            let expected = (!is_accepted).then(|| "subject_not_found".to_owned());
            assert_eq!(code, expected, "{waited} {fields}");
        }
    }
}
