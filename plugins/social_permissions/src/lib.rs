//! The capability `social_permissions`: who may do what with what.
//!
//! It holds relation tuples, `object#relation@subject`, which other capabilities state and people
//! grant, and judges by one model what follows from them (Zanzibar, OpenFGA). It calls nobody, so
//! everybody can ask it.

mod ask;
mod cursor;
mod expand;
mod grants;
mod judge;
mod lists;
mod model;
mod name;
mod tuples;
mod types;

use model::{MODEL, Told, Who};
use people_kit::relations::{Question, Relate, Verdict};
use portolan_sdk::{NoInput, prelude::*};
use tuples::Store;
use types::*;

/// Of the examples.
const PERSON: &str = "owner:own_01JZX8Q4M2N6P7R8S9T0V1W2X3";

struct SocialPermissions;

/// Who may do what with what: relations between people, organisations, listings, threads and calendars.
///
/// A relation is written `object#relation@subject`, such as `owner:own_…#freebusy_viewer@owner:own_…`.
/// Some are stated by other capabilities (who owns a listing, who is connected), some are granted by
/// people with `grant`, and the rest follows from these by the model, which `model` shows. You may
/// ask about yourself (`subject` is `me`, which is your person and you), and about whatever you
/// govern: `owner:me`, `calendar:me`, your listings, the organisations you administrate. Relations
/// lead from object to object at most eight times. Every answer takes into account all that was
/// committed before its call.
#[capability(
    id = "social_permissions",
    title = "Permissions",
    tags = ["social", "permissions", "privacy"],
    collections = [TUPLES, OBJECTS]
)]
impl SocialPermissions {
    /// Check whether a relation holds, and why.
    ///
    /// A relation that does not hold has no reasons: none granted it, it has ended, or it was taken
    /// away.
    #[action(access = read, idempotent, example = json!({ "relation": "can_message", "object": PERSON }))]
    fn check(call: &Call, input: Ask) -> Result<Judged, PermissionsError> {
        let found = ask::answer(&mut Store::new(call), &input)?;
        Ok(Judged {
            allowed: found.is_some(),
            reason_path: found.unwrap_or_default(),
            consistency_token: time::rfc3339(call.now()),
        })
    }

