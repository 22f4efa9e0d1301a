//! The capability `clerk`: states relations, asks for them, and verifies organisations, as other
//! capabilities do.

use common::relations::{Question, Relate, Verdict, allowed, relate};
use portolan_sdk::{invoke, prelude::*};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Verification {
    org_id: String,
    verified: bool,
    domain: Option<String>,
}

struct Clerk;

/// Does for agents what only capabilities may.
#[capability(id = "clerk", title = "Clerk", tags = ["test"])]
impl Clerk {
    /// State relations and take them back.
    #[action(access = write)]
    fn state(_call: &Call, input: Relate) -> Result<NoOutput, Refusal> {
        relate(input.write, input.delete)?;
        Ok(NoOutput {})
    }

    /// Ask whether a relation holds.
    #[action(access = read)]
    fn ask(_call: &Call, input: Question) -> Result<Verdict, Refusal> {
        Ok(Verdict { allowed: allowed(input.tuple)? })
    }

    /// Note whether an organisation is verified.
    #[action(access = write)]
    fn verify(_call: &Call, input: Verification) -> Result<NoOutput, Refusal> {
        invoke::call("social_org", "set_verified", &input)
    }
}
