//! The refusals, each with the next step that helps.

use crate::types::CAPABILITY;
use people_kit::text::TextError;
use portolan_sdk::prelude::*;

#[derive(Refusals)]
pub(crate) enum OrgError {
    /// There is no such organisation.
    #[refusal(not_found, next = Next::action(CAPABILITY, "search"))]
    OrgNotFound,
    /// `q` has no word to search for: give at least one letter or digit, or leave it out.
    #[refusal(
        invalid,
        next = Next::action(CAPABILITY, "search").ask("q", "Which organisation are you looking for?")
    )]
    QueryEmpty,
    /// Another organisation has this name.
    #[refusal(conflict, conflict_detail = duplicate(&existing_id), next = get(&existing_id))]
    OrgNameTaken { existing_id: String },
    /// An organisation needs an owner: make somebody else one first, or archive it.
    #[refusal(conflict, retryable, next = transfer(&org_id))]
    LastOrgOwner { org_id: String },
    /// This person is a member.
    #[refusal(conflict, next = members(&org_id))]
    AlreadyMember { org_id: String },
    /// You are not invited to this organisation, or no longer are.
    #[refusal(not_found, next = Next::action(CAPABILITY, "list_mine"))]
    InviteNotFound,
    /// The member who invited you can no longer do so. Ask another one for an invitation.
    #[refusal(conflict, next = Next::action(CAPABILITY, "list_mine"))]
    InviterNotPermitted,
    /// The organisation must be verified first.
    #[refusal(forbidden, retryable, next = verify(&org_id))]
    VerificationRequired { org_id: String },
    /// This person does not accept invitations from this organisation.
    #[refusal(conflict, next = members(&org_id))]
    RecipientNotAccepting { org_id: String },
    /// There is no such person.
    #[refusal(not_found, next = Next::action("owners", "me"))]
    OwnerNotFound,
    /// There is no such person in the organisation.
    #[refusal(not_found, next = members(&org_id))]
    MemberNotFound { org_id: String },
    /// A limit is reached: see conflict.
    #[refusal(conflict, conflict_detail = limit, next = Next::action(CAPABILITY, "list_mine"))]
    OrgLimitReached { limit: Limit },
    /// An owner of this organisation is there: one of their agents has called in the last 60 days.
    /// Ask them to transfer it.
    #[refusal(conflict, retryable, next = get(&org_id))]
    OwnerPresent { org_id: String },
    /// Another organisation is linked to this target.
    #[refusal(conflict, conflict_detail = duplicate(&existing_id), next = get(&existing_id))]
    TargetTaken { existing_id: String },
    #[refusal(transparent)]
    Text(TextError),
    #[refusal(transparent)]
    Common(Refusal),
}

pub(crate) type Result<T, E = OrgError> = std::result::Result<T, E>;

fn duplicate(existing_id: &str) -> Value {
    json!({ "kind": "duplicate", "existing_id": existing_id })
}

/// Returns the call that reads an organisation.
pub(crate) fn get(org_id: &str) -> Next {
    Next::action(CAPABILITY, "get").field("org_id", org_id)
}

/// Makes the refusal for a target whose website is not under the organisation's domain.
pub(crate) fn another_domain(target_id: &str) -> Refusal {
    let message = "The website of this target is not under the organisation's domain.";
    let get = Next::action("map_search", "get").field("target_id", target_id);
    Refusal::common(ErrorCode::NotPermitted, message).next(get)
}

fn members(org_id: &str) -> Next {
    Next::action(CAPABILITY, "members").field("org_id", org_id)
}

fn transfer(org_id: &str) -> Next {
    let transfer = Next::action(CAPABILITY, "transfer_ownership").field("org_id", org_id);
    transfer.ask("owner_id", "Which member shall own the organisation?").then_retry()
}

fn verify(org_id: &str) -> Next {
    let verify = Next::action("owner_verification", "start").field("org_id", org_id);
    verify.ask("method", "How can you prove that you speak for this organisation?").then_retry()
}