    /// Check up to 50 relations at once.
    ///
    /// A question that `check` would refuse has its `error_code`; the others are answered.
    #[action(access = read, idempotent, example = json!({ "questions": [
        { "relation": "can_message", "object": PERSON },
        { "relation": "can_view", "object": "listing:lst_01JZX8Q4M2N6P7R8S9T0V1W2X3" },
    ] }))]
    fn batch_check(call: &Call, input: AskMany) -> Result<JudgedMany, PermissionsError> {
        let mut store = Store::new(call);
        let mut items = Vec::new();
        for question in &input.questions {
            items.push(match ask::answer(&mut store, question) {
                Ok(found) => JudgedOne {
                    allowed: found.is_some(),
                    reason_path: found.unwrap_or_default(),
                    error_code: None,
                },
                Err(
                    error @ (PermissionsError::TupleLimit { .. }
                    | PermissionsError::RelationUnknown),
                ) => refused(error),
                Err(PermissionsError::Common(refusal)) if refusal.code == "not_permitted" => {
                    refused(PermissionsError::Common(refusal))
                }
                Err(error) => return Err(error),
            });
        }
        Ok(JudgedMany { items, consistency_token: time::rfc3339(call.now()) })
    }

    /// List the objects to which you have a relation.
    ///
    /// What everybody has a relation to is not listed: searches find that.
    #[action(access = read, idempotent, example = json!({ "object_type": "org", "relation": "member" }))]
    fn list_objects(call: &Call, input: ListObjects) -> Result<Items<String>, PermissionsError> {
        lists::objects(&mut Store::new(call), &input.object_type, &input.relation, &input.page)
    }

    /// List who has a relation to an object that you govern.
    ///
    /// People, agents and `*` for everybody. Sets of what others govern, such as `org:…#member`, are
    /// named and not resolved; so single members of them can be without the relation. For an agent
    /// that nobody has claimed, what is its person's is empty, and `next` is the way to a claim.
    #[action(access = read, idempotent, example = json!({ "object": "owner:me", "relation": "can_see_freebusy" }))]
    fn list_subjects(
        call: &Call,
        input: ListSubjects,
    ) -> Result<Answer<Items<String>>, PermissionsError> {
        let mut store = Store::new(call);
        let Some(object) = claimed(&store, &input.of.object)? else {
            return Ok(Items::unclaimed());
        };
        Ok(Answer::new(lists::subjects(&mut store, &object, &input.of.relation, &input.page)?))
    }

    /// Show where a relation to an object that you govern comes from, as a tree.
    ///
    /// For an agent that nobody has claimed, what is its person's is empty, and `next` is the way to
    /// a claim.
    #[action(access = read, idempotent, example = json!({ "object": "owner:me", "relation": "can_see_freebusy" }))]
    fn expand(call: &Call, input: Governed) -> Result<Answer<Tree>, PermissionsError> {
        let mut store = Store::new(call);
        let consistency_token = time::rfc3339(call.now());
        let Some(object) = claimed(&store, &input.object)? else {
            return Ok(
                Answer::new(Tree { nodes: Vec::new(), consistency_token }).next(Next::claim())
            );
        };
        let nodes = expand::tree(&mut store, &object, &input.relation)?;
        Ok(Answer::new(Tree { nodes, consistency_token }))
    }

    /// List what is stated and granted: of an object that you govern, or of yourself.
    ///
    /// A page can be shorter than its limit, or empty, and yet have a next one.
    #[action(access = read, idempotent, example = json!({}))]
    fn list_grants(
        call: &Call,
        input: ListGrants,
    ) -> Result<Answer<Items<TupleView>>, PermissionsError> {
        let object = input.object.as_deref().unwrap_or_default();
        if claimed(&Store::new(call), object)?.is_none() {
            return Ok(Items::unclaimed());
        }
        Ok(Answer::new(grants::list(call, input)?))
    }

    /// Read the model: which relations there are, when they hold, and who may grant them.
    #[action(access = read, idempotent, example = NoInput {})]
    fn model(_call: &Call, _input: NoInput) -> Result<ModelView, Infallible> {
        Ok(model_view())
    }

    /// Grant a relation to something that you govern.
    ///
    /// `model` says which relations people grant, and to whom. Nobody is told. A block takes away
    /// what was granted, in either direction, without a word.
    #[action(access = write, idempotent, example = json!({
        "subject": PERSON, "relation": "freebusy_viewer", "object": "owner:me",
        "expires_at": "2099-01-01T00:00:00Z", "on_duplicate": "ignore",
    }))]
    fn grant(call: &Call, input: Grant) -> Result<TupleView, PermissionsError> {
        grants::grant(call, input)
    }

    /// Revoke what was granted.
    #[action(access = write, idempotent, destructive, example = json!({
        "subject": PERSON, "relation": "freebusy_viewer", "object": "owner:me",
        "on_missing": "ignore",
    }))]
    fn revoke(call: &Call, input: Revoke) -> Result<Revoked, PermissionsError> {
        grants::revoke(call, input)
    }

    /// State relations and take them back, for a capability that keeps what they follow from.
    #[action(access = internal, idempotent)]
    fn relate(_call: &Call, input: Relate) -> Result<(), PermissionsError> {
        grants::relate(input)
    }

    /// Judge one relation for another capability, with nothing left out.
    #[action(access = internal, idempotent)]
    fn allowed(call: &Call, input: Question) -> Result<Verdict, PermissionsError> {
        let Question { tuple } = input;
        let mut store = Store::new(call);
        let allowed = ask::verdict(&mut store, &tuple.object, &tuple.relation, &tuple.subject)?;
        Ok(Verdict { allowed })
    }

    /// End a grant whose time is over.
    #[action(access = internal, idempotent)]
    fn expire(call: &Call, input: TupleId) -> Result<(), PermissionsError> {
        grants::expire(call, &input.tuple)
    }

    /// Note whose agent it is.
    #[action(access = internal, on = "identity.claimed")]
    fn on_claimed(_call: &Call, event: Happened<Agent>) -> Result<(), PermissionsError> {
        grants::delegate(&event.data)
    }

    /// Note that it is nobody's agent any more.
    #[action(access = internal, on = "identity.unclaimed", on = "identity.revoked")]
    fn on_gone(_call: &Call, event: Happened<Agent>) -> Result<(), PermissionsError> {
        grants::delegate(&Agent { owner_id: None, ..event.data })
    }
}

/// The object's text; none where it is the person's of an agent without one.
fn claimed(store: &Store, object: &str) -> Result<Option<String>, PermissionsError> {
    if store.person().is_none() && object.ends_with(":me") {
        return Ok(None);
    }
    ask::object_text(store, object).map(Some)
}

fn refused(error: PermissionsError) -> JudgedOne {
    let error_code = Some(Refusal::from(error).code);
    JudgedOne { allowed: false, reason_path: Vec::new(), error_code }
}

fn model_view() -> ModelView {
    let relation = |relation: &'static model::Relation| RelationView {
        relation: relation.name,
        meaning: relation.meaning,
        define: relation.rule.text(relation),
        grantable_to: relation.granted_to.iter().copied().map(Who::text).collect(),
        subject_may_ask: relation.told != Told::Governor,
    };
    let kind = |kind: &'static model::Kind| KindView {
        name: kind.name,
        meaning: kind.meaning,
        governed_by: kind.governed_by,
        relations: kind.relations.iter().map(relation).collect(),
    };
    ModelView { types: MODEL.iter().map(kind).collect() }
}
