//! The actions that are listed for a caller: those that their role permits and the call would not
//! refuse.

use crate::{states::*, types::*};

/// Returns the actions on an organisation that a person may take now. `request_succession` is not
/// among them: `succession::can_request` asks when the owners last called.
pub(crate) fn on_org(
    now: u64,
    me: Option<&str>,
    org: &Org,
    own: Option<&Member>,
) -> Vec<&'static str> {
    let Some(me) = me else { return Vec::new() };
    let mut roles = roles_up_to(role_of(own));
    let is_invited = own.is_some_and(|own| {
        own.state == MemberState::Invited && own.expires_at.is_none_or(|at| at > now)
    });
    roles.extend(is_invited.then_some(INVITEE));
    roles.extend(org.open_succession().filter(|request| request.by == me).map(|_| CLAIMANT));
    let mut actions = allowed_to(&ORG, org.state, &roles);
    actions.retain(|action| match *action {
        "invite_member" => {
            (org.invited.len() as u64) < MOST_INVITED && (org.roles.len() as u64) < MOST_MEMBERS
        }
        "set_role" => org.roles.len() > 1,
        "remove_member" => org.roles.len() > 1 || !org.invited.is_empty(),
        "leave" => !org.is_last_owner(me),
        "transfer_ownership" => org.roles.len() > 1,
        "link_target" => org.verified || org.target_id.is_some(),
        "refuse_succession" => org.open_succession().is_some(),
        "request_succession" => false,
        _ => true,
    });
    if org.state == OrgState::Active && org.is_last_admin(me) {
        actions.push("archive");
    }
    actions
}

/// Returns the actions on a membership that the caller may take now. An ended membership has none:
/// whether the person accepts another invitation is not disclosed.
pub(crate) fn on_member(
    org: &Org,
    caller: Option<Role>,
    caller_id: Option<&str>,
    member: &Member,
) -> Vec<&'static str> {
    if org.state == OrgState::Archived {
        return Vec::new();
    }
    let is_own = caller_id == Some(member.owner_id.as_str());
    let mut actions = allowed_on_member(caller, is_own, member.state, member.role);
    let is_last_owner = org.is_last_owner(&member.owner_id);
    actions.retain(|action| match *action {
        "invite_member" => false,
        "set_role" | "remove_member" | "leave" => !is_last_owner,
        "transfer_ownership" => !is_own,
        _ => true,
    });
    actions
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn org(roles: &[(&str, Role)]) -> Org {
        let roles: BTreeMap<_, _> =
            roles.iter().map(|(id, role)| ((*id).to_owned(), *role)).collect();
        Org {
            name: "Copperleaf".into(),
            name_key: "copperleaf".into(),
            kind: Kind::Company,
            domain: None,
            verified: false,
            target_id: None,
            state: OrgState::Active,
            founder: "own_1".into(),
            roles,
            invited: std::collections::BTreeSet::new(),
            sole_member: None,
            verified_by: std::collections::BTreeSet::new(),
            succession: None,
        }
    }

    fn member(owner_id: &str, role: Role, state: MemberState) -> Member {
        Member {
            org_id: "org_1".into(),
            owner_id: owner_id.into(),
            role,
            state,
            since: 0,
            invited_by: None,
            expires_at: Some(2),
        }
    }

    fn listed(org: &Org, owner_id: &str) -> Vec<&'static str> {
        let own = org.roles.get(owner_id);
        let own = own.map(|role| member(owner_id, *role, MemberState::Member));
        on_org(1, Some(owner_id), org, own.as_ref())
    }

    #[test]
    fn an_organisation_lists_only_what_its_calls_permit() {
        use Role::{Admin, Owner, Recruiter};
        let alone = org(&[("own_1", Owner)]);
        assert_eq!(listed(&alone, "own_1"), ["update", "invite_member", "archive"]);
        let many = org(&[("own_1", Owner), ("own_2", Admin), ("own_3", Recruiter)]);
        assert!(listed(&many, "own_1").contains(&"transfer_ownership"));
        assert!(!listed(&many, "own_1").contains(&"leave"));
        assert!(!listed(&many, "own_2").contains(&"archive"));
        assert_eq!(listed(&many, "own_3"), ["leave"]);
        assert_eq!(listed(&many, "own_4"), Vec::<&str>::new());
        let verified = Org { verified: true, ..many };
        assert!(listed(&verified, "own_2").contains(&"link_target"));
    }

    #[test]
    fn the_last_admin_archives_an_organisation_without_an_owner() {
        use Role::{Admin, Owner, Recruiter};
        let orphaned = org(&[("own_2", Admin), ("own_3", Recruiter)]);
        assert!(listed(&orphaned, "own_2").contains(&"archive"));
        assert!(!listed(&orphaned, "own_3").contains(&"archive"));
        for roles in
            [&[("own_2", Admin), ("own_3", Admin)][..], &[("own_1", Owner), ("own_2", Admin)][..]]
        {
            assert!(!listed(&org(roles), "own_2").contains(&"archive"));
        }
    }

    #[test]
    fn a_succession_is_refused_by_owners_and_withdrawn_by_the_claimant() {
        use Role::{Admin, Owner};
        let mut requested = org(&[("own_1", Owner), ("own_2", Admin)]);
        requested.succession = Some(Succession {
            by: "own_2".into(),
            ground: Ground::Admin,
            state: SuccessionState::Requested,
            requested_at: 0,
            due_at: 9,
        });
        assert!(listed(&requested, "own_1").contains(&"refuse_succession"));
        assert!(listed(&requested, "own_2").contains(&"withdraw_succession"));
        assert!(!listed(&requested, "own_1").contains(&"withdraw_succession"));
        if let Some(succession) = &mut requested.succession {
            succession.state = SuccessionState::Refused;
        }
        assert!(!listed(&requested, "own_1").contains(&"refuse_succession"));
        assert!(!listed(&requested, "own_2").contains(&"withdraw_succession"));
    }

    #[test]
    fn nobody_is_offered_to_remove_the_last_owner() {
        let org = org(&[("own_1", Role::Owner), ("own_2", Role::Admin)]);
        let on = |caller: &str, role: Role, of: &str| {
            let found = member(of, org.roles[of], MemberState::Member);
            on_member(&org, Some(role), Some(caller), &found)
        };
        assert_eq!(on("own_1", Role::Owner, "own_1"), Vec::<&str>::new());
        assert_eq!(
            on("own_1", Role::Owner, "own_2"),
            ["set_role", "remove_member", "transfer_ownership"]
        );
        assert_eq!(on("own_2", Role::Admin, "own_2"), ["set_role", "remove_member", "leave"]);
        let declined = member("own_5", Role::Member, MemberState::Declined);
        assert!(on_member(&org, Some(Role::Owner), Some("own_1"), &declined).is_empty());
    }

    #[test]
    fn an_invitation_is_answered_while_it_is_open() {
        let org = org(&[("own_1", Role::Owner)]);
        let invited = member("own_2", Role::Member, MemberState::Invited);
        assert_eq!(on_org(1, Some("own_2"), &org, Some(&invited)), ["respond_invite"]);
        assert!(on_org(2, Some("own_2"), &org, Some(&invited)).is_empty());
    }
}
