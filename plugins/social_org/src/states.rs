//! The states of organisations and of memberships, and the roles that may change them.

use portolan_sdk::prelude::*;

#[choice(States)]
pub(crate) enum OrgState {
    Active,
    /// The organisation ended for good. Its name can be used again, and nobody has a role in it.
    Archived,
}

#[choice(States)]
pub(crate) enum MemberState {
    Invited,
    Member,
    Declined,
    Expired,
    /// The invitation was withdrawn.
    Withdrawn,
    Left,
    Removed,
}

/// The role of a member; each role has the permissions of those before it. The names are those of
/// the relations in `social_permissions`.
#[choice(PartialOrd, Ord, Default, States)]
pub(crate) enum Role {
    #[default]
    Member,
    Recruiter,
    Admin,
    Owner,
}

/// The state of a request to own an organisation whose owner is gone.
#[choice(States)]
pub(crate) enum SuccessionState {
    /// It takes effect at `due_at`, unless an owner refuses it or is there again.
    Requested,
    /// An owner has refused it.
    Refused,
    /// The person who made it has withdrawn it.
    Withdrawn,
    /// An owner was there again, or the person could not take over any more, when it was due.
    Lapsed,
    /// The person owns the organisation.
    Completed,
}

use MemberState::{Declined, Expired, Invited, Left, Member, Removed, Withdrawn};
use OrgState::{Active, Archived};
use SuccessionState::{Completed, Lapsed, Refused, Requested};

/// A person who is invited and has no role yet.
pub(crate) const INVITEE: &str = "invited";
/// The role of a person in their own membership, in which they answer an invitation or leave.
pub(crate) const ONESELF: &str = "oneself";
/// The role of the person who has requested to own the organisation.
pub(crate) const CLAIMANT: &str = "claimant";

/// The actions on an organisation, each with the lowest role that permits it.
pub(crate) const ORG: Machine<OrgState> = Machine::new(
    "org",
    &[
        Transition::new("create", &[], &[Active]),
        Transition::new("update", &[Active], &[]).by("admin"),
        Transition::new("invite_member", &[Active], &[]).by("admin"),
        Transition::new("respond_invite", &[Active], &[]).by(INVITEE),
        Transition::new("set_role", &[Active], &[]).by("admin"),
        Transition::new("remove_member", &[Active], &[]).by("admin"),
        Transition::new("leave", &[Active], &[]).by("member"),
        Transition::new("transfer_ownership", &[Active], &[]).by("owner"),
        Transition::new("link_target", &[Active], &[]).by("admin"),
        Transition::internal("set_verified", &[Active], &[]),
        Transition::new("archive", &[Active], &[Archived]).by("owner"),
        Transition::new("request_succession", &[Active], &[]).by("admin"),
        Transition::new("refuse_succession", &[Active], &[]).by("owner"),
        Transition::new("withdraw_succession", &[Active], &[]).by(CLAIMANT),
        Transition::internal("on_owner_leaving", &[Active], &[Active, Archived]),
    ],
)
.read_by("social_org", "get", "org_id");

/// The states of a request to own an organisation.
pub(crate) const SUCCESSION: Machine<SuccessionState> = Machine::new(
    "succession",
    &[
        Transition::new("request_succession", &[], &[Requested]).by(CLAIMANT),
        Transition::new(
            "request_succession",
            &[Refused, SuccessionState::Withdrawn, Lapsed, Completed],
            &[Requested],
        )
        .by(CLAIMANT),
        Transition::new("refuse_succession", &[Requested], &[Refused]).by("owner"),
        Transition::new("withdraw_succession", &[Requested], &[SuccessionState::Withdrawn])
            .by(CLAIMANT),
        Transition::internal("complete_succession", &[Requested], &[Completed, Lapsed]),
    ],
)
.read_by("social_org", "get", "org_id");

const ENDED: &[MemberState] = &[Declined, Expired, Withdrawn, Left, Removed];

