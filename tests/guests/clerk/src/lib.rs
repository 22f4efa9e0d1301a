//! The capability `clerk`: writes and checks relations, verifies organisations, and reserves time,
//! as other capabilities do.

use people_kit::{
    calendar::{self, AlternativesQuery, Free, FreeQuery, Release, Reserve, Slots},
    relations::{ALLOWED, RELATE, RelationChanges, RelationCheck, Verdict, allowed, relate},
};
use portolan_sdk::prelude::*;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Verification {
    org_id: String,
    verified: bool,
    domain: Option<String>,
}

const SET_VERIFIED: Invocation<Verification, ()> = Invocation::new("social_org", "set_verified");

struct Clerk;

/// Does for agents what only capabilities may.
#[capability(
    id = "clerk",
    title = "Clerk",
    tags = ["test"],
    invokes = [SET_VERIFIED, ALLOWED, RELATE, calendar::RESERVE, calendar::RELEASE, calendar::FREE, calendar::ALTERNATIVES]
)]
impl Clerk {
    /// State relations and take them back.
    #[action(access = write)]
    fn state(_call: &Call, input: RelationChanges) -> Result<(), Refusal> {
        relate(input.write, input.delete)?;
        Ok(())
    }

    /// Ask whether a relation holds.
    #[action(access = read)]
    fn ask(_call: &Call, input: RelationCheck) -> Result<Verdict, Refusal> {
        Ok(Verdict { allowed: allowed(input.tuple)? })
    }

    /// Note whether an organisation is verified.
    #[action(access = write)]
    fn verify(_call: &Call, input: Verification) -> Result<(), Refusal> {
        SET_VERIFIED.call(&input)
    }
    /// Reserve people's time.
    #[action(access = write)]
    fn reserve(_call: &Call, input: Reserve) -> Result<(), Refusal> {
        calendar::reserve(&input)?;
        Ok(())
    }

    /// Give reserved time back.
    #[action(access = write)]
    fn release(_call: &Call, input: Release) -> Result<(), Refusal> {
        calendar::release(&input.reference)?;
        Ok(())
    }

    /// Ask whether people are free.
    #[action(access = read)]
    fn free(_call: &Call, input: FreeQuery) -> Result<Free, Refusal> {
        Ok(Free { free: calendar::free(&input)? })
    }

    /// Ask when people are free.
    #[action(access = read)]
    fn alternatives(_call: &Call, input: AlternativesQuery) -> Result<Slots, Refusal> {
        Ok(Slots { slots: calendar::alternatives(&input)? })
    }
}
