//! The capability `social_permissions`: who may do what with what.
//!
//! It stores relation tuples, `object#relation@subject`, which other capabilities state and people
//! grant, and evaluates what follows from them by one model (Zanzibar, OpenFGA). Its actions
//! `relate` and `allowed` make no nested calls, so every capability can call them.

mod check;
mod expand;
mod grants;
mod evaluate;
mod intents;
mod person_page;
mod lists;
mod model;
mod name;
mod tuples;
mod types;

use model::{Askers, MODEL, SubjectKind};
use people_kit::relations::{RelationChanges, RelationCheck, Verdict};
use portolan_sdk::{
    NoInput,
    migration::{Migrated, Migration},
    prelude::*,
};
use tuples::Store;
use types::*;

/// A person for the examples.
const PERSON: &str = "owner:own_01JZX8Q4M2N6P7R8S9T0V1W2X3";

struct SocialPermissions;

/// Permissions: relations between people, organisations, listings, threads and calendars.
///
/// A relation is written `object#relation@subject`, such as
/// `owner:own_…#freebusy_viewer@owner:own_…`. Some are stated by other capabilities (who owns a
/// listing, who is connected), some are granted by people with `grant`, and the others follow from
/// these by the model, which `model` returns. You may ask about yourself (`subject` is `me`, which
/// means your person and you), and about the objects that you govern: `owner:me`, `calendar:me`,
/// your listings, the organisations that you administrate. Relations lead from object to object at
/// most eight times. Every answer includes everything that was committed before its call.
#[capability(
    id = "social_permissions",
    consequence = portolan_sdk::Consequence::of("account"),
    title = "Permissions",
    tags = ["social", "permissions", "privacy"],
    invokes = [people_kit::people::PEOPLE],
    collections = [TUPLES, OBJECTS]
)]
impl SocialPermissions {
    /// Give blocks of an earlier version the person who keeps them.
    #[action(access = internal, idempotent)]
    fn migrate(_call: &Call, input: Migration) -> Result<Migrated, Infallible> {
        Ok(input.each(|stored: StoredTuple| Ok(stored.with_keeper())))
    }