/// The actions on a membership, each with the lowest role in the organisation that permits it, or
/// for the member themself.
pub(crate) const MEMBERSHIP: Machine<MemberState> = Machine::new(
    "membership",
    &[
        Transition::new("create", &[], &[Member]),
        Transition::new("invite_member", &[], &[Invited]).by("admin"),
        Transition::new("invite_member", ENDED, &[Invited]).by("admin"),
        Transition::new("respond_invite", &[Invited], &[Member, Declined]).by(ONESELF),
        Transition::internal("expire_invite", &[Invited], &[Expired]),
        Transition::new("set_role", &[Member], &[]).by("admin"),
        Transition::new("remove_member", &[Member], &[Removed]).by("admin"),
        Transition::new("remove_member", &[Invited], &[Withdrawn]).by("admin"),
        Transition::new("leave", &[Member], &[Left]).by(ONESELF),
        Transition::new("transfer_ownership", &[Member], &[]).by("owner"),
        Transition::internal("on_owner_leaving", &[Member], &[Left]),
    ],
)
.read_by("social_org", "get", "org_id");

/// Returns whether the table permits the action to this role in any state.
pub(crate) fn is_permitted(role: Option<Role>, action: &str) -> bool {
    OrgState::ALL.iter().any(|state| allowed(role, *state).contains(&action))
}

/// Returns the actions that this role permits on an organisation in this state.
pub(crate) fn allowed(role: Option<Role>, state: OrgState) -> Vec<&'static str> {
    allowed_to(&ORG, state, &roles_up_to(role))
}

/// Returns the actions that the caller's role permits on a membership in this state. Only the
/// member themself can answer an invitation, and nobody can change a membership with a higher role
/// than their own.
pub(crate) fn allowed_on_member(
    caller: Option<Role>,
    is_own: bool,
    state: MemberState,
    role: Role,
) -> Vec<&'static str> {
    let mut roles = roles_up_to(caller.filter(|caller| *caller >= role));
    roles.extend(is_own.then_some(ONESELF));
    allowed_to(&MEMBERSHIP, state, &roles)
}

/// Returns the actions that at least one of the roles may take in the state.
pub(crate) fn allowed_to<S: States>(
    machine: &Machine<S>,
    state: S,
    roles: &[&str],
) -> Vec<&'static str> {
    let is_allowed =
        |action: &&str| roles.iter().any(|role| machine.allowed_as(role, state).contains(action));
    machine.allowed(state).into_iter().filter(is_allowed).collect()
}

/// Returns the names of a role and of those below; none without a role.
pub(crate) fn roles_up_to(role: Option<Role>) -> Vec<&'static str> {
    Role::ALL.iter().filter(|found| Some(**found) <= role).map(|role| role.name()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_allows_what_lower_ones_do() {
        assert_eq!(allowed(None, Active), Vec::<&str>::new());
        assert_eq!(allowed(Some(Role::Recruiter), Active), ["leave"]);
        let admin = [
            "update",
            "invite_member",
            "set_role",
            "remove_member",
            "leave",
            "link_target",
            "request_succession",
        ];
        assert_eq!(allowed(Some(Role::Admin), Active), admin);
        let owner = allowed(Some(Role::Owner), Active);
        assert!(owner.contains(&"archive") && owner.contains(&"transfer_ownership"));
        assert_eq!(allowed(Some(Role::Owner), Archived), Vec::<&str>::new());
        assert!(
            is_permitted(Some(Role::Owner), "archive")
                && !is_permitted(Some(Role::Admin), "archive")
        );
        assert!(!is_permitted(Some(Role::Owner), "set_verified"));
    }

    #[test]
    fn nobody_changes_members_with_a_higher_role() {
        let on = |caller, role| allowed_on_member(Some(caller), false, Member, role);
        assert_eq!(on(Role::Admin, Role::Admin), ["set_role", "remove_member"]);
        assert_eq!(on(Role::Admin, Role::Owner), Vec::<&str>::new());
        assert_eq!(on(Role::Member, Role::Member), Vec::<&str>::new());
        assert_eq!(allowed_on_member(Some(Role::Member), true, Member, Role::Member), ["leave"]);
        assert_eq!(allowed_on_member(None, true, Invited, Role::Admin), ["respond_invite"]);
    }
}
