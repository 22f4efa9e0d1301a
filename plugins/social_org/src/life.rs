//! The states of organisations and of memberships, and who may take them where.

use portolan_sdk::prelude::*;

#[choice(States)]
pub(crate) enum OrgState {
    Active,
    /// For good. Its name is free again, and nobody has a role in it.
    Archived,
}

#[choice(States)]
pub(crate) enum MemberState {
    Invited,
    Member,
    Declined,
    Expired,
    /// The invitation was taken back.
    Withdrawn,
    Left,
    Removed,
}

/// What a member may do; whoever has a role has the ones before it too. The names are those of the
/// relations that `social_permissions` keeps.
#[choice(PartialOrd, Ord, States)]
pub(crate) enum Role {
    Member,
    Recruiter,
    Admin,
    Owner,
}

use MemberState::{Declined, Expired, Invited, Left, Member, Removed, Withdrawn};
use OrgState::{Active, Archived};

/// Someone who is invited, and nothing else yet.
pub(crate) const INVITED: &str = "invited";
/// Whose membership it is.
pub(crate) const ONESELF: &str = "oneself";

/// Open to members of the named role, and of higher ones.
pub(crate) const ORG: Machine<OrgState> = Machine::new(
    "org",
    &[
        Transition::new("create", &[], &[Active]),
        Transition::new("update", &[Active], &[]).by("admin"),
        Transition::new("invite_member", &[Active], &[]).by("admin"),
        Transition::new("respond_invite", &[Active], &[]).by(INVITED),
        Transition::new("set_role", &[Active], &[]).by("admin"),
        Transition::new("remove_member", &[Active], &[]).by("admin"),
        Transition::new("leave", &[Active], &[]).by("member"),
        Transition::new("transfer_ownership", &[Active], &[]).by("owner"),
        Transition::new("link_target", &[Active], &[]).by("admin"),
        Transition::internal("set_verified", &[Active], &[]),
        Transition::new("archive", &[Active], &[Archived]).by("owner"),
    ],
)
.read_by("social_org", "get", "org_id");

/// Open to members of the organisation of the named role, or to whose membership it is.
pub(crate) const MEMBERSHIP: Machine<MemberState> = Machine::new(
    "membership",
    &[
        Transition::new("create", &[], &[Member]),
        Transition::new("invite_member", &[], &[Invited]).by("admin"),
        Transition::new(
            "invite_member",
            &[Declined, Expired, Withdrawn, Left, Removed],
            &[Invited],
        )
        .by("admin"),
        Transition::new("respond_invite", &[Invited], &[Member, Declined]).by(ONESELF),
        Transition::internal("expire_invite", &[Invited], &[Expired]),
        Transition::new("set_role", &[Member], &[]).by("admin"),
        Transition::new("remove_member", &[Member], &[Removed]).by("admin"),
        Transition::new("remove_member", &[Invited], &[Withdrawn]).by("admin"),
        Transition::new("leave", &[Member], &[Left]).by(ONESELF),
        Transition::new("transfer_ownership", &[Member], &[]).by("owner"),
    ],
)
.read_by("social_org", "get", "org_id");

/// Whether the table opens the action to this role in any state.
pub(crate) fn may(role: Option<Role>, action: &str) -> bool {
    OrgState::ALL.iter().any(|state| open(role, *state).contains(&action))
}

/// What somebody of this role may do with an organisation now.
pub(crate) fn open(role: Option<Role>, state: OrgState) -> Vec<&'static str> {
    let Some(role) = role else { return Vec::new() };
    let roles: Vec<&str> = held(role).collect();
    let opens =
        |action: &&str| roles.iter().any(|role| ORG.allowed_as(role, state).contains(action));
    ORG.allowed(state).into_iter().filter(opens).collect()
}

/// What somebody of this role may do with a membership now; an invitation and the roles above their
/// own are not in their hands.
pub(crate) fn open_on(
    caller: Option<Role>,
    is_own: bool,
    state: MemberState,
    role: Role,
) -> Vec<&'static str> {
    let mut roles: Vec<&str> =
        caller.filter(|caller| *caller >= role).into_iter().flat_map(held).collect();
    roles.extend(is_own.then_some(ONESELF));
    let opens = |action: &&str| {
        roles.iter().any(|role| MEMBERSHIP.allowed_as(role, state).contains(action))
    };
    MEMBERSHIP.allowed(state).into_iter().filter(opens).collect()
}

fn held(role: Role) -> impl Iterator<Item = &'static str> {
    Role::ALL.iter().filter(move |found| **found <= role).map(|role| role.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sound() {
        assert_eq!(ORG.faults(), Vec::<String>::new());
        assert_eq!(MEMBERSHIP.faults(), Vec::<String>::new());
    }

    #[test]
    fn a_role_opens_what_lower_ones_do() {
        assert_eq!(open(None, Active), Vec::<&str>::new());
        assert_eq!(open(Some(Role::Recruiter), Active), ["leave"]);
        let admin =
            ["update", "invite_member", "set_role", "remove_member", "leave", "link_target"];
        assert_eq!(open(Some(Role::Admin), Active), admin);
        let owner = open(Some(Role::Owner), Active);
        assert!(owner.contains(&"archive") && owner.contains(&"transfer_ownership"));
        assert_eq!(open(Some(Role::Owner), Archived), Vec::<&str>::new());
        assert!(may(Some(Role::Owner), "archive") && !may(Some(Role::Admin), "archive"));
        assert!(!may(Some(Role::Owner), "set_verified"));
    }

    #[test]
    fn nobody_touches_those_above_them() {
        let on = |caller, role| open_on(Some(caller), false, Member, role);
        assert_eq!(on(Role::Admin, Role::Admin), ["set_role", "remove_member"]);
        assert_eq!(on(Role::Admin, Role::Owner), Vec::<&str>::new());
        assert_eq!(on(Role::Member, Role::Member), Vec::<&str>::new());
        assert_eq!(open_on(Some(Role::Member), true, Member, Role::Member), ["leave"]);
        assert_eq!(open_on(None, true, Invited, Role::Admin), ["respond_invite"]);
    }
}