    /// Check whether a relation holds, and why.
    ///
    /// The answer for a relation that does not hold has no reasons: it may never have been granted,
    /// may have ended, or may be excluded by a block.
    #[action(
        access = read, idempotent, example = json!({ "relation": "can_message", "object": PERSON }),
        intents = intents::CHECK
    )]
    fn check(call: &Call, input: CheckInput) -> Result<CheckOutput, PermissionsError> {
        let found = check::answer(&mut Store::new(call), &input)?;
        let (allowed, reason_path) = (found.is_some(), found.unwrap_or_default());
        Ok(CheckOutput { allowed, reason_path, consistency_token: rfc3339(call.now()) })
    }

    /// Check up to 50 relations at once.
    ///
    /// A question that `check` would refuse has its `error_code`; the others are answered.
    #[action(access = read, idempotent,
        intents = intents::BATCH_CHECK, example = json!({ "questions": [
        { "relation": "can_message", "object": PERSON },
        { "relation": "can_view", "object": "listing:lst_01JZX8Q4M2N6P7R8S9T0V1W2X3" },
    ] }))]
    fn batch_check(
        call: &Call,
        input: BatchCheckInput,
    ) -> Result<BatchCheckOutput, PermissionsError> {
        let mut store = Store::new(call);
        let items =
            input.questions.iter().map(|question| check::answer_or_code(&mut store, question));
        Ok(BatchCheckOutput {
            items: items.collect::<Result<_>>()?,
            consistency_token: rfc3339(call.now()),
        })
    }

    /// List the objects to which you have a relation.
    ///
    /// Relations that everybody has are not listed: searches find those objects.
    #[action(
        access = read, idempotent, example = json!({ "object_type": "org", "relation": "member" }),
        intents = intents::LIST_OBJECTS
    )]
    fn list_objects(call: &Call, input: ListObjects) -> Result<Items<String>, PermissionsError> {
        lists::objects(&mut Store::new(call), &input.object_type, &input.relation, &input.page)
    }

    /// List who has a relation to an object that you govern.
    ///
    /// Returns people, agents and `*` for everybody. Sets that others govern, such as
    /// `org:…#member`, are named and not resolved; single members may still be excluded. For an
    /// agent that nobody has claimed, the lists of its person's objects are empty, and `next` is
    /// the way to a claim.
    #[action(
        access = read, idempotent, example = json!({ "object": "owner:me", "relation": "can_see_freebusy" }),
        intents = intents::LIST_SUBJECTS
    )]
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

    /// Show the derivation of a relation to an object that you govern, as a tree.
    ///
    /// For an agent that nobody has claimed, the trees of its person's objects are empty, and
    /// `next` is the way to a claim.
    #[action(
        access = read, idempotent, example = json!({ "object": "owner:me", "relation": "can_see_freebusy" }),
        intents = intents::EXPAND
    )]
    fn expand(call: &Call, input: Governed) -> Result<Answer<Tree>, PermissionsError> {
        let mut store = Store::new(call);
        let tree = |nodes| Answer::new(Tree { nodes, consistency_token: rfc3339(call.now()) });
        let Some(object) = claimed(&store, &input.object)? else {
            return Ok(tree(Vec::new()).next(Next::claim()));
        };
        Ok(tree(expand::tree(&mut store, &object, &input.relation)?))
    }

    /// List the stated and granted relations of an object that you govern, or of yourself.
    ///
    /// A page can be shorter than its limit, or empty, although another one follows.
    #[action(access = read, idempotent, example = json!({}), intents = intents::LIST_GRANTS, person_page = person_page::list_grants())]
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

    /// Get the model: the relations, when they hold, and who may grant them.
    #[action(access = read, idempotent, example = NoInput {}, intents = intents::MODEL)]
    fn model(_call: &Call, _input: NoInput) -> Result<ModelView, Infallible> {
        Ok(model_view())
    }

    /// Grant a relation to an object that you govern.
    ///
    /// `model` lists the relations that people can grant, and to whom. Nobody is notified. A block
    /// in either direction removes the effect of a grant, and nobody is notified of that either.
    #[action(access = write, idempotent, intents = intents::GRANT, example = json!({
        "subject": PERSON, "relation": "freebusy_viewer", "object": "owner:me",
        "expires_at": "2099-01-01T00:00:00Z", "on_duplicate": "ignore",
    }))]
    fn grant(call: &Call, input: Grant) -> Result<TupleView, PermissionsError> {
        grants::grant(call, input)
    }

    /// Revoke a grant.
    #[action(access = write, idempotent, destructive, intents = intents::REVOKE, person_page = person_page::revoke(), example = json!({
        "subject": PERSON, "relation": "freebusy_viewer", "object": "owner:me",
        "on_missing": "ignore",
    }))]
    fn revoke(call: &Call, input: Revoke) -> Result<Revoked, PermissionsError> {
        grants::revoke(call, input)
    }

    /// State and remove relations, for a capability that stores the data behind them.
    #[action(access = internal, callers = ["agent_listings", "conversations", "owners", "pairings", "social_org", "social_relationships", "thread_meetings"], idempotent)]
    fn relate(_call: &Call, input: RelationChanges) -> Result<(), PermissionsError> {
        grants::relate(input)
    }

    /// Evaluate one relation for another capability, without hiding blocks.
    #[action(access = internal, callers = ["agent_listings", "applications", "availability_finder", "calendar", "conversations", "intros", "matching_sessions", "media", "pairings", "references", "saved_searches", "social_org", "thread_meetings"], idempotent)]
    fn allowed(call: &Call, input: RelationCheck) -> Result<Verdict, PermissionsError> {
        Ok(Verdict { allowed: check::verdict(call, &input.tuple)? })
    }

    /// End a grant that has expired.
    #[action(access = internal, idempotent)]
    fn expire(call: &Call, input: TupleId) -> Result<(), PermissionsError> {
        grants::expire(call, &input.tuple)
    }

    /// End the grants of a member on what they govern no more.
    #[action(access = internal, idempotent, on = "org.member_changed")]
    fn on_member_changed(
        call: &Call,
        event: Happened<MemberChanged>,
    ) -> Result<(), PermissionsError> {
        grants::end_grants_by(call, event.data)
    }

    /// Go on to end the grants of a former member.
    #[action(access = internal, idempotent)]
    fn end_grants(call: &Call, input: MemberChanged) -> Result<(), PermissionsError> {
        grants::end_grants_by(call, input)
    }

    /// Record the person who claimed an agent.
    #[action(access = internal, on = "identity.claimed")]
    fn on_claimed(_call: &Call, event: Happened<Agent>) -> Result<(), PermissionsError> {
        grants::delegate(&event.data)
    }

    /// Record that an agent no longer has a person, and end the grants to it.
    #[action(access = internal, on = "identity.unclaimed", on = "identity.revoked")]
    fn on_gone(_call: &Call, event: Happened<Agent>) -> Result<(), PermissionsError> {
        grants::end_grants_to(&event.data.agent_id)?;
        grants::delegate(&Agent { owner_id: None, ..event.data })
    }
}

/// Returns the object's text; `None` if the object is the caller's (`:me`) and nobody has claimed
/// the calling agent.
fn claimed(store: &Store, object: &str) -> Result<Option<String>, PermissionsError> {
    if store.person().is_none() && object.ends_with(":me") {
        return Ok(None);
    }
    check::object_text(store, object).map(Some)
}

fn model_view() -> ModelView {
    let relation = |relation: &'static model::Relation| RelationView {
        relation: relation.name,
        meaning: relation.meaning,
        define: relation.rule.text(relation),
        grantable_to: relation.granted_to.iter().copied().map(SubjectKind::text).collect(),
        subject_may_ask: relation.askers != Askers::Governor,
    };
    let kind = |kind: &'static model::Kind| KindView {
        name: kind.name,
        meaning: kind.meaning,
        governed_by: kind.governed_by,
        relations: kind.relations.iter().map(relation).collect(),
    };
    ModelView { types: MODEL.iter().map(kind).collect() }
}
